//! Workspaces, tabs and panes: making, splitting, closing, naming.
//!
//! A new pane exists only once its process runs, so a failed start leaves
//! neither tab nor pane (S1). Until then it is a [`Creation`].

use std::path::Path;
use std::sync::Arc;

use super::{
    Command, CommandError, Effect, Event, PaneEntry, Program, Reply, Run, Session, SpawnCommand,
    SwitchChange, TITLE_CHARS, WorkspaceEntry, plain_line, publish, reply,
};
use crate::agent::{Conversation, SavedAgent};
use crate::id::{InstanceId, PaneId, RequestId, TabId, WorkspaceId};
use crate::layout::{Closed, Direction, Layout, Point, Rect, Size, rects};
use crate::pane::{Attention, Lifecycle, SavedPane};
use crate::restore::PaneState;
use crate::session::PaneSpec;
use crate::time::Now;
use crate::workspace::{DEFAULT_AREA, Naming, SavedTab, SavedWorkspace, Switches, handle_for};

/// A pane whose process is being started.
#[derive(Debug, Clone)]
pub(super) struct Creation {
    pub(super) request: RequestId,
    pane: PaneId,
    spec: PaneSpec,
    place: Place,
}

#[derive(Debug, Clone)]
enum Place {
    Workspace {
        workspace: WorkspaceId,
        tab: TabId,
        name: Option<Arc<str>>,
        cwd: std::path::PathBuf,
    },
    Tab {
        workspace: WorkspaceId,
        tab: TabId,
        title: Option<Arc<str>>,
    },
    Beside {
        pane: PaneId,
        direction: Direction,
    },
}

