//! Making a tab from a layout: several processes, and all of them or none.
//!
//! The tab and its panes exist only once every process runs. Until then the
//! processes belong to an [`Applying`]; what they print and report meanwhile is
//! not noted, except that one of them ended.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::create::size_in;
use super::{
    CommandError, Effect, Event, PaneSpec, Program, Reply, Session, SpawnCommand, publish, reply,
};
use crate::id::{InstanceId, PaneId, RequestId, TabId, WorkspaceId};
use crate::layout::Layout;
use crate::pane::ExitStatus;
use crate::restore::Refusal;
use crate::time::Now;
use crate::workspace::DEFAULT_AREA;

/// What is to be made.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub(super) workspace: WorkspaceId,
    pub(super) tab: TabId,
    pub(super) title: Option<Arc<str>>,
    pub(super) layout: Layout<PaneId>,
}

/// A group whose processes are being started.
#[derive(Debug, Clone)]
pub(super) struct Applying {
    request: RequestId,
    group: Group,
    members: BTreeMap<InstanceId, Member>,
}

impl Applying {
    pub(super) fn specs(&self) -> impl Iterator<Item = &PaneSpec> {
        self.members.values().map(|member| &member.spec)
    }
}

#[derive(Debug, Clone)]
struct Member {
    pane: PaneId,
    spec: PaneSpec,
    process: Process,
}

#[derive(Debug, Clone)]
enum Process {
    Starting,
    Running,
    /// It ended before the others ran.
    Ended(ExitStatus, Option<Arc<str>>),
}

impl Session {
    pub(super) fn apply_layout(
        &mut self,
        request: RequestId,
        group: Group,
        specs: Vec<(PaneId, PaneSpec)>,
        out: &mut Vec<Effect>,
    ) -> Result<(), CommandError> {
        let specs = self.check_group(&group, specs)?;
        self.take_room(specs.iter().map(|(_, spec)| spec))?;
        let mut members = BTreeMap::new();
        for (pane, spec) in specs {
            let instance = self.new_instance();
            let command = SpawnCommand {
                program: Program::Argv { argv: spec.argv.clone(), agent: spec.agent.clone() },
                cwd: spec.cwd.clone(),
                config_env: spec.config_env.clone(),
            };
            let size = size_in(&group.layout, DEFAULT_AREA, pane);
            self.awaited.insert(pane);
            self.start(instance, pane, command, size, request, out);
            members.insert(instance, Member { pane, spec, process: Process::Starting });
        }
        self.groups.insert(group.tab, Applying { request, group, members });
        Ok(())
    }

    /// The specs in the order of the layout, if each pane has one.
    fn check_group(
        &self,
        group: &Group,
        specs: Vec<(PaneId, PaneSpec)>,
    ) -> Result<Vec<(PaneId, PaneSpec)>, CommandError> {
        self.workspace(group.workspace)?;
        self.free_tab(group.tab)?;
        let count = specs.len();
        self.room_for(count)?;
        let mut specs: BTreeMap<_, _> = specs.into_iter().collect();
        if specs.keys().any(|pane| self.is_taken(*pane)) {
            return Err(CommandError::IdInUse("pane"));
        }
        let limits = self.config.layout;
        group.layout.check(&limits).map_err(|error| CommandError::NoRoom(error.to_string()))?;
        let unlike = || {
            let message = "a layout needs something to run for each of its panes, and for no other";
            CommandError::BadArrangement(message.to_owned())
        };
        let ordered: Option<Vec<_>> =
            group.layout.leaves().map(|pane| Some((pane, specs.remove(&pane)?))).collect();
        ordered.filter(|ordered| ordered.len() == count).ok_or_else(unlike)
    }

    /// The tab that an instance is being started for.
    pub(super) fn group_of(&self, instance: InstanceId) -> Option<TabId> {
        let mut groups = self.groups.iter();
        groups.find(|(_, group)| group.members.contains_key(&instance)).map(|(tab, _)| *tab)
    }

    pub(super) fn group_spawned(
        &mut self,
        now: Now,
        tab: TabId,
        instance: InstanceId,
        result: Result<(), Refusal>,
        out: &mut Vec<Effect>,
    ) {
        if let Err(refusal) = result {
            self.drop_group(tab, CommandError::SpawnFailed(refusal), out);
            return;
        }
        let Some(applying) = self.groups.get_mut(&tab) else {
            return;
        };
        if let Some(member) = applying.members.get_mut(&instance) {
            member.process = Process::Running;
        }
        if applying.members.values().any(|m| matches!(m.process, Process::Starting)) {
            return;
        }
        let (workspace, layout) = (applying.group.workspace, &applying.group.layout);
        let active = layout.first();
        // The workspace may have gone while the processes started.
        if let Err(error) = self.workspace(workspace) {
            self.drop_group(tab, error, out);
            return;
        }
        if let Some(applying) = self.groups.remove(&tab) {
            self.place_group(now, applying, active, out);
        }
    }

    fn place_group(&mut self, now: Now, applying: Applying, active: PaneId, out: &mut Vec<Effect>) {
        let Applying { request, group: Group { workspace, tab, title, layout }, members } =
            applying;
        let argv = members.values().find(|m| m.pane == active).map(|m| m.spec.argv.as_slice());
        self.add_tab(now, workspace, tab, layout, title, argv.unwrap_or_default(), out);
        let (mut watched, mut ended) = (Vec::new(), Vec::new());
        for (instance, Member { pane, spec, process }) in members {
            self.awaited.remove(&pane);
            watched.extend(spec.agent.clone().map(|kind| (instance, kind)));
            self.add_pane(now, pane, tab, instance, spec);
            publish(out, Event::PaneCreated { pane });
            if let Process::Ended(status, last_line) = process {
                ended.push((instance, status, last_line));
            }
        }
        reply(out, request, Ok(Reply::Created { workspace, tab, pane: active }));
        for (instance, kind) in watched {
            if !ended.iter().any(|(gone, ..)| *gone == instance) {
                out.push(Effect::Observe { instance, kind });
            }
        }
        for (instance, status, last_line) in ended {
            self.exited(now, instance, status, last_line.as_deref(), out);
        }
    }

    /// A process ended that may be waiting for others of its tab.
    pub(super) fn group_exited(
        &mut self,
        instance: InstanceId,
        status: ExitStatus,
        last_line: Option<&str>,
    ) {
        let members = self.groups.values_mut().flat_map(|group| &mut group.members);
        if let Some((_, member)) = members.into_iter().find(|(id, _)| **id == instance) {
            member.process = Process::Ended(status, last_line.map(Into::into));
        }
    }

    /// Gives up a tab that was to be made. What is still being started is
    /// stopped once it runs.
    fn drop_group(&mut self, tab: TabId, error: CommandError, out: &mut Vec<Effect>) {
        let Some(applying) = self.groups.remove(&tab) else {
            return;
        };
        for (instance, member) in applying.members {
            self.awaited.remove(&member.pane);
            if matches!(member.process, Process::Running) {
                out.push(Effect::Kill { instance });
            }
        }
        reply(out, applying.request, Err(error));
    }

    /// Gives all of them up.
    pub(super) fn drop_groups(&mut self, out: &mut Vec<Effect>) {
        let tabs: Vec<_> = self.groups.keys().copied().collect();
        for tab in tabs {
            self.drop_group(tab, CommandError::Stopping, out);
        }
    }

    /// How many panes are about to exist.
    pub(super) fn coming(&self) -> usize {
        self.pending.len() + self.groups.values().map(|group| group.members.len()).sum::<usize>()
    }
}
