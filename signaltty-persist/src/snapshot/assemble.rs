//! Puts the records of a file together so that every pane has one place.
//!
//! The smaller decides: a pane's record says which tab it is in, a tab's which
//! workspace. What they name and nobody describes is made anew under that same
//! id, so the same file always gives the same session. Only a record that says
//! nothing is left out, and each time it is said.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use signaltty_core::id::{PaneId, TabId, WorkspaceId};
use signaltty_core::notification::KEPT;
use signaltty_core::pane::SavedPane;
use signaltty_core::saved::SavedSession;
use signaltty_core::time::UnixMillis;
use signaltty_core::workspace::{
    DEFAULT_AREA, Naming, SavedTab, SavedWorkspace, Switches, handle_for,
};

use super::convert::TabRead;
use super::layout::fit;
use super::lists::{records, unique};
use super::problem::{Corruption, Problem};
use super::schema::{Lists, MAX_PANES};

/// Makes a session of the records, or says why that cannot be done.
pub(super) fn assemble(
    lists: Lists,
    problems: &mut Vec<Problem>,
) -> Result<SavedSession, Corruption> {
    let found = [
        ("panes", lists.panes.len()),
        ("tabs", lists.tabs.len()),
        ("workspaces", lists.workspaces.len()),
    ];
    for (what, found) in found {
        if found > MAX_PANES {
            return Err(Corruption::TooMany { what, found, limit: MAX_PANES });
        }
    }
    let something = found.iter().any(|(_, found)| *found > 0);
    let workspaces =
        records("workspaces", lists.workspaces, problems, |found, reader| reader.workspace(found));
    let tabs = records("tabs", lists.tabs, problems, |found, reader| reader.tab(found));
    let panes = records("panes", lists.panes, problems, |found, reader| reader.pane(found));
    let mut notifications =
        records("notifications", lists.notifications, problems, |n, reader| reader.notification(n));
    notifications.drain(..notifications.len().saturating_sub(KEPT));

    let mut session = Assembly {
        workspaces: unique("workspaces", workspaces, |w| w.id, problems),
        tabs: Vec::new(),
        panes: unique("panes", panes, |pane| pane.id, problems),
        recovery: None,
        problems,
    };
    let tabs = unique("tabs", tabs, |tab| tab.id, session.problems);
    session.place_panes(tabs);
    session.settle_workspaces();
    let session = SavedSession {
        workspaces: session.workspaces.into_iter().map(Arc::new).collect(),
        tabs: session.tabs.into_iter().map(Arc::new).collect(),
        panes: session.panes.into_iter().map(Arc::new).collect(),
        notifications: notifications.into_iter().map(Arc::new).collect(),
        ..SavedSession::default()
    };
    if something && session.is_empty() {
        return Err(Corruption::NothingUsable);
    }
    Ok(session)
}

/// A session while it is put together.
struct Assembly<'a> {
    workspaces: Vec<SavedWorkspace>,
    tabs: Vec<SavedTab>,
    panes: Vec<SavedPane>,
    /// Where tabs go that do not say a workspace.
    recovery: Option<WorkspaceId>,
    problems: &'a mut Vec<Problem>,
}

