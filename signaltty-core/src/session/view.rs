//! Reading a session, for lists and for what a command refers to.

use crate::agent::{AgentKind, AgentSessionId, Receipt};
use crate::id::{InstanceId, PaneId, TabId, WorkspaceId};
use crate::pane::SavedPane;
use crate::restore::PaneState;
use crate::session::{Decision, PaneVerdict, Session};
use crate::workspace::{SavedTab, SavedWorkspace};

/// A workspace and its tabs.
#[derive(Debug, Clone, Copy)]
pub struct WorkspaceView<'a> {
    session: &'a Session,
    /// The workspace.
    pub record: &'a SavedWorkspace,
    tabs: &'a [TabId],
}

/// A tab and its panes.
#[derive(Debug, Clone, Copy)]
pub struct TabView<'a> {
    session: &'a Session,
    /// The tab.
    pub record: &'a SavedTab,
}

/// A pane with what dies with the server.
#[derive(Debug, Clone, Copy)]
pub struct PaneView<'a> {
    /// What is saved of it.
    pub record: &'a SavedPane,
    /// Its state.
    pub state: &'a PaneState,
    /// What is known about its conversation.
    pub verdict: Option<&'a PaneVerdict>,
    /// What its agent waits for.
    pub decision: Option<&'a Decision>,
    /// A conversation that its agent shows and that nobody has used yet.
    pub candidate: Option<&'a AgentSessionId>,
    /// Another pane that has the same conversation open.
    pub shared_with: Option<PaneId>,
    /// The agent that a person started in its shell and that runs now.
    pub followed: Option<&'a AgentKind>,
    /// The last tool call before an interruption, where a record told it.
    pub receipt: Option<&'a Receipt>,
}

impl Session {
    /// All workspaces, in the order in which people see them.
    pub fn workspaces(&self) -> impl Iterator<Item = WorkspaceView<'_>> {
        self.order.iter().filter_map(|id| self.workspaces.get(id)).map(|entry| WorkspaceView {
            session: self,
            record: &entry.record,
            tabs: &entry.tabs,
        })
    }

    /// A tab.
    pub fn tab(&self, id: TabId) -> Option<TabView<'_>> {
        self.tabs.get(&id).map(|record| TabView { session: self, record })
    }

    /// A pane.
    pub fn pane(&self, id: PaneId) -> Option<PaneView<'_>> {
        self.panes.get(&id).map(|entry| PaneView {
            record: &entry.record,
            state: &entry.state,
            verdict: entry.run.verdict.as_ref(),
            decision: entry.decision.as_ref(),
            candidate: entry.run.candidate.as_ref(),
            shared_with: self.shared_with(id),
            followed: entry.run.followed.as_ref().map(|(kind, _)| kind),
            receipt: entry.receipt.as_ref(),
        })
    }

    /// The ids of all panes, in no meaningful order.
    pub fn pane_ids(&self) -> impl Iterator<Item = PaneId> {
        self.panes.iter().map(|(id, _)| *id)
    }

    /// The ids of all tabs, in no meaningful order.
    pub fn tab_ids(&self) -> impl Iterator<Item = TabId> {
        self.tabs.keys().copied()
    }

    /// The workspace with this id or handle.
    pub fn workspace_by_name(&self, name: &str) -> Option<WorkspaceId> {
        let by_id = name.parse().ok().filter(|id| self.workspaces.contains_key(id));
        by_id.or_else(|| self.handles.get(name).copied())
    }

    /// The pane that an instance runs in, while it may still report.
    pub fn pane_of(&self, instance: InstanceId) -> Option<PaneId> {
        self.instances.get(&instance).copied()
    }

    /// Whether a prompt of ours is on its way to this instance, whose sign that
    /// it took it is awaited.
    pub fn awaits_sign(&self, instance: InstanceId) -> bool {
        self.pane_of(instance).is_some_and(|pane| self.awaits_acceptance(pane))
    }

    /// How many panes have a process.
    pub fn live_panes(&self) -> usize {
        self.instances.len()
    }
}

impl<'a> WorkspaceView<'a> {
    /// Its tabs, in order.
    pub fn tabs(&self) -> impl Iterator<Item = TabView<'a>> + use<'a> {
        let session = self.session;
        self.tabs.iter().filter_map(move |id| session.tab(*id))
    }
}

impl<'a> TabView<'a> {
    /// Its panes, in the order of the layout.
    pub fn panes(&self) -> impl Iterator<Item = PaneView<'a>> + use<'a> {
        let session = self.session;
        self.record.layout.leaves().filter_map(move |id| session.pane(id))
    }
}
