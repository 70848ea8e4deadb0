//! What the client knows and shows. Changed in `update` only, read by `view`.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use signaltty_core::id::PaneId;
use signaltty_core::scope::{Catalog, Listed, Project, Scope};
use signaltty_pty::Screen;

use super::ahead::Ahead;
use super::areas;
use super::board::Board;
use super::checkouts::Checkouts;
use super::dialog::Dialog;
use super::flow::Flow;
use super::gui::Gui;
use super::scroll::Scroll;
use crate::protocol::{NotificationNode, PaneNode, TabNode, Tree, WorkspaceNode};

/// Everything.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) gui: Gui,
    /// Columns and rows of the terminal.
    pub(crate) size: (u16, u16),
    /// Whether the terminal has its person's eyes, as far as it says.
    pub(crate) watched: bool,
    pub(crate) link: Link,
    /// The machine of the server, where it is not this one.
    pub(crate) host: Option<String>,
    pub(crate) tree: Tree,
    /// Whether the tree is whole: the server's list arrived.
    pub(crate) listed: bool,
    /// The tab that is shown.
    pub(crate) tab: Option<String>,
    /// The pane with the focus, by tab.
    pub(crate) focused: HashMap<String, PaneId>,
    /// The pane that is shown alone; of this client only (S0-45).
    pub(crate) zoomed: Option<PaneId>,
    pub(crate) panes: HashMap<PaneId, PaneState>,
    pub(crate) mode: Mode,
    /// What is scrolled, while a search is asked for.
    pub(crate) scrolled: Option<Box<Scroll>>,
    pub(crate) sidebar: Sidebar,
    pub(crate) scope: Scope,
    /// What Git says of the workspaces' directories.
    pub(crate) checkouts: Checkouts,
    /// What people were told, newest first.
    pub(crate) inbox: Vec<NotificationNode>,
    pub(crate) banner: bool,
    pub(crate) message: Option<Message>,
    /// Programs that a new pane can be started with.
    pub(crate) agents: Vec<String>,
    /// Where a new workspace is opened unless something else is said; empty on
    /// another machine, for the home directory there.
    pub(crate) cwd: PathBuf,
    /// The area that was last asked for, by tab.
    pub(crate) area_asked: HashMap<String, (u16, u16)>,
    /// The last number given to a stream.
    pub(crate) streams: u64,
    /// What is typed for a pane that is being made.
    pub(crate) ahead: Ahead,
    /// What is typed in one go.
    pub(crate) flow: Flow,
    /// What the mouse holds.
    pub(crate) held: Option<Held>,
    /// Rises while something is waited for; zero without animation.
    pub(crate) beat: u32,
    /// The time, for how long ago something was.
    pub(crate) now: jiff::Timestamp,
    /// The same by a clock that nobody sets.
    pub(crate) clock: Duration,
    pub(crate) dirty: Dirty,
    /// Whether more changed than what panes printed.
    pub(crate) whole: bool,
    /// Whether a pane without the focus printed since it was drawn.
    pub(crate) beside: bool,
}

/// The connection to the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Link {
    /// The first list is waited for.
    Starting,
    /// It answers.
    Up,
    /// It went away.
    Gone(String),
}

/// How much is to be drawn again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Dirty {
    /// Nothing.
    No,
    /// What the person does not look at.
    Background,
    /// What the person looks at or did.
    Foreground,
}

/// What keys mean.
#[derive(Debug, Default)]
pub(crate) enum Mode {
    /// They go to the pane, or to the sidebar.
    #[default]
    Normal,
    /// The prefix key was pressed.
    Prefix,
    /// They move through a pane's output.
    Scroll(Box<Scroll>),
    /// They answer a question.
    Dialog(Dialog),
    /// They go through a list.
    Board(Board),
    /// They turn the pages of the help; the first line shown.
    Help(u16),
    /// They turn the pages of what is known of a pane.
    About(PaneId, u16),
}

/// A pane as far as this client follows it.
#[derive(Debug, Default)]
pub(crate) struct PaneState {
    /// What its terminal shows.
    pub(crate) screen: Option<Screen>,
    /// The stream that feeds the screen.
    pub(crate) stream: Stream,
    /// Last lines of a tombstone.
    pub(crate) tail: Tail,
}

