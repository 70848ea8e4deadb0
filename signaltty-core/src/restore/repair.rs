//! Puts saved records together so that every pane has one place.
//!
//! [`repair`] takes anything and gives a valid session, with a list of what was
//! not as it should be (C083, C089). The smaller decides: a pane's record says
//! which tab it is in, a tab's which workspace. What they name and nobody
//! describes is made anew under that same id, so the same records always give
//! the same session. Only a record that says nothing is left out, and each time
//! it is said.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::fit::fit;
use crate::id::{PaneId, TabId, WorkspaceId};
use crate::layout::{Layout, Limits, Size};
use crate::notification::{KEPT, Notification};
use crate::pane::SavedPane;
use crate::saved::SavedSession;
use crate::time::UnixMillis;
use crate::workspace::{DEFAULT_AREA, Naming, SavedTab, SavedWorkspace, Switches, handle_for};

/// Records that may not fit together.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    /// Workspaces, in the order in which people see them.
    pub workspaces: Vec<Arc<SavedWorkspace>>,
    /// Tabs, in order within their workspace.
    pub tabs: Vec<TabDraft>,
    /// Panes.
    pub panes: Vec<Arc<SavedPane>>,
    /// Notifications, oldest first.
    pub notifications: Vec<Arc<Notification>>,
}

/// A tab of which some may be unknown.
#[derive(Debug, Clone)]
pub struct TabDraft {
    /// Its id.
    pub id: TabId,
    /// Its workspace, if that could be read.
    pub workspace: Option<WorkspaceId>,
    /// Its title.
    pub title: Arc<str>,
    /// How its panes share its area, if that could be read.
    pub layout: Option<Layout<PaneId>>,
    /// What had to be changed about the layout already.
    pub changes: Vec<String>,
    /// The pane that has the focus, if that could be read.
    pub active_pane: Option<PaneId>,
    /// Its area.
    pub area: Size,
    /// When it was made.
    pub created_at: UnixMillis,
}

/// One thing that is not in the session as it was in the records.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RepairProblem {
    /// A record was left out.
    #[error("entry {index} of {list} was left out: {why}")]
    RecordLeftOut {
        /// The list that it is in.
        list: &'static str,
        /// Its place in that list, from 0.
        index: usize,
        /// What is wrong with it.
        why: String,
    },
    /// A part of a record was replaced.
    #[error("{part} of {record} was replaced: {why}")]
    PartReplaced {
        /// The record.
        record: String,
        /// The part.
        part: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// The layout of a tab did not fit its panes.
    #[error("the layout of {tab} was repaired: {why}")]
    LayoutRepaired {
        /// The tab.
        tab: TabId,
        /// What was wrong.
        why: String,
    },
    /// A tab was made anew for panes whose own tab is missing or full.
    #[error("{tab} was made anew for {panes} panes without a place")]
    TabRecovered {
        /// The tab.
        tab: TabId,
        /// How many panes are in it.
        panes: usize,
    },
    /// A workspace was made anew for tabs whose own is missing.
    #[error("{workspace} was made anew for tabs without a workspace")]
    WorkspaceRecovered {
        /// The workspace.
        workspace: WorkspaceId,
    },
    /// A tab had no panes, so it was left out.
    #[error("{tab} was left out, since it has no panes")]
    TabLeftOut {
        /// The tab.
        tab: TabId,
    },
}

/// Makes a valid session of any records.
#[must_use]
pub fn repair(draft: Draft, limits: &Limits) -> (SavedSession, Vec<RepairProblem>) {
    let mut problems = Vec::new();
    let Draft { workspaces, tabs, panes, mut notifications } = draft;
    notifications.drain(..notifications.len().saturating_sub(KEPT));
    let mut repair = Repair {
        limits,
        workspaces: unique("workspaces", workspaces, |w| w.id, &mut problems),
        known: BTreeSet::new(),
        tabs: Vec::new(),
        panes: BTreeMap::new(),
        recovery: None,
        problems: Vec::new(),
    };
    repair.known = repair.workspaces.iter().map(|workspace| workspace.id).collect();
    let panes = unique("panes", panes, |pane| pane.id, &mut problems);
    let tabs = unique("tabs", tabs, |tab| tab.id, &mut problems);
    let order: Vec<_> = panes.iter().map(|pane| pane.id).collect();
    repair.panes = panes.into_iter().map(|pane| (pane.id, pane)).collect();
    repair.place_panes(tabs, &order);
    repair.settle_workspaces();
    problems.append(&mut repair.problems);
    let mut panes = repair.panes;
    let saved = SavedSession {
        workspaces: repair.workspaces,
        tabs: repair.tabs.into_iter().map(Arc::new).collect(),
        panes: order.iter().filter_map(|id| panes.remove(id)).collect(),
        notifications,
        ..SavedSession::default()
    };
    (saved, problems)
}

