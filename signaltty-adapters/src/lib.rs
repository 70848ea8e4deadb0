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
pub mod anchor;
mod claude;
mod command;
#[cfg(feature = "testing")]
pub mod conformance;
#[cfg(feature = "demo")]
pub mod demo;
mod error;
mod host;
mod launch;
mod preflight;
mod proc;
pub mod records;
mod registry;
mod spec;
#[cfg(feature = "testing")]
pub mod testing;
mod text;

pub use adapter::{AgentAdapter, HookReport, InstanceView};
pub use claude::ClaudeAdapter;
pub use command::OfficialCommand;
pub use error::AdapterError;
pub use host::{AgentHost, ProcessInfo};
pub use launch::{Integration, Launch, LaunchContext, LaunchFile, PreparedLaunch};
pub use proc::ProcHost;
pub use registry::{Adapters, RegistryError};
pub use spec::{AgentSpec, IdForm};
