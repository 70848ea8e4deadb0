//! What signaltty knows about each coding agent.
//!
//! An [`AgentAdapter`] translates: it reads an agent's records and what a
//! running agent shows. It decides nothing; [`signaltty_core::agent::judge`]
//! does. It has no clock: deadlines belong to the core.
//!
//! An adapter for another agent implements the trait and is given to the
//! server's builder; no other crate changes. What it must hold is written down
//! as the `conformance` suite (feature `testing`). The smallest useful adapter
//! can prove nothing, so its agent is resumed by hand only:
//!
//! ```
//! use signaltty_adapters::anchor::{Line, Scan};
//! use signaltty_adapters::*;
//! use signaltty_core::agent::*;
//! use signaltty_core::{id::InstanceId, restore::Refusal};
//!
//! struct Notes(AgentSpec);
//!
//! impl Notes {
//!     fn read(conversation: &Conversation) -> Result<Scan, Refusal> {
//!         let record = conversation.cwd.join(format!(".notes-{}", conversation.id));
//!         let line = |line: &[u8]| Line::Message {
//!             id: String::from_utf8_lossy(line).into_owned(),
//!             parent: None,
//!             by_person: true,
//!         };
//!         Scan::read(&record, conversation.anchor.as_ref(), line).map_err(|e| e.refusal())
//!     }
//! }
//!
//! #[async_trait::async_trait]
//! impl AgentAdapter for Notes {
//!     fn spec(&self) -> &AgentSpec {
//!         &self.0
//!     }
//!
//!     fn resume_command(&self, of: &Conversation) -> Result<OfficialCommand, AdapterError> {
//!         Ok(OfficialCommand::new("notes", &["--open"], &of.id))
//!     }
//!
//!     fn read_report(
//!         &self,
//!         _: InstanceId,
//!         _: &HookReport<'_>,
//!     ) -> Result<AgentReport, AdapterError> {
//!         Err(AdapterError::Report("notes have no hooks".into()))
//!     }
//!
//!     async fn preflight(
//!         &self,
//!         conversation: &Conversation,
//!         host: &dyn AgentHost,
//!     ) -> Result<Fingerprint, Refusal> {
//!         let anchor = preflight::before_the_record(&self.0, conversation, host)?;
//!         preflight::cwd_is_there(&conversation.cwd)?;
//!         Self::read(conversation)?.compare(anchor)
//!     }
//!
//!     async fn anchor(&self, of: &Conversation, _: &dyn AgentHost) -> Result<Anchor, Refusal> {
//!         Self::read(of)?.anchor_anew(of.anchor.as_ref())
//!     }
//!
//!     async fn inspect(&self, _: &InstanceView, _: &dyn AgentHost) -> Vec<AgentReport> {
//!         Vec::new()
//!     }
//! }
//! ```
#![forbid(unsafe_code)]

#[cfg(any(feature = "claude", feature = "codex", feature = "grok", feature = "opencode"))]
mod account;
mod adapter;
pub mod anchor;
#[cfg(feature = "claude")]
mod claude;
#[cfg(feature = "codex")]
mod codex;
mod command;
#[cfg(feature = "testing")]
pub mod conformance;
#[cfg(feature = "cursor")]
mod cursor;
#[cfg(feature = "demo")]
pub mod demo;
mod error;
#[cfg(all(feature = "testing", feature = "claude", feature = "codex", feature = "grok"))]
pub mod fuzz;
#[cfg(feature = "grok")]
mod grok;
#[cfg(any(feature = "claude", feature = "codex", feature = "grok"))]
mod hook_payload;
mod host;
mod launch;
#[cfg(any(feature = "claude", feature = "codex", feature = "demo", feature = "grok"))]
mod lines;
#[cfg(feature = "opencode")]
mod loopback;
#[cfg(feature = "opencode")]
mod opencode;
mod options;
#[cfg(any(feature = "claude", feature = "codex"))]
mod permission;
pub mod preflight;
mod proc;
mod question;
pub mod records;
mod registry;
#[cfg(any(feature = "codex", feature = "opencode"))]
mod script;
mod spec;
#[cfg(any(feature = "cursor", feature = "opencode"))]
mod sqlite;
#[cfg(any(feature = "claude", feature = "codex", feature = "grok"))]
mod stamp;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(any(
    feature = "claude",
    feature = "codex",
    feature = "demo",
    feature = "grok",
    feature = "opencode"
))]
mod text;
#[cfg(any(feature = "claude", feature = "codex", feature = "grok"))]
mod turns;
mod user_hooks;

pub use adapter::{AgentAdapter, AgentInput, HookReport, InstanceView, PROMPT};
#[cfg(feature = "claude")]
pub use claude::ClaudeAdapter;
#[cfg(feature = "codex")]
pub use codex::CodexAdapter;
pub use command::OfficialCommand;
#[cfg(feature = "cursor")]
pub use cursor::CursorAdapter;
pub use error::AdapterError;
#[cfg(feature = "grok")]
pub use grok::GrokAdapter;
pub use host::{AgentHost, OpenFile, ProcessInfo};
pub use launch::{Integration, Launch, LaunchContext, LaunchFacts, LaunchFile, PreparedLaunch};
#[cfg(feature = "opencode")]
pub use opencode::OpenCodeAdapter;
pub use options::{AtResume, CarriedOptions, OptionRule, Takes};
pub use proc::{Job, ProcHost};
pub use question::Question;
pub use registry::{Adapters, RegistryError};
pub use spec::{AgentSpec, FindWord, IdForm};
pub use user_hooks::{
    ByHand, HookEntries, HookFileError, HookForm, HookState, OWNER, Removed, UserFile, UserHooks,
};
