//! The lines of the sidebar: what needs a person first, then everything.

use std::path::PathBuf;

use signaltty_core::id::PaneId;

use super::board;
use super::model::{Model, urgency};

/// A line of the sidebar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    /// Which projects are shown.
    Scope,
    /// What is below; the number of panes that need a person.
    Needs(usize),
    /// A pane that needs a person.
    Need(PaneId),
    /// What nobody read yet of what people were told.
    News(usize),
    Blank,
    /// A repository of which several checkouts are open.
    Project(PathBuf),
    Workspace(String),
    /// A tab; its pane, where it has one only.
    Tab(String, Option<PaneId>),
    /// A pane of a tab with several.
    Pane(PaneId),
    /// How to begin.
    Empty,
}

impl Line {
    /// Whether the cursor can be on it.
    pub(crate) fn selectable(&self) -> bool {
        !matches!(self, Self::Needs(_) | Self::Blank | Self::Project(_) | Self::Empty)
    }
}

/// The lines, from the top.
pub(crate) fn lines(model: &Model) -> Vec<Line> {
    let mut lines = vec![Line::Scope];
    let needs = needs(model);
    if !needs.is_empty() {
        lines.push(Line::Needs(needs.len()));
        lines.extend(needs.into_iter().map(Line::Need));
    }
    let unread = board::unread(model);
    if unread > 0 {
        lines.push(Line::News(unread));
    }
    if lines.len() > 1 {
        lines.push(Line::Blank);
    }
    let shown = model.in_scope();
    let mut last = None;
    for workspace in &shown {
        let root = model.root_of(workspace);
        let several = shown.iter().filter(|other| model.root_of(other) == root).count() > 1;
        if several && last.as_ref() != Some(&root) {
            lines.push(Line::Project(root.clone()));
        }
        last = Some(root);
        lines.push(Line::Workspace(workspace.id.clone()));
        for tab in &workspace.tabs {
            let panes = || tab.panes.iter().filter_map(|pane| pane.id.parse().ok());
            let only = panes().next().filter(|_| tab.panes.len() == 1);
            lines.push(Line::Tab(tab.id.clone(), only));
            if only.is_none() {
                lines.extend(panes().map(Line::Pane));
            }
        }
    }
    if model.complete() && shown.is_empty() {
        lines.push(Line::Empty);
    }
    lines
}

/// Panes that need a person, the most urgent first, whatever the scope hides.
pub(crate) fn needs(model: &Model) -> Vec<PaneId> {
    let waiting = model.nodes().filter(|(w, _, node)| !w.archived && urgency(node) > 0);
    let mut panes: Vec<_> =
        waiting.filter_map(|(_, _, node)| Some((urgency(node), node.id.parse().ok()?))).collect();
    panes.sort_by_key(|(urgency, _)| std::cmp::Reverse(*urgency));
    panes.into_iter().map(|(_, pane)| pane).collect()
}

/// The first line that is drawn so that the cursor is seen.
pub(crate) fn top(lines: usize, cursor: usize, height: u16) -> usize {
    let height = usize::from(height).max(1);
    (cursor + 1).saturating_sub(height).min(lines.saturating_sub(height))
}
