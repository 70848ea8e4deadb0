//! The one way in which a session ends: freeze, save once, stop.

use super::{CommandError, Effect, Event, Phase, Reply, Session, publish, reply};
use crate::id::{PaneId, RequestId};
use crate::pane::{EndCause, Lifecycle, PaneEnd};
use crate::restore::PaneState;
use crate::save::{SaveFailure, SaveToken};
use crate::time::Now;

/// Turns being marked for a planned restart.
#[derive(Debug, Clone)]
pub(super) struct Planning {
    request: RequestId,
    marked: Vec<PaneId>,
    /// The save that holds the marks, once it is under way.
    token: Option<SaveToken>,
}

impl Session {
    /// Whether it takes no more commands.
    pub fn is_stopping(&self) -> bool {
        self.phase != Phase::Running
    }

    pub(super) fn request_shutdown(
        &mut self,
        now: Now,
        request: RequestId,
        force: bool,
        continue_turns: bool,
        out: &mut Vec<Effect>,
    ) -> Result<(), CommandError> {
        let alive = self.live_panes() + self.coming() + self.restarting.len();
        if alive > 0 && !force && !continue_turns {
            return Err(CommandError::PanesAlive(alive));
        }
        if self.planning.is_some() {
            return Err(CommandError::Stopping);
        }
        if continue_turns {
            let marked = self.mark_running_turns();
            if !marked.is_empty() {
                self.planning = Some(Planning { request, marked, token: None });
                self.save.changed(now.mono);
                self.save.require_barrier();
                return Ok(());
            }
        }
        self.begin_shutdown(now, Some(request), out);
        Ok(())
    }

    /// Marks every turn that runs now and could go on after a restart.
    fn mark_running_turns(&mut self) -> Vec<PaneId> {
        let panes: Vec<_> = self.pane_ids().collect();
        let mut marked = Vec::new();
        for pane in panes {
            let (archived, _) = self.workspace_of(pane);
            let Some(entry) = self.panes.get_mut(&pane) else {
                continue;
            };
            let live = matches!(entry.state, PaneState::Live { .. });
            let runs = matches!(entry.record.lifecycle, Lifecycle::Working | Lifecycle::Blocked);
            let able = entry.record.agent.as_ref().is_some_and(|agent| {
                agent.resumable().is_some()
                    && agent.turns.active().is_some()
                    && agent.turns.marker().is_none()
            });
            if live && runs && able && !archived {
                if let Some(agent) = &mut entry.edit().agent {
                    agent.turns.plan();
                }
                marked.push(pane);
            }
        }
        marked
    }

    /// The save of the marks ended: all of them are on the disk, or none is kept
    /// and the server goes on.
    fn marks_saved(
        &mut self,
        now: Now,
        token: SaveToken,
        result: Result<(), SaveFailure>,
        out: &mut Vec<Effect>,
    ) {
        let ours = |planning: &mut Planning| planning.token == Some(token);
        let Some(planning) = self.planning.take_if(ours) else {
            return;
        };
        if result.is_ok() {
            publish(out, Event::TurnsMarked { turns: planning.marked.len() });
            return self.begin_shutdown(now, Some(planning.request), out);
        }
        for pane in planning.marked {
            if let Some(agent) = self.agent_mut(pane) {
                agent.turns.forget_marker();
            }
        }
        self.save.changed(now.mono);
        reply(out, planning.request, Err(CommandError::NotMarked));
    }

    /// A synced save begins, which holds the marks.
    pub(super) fn marks_begin(&mut self, token: SaveToken) {
        if let Some(planning) = &mut self.planning {
            planning.token.get_or_insert(token);
        }
    }

    /// Freezes the panes and asks for the last save. A second call changes
    /// nothing.
    pub(super) fn begin_shutdown(
        &mut self,
        now: Now,
        request: Option<RequestId>,
        out: &mut Vec<Effect>,
    ) {
        if self.phase != Phase::Running {
            return;
        }
        if let Some(planning) = self.planning.take() {
            // Something else stops the server; the marks go with its last save.
            reply(out, planning.request, Err(CommandError::Stopping));
        }
        self.phase = Phase::Stopping { request, token: None };
        self.abandon_resumes(out);
        self.reclaim_exits(now);
        // What is being started is stopped once it runs.
        for creation in std::mem::take(&mut self.pending).into_values() {
            reply(out, creation.request, Err(CommandError::Stopping));
        }
        for again in std::mem::take(&mut self.restarting).into_values() {
            reply(out, again.request, Err(CommandError::Stopping));
        }
        self.drop_groups(out);
        let asked = self.panes.iter_mut().filter_map(|entry| entry.decision.take());
        for decision in asked {
            reply(out, decision.request, Err(CommandError::Stopping));
        }
        self.awaited.clear();
        self.tell_what_waits(now, out);
        publish(out, Event::ServerStopping {});
        self.save.changed(now.mono);
        self.save.require_barrier();
    }

    /// What ended in the seconds before was ended by the shutdown, unless a
    /// person did it through us (D-8, C001, C002, C038).
    fn reclaim_exits(&mut self, now: Now) {
        let window = self.config.shutdown_window;
        for entry in self.panes.iter_mut() {
            entry.reclaim_left(now, window);
            let PaneState::Tombstone(_) = entry.state else {
                continue;
            };
            let recent = entry
                .run
                .ended
                .filter(|ended| !ended.by_user && now.mono.saturating_sub(ended.at) <= window);
            let (Some(ended), Some(end)) = (recent, entry.record.end) else {
                continue;
            };
            let record = entry.edit();
            record.lifecycle = ended.doing;
            record.end = Some(PaneEnd { cause: EndCause::Shutdown, ..end });
            entry.interrupt(ended.doing);
            entry.settle();
        }
    }

    pub(super) fn save_ended(
        &mut self,
        now: Now,
        token: SaveToken,
        result: Result<(), SaveFailure>,
        out: &mut Vec<Effect>,
    ) {
        if !self.save.finish(now.mono, token, result) {
            return;
        }
        self.marks_saved(now, token, result, out);
        for pane in self.barrier_ended(token) {
            self.barrier_passed(now, pane, result, out);
        }
        // A save that was under way when the shutdown began is not the last.
        if let Phase::Stopping { request, token: Some(last) } = self.phase
            && last == token
        {
            self.phase = Phase::Stopped;
            if let Some(request) = request {
                let done = result.map(|()| Reply::Done);
                reply(out, request, done.map_err(|_| CommandError::NotSaved));
            }
            out.push(Effect::Stop);
        }
    }
}
