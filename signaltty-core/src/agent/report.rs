//! What an adapter understood from something that an agent showed.

use std::sync::Arc;

use super::Witness;
use crate::pane::{Attention, Lifecycle};

/// One report of an agent, or one look at it. Says nothing where the agent
/// said nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentReport {
    /// A fact about which conversations the instance has open.
    pub witness: Option<Witness>,
    /// What it is doing. An end of a turn ([`Done`](Lifecycle::Done) or
    /// [`Idle`](Lifecycle::Idle)) has its record anchored anew. Of an agent that
    /// never says what it does, a witness of the saved conversation alone has it
    /// anchored anew within ten seconds.
    pub lifecycle: Option<Lifecycle>,
    /// The newest turn that came to its end in this process, by any name that no
    /// other turn of it has; the same in every look. Where looks may be too late
    /// to see a short turn being worked on, that name is what tells that one more
    /// has ended.
    pub finished: Option<Arc<str>>,
    /// Whether it wants a person. [`Attention::None`] says that it no longer
    /// does.
    pub attention: Option<Attention>,
    /// One line for people.
    pub message: Option<Arc<str>>,
    /// The agent took a prompt. The only thing that counts as acceptance.
    pub accepted_prompt: bool,
}
