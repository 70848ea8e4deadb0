//! Workspaces, tabs and panes: closing, naming, sizing.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::create::Place;
use super::group::Group;
use super::{
    Command, CommandError, Effect, Event, Reply, Session, SwitchChange, TITLE_CHARS,
    WorkspaceEntry, plain_line, publish, reply,
};
use crate::id::{PaneId, RequestId, TabId, WorkspaceId};
use crate::layout::{Closed, Point, Rect, Size, rects};
use crate::restore::PaneState;
use crate::saved::SavedSession;
use crate::time::Now;
use crate::workspace::{Naming, SavedTab, SavedWorkspace};

pub(super) type Done = Result<Reply, CommandError>;

impl Session {
    /// Structural commands. `None`: the reply comes once the process runs.
    pub(super) fn edit(
        &mut self,
        now: Now,
        request: RequestId,
        command: Command,
        out: &mut Vec<Effect>,
    ) -> Option<Done> {
        let waits = |result: Result<(), CommandError>| result.err().map(Err);
        match command {
            Command::NewWorkspace { workspace, name, cwd, tab, pane, spec } => {
                let place = Place::Workspace { workspace, tab, name, cwd };
                waits(self.create(request, pane, spec, place, out))
            }
            Command::NewTab { workspace, tab, title, pane, spec } => {
                waits(self.create(request, pane, spec, Place::Tab { workspace, tab, title }, out))
            }
            Command::Split { pane, direction, new, spec } => {
                waits(self.create(request, new, spec, Place::Beside { pane, direction }, out))
            }
            Command::ApplyLayout { workspace, tab, title, layout, specs } => {
                let place = Group { workspace, tab, title, layout };
                waits(self.apply_layout(request, place, specs, out))
            }
            Command::ClosePane(pane) => Some(self.close_pane(now, pane, out)),
            Command::CloseTab(tab) => Some(self.close_tab(now, tab, out)),
            Command::CloseWorkspace(workspace) => Some(self.close_workspace(now, workspace, out)),
            Command::RenamePane { pane, title } => Some(self.rename_pane(now, pane, &title, out)),
            Command::RenameTab { tab, title } => Some(self.rename_tab(now, tab, &title, out)),
            Command::RenameWorkspace { workspace, name } => {
                Some(self.rename_workspace(now, workspace, &name, out))
            }
            Command::SetSwitches { workspace, change } => {
                Some(self.set_switches(now, workspace, change, out))
            }
            Command::SetArea { tab, area, zoomed } => {
                Some(self.set_area(now, tab, area, zoomed, out))
            }
            other => self.arrange(now, other, out),
        }
    }

    pub(super) fn close_pane(&mut self, now: Now, pane: PaneId, out: &mut Vec<Effect>) -> Done {
        let tab = self.tab_of(pane)?.id;
        let Some(record) = self.tabs.get_mut(&tab).map(Arc::make_mut) else {
            return Err(CommandError::NoSuchTab(tab));
        };
        match record.layout.close(pane) {
            Ok(Closed::Remaining) => {
                if record.active_pane == pane {
                    record.active_pane = record.layout.first();
                }
                self.close_words(pane);
                self.drop_pane(now, pane, out);
                publish(out, Event::TabUpdated { tab });
                self.resize_tab(tab, out);
                Ok(Reply::Done)
            }
            Ok(Closed::WasLast) => self.close_tab(now, tab, out),
            Err(_) => Err(CommandError::NoSuchPane(pane)),
        }
    }

    fn close_tab(&mut self, now: Now, tab: TabId, out: &mut Vec<Effect>) -> Done {
        self.close_words_in(tab);
        let record = self.tabs.remove(&tab).ok_or(CommandError::NoSuchTab(tab))?;
        for pane in record.layout.leaves() {
            self.drop_pane(now, pane, out);
        }
        publish(out, Event::TabClosed { tab });
        let mut empty = false;
        if let Some(entry) = self.workspaces.get_mut(&record.workspace) {
            entry.remove_tab(tab);
            empty = entry.tabs.is_empty();
        }
        if empty {
            return self.close_workspace(now, record.workspace, out);
        }
        self.save.changed(now.mono);
        Ok(Reply::Done)
    }

