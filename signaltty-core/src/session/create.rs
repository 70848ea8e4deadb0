//! Making panes.
//!
//! A new pane exists only once its process runs, so a failed start leaves
//! neither tab nor pane (S1). Until then it is a [`Creation`].

use std::path::Path;
use std::sync::Arc;

use super::panes::Keys;
use super::spaced::Spaced;
use super::structure::{at_least_one, program_name, whole};
use super::watch::Watch;
use super::{
    CommandError, Effect, Event, PaneEntry, Program, Reply, Run, Session, SpawnCommand,
    TITLE_CHARS, WorkspaceEntry, plain_line, publish, reply,
};
use crate::agent::SavedAgent;
use crate::id::{InstanceId, PaneId, RequestId, TabId, WorkspaceId};
use crate::layout::{Direction, Layout, Size, rects};
use crate::pane::{Attention, Lifecycle, SavedPane};
use crate::restore::PaneState;
use crate::session::PaneSpec;
use crate::time::Now;
use crate::workspace::{DEFAULT_AREA, Naming, SavedTab, SavedWorkspace, handle_for};

/// A pane whose process is being started.
#[derive(Debug, Clone)]
pub(super) struct Creation {
    pub(super) request: RequestId,
    pane: PaneId,
    spec: PaneSpec,
    place: Place,
}

impl Creation {
    pub(super) fn spec(&self) -> &PaneSpec {
        &self.spec
    }
}

#[derive(Debug, Clone)]
pub(super) enum Place {
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

impl Session {
    /// Checks that a pane could be placed and starts its process.
    pub(super) fn create(
        &mut self,
        request: RequestId,
        pane: PaneId,
        spec: PaneSpec,
        place: Place,
        out: &mut Vec<Effect>,
    ) -> Result<(), CommandError> {
        self.room_for(1)?;
        if self.is_taken(pane) {
            return Err(CommandError::IdInUse("pane"));
        }
        let size = self.place_size(pane, &place)?;
        self.take_room(std::iter::once(&spec))?;
        let instance = self.new_instance();
        let command = SpawnCommand {
            program: Program::Argv { argv: spec.argv.clone(), agent: spec.agent.clone() },
            cwd: spec.cwd.clone(),
            config_env: spec.config_env.clone(),
        };
        self.awaited.insert(pane);
        self.pending.insert(instance, Creation { request, pane, spec, place });
        self.start(instance, pane, command, size, request, out);
        Ok(())
    }

    pub(super) fn room_for(&self, more: usize) -> Result<(), CommandError> {
        let limit = self.config.max_panes;
        if self.panes.len() + self.coming() + more > limit {
            return Err(CommandError::NoRoom(format!(
                "there may be {limit} panes in all; close some first"
            )));
        }
        Ok(())
    }

    pub(super) fn is_taken(&self, pane: PaneId) -> bool {
        self.panes.contains_key(&pane) || self.awaited.contains(&pane)
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

    pub(super) fn free_tab(&self, tab: TabId) -> Result<(), CommandError> {
        let taken = self.tabs.contains_key(&tab) || self.groups.contains_key(&tab);
        if taken { Err(CommandError::IdInUse("tab")) } else { Ok(()) }
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
        self.awaited.remove(&pane);
        // The place may have gone, or filled up, while the process started.
        let (workspace, tab) = match self.settle(now, pane, place, &spec, out) {
            Ok(settled) => settled,
            Err(error) => {
                out.push(Effect::Kill { instance });
                reply(out, request, Err(error));
                return;
            }
        };
        let observe = spec.agent.clone();
        self.add_pane(now, pane, tab, instance, spec);
        publish(out, Event::PaneCreated { pane });
        self.resize_tab(tab, out);
        reply(out, request, Ok(Reply::Created { workspace, tab, pane }));
        if let Some(kind) = observe {
            out.push(Effect::Observe { instance, kind });
        }
    }

    pub(super) fn add_pane(
        &mut self,
        now: Now,
        pane: PaneId,
        tab: TabId,
        instance: InstanceId,
        spec: PaneSpec,
    ) {
        let size = self.tabs.get(&tab).map_or(DEFAULT_AREA, |t| size_in(&t.layout, t.area, pane));
        let home = Some((spec.cwd.clone(), spec.config_env.clone()));
        let entry = PaneEntry {
            record: Arc::new(new_record(now, pane, tab, size, spec)),
            state: PaneState::Live { instance },
            run: Run { home, ..Run::default() },
            watch: Watch::default(),
            decision: None,
            attempt: None,
            receipt: None,
            spaced: Spaced::default(),
            keys: Keys::default(),
        };
        self.panes.insert(pane, entry);
        self.instances.insert(instance, pane);
        self.emptied_by_user = false;
        self.save.changed(now.mono);
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
                self.handles.insert(Arc::clone(&record.handle), workspace);
                let entry = WorkspaceEntry { record: Arc::new(record), tabs: Vec::new() };
                self.workspaces.insert(workspace, entry);
                publish(out, Event::WorkspaceCreated { workspace });
                let layout = Layout::single(pane);
                self.add_tab(now, workspace, tab, layout, None, &spec.argv, out);
                Ok((workspace, tab))
            }
            Place::Tab { workspace, tab, title } => {
                let layout = Layout::single(pane);
                self.add_tab(now, workspace, tab, layout, title, &spec.argv, out);
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
        let taken = |handle: &str| self.handles.contains_key(handle);
        SavedWorkspace {
            id,
            handle: handle_for(&name, taken),
            name,
            naming: Naming::Manual,
            cwd,
            active_tab: None,
            switches: self.config.defaults,
            archived: false,
            created_at: now.wall,
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one private caller per shape of creation")]
    pub(super) fn add_tab(
        &mut self,
        now: Now,
        workspace: WorkspaceId,
        id: TabId,
        layout: Layout<PaneId>,
        title: Option<Arc<str>>,
        argv: &[std::ffi::OsString],
        out: &mut Vec<Effect>,
    ) {
        let title = title.map(|title| plain_line(&title, TITLE_CHARS));
        let tab = SavedTab {
            id,
            workspace,
            title: title.filter(|t| !t.is_empty()).unwrap_or_else(|| program_name(argv)),
            active_pane: layout.first(),
            layout,
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
}

/// The size of a pane in a layout. A pane that the layout cut to nothing still
/// gets a terminal of one cell, since a terminal of none is refused by the
/// kernel's users.
pub(super) fn size_in(layout: &Layout<PaneId>, area: Size, pane: PaneId) -> Size {
    let all = rects(layout, whole(area));
    let found = all.into_iter().find(|(id, _)| *id == pane);
    at_least_one(found.map_or(area, |(_, rect)| rect.size()))
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
        agent: spec.agent.map(|kind| SavedAgent { options: spec.options, ..SavedAgent::new(kind) }),
        lifecycle: Lifecycle::Unknown,
        attention: Attention::None,
        last_message: None,
        end: None,
        created_at: now.wall,
    }
}

fn directory_name(cwd: &Path) -> Arc<str> {
    let name = plain_line(&cwd.file_name().unwrap_or_default().to_string_lossy(), TITLE_CHARS);
    if name.is_empty() { "/".into() } else { name }
}
