//! Every invariant of a session, for tests after each step.

use std::collections::BTreeSet;

use super::Session;
use crate::agent::{AgentKind, Conversation};
use crate::id::{PaneId, TabId, WorkspaceId};

/// A bug in the core.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// A layout is malformed (L1, L2, L4, L8).
    #[error("layout of {tab}: {what}")]
    Layout {
        /// The tab.
        tab: TabId,
        /// What is wrong.
        what: String,
    },
    /// A pane is not in exactly one tab (L3, S3).
    #[error("pane {0} is not in exactly one tab")]
    Placement(PaneId),
    /// The active pane is not in its tab (L5).
    #[error("the active pane of {0} is not in it")]
    ActivePane(TabId),
    /// A tab is not in exactly one workspace.
    #[error("tab {0} is not in exactly one workspace")]
    TabPlacement(TabId),
    /// The active tab is not in its workspace.
    #[error("the active tab of {0} is not in it")]
    ActiveTab(WorkspaceId),
    /// An instance does not belong to the pane that it is noted for.
    #[error("instances and the state of pane {0} disagree")]
    Instance(PaneId),
    /// A deadline or an open conversation would not be found.
    #[error("an index and pane {0} disagree")]
    Index(PaneId),
    /// A handle does not lead to its workspace, or not to one alone.
    #[error("the handle of {0} does not name it")]
    Handle(WorkspaceId),
    /// One conversation is open in two panes (R8).
    #[error("panes {0} and {1} are reopening one conversation")]
    Duplicate(PaneId, PaneId),
}

impl Session {
    /// Checks everything that must hold between two inputs.
    ///
    /// # Errors
    ///
    /// The first violation, which is a bug.
    pub fn check(&self) -> Result<(), Violation> {
        let mut placed = BTreeSet::new();
        let mut tabs = BTreeSet::new();
        for entry in self.workspaces.values() {
            for tab in &entry.tabs {
                let owned = self.tabs.get(tab).is_some_and(|t| t.workspace == entry.record.id);
                if !tabs.insert(*tab) || !owned {
                    return Err(Violation::TabPlacement(*tab));
                }
            }
            if self.handles.get(&entry.record.handle) != Some(&entry.record.id) {
                return Err(Violation::Handle(entry.record.id));
            }
            let active = entry.record.active_tab;
            if active.is_some_and(|tab| !entry.tabs.contains(&tab)) {
                return Err(Violation::ActiveTab(entry.record.id));
            }
        }
        for tab in self.tabs.values() {
            if !tabs.contains(&tab.id) {
                return Err(Violation::TabPlacement(tab.id));
            }
            tab.layout.check(&self.config.layout).map_err(|violation| Violation::Layout {
                tab: tab.id,
                what: violation.to_string(),
            })?;
            if !tab.layout.contains(tab.active_pane) {
                return Err(Violation::ActivePane(tab.id));
            }
            for pane in tab.layout.leaves() {
                let owned = self.panes.get(&pane).is_some_and(|p| p.record.tab == tab.id);
                if !placed.insert(pane) || !owned {
                    return Err(Violation::Placement(pane));
                }
            }
        }
        self.check_panes(&placed)
    }

    fn check_panes(&self, placed: &BTreeSet<PaneId>) -> Result<(), Violation> {
        let mut open: Vec<(PaneId, &AgentKind, &Conversation)> = Vec::new();
        for (id, entry) in self.panes.iter() {
            if !placed.contains(id) {
                return Err(Violation::Placement(*id));
            }
            let instance = entry.state.instance();
            let noted = instance.is_none_or(|i| self.instances.get(&i) == Some(id));
            let starts = instance.is_some_and(|i| self.starting.contains_key(&i));
            if !noted || starts != entry.is_spawning() {
                return Err(Violation::Instance(*id));
            }
            let resuming = matches!(entry.state, crate::restore::PaneState::Resuming(_));
            let agent = entry.record.agent.as_ref();
            let conversation = agent.and_then(|a| Some((&a.kind, a.conversation.as_ref()?)));
            if let (true, Some((kind, conversation))) = (resuming, conversation) {
                for (other, other_kind, held) in &open {
                    if kind == *other_kind && conversation.same_as(held) {
                        return Err(Violation::Duplicate(*other, *id));
                    }
                }
                open.push((*id, kind, conversation));
            }
        }
        if let Some(pane) = self.panes.misplaced() {
            return Err(Violation::Index(pane));
        }
        for (instance, again) in &self.restarting {
            if !self.starting.contains_key(instance) {
                return Err(Violation::Instance(again.pane));
            }
        }
        for (instance, pane) in &self.instances {
            if self.panes.get(pane).and_then(|e| e.state.instance()) != Some(*instance) {
                return Err(Violation::Instance(*pane));
            }
        }
        Ok(())
    }
}