    fn close_workspace(&mut self, now: Now, id: WorkspaceId, out: &mut Vec<Effect>) -> Done {
        let tabs = self.workspaces.get(&id).map(|entry| entry.tabs.clone());
        tabs.into_iter().flatten().for_each(|tab| self.close_words_in(tab));
        let entry = self.workspaces.remove(&id).ok_or(CommandError::NoSuchWorkspace(id))?;
        self.order.retain(|other| *other != id);
        self.handles.remove(&entry.record.handle);
        for tab in entry.tabs {
            if let Some(record) = self.tabs.remove(&tab) {
                for pane in record.layout.leaves() {
                    self.drop_pane(now, pane, out);
                }
                publish(out, Event::TabClosed { tab });
            }
        }
        publish(out, Event::WorkspaceClosed { workspace: id });
        self.emptied_by_user = self.workspaces.is_empty();
        self.save.changed(now.mono);
        Ok(Reply::Done)
    }

    /// Forgets a pane that its user closed, and stops what runs in it.
    fn drop_pane(&mut self, now: Now, pane: PaneId, out: &mut Vec<Effect>) {
        let Some(mut entry) = self.panes.remove(&pane) else {
            return;
        };
        entry.drop_decision(pane, out);
        self.forget_barrier(pane);
        if let Some(request) = entry.attempt.take().and_then(|attempt| attempt.request) {
            let gone = CommandError::Gone("the pane was closed while it was being continued");
            reply(out, request, Err(gone));
        }
        self.save.changed(now.mono);
        if let PaneState::Resuming(stage) = &entry.state {
            let gone = CommandError::Gone("the pane was closed while it was being resumed");
            if let Some(request) = stage.request() {
                reply(out, request, Err(gone));
            }
        }
        if let Some(instance) = entry.state.instance() {
            self.instances.remove(&instance);
            self.stop(instance, out);
        }
        out.push(Effect::ForgetTail { pane });
        publish(out, Event::PaneClosed { pane });
    }

    fn rename_pane(&mut self, now: Now, pane: PaneId, title: &str, out: &mut Vec<Effect>) -> Done {
        let entry = self.panes.get_mut(&pane).ok_or(CommandError::NoSuchPane(pane))?;
        let title = plain_line(title, TITLE_CHARS);
        let record = entry.edit();
        record.titled_by_user = !title.is_empty();
        record.title = if title.is_empty() { program_name(&record.argv) } else { title };
        self.save.changed(now.mono);
        publish(out, Event::PaneUpdated { pane });
        Ok(Reply::Done)
    }

    fn rename_tab(&mut self, now: Now, tab: TabId, title: &str, out: &mut Vec<Effect>) -> Done {
        let record = self.tabs.get_mut(&tab).ok_or(CommandError::NoSuchTab(tab))?;
        Arc::make_mut(record).title = plain_line(title, TITLE_CHARS);
        self.save.changed(now.mono);
        publish(out, Event::TabUpdated { tab });
        Ok(Reply::Done)
    }

    fn rename_workspace(
        &mut self,
        now: Now,
        workspace: WorkspaceId,
        name: &str,
        out: &mut Vec<Effect>,
    ) -> Done {
        let entry = self.workspace_mut(workspace)?;
        entry.name = plain_line(name, TITLE_CHARS);
        entry.naming = Naming::Manual;
        self.save.changed(now.mono);
        publish(out, Event::WorkspaceUpdated { workspace });
        Ok(Reply::Done)
    }

    fn set_switches(
        &mut self,
        now: Now,
        workspace: WorkspaceId,
        change: SwitchChange,
        out: &mut Vec<Effect>,
    ) -> Done {
        let entry = self.workspace_mut(workspace)?;
        let switches = &mut entry.switches;
        switches.auto_resume = change.auto_resume.unwrap_or(switches.auto_resume);
        switches.auto_continue = change.auto_continue.unwrap_or(switches.auto_continue);
        switches.history = change.history.unwrap_or(switches.history);
        entry.archived = change.archived.unwrap_or(entry.archived);
        self.save.changed(now.mono);
        publish(out, Event::WorkspaceUpdated { workspace });
        Ok(Reply::Done)
    }