/// A pane's stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Stream {
    /// There is none.
    #[default]
    None,
    /// It is wanted or open, for a screen of this size.
    Open { number: u64, size: (u16, u16) },
    /// It failed; nothing is tried before the pane changes.
    Failed,
}

/// The saved output of a pane without a process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Tail {
    /// Not asked for yet.
    #[default]
    Unknown,
    /// Asked for.
    Asked,
    /// Lines with their styles.
    Text(String),
    /// There is none, and why.
    None(String),
}

/// The sidebar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sidebar {
    /// Whether it is shown where there is room.
    pub(crate) shown: bool,
    /// Whether keys go to it.
    pub(crate) focused: bool,
    /// The chosen line.
    pub(crate) cursor: usize,
}

/// A line for the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) text: String,
    pub(crate) bad: bool,
}

/// What the mouse holds while a button is down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Held {
    /// A line between panes: the pane before it, and where it was taken.
    Border { pane: PaneId, row: bool, at: u16 },
    /// A selection in a pane.
    Selection { pane: PaneId, from: (u16, u16) },
}

impl Model {
    pub(crate) fn new(gui: Gui, size: (u16, u16), cwd: PathBuf, scope: Scope) -> Self {
        let shown = gui.sidebar_shown;
        Self {
            gui,
            size,
            watched: true,
            link: Link::Starting,
            host: None,
            tree: Tree::default(),
            listed: false,
            tab: None,
            focused: HashMap::new(),
            zoomed: None,
            panes: HashMap::new(),
            mode: Mode::Normal,
            scrolled: None,
            sidebar: Sidebar { shown, focused: false, cursor: 0 },
            scope,
            checkouts: Checkouts::default(),
            inbox: Vec::new(),
            banner: false,
            message: None,
            agents: Vec::new(),
            cwd,
            area_asked: HashMap::new(),
            streams: 0,
            ahead: Ahead::default(),
            flow: Flow::default(),
            held: None,
            beat: 0,
            now: jiff::Timestamp::UNIX_EPOCH,
            clock: Duration::ZERO,
            dirty: Dirty::Foreground,
            whole: true,
            beside: false,
        }
    }

    /// Says that something is to be drawn.
    pub(crate) fn draw(&mut self, how: Dirty) {
        self.whole = true;
        self.printed(how);
    }

    /// Says that a pane's screen is to be drawn and nothing else changed.
    pub(crate) fn printed(&mut self, how: Dirty) {
        self.dirty = self.dirty.max(how);
        self.beside |= how == Dirty::Background;
    }

    /// The tab that is shown, with its workspace.
    pub(crate) fn shown(&self) -> Option<(&WorkspaceNode, &TabNode)> {
        let wanted = self.tab.as_deref()?;
        self.tabs().find(|(_, tab)| tab.id == wanted)
    }

    /// Every tab with its workspace.
    pub(crate) fn tabs(&self) -> impl Iterator<Item = (&WorkspaceNode, &TabNode)> {
        let of = |workspace| tabs_of(workspace);
        self.tree.workspaces.iter().flat_map(of)
    }

