//! Commands of people and scripts, and how they are refused.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use crate::agent::AgentKind;
use crate::env::{ConfigEnv, SavedEnv};
use crate::id::{InstanceId, NotificationId, PaneId, RequestId, TabId, WorkspaceId};
use crate::layout::{Axis, Direction, EditError, Layout, Size, Weight};
use crate::notification::Severity;
use crate::restore::{FailureCode, Refusal};
use crate::session::Answer;

/// What somebody wants. Ids of new things are drawn by the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Command {
    /// Make a workspace with one tab and one pane.
    NewWorkspace {
        /// Its id.
        workspace: WorkspaceId,
        /// Its name; by default the directory's.
        name: Option<Arc<str>>,
        /// Its directory.
        cwd: PathBuf,
        /// The id of its tab.
        tab: TabId,
        /// The id of its pane.
        pane: PaneId,
        /// What runs in the pane.
        spec: PaneSpec,
    },
    /// Make a tab with one pane.
    NewTab {
        /// The workspace.
        workspace: WorkspaceId,
        /// The id of the tab.
        tab: TabId,
        /// The title of the tab.
        title: Option<Arc<str>>,
        /// The id of the pane.
        pane: PaneId,
        /// What runs in it.
        spec: PaneSpec,
    },
    /// Split a pane and start something in the new one.
    Split {
        /// The pane to split.
        pane: PaneId,
        /// On which side of it the new one goes.
        direction: Direction,
        /// The id of the new pane.
        new: PaneId,
        /// What runs in it.
        spec: PaneSpec,
    },
    /// Make a tab from a layout, with a process in each of its panes. One that
    /// cannot be started takes the others with it, and no tab is made.
    ApplyLayout {
        /// The workspace.
        workspace: WorkspaceId,
        /// The id of the tab.
        tab: TabId,
        /// The title of the tab.
        title: Option<Arc<str>>,
        /// How its panes share its area.
        layout: Layout<PaneId>,
        /// What runs in each of them.
        specs: Vec<(PaneId, PaneSpec)>,
    },
    /// Move a pane to a side of another one of its workspace. A tab that it
    /// leaves empty is closed; its process runs on.
    MovePane {
        /// The pane.
        pane: PaneId,
        /// The pane that it goes beside.
        beside: PaneId,
        /// On which side.
        direction: Direction,
    },
    /// Exchange the places of two panes of one workspace.
    SwapPanes(PaneId, PaneId),
    /// Set the share of a pane.
    SetWeight {
        /// The pane.
        pane: PaneId,
        /// In the innermost split of this axis around it; by default in the
        /// split that it is in.
        axis: Option<Axis>,
        /// Its share.
        weight: Weight,
    },
    /// Give all panes of a tab that share a split the same share.
    Equalise(TabId),
    /// Arrange the panes of a tab in another way. Neither makes nor closes one.
    SetLayout {
        /// The tab.
        tab: TabId,
        /// Holds every pane of the tab once, and no other.
        layout: Layout<PaneId>,
    },
    /// Make a pane the active one of its tab, and its tab that of its
    /// workspace. A person sees it then.
    FocusPane(PaneId),
    /// Give a tab another place among those of its workspace.
    MoveTab {
        /// The tab.
        tab: TabId,
        /// Its new place, from 0; beyond the end is the last.
        position: usize,
    },
    /// Give a workspace another place in the list.
    MoveWorkspace {
        /// The workspace.
        workspace: WorkspaceId,
        /// Its new place, from 0; beyond the end is the last.
        position: usize,
    },
    /// Close a pane; its process is stopped. The last pane takes its tab along.
    ClosePane(PaneId),
    /// Close a tab and everything in it.
    CloseTab(TabId),
    /// Close a workspace and everything in it. Never touches its directory.
    CloseWorkspace(WorkspaceId),
    /// Give a pane a title, which its program no longer changes. Empty gives
    /// the title back to the program.
    RenamePane {
        /// The pane.
        pane: PaneId,
        /// The title.
        title: Arc<str>,
    },
    /// Give a tab a title.
    RenameTab {
        /// The tab.
        tab: TabId,
        /// The title.
        title: Arc<str>,
    },
    /// Give a workspace a name. Its handle stays.
    RenameWorkspace {
        /// The workspace.
        workspace: WorkspaceId,
        /// The name.
        name: Arc<str>,
    },
    /// Change what may happen in a workspace by itself.
    SetSwitches {
        /// The workspace.
        workspace: WorkspaceId,
        /// What to change.
        change: SwitchChange,
    },
    /// Set the area that a tab's panes share.
    SetArea {
        /// The tab.
        tab: TabId,
        /// The area in cells.
        area: Size,
    },
    /// A person looked at a pane or wrote into it.
    MarkSeen(PaneId),
    /// Tell people something. About a pane, it also raises its attention.
    Notify {
        /// Its id.
        id: NotificationId,
        /// The pane that it is about.
        pane: Option<PaneId>,
        /// One line.
        title: Arc<str>,
        /// More about it.
        body: Arc<str>,
        /// How bad it is.
        severity: Severity,
    },
    /// A person read a notification, or all of them.
    MarkRead(Option<NotificationId>),
    /// A name is being made for a workspace.
    GenerateName(WorkspaceId),
    /// One was made, or could not be.
    NameGenerated {
        /// The workspace.
        workspace: WorkspaceId,
        /// The name.
        name: Option<Arc<str>>,
    },
    /// An agent asks for a decision and waits. Answered by
    /// [`Reply::Decided`](super::Reply::Decided).
    Ask {
        /// The process that asks.
        instance: InstanceId,
        /// What.
        question: Arc<str>,
    },
    /// A person decides what the agent in a pane asks.
    Decide {
        /// The pane.
        pane: PaneId,
        /// The decision.
        answer: Answer,
    },
    /// Who asked does not wait any more.
    Withdraw {
        /// The pane.
        pane: PaneId,
        /// The request that asked.
        asked: RequestId,
    },
    /// A person ends what runs in a pane (S0, D-8).
    Terminate(PaneId),
    /// Reopen the conversation of a pane without a process.
    Resume {
        /// The pane.
        pane: PaneId,
        /// The person was shown what differs and wants it all the same.
        anyway: bool,
        /// Start there instead of in the conversation's own directory.
        cwd: Option<PathBuf>,
    },
    /// Run the saved command of a pane without a process again.
    Restart {
        /// The pane.
        pane: PaneId,
        /// The agent's identity variables, where set.
        config_env: ConfigEnv,
    },
    /// Save, stop everything and go.
    Shutdown {
        /// Also while something runs.
        force: bool,
    },
}