impl Assembly<'_> {
    /// Gives every pane a tab whose layout holds it.
    fn place_panes(&mut self, tabs: Vec<TabRead>) {
        let mut members: BTreeMap<TabId, Vec<PaneId>> = BTreeMap::new();
        for pane in &self.panes {
            members.entry(pane.tab).or_default().push(pane.id);
        }
        for tab in tabs {
            match members.remove(&tab.id) {
                Some(panes) => self.add_tab(tab, panes),
                None => self.problems.push(Problem::TabLeftOut { tab: tab.id }),
            }
        }
        for (id, panes) in members {
            self.recover_tab(id, String::new(), panes);
        }
    }

    fn recover_tab(&mut self, id: TabId, workspace: String, panes: Vec<PaneId>) {
        self.problems.push(Problem::TabRecovered { tab: id, panes: panes.len() });
        let tab = TabRead {
            id,
            workspace,
            title: RECOVERED.into(),
            layout: String::new(),
            active_pane: String::new(),
            area: DEFAULT_AREA,
            created_at: UnixMillis(0),
        };
        self.add_tab(tab, panes);
    }

    fn add_tab(&mut self, tab: TabRead, panes: Vec<PaneId>) {
        let fitted = fit(&tab.layout, &panes);
        let Some(layout) = fitted.layout else { return };
        if !fitted.changes.is_empty() {
            let why = fitted.changes.join("; ");
            self.problems.push(Problem::LayoutRepaired { tab: tab.id, why });
        }
        let active = tab.active_pane.parse().ok().filter(|pane| layout.contains(*pane));
        let active_pane = active.unwrap_or_else(|| layout.first());
        if active.is_none() && !tab.active_pane.is_empty() {
            self.note(tab.id, "the active pane", "it is not in the tab");
        }
        let workspace = self.workspace_of(&tab, &panes);
        self.tabs.push(SavedTab {
            id: tab.id,
            workspace,
            title: tab.title.into(),
            layout,
            active_pane,
            area: tab.area,
            created_at: tab.created_at,
        });
        self.move_displaced(workspace, fitted.displaced);
    }

    /// Gives panes for which a tab had no room a tab of their own.
    fn move_displaced(&mut self, workspace: WorkspaceId, displaced: Vec<PaneId>) {
        if displaced.is_empty() {
            return;
        }
        let moved: BTreeSet<_> = displaced.iter().copied().collect();
        let taken: BTreeSet<_> = self.panes.iter().map(|pane| pane.tab).collect();
        let mut names = displaced.iter().map(|pane| TabId::named_after(*pane));
        let Some(id) = names.find(|id| !taken.contains(id)) else {
            // Only a file made to collide gets here.
            self.panes.retain(|pane| !moved.contains(&pane.id));
            let why = |pane| format!("{pane} has no place in any tab");
            self.problems.extend(displaced.iter().enumerate().map(|(index, pane)| {
                Problem::RecordLeftOut { list: "displaced panes", index, why: why(pane) }
            }));
            return;
        };
        for pane in self.panes.iter_mut().filter(|pane| moved.contains(&pane.id)) {
            pane.tab = id;
        }
        self.recover_tab(id, workspace.to_string(), displaced);
    }

    /// The workspace that a tab names, made anew if it is missing.
    fn workspace_of(&mut self, tab: &TabRead, panes: &[PaneId]) -> WorkspaceId {
        let id = match tab.workspace.parse() {
            Ok(id) => id,
            Err(_) => *self.recovery.get_or_insert(WorkspaceId::named_after(tab.id)),
        };
        if self.workspaces.iter().all(|workspace| workspace.id != id) {
            self.problems.push(Problem::WorkspaceRecovered { workspace: id });
            let cwd = self.panes.iter().find(|pane| panes.contains(&pane.id));
            self.workspaces.push(SavedWorkspace {
                id,
                handle: "".into(),
                name: RECOVERED.into(),
                naming: Naming::Manual,
                cwd: cwd.map_or_else(|| "/".into(), |pane| pane.cwd.clone()),
                active_tab: None,
                switches: Switches::default(),
                archived: false,
                created_at: UnixMillis(0),
            });
        }
        id
    }

    /// Gives each workspace an active tab of its own and a handle of its own.
    fn settle_workspaces(&mut self) {
        let mut first: BTreeMap<WorkspaceId, Vec<TabId>> = BTreeMap::new();
        for tab in &self.tabs {
            first.entry(tab.workspace).or_default().push(tab.id);
        }
        let mut handles: BTreeSet<Arc<str>> = BTreeSet::new();
        for workspace in &mut self.workspaces {
            let tabs = first.get(&workspace.id).map(Vec::as_slice).unwrap_or_default();
            let mut replaced = |part, why: &str| {
                let record = workspace.id.to_string();
                self.problems.push(Problem::PartReplaced { record, part, why: why.into() });
            };
            let active = workspace.active_tab.filter(|tab| tabs.contains(tab));
            if active.is_none() && (workspace.active_tab.is_some() || !tabs.is_empty()) {
                replaced("the active tab", "it is not in the workspace");
            }
            workspace.active_tab = active.or_else(|| tabs.first().copied());
            if !is_handle(&workspace.handle) || handles.contains(&workspace.handle) {
                replaced("the handle", "it is missing, malformed or taken");
                workspace.handle = handle_for(&workspace.name, |taken| handles.contains(taken));
            }
            handles.insert(workspace.handle.clone());
        }
    }

    fn note(&mut self, record: TabId, part: &'static str, why: &str) {
        let record = record.to_string();
        self.problems.push(Problem::PartReplaced { record, part, why: why.into() });
    }
}

fn is_handle(text: &str) -> bool {
    // A handle is what is made of itself.
    !text.is_empty() && *handle_for(text, |_| false) == *text
}

const RECOVERED: &str = "recovered";
