//! How commands are refused.

use std::sync::Arc;

use crate::id::{NotificationId, PaneId, TabId, WorkspaceId};
use crate::layout::EditError;
use crate::restore::{FailureCode, Refusal};
use crate::session::QuestionId;

/// Why a command was refused. Nothing has changed then, except that a pane notes
/// why its resume was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// No such pane.
    #[error("there is no pane {0}; `signaltty ls` shows which there are")]
    NoSuchPane(PaneId),
    /// No such tab.
    #[error("there is no tab {0}; `signaltty ls` shows which there are")]
    NoSuchTab(TabId),
    /// No such workspace.
    #[error("there is no workspace {0}; `signaltty ls` shows which there are")]
    NoSuchWorkspace(WorkspaceId),
    /// No such notification.
    #[error("there is no notification {0}; `signaltty notifications` lists the newest 200")]
    NoSuchNotification(NotificationId),
    /// Nothing waits for a decision in the pane.
    #[error("nothing in pane {0} waits for a decision; `signaltty ls` shows where something does")]
    NoSuchDecision(PaneId),
    /// The pane asks for something else than what the answer is for.
    #[error(
        "pane {pane} asks something else by now, so nothing was decided; look at it and answer {asks}"
    )]
    QuestionChanged {
        /// The pane.
        pane: PaneId,
        /// What it asks now.
        asks: QuestionId,
    },
    /// A newer decision took the place of this one.
    #[error("pane {0} asked for something newer, so this was not decided; answer what it asks now")]
    Superseded(PaneId),
    /// An id for something new is in use.
    #[error("the id of the new {0} is in use already; ask again")]
    IdInUse(&'static str),
    /// The layout has no room, or a limit is reached.
    #[error("{0}")]
    NoRoom(String),
    /// Panes cannot be arranged like that, whatever room there is.
    #[error("{0}")]
    BadArrangement(String),
    /// A process runs in the pane.
    #[error("pane {0} is {1}: it has a process already; `signaltty attach {0}` shows it")]
    HasProcess(PaneId, &'static str),
    /// No process runs in the pane.
    #[error("pane {0} is {1}: no process runs in it that could be signalled")]
    NoProcess(PaneId, &'static str),
    /// The pane holds no conversation that could be reopened.
    #[error("pane {pane} cannot be resumed: {reason}")]
    NotResumable {
        /// The pane.
        pane: PaneId,
        /// What is missing.
        reason: &'static str,
    },
    /// What an agent reported of its session was not taken.
    #[error("the session was not noted for pane {pane}: {reason}")]
    NotReported {
        /// The pane.
        pane: PaneId,
        /// Why.
        reason: &'static str,
    },
    /// A process could not be started.
    #[error("{}{}", .0, another(.0.code))]
    SpawnFailed(Refusal),
    /// The saved command of a pane could not be run again.
    #[error("{refusal}{}", beside(*.pane, .refusal.code))]
    NotRestarted {
        /// The pane.
        pane: PaneId,
        /// Why.
        refusal: Refusal,
    },
    /// The conversation was not reopened. The tombstone, the conversation's id
    /// and the tail are kept.
    #[error("{refusal}{}", ways(*.pane, *.previous, .refusal.code))]
    ResumeRefused {
        /// The pane.
        pane: PaneId,
        /// It was the one that the pane held previously.
        previous: bool,
        /// Why.
        refusal: Refusal,
        /// What was seen.
        evidence: Vec<Arc<str>>,
    },
    /// No turn of the pane's agent was interrupted.
    #[error(
        "there is nothing to continue in pane {0}: no turn of an agent was interrupted in it; \
         write to the agent instead"
    )]
    NothingToContinue(PaneId),
    /// A process runs in the pane whose conversation is not proven.
    #[error(
        "pane {0} is not continued: nothing proves that its process holds the saved \
         conversation; look at it, and write to the agent yourself"
    )]
    NotProven(PaneId),
    /// The prompt was not sent, or the agent did not take it.
    #[error("the turn in pane {pane} was not continued: {why}; send a new message to go on")]
    NotContinued {
        /// The pane.
        pane: PaneId,
        /// Why.
        why: Arc<str>,
    },
    /// Running turns could not be marked, so the server goes on (S1-24).
    #[error(
        "the running turns could not be marked on the disk, so the server was not stopped; \
         `signaltty status` says what the disk lacks, or stop it without `--continue`"
    )]
    NotMarked,
    /// Something runs, and the shutdown was not forced.
    #[error("{}", alive(*.0))]
    PanesAlive(usize),
    /// The pane or the server went away meanwhile.
    #[error("{0}")]
    Gone(&'static str),
    /// Not all of what was to be forgotten was removed.
    #[error("not all of it was removed: {0}; ask again to remove the rest")]
    NotForgotten(Arc<str>),
    /// The server is stopping.
    #[error("the server is stopping and takes no more requests; ask the next one")]
    Stopping,
    /// The server stopped, and the last save failed.
    #[error(
        "the server stopped, but its last save failed; what changed since the last good one is \
         lost, and `signaltty-server doctor` looks at what is there"
    )]
    NotSaved,
}