    fn set_area(
        &mut self,
        now: Now,
        tab: TabId,
        area: Size,
        zoomed: bool,
        out: &mut Vec<Effect>,
    ) -> Done {
        let record = self.tabs.get_mut(&tab).ok_or(CommandError::NoSuchTab(tab))?;
        // The area of the client that drives the tab is kept (D-10); one that
        // only shows a pane alone is not, and no reason to save (S0-45).
        let kept = self.zoomed.get(&tab).copied().unwrap_or(record.area);
        if zoomed {
            self.zoomed.insert(tab, kept);
        } else {
            self.zoomed.remove(&tab);
            if kept != area {
                self.save.changed(now.mono);
            }
        }
        if record.area != area {
            Arc::make_mut(record).area = area;
            publish(out, Event::TabUpdated { tab });
            self.resize_tab(tab, out);
        }
        let tabs = &self.tabs;
        self.zoomed.retain(|tab, _| tabs.contains_key(tab));
        Ok(Reply::Done)
    }

    /// Takes out of a state to be saved what zooms made of tabs and panes.
    pub(super) fn unzoom(&self, saved: &mut SavedSession) {
        for tab in &mut saved.tabs {
            let Some(kept) = self.zoomed.get(&tab.id) else {
                continue;
            };
            Arc::make_mut(tab).area = *kept;
            let sizes: BTreeMap<_, _> = rects(&tab.layout, whole(*kept)).into_iter().collect();
            for pane in &mut saved.panes {
                if let Some(rect) = sizes.get(&pane.id) {
                    Arc::make_mut(pane).size = at_least_one(rect.size());
                }
            }
        }
    }

    /// Gives every pane of a tab the size that the layout says.
    pub(super) fn resize_tab(&mut self, tab: TabId, out: &mut Vec<Effect>) {
        let Some(tab) = self.tabs.get(&tab) else {
            return;
        };
        for (pane, rect) in rects(&tab.layout, whole(tab.area)) {
            let size = at_least_one(rect.size());
            let Some(entry) = self.panes.get_mut(&pane) else {
                continue;
            };
            if entry.record.size != size {
                entry.edit().size = size;
                let instance = entry.state.instance();
                // One that is being started gets it once it runs.
                let running = instance.filter(|i| !self.starting.contains_key(i));
                if let Some(instance) = running {
                    out.push(Effect::Resize { instance, size });
                }
            }
        }
    }

    pub(super) fn tab_of(&self, pane: PaneId) -> Result<&SavedTab, CommandError> {
        let entry = self.panes.get(&pane).ok_or(CommandError::NoSuchPane(pane))?;
        self.tabs.get(&entry.record.tab).map(|t| &**t).ok_or(CommandError::NoSuchPane(pane))
    }

    pub(super) fn workspace(&self, id: WorkspaceId) -> Result<&WorkspaceEntry, CommandError> {
        self.workspaces.get(&id).ok_or(CommandError::NoSuchWorkspace(id))
    }

    pub(super) fn workspace_mut(
        &mut self,
        id: WorkspaceId,
    ) -> Result<&mut SavedWorkspace, CommandError> {
        let entry = self.workspaces.get_mut(&id).ok_or(CommandError::NoSuchWorkspace(id))?;
        Ok(Arc::make_mut(&mut entry.record))
    }
}

impl WorkspaceEntry {
    pub(super) fn remove_tab(&mut self, tab: TabId) {
        self.tabs.retain(|id| *id != tab);
        if self.record.active_tab == Some(tab) {
            Arc::make_mut(&mut self.record).active_tab = self.tabs.first().copied();
        }
    }
}

pub(super) fn whole(area: Size) -> Rect {
    Rect::new(Point { col: 0, row: 0 }, area)
}

pub(super) fn at_least_one(size: Size) -> Size {
    Size { cols: size.cols.max(1), rows: size.rows.max(1) }
}

pub(super) fn program_name(argv: &[std::ffi::OsString]) -> Arc<str> {
    let name = argv.first().and_then(|program| Path::new(program).file_name());
    plain_line(&name.unwrap_or_default().to_string_lossy(), TITLE_CHARS)
}
