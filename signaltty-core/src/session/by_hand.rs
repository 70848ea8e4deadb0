//! A person has an interrupted turn go on, whatever the switches say.

use super::attempts::{Attempt, Step};
use super::continuing::ACCEPTANCE;
use super::{CommandError, Effect, Session};
use crate::agent::VerifiedSession;
use crate::id::{PaneId, RequestId};
use crate::restore::{Marking, PaneState, Recovery};
use crate::time::Now;

impl Session {
    /// A person wants the interrupted turn of a pane to go on.
    pub(super) fn continue_by_hand(
        &mut self,
        now: Now,
        request: RequestId,
        pane: PaneId,
        out: &mut Vec<Effect>,
    ) -> Result<(), CommandError> {
        let entry = self.panes.get(&pane).ok_or(CommandError::NoSuchPane(pane))?;
        let agent = entry.record.agent.as_ref().ok_or(CommandError::NothingToContinue(pane))?;
        if Recovery::by_hand(agent).is_none() {
            return Err(CommandError::NothingToContinue(pane));
        }
        let waiting = entry.attempt.as_ref().is_some_and(|attempt| {
            matches!(attempt.step, Step::Sent | Step::HandReading(_) | Step::Promising(..))
        });
        if waiting {
            return Err(CommandError::HasProcess(pane, "being continued"));
        }
        match &entry.state {
            PaneState::Live { instance } => {
                let proof = entry.run.verified.clone();
                let proof = proof.filter(|proof| proof.instance() == *instance);
                let verified = proof.ok_or(CommandError::NotProven(pane))?;
                self.read_by_hand(now, pane, verified, request, out);
                Ok(())
            }
            _ => {
                self.begin_resume(now, request, pane, false, None, out)?;
                // The resume answers until it is proven.
                self.set_attempt(pane, Attempt::new(Step::Hand));
                Ok(())
            }
        }
    }

    /// Looks what the record says, so that the person is told.
    pub(super) fn read_by_hand(
        &mut self,
        now: Now,
        pane: PaneId,
        verified: VerifiedSession,
        request: RequestId,
        out: &mut Vec<Effect>,
    ) {
        let Some((kind, conversation)) = self.resumed_conversation(pane) else {
            return;
        };
        let deadline = Some(now.mono.saturating_add(ACCEPTANCE));
        let step = Step::HandReading(verified);
        self.set_attempt(pane, Attempt { step, request: Some(request), deadline });
        out.push(Effect::ReadTurn { pane, kind, conversation });
    }

    /// The record shows that the turn came to its end after all, so there is
    /// nothing for it to go on with.
    pub(super) fn nothing_left(
        &mut self,
        now: Now,
        pane: PaneId,
        request: Option<RequestId>,
        out: &mut Vec<Effect>,
    ) {
        if let Some(agent) = self.agent_mut(pane) {
            agent.interrupted = false;
        }
        let why = "its record shows that the turn had come to its end, so nothing was sent";
        self.not_continued(now, pane, request, why, true, out);
    }

    pub(super) fn promise_by_hand(
        &mut self,
        now: Now,
        pane: PaneId,
        verified: VerifiedSession,
        request: Option<RequestId>,
        out: &mut Vec<Effect>,
    ) {
        let Some(agent) = self.agent_mut(pane) else {
            return;
        };
        let Some(recovery) = Recovery::by_hand(agent) else {
            let why = "the agent works on something else meanwhile";
            return self.not_continued(now, pane, request, why, true, out);
        };
        let marking = Marking::begin(recovery, &mut agent.turns);
        agent.turns.sending();
        agent.continuity.starts = 0;
        let step = Step::Promising(marking, verified);
        self.set_attempt(pane, Attempt { step, request, deadline: None });
        self.await_barrier(now, pane);
    }
}