type Done = Result<Reply, CommandError>;

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
            Command::SetArea { tab, area } => Some(self.set_area(now, tab, area, out)),
            _ => None,
        }
    }

    /// Checks that a pane could be placed and starts its process.
    fn create(
        &mut self,
        request: RequestId,
        pane: PaneId,
        spec: PaneSpec,
        place: Place,
        out: &mut Vec<Effect>,
    ) -> Result<(), CommandError> {
        if self.panes.len() + self.pending.len() >= self.config.max_panes {
            return Err(CommandError::NoRoom(format!(
                "there are {} panes already, which is the limit; close some first",
                self.config.max_panes
            )));
        }
        if self.panes.contains_key(&pane) || self.pending.values().any(|c| c.pane == pane) {
            return Err(CommandError::IdInUse("pane"));
        }
        let size = self.place_size(pane, &place)?;
        let instance = self.new_instance();
        let command = SpawnCommand {
            program: Program::Argv { argv: spec.argv.clone(), agent: spec.agent.clone() },
            cwd: spec.cwd.clone(),
            config_env: spec.config_env.clone(),
        };
        self.pending.insert(instance, Creation { request, pane, spec, place });
        self.start(instance, pane, command, size, request, out);
        Ok(())
    }

    fn place_size(&self, pane: PaneId, place: &Place) -> Result<Size, CommandError> {
        match place {
            Place::Workspace { workspace, tab, .. } => {
                if self.workspaces.contains_key(workspace) {
                    return Err(CommandError::IdInUse("workspace"));
                }
                self.free_tab(*tab).map(|()| DEFAULT_AREA)
            }
            Place::Tab { workspace, tab, .. } => {
                self.workspace(*workspace)?;
                self.free_tab(*tab).map(|()| DEFAULT_AREA)
            }
            Place::Beside { pane: beside, direction } => {
                let tab = self.tab_of(*beside)?;
                let layout = self.split_layout(tab, *beside, *direction, pane)?;
                Ok(size_in(&layout, tab.area, pane))
            }
        }
    }

    fn split_layout(
        &self,
        tab: &SavedTab,
        beside: PaneId,
        direction: Direction,
        new: PaneId,
    ) -> Result<Layout<PaneId>, CommandError> {
        let mut layout = tab.layout.clone();
        layout.split(beside, direction, new, &self.config.layout, Some(tab.area)).map_err(
            |error| CommandError::NoRoom(format!("pane {beside} was not split: {error}")),
        )?;
        Ok(layout)
    }

    fn free_tab(&self, tab: TabId) -> Result<(), CommandError> {
        if self.tabs.contains_key(&tab) { Err(CommandError::IdInUse("tab")) } else { Ok(()) }
    }

    /// The process of a creation runs: now the pane exists.
    pub(super) fn place(
        &mut self,
        now: Now,
        instance: InstanceId,
        creation: Creation,
        out: &mut Vec<Effect>,
    ) {
        let Creation { request, pane, spec, place } = creation;
        // The place may have gone, or filled up, while the process started.
        let (workspace, tab) = match self.settle(now, pane, place, &spec, out) {
            Ok(settled) => settled,
            Err(error) => {
                out.push(Effect::Kill { instance });
                reply(out, request, Err(error));
                return;
            }
        };
        let size = self.tabs.get(&tab).map_or(DEFAULT_AREA, |t| size_in(&t.layout, t.area, pane));
        let observe = spec.agent.clone();
        let home = Some((spec.cwd.clone(), spec.config_env.clone()));
        let record = new_record(now, pane, tab, size, spec);
        let entry = PaneEntry {
            record: Arc::new(record),
            state: PaneState::Live { instance },
            run: Run { home, ..Run::default() },
        };
        self.panes.insert(pane, entry);
        self.instances.insert(instance, pane);
        self.emptied_by_user = false;
        self.save.changed(now.mono);
        publish(out, Event::PaneCreated { pane });
        self.resize_tab(tab, out);
        reply(out, request, Ok(Reply::Created { workspace, tab, pane }));
        if let Some(kind) = observe {
            out.push(Effect::Observe { instance, kind });
        }
    }

    fn settle(
        &mut self,
        now: Now,
        pane: PaneId,
        place: Place,
        spec: &PaneSpec,
        out: &mut Vec<Effect>,
    ) -> Result<(WorkspaceId, TabId), CommandError> {
        self.place_size(pane, &place)?;
        match place {
            Place::Workspace { workspace, tab, name, cwd } => {
                let record = self.new_workspace(now, workspace, name.as_deref(), cwd);
                self.order.push(workspace);
                let entry = WorkspaceEntry { record: Arc::new(record), tabs: Vec::new() };
                self.workspaces.insert(workspace, entry);
                publish(out, Event::WorkspaceCreated { workspace });
                self.add_tab(now, workspace, tab, pane, None, spec, out);
                Ok((workspace, tab))
            }
            Place::Tab { workspace, tab, title } => {
                self.add_tab(now, workspace, tab, pane, title, spec, out);
                Ok((workspace, tab))
            }
            Place::Beside { pane: beside, direction } => {
                let tab = self.tab_of(beside)?;
                let layout = self.split_layout(tab, beside, direction, pane)?;
                let (id, workspace) = (tab.id, tab.workspace);
                if let Some(tab) = self.tabs.get_mut(&id).map(Arc::make_mut) {
                    tab.layout = layout;
                    tab.active_pane = pane;
                }
                publish(out, Event::TabUpdated { tab: id });
                Ok((workspace, id))
            }
        }
    }

    fn new_workspace(
        &self,
        now: Now,
        id: WorkspaceId,
        name: Option<&str>,
        cwd: std::path::PathBuf,
    ) -> SavedWorkspace {
        let name = match name.map(|name| plain_line(name, TITLE_CHARS)) {
            Some(name) if !name.is_empty() => name,
            _ => directory_name(&cwd),
        };
        let taken = |handle: &str| self.workspaces.values().any(|w| &*w.record.handle == handle);
        SavedWorkspace {
            id,
            handle: handle_for(&name, taken),
            name,
            naming: Naming::Manual,
            cwd,
            active_tab: None,
            switches: Switches::default(),
            archived: false,
            created_at: now.wall,
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one private caller per shape of creation")]
    fn add_tab(
        &mut self,
        now: Now,
        workspace: WorkspaceId,
        id: TabId,
        pane: PaneId,
        title: Option<Arc<str>>,
        spec: &PaneSpec,
        out: &mut Vec<Effect>,
    ) {
        let title = title.map(|title| plain_line(&title, TITLE_CHARS));
        let tab = SavedTab {
            id,
            workspace,
            title: title.filter(|t| !t.is_empty()).unwrap_or_else(|| program_name(&spec.argv)),
            layout: Layout::single(pane),
            active_pane: pane,
            area: DEFAULT_AREA,
            created_at: now.wall,
        };
        self.tabs.insert(id, Arc::new(tab));
        if let Some(entry) = self.workspaces.get_mut(&workspace) {
            entry.tabs.push(id);
            Arc::make_mut(&mut entry.record).active_tab = Some(id);
        }
        publish(out, Event::TabCreated { tab: id });
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
        let record = self.tabs.remove(&tab).ok_or(CommandError::NoSuchTab(tab))?;
        for pane in record.layout.leaves() {
            self.drop_pane(now, pane, out);
        }
        publish(out, Event::TabClosed { tab });
        let mut empty = false;
        if let Some(entry) = self.workspaces.get_mut(&record.workspace) {
            entry.tabs.retain(|id| *id != tab);
            empty = entry.tabs.is_empty();
            let workspace = Arc::make_mut(&mut entry.record);
            if workspace.active_tab == Some(tab) {
                workspace.active_tab = entry.tabs.first().copied();
            }
        }
        if empty {
            return self.close_workspace(now, record.workspace, out);
        }
        self.save.changed(now.mono);
        Ok(Reply::Done)
    }

    fn close_workspace(&mut self, now: Now, id: WorkspaceId, out: &mut Vec<Effect>) -> Done {
        let entry = self.workspaces.remove(&id).ok_or(CommandError::NoSuchWorkspace(id))?;
        self.order.retain(|other| *other != id);
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
        let Some(entry) = self.panes.remove(&pane) else {
            return;
        };
        self.save.changed(now.mono);
        if let PaneState::Resuming(stage) = &entry.state {
            let gone = CommandError::Gone("the pane was closed while it was being resumed");
            reply(out, stage.request(), Err(gone));
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

    fn set_area(&mut self, now: Now, tab: TabId, area: Size, out: &mut Vec<Effect>) -> Done {
        let record = self.tabs.get_mut(&tab).ok_or(CommandError::NoSuchTab(tab))?;
        if record.area != area {
            Arc::make_mut(record).area = area;
            self.save.changed(now.mono);
            publish(out, Event::TabUpdated { tab });
            self.resize_tab(tab, out);
        }
        Ok(Reply::Done)
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

    fn workspace(&self, id: WorkspaceId) -> Result<&WorkspaceEntry, CommandError> {
        self.workspaces.get(&id).ok_or(CommandError::NoSuchWorkspace(id))
    }

    fn workspace_mut(&mut self, id: WorkspaceId) -> Result<&mut SavedWorkspace, CommandError> {
        let entry = self.workspaces.get_mut(&id).ok_or(CommandError::NoSuchWorkspace(id))?;
        Ok(Arc::make_mut(&mut entry.record))
    }
}

/// The size of a pane in a layout. A pane that the layout cut to nothing still
/// gets a terminal of one cell, since a terminal of none is refused by the
/// kernel's users.
fn size_in(layout: &Layout<PaneId>, area: Size, pane: PaneId) -> Size {
    let all = rects(layout, whole(area));
    let found = all.into_iter().find(|(id, _)| *id == pane);
    at_least_one(found.map_or(area, |(_, rect)| rect.size()))
}

fn whole(area: Size) -> Rect {
    Rect::new(Point { col: 0, row: 0 }, area)
}

fn at_least_one(size: Size) -> Size {
    Size { cols: size.cols.max(1), rows: size.rows.max(1) }
}

fn new_record(now: Now, id: PaneId, tab: TabId, size: Size, spec: PaneSpec) -> SavedPane {
    SavedPane {
        id,
        tab,
        title: program_name(&spec.argv),
        titled_by_user: false,
        cwd: spec.cwd,
        argv: spec.argv,
        env: spec.env,
        size,
        agent: spec.agent.map(SavedAgent::new),
        lifecycle: Lifecycle::Unknown,
        attention: Attention::None,
        last_message: None,
        end: None,
        created_at: now.wall,
    }
}

fn program_name(argv: &[std::ffi::OsString]) -> Arc<str> {
    let name = argv.first().and_then(|program| Path::new(program).file_name());
    plain_line(&name.unwrap_or_default().to_string_lossy(), TITLE_CHARS)
}

fn directory_name(cwd: &Path) -> Arc<str> {
    let name = plain_line(&cwd.file_name().unwrap_or_default().to_string_lossy(), TITLE_CHARS);
    if name.is_empty() { "/".into() } else { name }
}

impl Conversation {
    pub(super) fn same_as(&self, other: &Self) -> bool {
        self.id == other.id && self.config_env == other.config_env
    }
}