/// What a person can do about it besides what the refusal says of the record.
fn ways(pane: PaneId, previous: bool, code: FailureCode) -> String {
    let which = if previous { " --previous" } else { "" };
    match code {
        FailureCode::CwdMissing => {
            format!(", or start elsewhere with: signaltty resume {pane}{which} --cwd DIR")
        }
        code if code.can_be_overridden() => {
            format!(", or open it as it is with: signaltty resume {pane}{which} --anyway")
        }
        _ => String::new(),
    }
}

/// The same for what was to be started anew.
fn another(code: FailureCode) -> &'static str {
    if code == FailureCode::CwdMissing { ", or name another one with --cwd" } else { "" }
}

/// The same for a saved command, which is run where it was or not at all.
fn beside(pane: PaneId, code: FailureCode) -> String {
    if code != FailureCode::CwdMissing {
        return String::new();
    }
    format!(", or start something elsewhere with: signaltty pane split {pane} --cwd DIR")
}

fn alive(count: usize) -> String {
    let (panes, them) = if count == 1 {
        ("1 pane has".to_owned(), "it")
    } else {
        (format!("{count} panes have"), "them")
    };
    format!("{panes} a running process; end {them}, or `signaltty shutdown --force` ends {them}")
}

macro_rules! codes {
    ($($pattern:pat => $code:literal,)*) => {
        /// A stable code for scripts.
        pub fn code(&self) -> &'static str {
            match self { $($pattern => $code,)* }
        }

        /// Every code, in the order of the errors; some stand there twice.
        pub const CODES: &[&str] = &[$($code),*];
    };
}

impl CommandError {
    codes! {
        Self::NoSuchPane(_) => "NO_SUCH_PANE",
        Self::NoSuchTab(_) => "NO_SUCH_TAB",
        Self::NoSuchWorkspace(_) => "NO_SUCH_WORKSPACE",
        Self::NoSuchNotification(_) => "NO_SUCH_NOTIFICATION",
        Self::NoSuchDecision(_) => "NO_SUCH_DECISION",
        Self::QuestionChanged { .. } => "QUESTION_CHANGED",
        Self::Superseded(_) => "SUPERSEDED",
        Self::IdInUse(_) => "INTERNAL",
        Self::NoRoom(_) => "NO_ROOM",
        Self::BadArrangement(_) => "BAD_PARAMS",
        Self::HasProcess(..) => "PANE_LIVE",
        Self::NoProcess(..) => "PANE_NOT_LIVE",
        Self::NotResumable { .. } => "NOT_RESUMABLE",
        Self::NotReported { .. } => "NOT_REPORTED",
        Self::SpawnFailed(_) => "SPAWN_FAILED",
        Self::NotRestarted { .. } => "SPAWN_FAILED",
        Self::ResumeRefused { .. } => "RESUME_REFUSED",
        Self::NothingToContinue(_) => "NOT_INTERRUPTED",
        Self::NotProven(_) => "NOT_PROVEN",
        Self::NotContinued { .. } => "NOT_CONTINUED",
        Self::NotMarked => "NOT_SAVED",
        Self::PanesAlive(_) => "PANES_ALIVE",
        Self::Gone(_) => "GONE",
        Self::NotForgotten(_) => "NOT_FORGOTTEN",
        Self::Stopping => "STOPPING",
        Self::NotSaved => "NOT_SAVED",
    }

    /// The reason of a refused resume or a failed start.
    pub fn failure(&self) -> Option<FailureCode> {
        match self {
            Self::SpawnFailed(refusal)
            | Self::NotRestarted { refusal, .. }
            | Self::ResumeRefused { refusal, .. } => Some(refusal.code),
            _ => None,
        }
    }
}

impl From<EditError<PaneId>> for CommandError {
    fn from(error: EditError<PaneId>) -> Self {
        use EditError::{NoRoom, TooDeep, TooMany};
        match error {
            TooDeep { .. } | TooMany { .. } | NoRoom { .. } => Self::NoRoom(error.to_string()),
            _ => Self::BadArrangement(error.to_string()),
        }
    }
}
