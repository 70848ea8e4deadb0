//! Arranging panes, tabs and workspaces that exist. Nothing is made, closed or
//! stopped here, except a tab that its last pane left.

use std::sync::Arc;

use super::structure::Done;
use super::{Command, CommandError, Effect, Event, Reply, Session, publish};
use crate::id::{PaneId, TabId, WorkspaceId};
use crate::layout::{Axis, Closed, Direction, EditError, Layout, Weight};
use crate::time::Now;
use crate::workspace::SavedTab;

impl Session {
    pub(super) fn arrange(
        &mut self,
        now: Now,
        command: Command,
        out: &mut Vec<Effect>,
    ) -> Option<Done> {
        Some(match command {
            Command::MovePane { pane, beside, direction } => {
                self.move_pane(now, pane, beside, direction, out)
            }
            Command::SwapPanes(a, b) => self.swap_panes(now, a, b, out),
            Command::SetWeight { pane, axis, weight } => {
                self.set_weight(now, pane, axis, weight, out)
            }
            Command::Equalise(tab) => self.edit_layout(now, tab, out, |layout, _| {
                layout.equalise();
                Ok(())
            }),
            Command::SetLayout { tab, layout: next } => {
                let limits = self.config.layout;
                self.edit_layout(now, tab, out, |layout, tab| {
                    layout.rearrange(next, &limits, Some(tab.area))
                })
            }
            Command::FocusPane(pane) => self.focus_pane(now, pane, out),
            Command::MoveTab { tab, position } => self.move_tab(now, tab, position, out),
            Command::MoveWorkspace { workspace, position } => {
                self.move_workspace(now, workspace, position, out)
            }
            other => return self.tell(now, other, out),
        })
    }

    /// Edits a copy of a tab's layout, which takes its place if the edit is
    /// accepted and differs.
    fn edit_layout(
        &mut self,
        now: Now,
        id: TabId,
        out: &mut Vec<Effect>,
        edit: impl FnOnce(&mut Layout<PaneId>, &SavedTab) -> Result<(), EditError<PaneId>>,
    ) -> Done {
        let tab = self.tabs.get_mut(&id).ok_or(CommandError::NoSuchTab(id))?;
        let mut layout = tab.layout.clone();
        edit(&mut layout, tab)?;
        if layout != tab.layout {
            Arc::make_mut(tab).layout = layout;
            self.rearranged(now, id, out);
        }
        Ok(Reply::Done)
    }

    fn rearranged(&mut self, now: Now, tab: TabId, out: &mut Vec<Effect>) {
        self.save.changed(now.mono);
        publish(out, Event::TabUpdated { tab });
        self.resize_tab(tab, out);
    }

    fn move_pane(
        &mut self,
        now: Now,
        pane: PaneId,
        beside: PaneId,
        direction: Direction,
        out: &mut Vec<Effect>,
    ) -> Done {
        let (from, to) = self.tabs_of(pane, beside)?;
        let limits = self.config.layout;
        if from == to {
            return self.edit_layout(now, from, out, |layout, tab| {
                layout.move_leaf(pane, beside, direction, &limits, Some(tab.area))
            });
        }
        let target = self.tabs.get_mut(&to).ok_or(CommandError::NoSuchTab(to))?;
        let mut layout = target.layout.clone();
        layout.split(beside, direction, pane, &limits, Some(target.area))?;
        let target = Arc::make_mut(target);
        target.layout = layout;
        target.active_pane = pane;
        if let Some(entry) = self.panes.get_mut(&pane) {
            entry.edit().tab = to;
        }
        self.leave_tab(now, from, pane, out)?;
        self.rearranged(now, to, out);
        Ok(Reply::Done)
    }

    /// Takes a pane that has another place already out of a tab.
    fn leave_tab(
        &mut self,
        now: Now,
        id: TabId,
        pane: PaneId,
        out: &mut Vec<Effect>,
    ) -> Result<(), CommandError> {
        let tab = self.tabs.get_mut(&id).ok_or(CommandError::NoSuchTab(id))?;
        let tab = Arc::make_mut(tab);
        if tab.layout.close(pane)? == Closed::Remaining {
            if tab.active_pane == pane {
                tab.active_pane = tab.layout.first();
            }
            self.rearranged(now, id, out);
            return Ok(());
        }
        let workspace = tab.workspace;
        self.tabs.remove(&id);
        publish(out, Event::TabClosed { tab: id });
        if let Some(entry) = self.workspaces.get_mut(&workspace) {
            // The tab that the pane went to is in it, so it is not empty.
            entry.remove_tab(id);
        }
        Ok(())
    }

