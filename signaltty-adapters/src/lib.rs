//! What signaltty knows about each coding agent.
//!
//! An [`AgentAdapter`] translates: it reads an agent's records and what a
//! running agent shows. It decides nothing; [`signaltty_core::agent::judge`]
//! does. It has no clock: deadlines belong to the core.
//!
//! An adapter for another agent implements the trait and is given to the
//! server's builder; no other crate changes.
#![forbid(unsafe_code)]

mod adapter;
mod command;
mod error;
mod host;
mod launch;
mod registry;
mod spec;

pub use adapter::{AgentAdapter, HookReport, InstanceView};
pub use command::OfficialCommand;
pub use error::AdapterError;
pub use host::{AgentHost, ProcessInfo};
pub use launch::{Integration, Launch, LaunchContext, LaunchFile, PreparedLaunch};
pub use registry::{Adapters, RegistryError};
pub use spec::{AgentSpec, IdForm};
