//! Which tombstone a pane without a process is.
//!
//! A pure function of saved facts, so any number of restarts gives the same
//! answer (D-8, R10), and the same one right after an exit.

use crate::agent::{AgentPlace, SavedAgent};
use crate::pane::{EndCause, PaneEnd};

/// A pane without a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tombstone {
    /// Structure only; its process went away with the server.
    Restored,
    /// Holds a conversation that can be reopened and that its user did not end.
    Resumable,
    /// Its process ended.
    Exited,
}

impl Tombstone {
    /// The name that people and scripts see.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Restored => "restored",
            Self::Resumable => "resumable",
            Self::Exited => "exited",
        }
    }
}

/// Decides from how the last process ended and what the pane holds.
///
/// The user ended it: exited. It went away with the server, or in the seconds
/// of a shutdown: resumable if there is a conversation, else restored. It ended
/// by itself in any other way: an interruption too if there is a conversation.
/// A conversation that its agent had left before, in a shell that went on, does
/// not count (D-22): it can be reopened by hand.
pub fn classify(end: Option<&PaneEnd>, agent: Option<&SavedAgent>) -> Tombstone {
    let known = |agent: &SavedAgent| agent.resumable().is_some() || agent.reported_argv.is_some();
    let open = |agent: &SavedAgent| agent.place != AgentPlace::Left && known(agent);
    let resumable = agent.is_some_and(open);
    match (end.map(|end| end.cause), resumable) {
        (Some(EndCause::User), _) => Tombstone::Exited,
        (_, true) => Tombstone::Resumable,
        (Some(EndCause::Process), false) => Tombstone::Exited,
        (None | Some(EndCause::Shutdown), false) => Tombstone::Restored,
    }
}