    fn swap_panes(&mut self, now: Now, a: PaneId, b: PaneId, out: &mut Vec<Effect>) -> Done {
        let (tab_a, tab_b) = self.tabs_of(a, b)?;
        if tab_a == tab_b {
            return self.edit_layout(now, tab_a, out, |layout, _| layout.swap(a, b));
        }
        for (id, old, new) in [(tab_a, a, b), (tab_b, b, a)] {
            let tab = self.tabs.get_mut(&id).ok_or(CommandError::NoSuchTab(id))?;
            let tab = Arc::make_mut(tab);
            tab.layout.replace(old, new)?;
            // The focus stays where it was.
            if tab.active_pane == old {
                tab.active_pane = new;
            }
            if let Some(entry) = self.panes.get_mut(&new) {
                entry.edit().tab = id;
            }
        }
        self.rearranged(now, tab_a, out);
        self.rearranged(now, tab_b, out);
        Ok(Reply::Done)
    }

    fn set_weight(
        &mut self,
        now: Now,
        pane: PaneId,
        axis: Option<Axis>,
        weight: Weight,
        out: &mut Vec<Effect>,
    ) -> Done {
        let tab = self.tab_of(pane)?.id;
        self.edit_layout(now, tab, out, |layout, _| match axis {
            Some(axis) => layout.set_branch_weight(pane, axis, weight),
            None => layout.set_weight(pane, weight),
        })
    }

    fn focus_pane(&mut self, now: Now, pane: PaneId, out: &mut Vec<Effect>) -> Done {
        let tab = self.tab_of(pane)?;
        let (id, workspace, active) = (tab.id, tab.workspace, tab.active_pane);
        if active != pane {
            if let Some(tab) = self.tabs.get_mut(&id) {
                Arc::make_mut(tab).active_pane = pane;
            }
            self.save.changed(now.mono);
            publish(out, Event::TabUpdated { tab: id });
        }
        if self.workspace(workspace)?.record.active_tab != Some(id) {
            self.workspace_mut(workspace)?.active_tab = Some(id);
            self.save.changed(now.mono);
            publish(out, Event::WorkspaceUpdated { workspace });
        }
        self.mark_seen(now, pane, out)
    }

    fn move_tab(&mut self, now: Now, id: TabId, position: usize, out: &mut Vec<Effect>) -> Done {
        let workspace = self.tabs.get(&id).ok_or(CommandError::NoSuchTab(id))?.workspace;
        let entry = self.workspaces.get_mut(&workspace);
        let entry = entry.ok_or(CommandError::NoSuchWorkspace(workspace))?;
        if reorder(&mut entry.tabs, id, position) {
            self.save.changed(now.mono);
            publish(out, Event::WorkspaceUpdated { workspace });
        }
        Ok(Reply::Done)
    }

    fn move_workspace(
        &mut self,
        now: Now,
        workspace: WorkspaceId,
        position: usize,
        out: &mut Vec<Effect>,
    ) -> Done {
        self.workspace(workspace)?;
        if reorder(&mut self.order, workspace, position) {
            self.save.changed(now.mono);
            publish(out, Event::WorkspaceUpdated { workspace });
        }
        Ok(Reply::Done)
    }

    /// The tabs of two different panes of one workspace.
    fn tabs_of(&self, a: PaneId, b: PaneId) -> Result<(TabId, TabId), CommandError> {
        let (tab_a, tab_b) = (self.tab_of(a)?, self.tab_of(b)?);
        if a == b {
            return Err(EditError::SameLeaf(a).into());
        }
        if tab_a.workspace != tab_b.workspace {
            return Err(CommandError::BadArrangement(format!(
                "panes {a} and {b} are in different workspaces, {} and {}; a pane stays in its \
                 workspace",
                tab_a.workspace, tab_b.workspace
            )));
        }
        Ok((tab_a.id, tab_b.id))
    }
}

/// Moves an item of a list; whether that changed anything.
fn reorder<T: Copy + Eq>(list: &mut Vec<T>, item: T, position: usize) -> bool {
    let Some(from) = list.iter().position(|other| *other == item) else {
        return false;
    };
    let to = position.min(list.len() - 1);
    let item = list.remove(from);
    list.insert(to, item);
    from != to
}
