//! Commands of people and scripts.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use crate::agent::{AgentKind, LaunchOptions};
use crate::env::{ConfigEnv, SavedEnv};
use crate::id::{InstanceId, NotificationId, PaneId, RequestId, TabId, WorkspaceId};
use crate::layout::{Axis, Direction, Layout, Size, Weight};
use crate::notification::Severity;
use crate::pane::PaneSignal;
use crate::session::{Answer, Forget, QuestionId, SessionReport};

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
        /// Only while somebody looks at one of its panes alone: not kept (S0-45).
        zoomed: bool,
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
    /// An agent says which session it has open, and how to reopen it.
    ReportSession {
        /// The process that it comes from.
        instance: InstanceId,
        /// What it says.
        report: SessionReport,
    },
    /// A person decides what the agent in a pane asks.
    Decide {
        /// The pane.
        pane: PaneId,
        /// The question that they saw.
        question: QuestionId,
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
    /// Send a signal to the program of a pane.
    Signal {
        /// The pane.
        pane: PaneId,
        /// Which.
        signal: PaneSignal,
    },
    /// Reopen the conversation of a pane without a process.
    Resume {
        /// The pane.
        pane: PaneId,
        /// The person was shown what differs and wants it all the same.
        anyway: bool,
        /// Not the one that it holds but the one that it kept when nothing
        /// proved that it was reopened.
        previous: bool,
        /// Start there instead of in the conversation's own directory.
        cwd: Option<PathBuf>,
    },
    /// Let the interrupted turn of a pane go on, once its conversation is open
    /// and proven; reopen it first where that is needed.
    Continue(PaneId),
    /// Run the saved command of a pane without a process again.
    Restart {
        /// The pane.
        pane: PaneId,
        /// The agent's identity variables, where set.
        config_env: ConfigEnv,
    },
    /// Remove what panes said from the session and from the disk (D-30).
    /// Answered by [`Reply::Forgotten`](super::Reply::Forgotten).
    Forget(Forget),
    /// Save, stop everything and go.
    Shutdown {
        /// Also while something runs.
        force: bool,
        /// Mark every running turn first, so that the next start continues it
        /// whatever the switches say; none is marked if one cannot be (S1-24).
        continue_turns: bool,
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
    /// The options in the command that its agent's adapter knows (D-29).
    pub options: LaunchOptions,
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