    /// Every pane, with where it is.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = (&WorkspaceNode, &TabNode, &PaneNode)> {
        self.tabs()
            .flat_map(|(workspace, tab)| tab.panes.iter().map(move |pane| (workspace, tab, pane)))
    }

    /// A pane of any tab.
    pub(crate) fn node(&self, pane: PaneId) -> Option<&PaneNode> {
        self.place(pane).map(|(_, _, node)| node)
    }

    /// A pane of any tab, with where it is.
    pub(crate) fn place(&self, pane: PaneId) -> Option<(&WorkspaceNode, &TabNode, &PaneNode)> {
        let id = pane.to_string();
        self.nodes().find(|(_, _, node)| node.id == id)
    }

    /// The pane of the shown tab that has the focus.
    pub(crate) fn focus(&self) -> Option<PaneId> {
        let (_, tab) = self.shown()?;
        let there = |pane: &PaneId| tab.panes.iter().any(|node| node.id == pane.to_string());
        let own = self.focused.get(&tab.id).copied().filter(there);
        own.or_else(|| tab.active_pane_id.parse().ok().filter(there))
            .or_else(|| tab.panes.first()?.id.parse().ok())
    }

    /// The focused pane's node.
    pub(crate) fn focus_node(&self) -> Option<&PaneNode> {
        self.node(self.focus()?)
    }

    /// The pane that is shown alone, if it is in the shown tab: one that its person
    /// chose, or the focused one where there is no room for all.
    pub(crate) fn zoom(&self) -> Option<PaneId> {
        let (_, tab) = self.shown()?;
        let is_there = |pane: &PaneId| tab.panes.iter().any(|node| node.id == pane.to_string());
        self.zoomed.filter(is_there).or_else(|| areas::crowded_out(self, tab))
    }

    /// The project of a workspace: the main checkout of the repository that it is
    /// in, or its directory.
    pub(crate) fn root_of(&self, workspace: &WorkspaceNode) -> PathBuf {
        self.checkouts.root(workspace.cwd.as_path())
    }

    /// Whether every project is known: the list arrived, and Git was asked about
    /// each directory in it.
    pub(crate) fn complete(&self) -> bool {
        self.listed && self.checkouts.complete(&self.tree)
    }

    /// The projects that are known. Clients that did not ask Git named one by the
    /// directory of a workspace, which may be another checkout (S0-49).
    pub(crate) fn projects(&self) -> Vec<Project> {
        let mut projects: Vec<Project> = Vec::new();
        for workspace in self.tree.workspaces.iter().filter(|w| !w.archived) {
            let (root, dir) = (self.root_of(workspace), workspace.cwd.clone().into_path());
            let at = projects.iter().position(|project| project.root == root);
            let legacy = (dir != root).then_some(dir);
            match at.and_then(|at| projects.get_mut(at)) {
                Some(project) => project.legacy.extend(legacy),
                None => projects.push(Project { root, legacy: legacy.into_iter().collect() }),
            }
        }
        projects
    }

    /// Applies the rules of the scope to what is known now (S0-48).
    pub(crate) fn settle_scope(&mut self) -> bool {
        let projects = self.projects();
        let listed = if self.complete() { Listed::Completely } else { Listed::Partly };
        let catalog = Catalog { projects: &projects, listed };
        let before = self.scope.clone();
        self.scope = before.clone().after(&catalog);
        self.scope != before
    }

    /// Workspaces that the scope shows, without archived ones; those of one project
    /// follow each other.
    pub(crate) fn in_scope(&self) -> Vec<&WorkspaceNode> {
        let shown = self.tree.workspaces.iter().filter(|workspace| !workspace.archived);
        let mut shown: Vec<_> = shown
            .map(|workspace| (self.root_of(workspace), workspace))
            .filter(|(root, _)| self.scope.shows(root))
            .collect();
        let mut roots: Vec<PathBuf> = Vec::new();
        for (root, _) in &shown {
            if !roots.contains(root) {
                roots.push(root.clone());
            }
        }
        shown.sort_by_key(|(root, _)| roots.iter().position(|other| other == root));
        shown.into_iter().map(|(_, workspace)| workspace).collect()
    }

    /// How many panes can be resumed, and how many of those were interrupted.
    pub(crate) fn resumable(&self) -> (usize, usize) {
        let resumable =
            || self.nodes().filter(|(w, _, pane)| !w.archived && pane.state == "resumable");
        let interrupted =
            resumable().filter(|(_, _, p)| p.agent.as_ref().is_some_and(|agent| agent.interrupted));
        (resumable().count(), interrupted.count())
    }
}

fn tabs_of(workspace: &WorkspaceNode) -> impl Iterator<Item = (&WorkspaceNode, &TabNode)> {
    workspace.tabs.iter().map(move |tab| (workspace, tab))
}

/// Whether a process runs in the pane, or is about to.
pub(crate) fn is_live(node: &PaneNode) -> bool {
    matches!(node.state.as_str(), "live" | "resuming")
}

/// How urgently a pane needs its person; zero where it does not.
pub(crate) fn urgency(node: &PaneNode) -> u8 {
    match node.attention.as_str() {
        "permission_required" => 5,
        "input_required" => 4,
        "error" => 3,
        "warning" => 2,
        "unread" => 1,
        _ => 0,
    }
}