/// What runs in a new pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaneSpec {
    /// Program and arguments; at least the program.
    pub argv: Vec<OsString>,
    /// Where.
    pub cwd: PathBuf,
    /// What may be kept of its environment.
    pub env: SavedEnv,
    /// The agent that the command starts.
    pub agent: Option<AgentKind>,
    /// The agent's identity variables, where set.
    pub config_env: ConfigEnv,
}

/// A change of a workspace's switches; what is `None` stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SwitchChange {
    /// Resume conversations when the server starts.
    pub auto_resume: Option<bool>,
    /// Continue interrupted turns.
    pub auto_continue: Option<bool>,
    /// Keep output on disk.
    pub history: Option<bool>,
    /// Hide the workspace and leave it out of everything automatic.
    pub archived: Option<bool>,
}

/// Why a command was refused. Nothing has changed then, except that a pane notes
/// why its resume was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// No such pane.
    #[error("there is no pane {0}")]
    NoSuchPane(PaneId),
    /// No such tab.
    #[error("there is no tab {0}")]
    NoSuchTab(TabId),
    /// No such workspace.
    #[error("there is no workspace {0}")]
    NoSuchWorkspace(WorkspaceId),
    /// No such notification.
    #[error("there is no notification {0}")]
    NoSuchNotification(NotificationId),
    /// Nothing waits for a decision in the pane.
    #[error("nothing in pane {0} waits for a decision")]
    NoSuchDecision(PaneId),
    /// A newer decision took the place of this one.
    #[error("pane {0} asked for something newer; this was not decided")]
    Superseded(PaneId),
    /// An id for something new is in use.
    #[error("the id of the new {0} is in use already")]
    IdInUse(&'static str),
    /// The layout has no room, or a limit is reached.
    #[error("{0}")]
    NoRoom(String),
    /// Panes cannot be arranged like that, whatever room there is.
    #[error("{0}")]
    BadArrangement(String),
    /// A process runs in the pane.
    #[error("pane {0} is {1}: it has a process already")]
    HasProcess(PaneId, &'static str),
    /// No process runs in the pane.
    #[error("pane {0} is {1}: no process runs in it")]
    NoProcess(PaneId, &'static str),
    /// The pane holds no conversation that could be reopened.
    #[error("pane {pane} cannot be resumed: {reason}")]
    NotResumable {
        /// The pane.
        pane: PaneId,
        /// What is missing.
        reason: &'static str,
    },
    /// A process could not be started.
    #[error("{0}")]
    SpawnFailed(Refusal),
    /// The conversation was not reopened. The tombstone, the conversation's id
    /// and the tail are kept.
    #[error("{refusal}")]
    ResumeRefused {
        /// The pane.
        pane: PaneId,
        /// Why.
        refusal: Refusal,
        /// What was seen.
        evidence: Vec<Arc<str>>,
    },
    /// Something runs, and the shutdown was not forced.
    #[error("{0} panes have a running process; end them, or shut down with force")]
    PanesAlive(usize),
    /// The pane or the server went away meanwhile.
    #[error("{0}")]
    Gone(&'static str),
    /// The server is stopping.
    #[error("the server is stopping")]
    Stopping,
    /// The server stopped, and the last save failed.
    #[error(
        "the server stopped, but its last save failed; what changed since the last good one is lost"
    )]
    NotSaved,
}

impl CommandError {
    /// A stable code for scripts.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoSuchPane(_) => "NO_SUCH_PANE",
            Self::NoSuchTab(_) => "NO_SUCH_TAB",
            Self::NoSuchWorkspace(_) => "NO_SUCH_WORKSPACE",
            Self::NoSuchNotification(_) => "NO_SUCH_NOTIFICATION",
            Self::NoSuchDecision(_) => "NO_SUCH_DECISION",
            Self::Superseded(_) => "SUPERSEDED",
            Self::IdInUse(_) => "INTERNAL",
            Self::NoRoom(_) => "NO_ROOM",
            Self::BadArrangement(_) => "BAD_PARAMS",
            Self::HasProcess(..) => "PANE_LIVE",
            Self::NoProcess(..) => "PANE_NOT_LIVE",
            Self::NotResumable { .. } => "NOT_RESUMABLE",
            Self::SpawnFailed(_) => "SPAWN_FAILED",
            Self::ResumeRefused { .. } => "RESUME_REFUSED",
            Self::PanesAlive(_) => "PANES_ALIVE",
            Self::Gone(_) => "GONE",
            Self::Stopping => "STOPPING",
            Self::NotSaved => "NOT_SAVED",
        }
    }

    /// The reason of a refused resume or a failed start.
    pub fn failure(&self) -> Option<FailureCode> {
        match self {
            Self::SpawnFailed(refusal) | Self::ResumeRefused { refusal, .. } => Some(refusal.code),
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