/// Leaves out records whose id an earlier one has.
fn unique<T, K: Ord + Copy + ToString>(
    list: &'static str,
    records: Vec<T>,
    key: impl Fn(&T) -> K,
    problems: &mut Vec<RepairProblem>,
) -> Vec<T> {
    let mut seen = BTreeSet::new();
    let mut kept = Vec::with_capacity(records.len());
    for (index, record) in records.into_iter().enumerate() {
        let id = key(&record);
        if seen.insert(id) {
            kept.push(record);
        } else {
            let why = format!("{} is there already", id.to_string());
            problems.push(RepairProblem::RecordLeftOut { list, index, why });
        }
    }
    kept
}

/// A session while it is put together.
struct Repair<'a> {
    limits: &'a Limits,
    workspaces: Vec<Arc<SavedWorkspace>>,
    known: BTreeSet<WorkspaceId>,
    tabs: Vec<SavedTab>,
    panes: BTreeMap<PaneId, Arc<SavedPane>>,
    /// Where tabs go that do not say a workspace.
    recovery: Option<WorkspaceId>,
    problems: Vec<RepairProblem>,
}

impl Repair<'_> {
    /// Gives every pane a tab whose layout holds it.
    fn place_panes(&mut self, tabs: Vec<TabDraft>, order: &[PaneId]) {
        let mut members: BTreeMap<TabId, Vec<PaneId>> = BTreeMap::new();
        for pane in order.iter().filter_map(|id| self.panes.get(id)) {
            members.entry(pane.tab).or_default().push(pane.id);
        }
        let mut taken: BTreeSet<_> = members.keys().copied().collect();
        taken.extend(tabs.iter().map(|tab| tab.id));
        for tab in tabs {
            match members.remove(&tab.id) {
                Some(panes) => self.add_tabs(tab, panes, &mut taken),
                None => self.problems.push(RepairProblem::TabLeftOut { tab: tab.id }),
            }
        }
        for (id, panes) in members {
            let tab = self.recovered(id, None, &panes);
            self.add_tabs(tab, panes, &mut taken);
        }
    }

    fn recovered(
        &mut self,
        id: TabId,
        workspace: Option<WorkspaceId>,
        panes: &[PaneId],
    ) -> TabDraft {
        self.problems.push(RepairProblem::TabRecovered { tab: id, panes: panes.len() });
        TabDraft {
            id,
            workspace,
            title: RECOVERED.into(),
            layout: None,
            changes: Vec::new(),
            active_pane: None,
            area: DEFAULT_AREA,
            created_at: UnixMillis(0),
        }
    }

    /// Adds a tab, and further ones for panes that it has no room for.
    fn add_tabs(&mut self, tab: TabDraft, panes: Vec<PaneId>, taken: &mut BTreeSet<TabId>) {
        let (mut tab, mut panes) = (tab, panes);
        loop {
            let (workspace, displaced) = self.add_tab(tab, &panes);
            let Some(first) = displaced.first() else {
                return;
            };
            // Taken only where records were made to collide; ids are 80 bits.
            let mut id = TabId::named_after(*first);
            while !taken.insert(id) {
                id = id.next();
            }
            for pane in &displaced {
                if let Some(pane) = self.panes.get_mut(pane) {
                    Arc::make_mut(pane).tab = id;
                }
            }
            tab = self.recovered(id, Some(workspace), &displaced);
            panes = displaced;
        }
    }

    fn add_tab(&mut self, tab: TabDraft, panes: &[PaneId]) -> (WorkspaceId, Vec<PaneId>) {
        let workspace = self.workspace_of(&tab, panes);
        let made_anew = tab.layout.is_none() && tab.changes.is_empty();
        let mut changes = tab.changes;
        let fitted = fit(tab.layout, panes, self.limits);
        changes.extend(fitted.changes);
        // Limits that allow no pane at all would lose them: one has no limit.
        let first = panes.first().copied();
        let Some(layout) = fitted.layout.or_else(|| first.map(Layout::single)) else {
            return (workspace, Vec::new());
        };
        if !changes.is_empty() && !made_anew {
            let why = changes.join("; ");
            self.problems.push(RepairProblem::LayoutRepaired { tab: tab.id, why });
        }
        let active = tab.active_pane.filter(|pane| layout.contains(*pane));
        if active.is_none() && tab.active_pane.is_some() {
            self.replaced(tab.id.to_string(), "the active pane", "it is not in the tab");
        }
        let mut displaced = fitted.displaced;
        displaced.retain(|pane| !layout.contains(*pane));
        self.tabs.push(SavedTab {
            id: tab.id,
            workspace,
            title: tab.title,
            active_pane: active.unwrap_or_else(|| layout.first()),
            layout,
            area: tab.area,
            created_at: tab.created_at,
        });
        (workspace, displaced)
    }

    /// The workspace that a tab names, made anew if it is missing.
    fn workspace_of(&mut self, tab: &TabDraft, panes: &[PaneId]) -> WorkspaceId {
        let recovery = || *self.recovery.get_or_insert_with(|| WorkspaceId::named_after(tab.id));
        let id = tab.workspace.unwrap_or_else(recovery);
        if self.known.insert(id) {
            self.problems.push(RepairProblem::WorkspaceRecovered { workspace: id });
            let cwd = panes.first().and_then(|pane| self.panes.get(pane));
            self.workspaces.push(Arc::new(SavedWorkspace {
                id,
                handle: "".into(),
                name: RECOVERED.into(),
                naming: Naming::Manual,
                cwd: cwd.map_or_else(|| "/".into(), |pane| pane.cwd.clone()),
                active_tab: None,
                switches: Switches::default(),
                archived: false,
                created_at: UnixMillis(0),
            }));
        }
        id
    }

    /// Gives each workspace an active tab of its own and a handle of its own.
    fn settle_workspaces(&mut self) {
        let mut tabs: BTreeMap<WorkspaceId, Vec<TabId>> = BTreeMap::new();
        for tab in &self.tabs {
            tabs.entry(tab.workspace).or_default().push(tab.id);
        }
        let mut handles: BTreeSet<Arc<str>> = BTreeSet::new();
        let mut workspaces = std::mem::take(&mut self.workspaces);
        for workspace in &mut workspaces {
            let tabs = tabs.get(&workspace.id).map(Vec::as_slice).unwrap_or_default();
            let active = workspace.active_tab.filter(|tab| tabs.contains(tab));
            if active.is_none() && (workspace.active_tab.is_some() || !tabs.is_empty()) {
                let why = "it is not in the workspace";
                self.replaced(workspace.id.to_string(), "the active tab", why);
                Arc::make_mut(workspace).active_tab = tabs.first().copied();
            }
            if !is_handle(&workspace.handle) || handles.contains(&workspace.handle) {
                let why = "it is missing, malformed or taken";
                self.replaced(workspace.id.to_string(), "the handle", why);
                let handle = handle_for(&workspace.name, |taken| handles.contains(taken));
                Arc::make_mut(workspace).handle = handle;
            }
            handles.insert(Arc::clone(&workspace.handle));
        }
        self.workspaces = workspaces;
    }

    fn replaced(&mut self, record: String, part: &'static str, why: &str) {
        self.problems.push(RepairProblem::PartReplaced { record, part, why: why.into() });
    }
}

impl From<SavedSession> for Draft {
    fn from(saved: SavedSession) -> Self {
        Self {
            workspaces: saved.workspaces,
            tabs: saved.tabs.into_iter().map(TabDraft::from).collect(),
            panes: saved.panes,
            notifications: saved.notifications,
        }
    }
}

impl From<Arc<SavedTab>> for TabDraft {
    fn from(tab: Arc<SavedTab>) -> Self {
        let tab = Arc::unwrap_or_clone(tab);
        Self {
            id: tab.id,
            workspace: Some(tab.workspace),
            title: tab.title,
            layout: Some(tab.layout),
            changes: Vec::new(),
            active_pane: Some(tab.active_pane),
            area: tab.area,
            created_at: tab.created_at,
        }
    }
}

fn is_handle(text: &str) -> bool {
    // A handle is what is made of itself.
    !text.is_empty() && *handle_for(text, |_| false) == *text
}

const RECOVERED: &str = "recovered";
