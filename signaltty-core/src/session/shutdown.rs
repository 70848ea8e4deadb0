//! The one way in which a session ends: freeze, save once, stop.

use super::{CommandError, Effect, Event, Phase, Reply, Session, publish, reply};
use crate::id::RequestId;
use crate::pane::{EndCause, PaneEnd};
use crate::restore::PaneState;
use crate::save::{SaveFailure, SaveToken};
use crate::time::Now;

impl Session {
    pub(super) fn is_stopping(&self) -> bool {
        self.phase != Phase::Running
    }

    pub(super) fn request_shutdown(
        &mut self,
        now: Now,
        request: RequestId,
        force: bool,
        out: &mut Vec<Effect>,
    ) -> Result<(), CommandError> {
        let alive = self.live_panes() + self.coming() + self.restarting.len();
        if alive > 0 && !force {
            return Err(CommandError::PanesAlive(alive));
        }
        self.begin_shutdown(now, Some(request), out);
        Ok(())
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
        self.phase = Phase::Stopping { request, token: None };
        self.abandon_resumes(out);
        self.reclaim_exits(now);
        // What is being started is stopped once it runs.
        for creation in std::mem::take(&mut self.pending).into_values() {
            reply(out, creation.request, Err(CommandError::Stopping));
        }
        for (request, ..) in std::mem::take(&mut self.restarting).into_values() {
            reply(out, request, Err(CommandError::Stopping));
        }
        self.drop_groups(out);
        let asked = self.panes.iter_mut().filter_map(|entry| entry.decision.take());
        for decision in asked {
            reply(out, decision.request, Err(CommandError::Stopping));
        }
        self.awaited.clear();
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
