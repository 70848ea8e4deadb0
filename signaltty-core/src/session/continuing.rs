//! A continuation: a prompt goes out at most once for each attempt (R5).
//!
//! The marker says on the disk that it is about to (K6), the proof and the
//! switches are looked at once more, and only the agent's own word that it took
//! it clears the marker (R6).

use std::sync::Arc;
use std::time::Duration;

use super::attempts::{Attempt, Step};
use super::{CommandError, Effect, Event, Reply, Session, VerdictWord, publish, reply};
use crate::agent::{AgentSessionId, VerifiedSession};
use crate::id::{InstanceId, PaneId, RequestId};
use crate::pane::Lifecycle;
use crate::restore::{Continuation, Marked, NoContinuation, PaneState, ResumeStage};
use crate::time::Now;

/// How long after the proof the agent may take to accept a prompt, the wait for
/// a quiet screen included.
pub(super) const ACCEPTANCE: Duration = Duration::from_secs(45);

/// Why a prompt was not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContinueFailure {
    /// A person typed since the process started: the conversation is theirs.
    #[error("somebody typed into the pane meanwhile")]
    PersonTyped,
    /// Something else than the agent reads the terminal.
    #[error("the agent was not in the foreground of its terminal")]
    NotInForeground,
    /// The screen never came to rest, or the agent never was ready to be typed
    /// to: it may show a question.
    #[error("the agent's screen did not come to rest or took no pastes; it may show a question")]
    NeverQuiet,
    /// The process is gone.
    #[error("the process ended")]
    Ended,
    /// The agent refused, or could not be asked.
    #[error("{0}")]
    Refused(Arc<str>),
}

/// What became of a prompt that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delivery {
    /// The agent itself answered that it takes it.
    Accepted,
    /// It was typed, or may have arrived; the agent's own sign is awaited.
    Sent,
}

impl Session {
    /// Everything is on the disk: looks once more, and sends.
    pub(super) fn send(
        &mut self,
        now: Now,
        pane: PaneId,
        marked: Marked,
        verified: VerifiedSession,
        request: Option<RequestId>,
        out: &mut Vec<Effect>,
    ) {
        let (archived, switches) = self.workspace_of(pane);
        let Some(entry) = self.panes.get(&pane) else {
            return;
        };
        let running = entry.state.instance();
        let (Some(running), Some(agent)) = (running, entry.record.agent.as_ref()) else {
            return;
        };
        let kind = agent.kind.clone();
        let made = match archived && request.is_none() {
            true => Err(NoContinuation::Archived),
            false => Continuation::new(verified, marked, running, agent, switches),
        };
        match made {
            Ok(continuation) => {
                let deadline = Some(now.mono.saturating_add(ACCEPTANCE));
                self.set_attempt(pane, Attempt { step: Step::Sent, request, deadline });
                let by_hand = request.is_some();
                let continuation = Arc::new(continuation);
                out.push(Effect::Continue { kind, continuation, by_hand });
            }
            Err(why) => self.not_continued(now, pane, request, &why.to_string(), true, out),
        }
    }

    /// What came of sending. The agent's own word may have come before.
    pub(super) fn continued(
        &mut self,
        now: Now,
        instance: InstanceId,
        result: Result<Delivery, ContinueFailure>,
        out: &mut Vec<Effect>,
    ) {
        let Some(pane) = self.instances.get(&instance).copied() else {
            return;
        };
        if !self.awaits_acceptance(pane) {
            return;
        }
        match result {
            Ok(Delivery::Accepted) => self.accepted(now, pane, Some(Lifecycle::Working), out),
            Ok(Delivery::Sent) => {}
            Err(why) => {
                let request = self.drop_attempt(pane);
                // Nothing was sent, so there is nothing to look for later.
                self.not_continued(now, pane, request, &why.to_string(), true, out);
            }
        }
    }

    /// Whether a prompt of ours is on its way to the agent of this pane.
    pub(super) fn awaits_acceptance(&self, pane: PaneId) -> bool {
        let attempt = self.panes.get(&pane).and_then(|entry| entry.attempt.as_ref());
        attempt.is_some_and(|attempt| matches!(attempt.step, Step::Sent))
    }

    /// The agent took the prompt: the only thing that fulfils the promise
    /// (S1-12). `doing` is what it is doing then, where that is known.
    pub(super) fn accepted(
        &mut self,
        now: Now,
        pane: PaneId,
        doing: Option<Lifecycle>,
        out: &mut Vec<Effect>,
    ) {
        let request = self.drop_attempt(pane);
        let doing = doing.unwrap_or(Lifecycle::Working);
        if let Some(heard) = self.heard(pane) {
            heard.lifecycle = heard.lifecycle.filter(|had| *had != Lifecycle::Idle).or(Some(doing));
        }
        // Before the pane goes live, which takes up what was heard and may clear
        // the marker: the continuation is a turn of its own all the same (K7).
        let marked = self.agent_mut(pane).and_then(|agent| agent.turns.marker());
        let marked = marked.map(|marker| marker.turn);
        let by_itself = self.close_continuing(now, pane, out);
        let Some(agent) = self.agent_mut(pane) else {
            return;
        };
        // What it works on now is the continuation, counted already or not.
        let turn = match marked {
            Some(marked) if agent.turns.newest() == marked.get() => agent.turns.accepted(),
            _ => {
                agent.turns.forget_marker();
                agent.turns.active()
            }
        };
        // A short one is over by the time it is seen.
        if matches!(doing, Lifecycle::Done | Lifecycle::Idle | Lifecycle::Failed) {
            agent.turns.finish();
        }
        agent.interrupted = false;
        agent.question_expired = false;
        agent.last_failure = None;
        let conversation = agent.conversation.as_ref().map(|conversation| conversation.id.clone());
        // The clear must not come back (K7).
        self.save.changed(now.mono);
        self.save.require_barrier();
        if let Some(turn) = turn {
            publish(out, Event::ContinuationAccepted { pane, turn });
        }
        if by_itself {
            self.must_last(now, pane);
        }
        let receipt = self.panes.get(&pane).and_then(|entry| entry.receipt.clone());
        if let (Some(request), Some(id)) = (request, conversation) {
            reply(out, request, Ok(Reply::Continued { pane, id, receipt }));
        }
    }

    /// A pane that was reopened to be continued is live now, whatever came of
    /// that. Says whether it was one.
    fn close_continuing(&mut self, now: Now, pane: PaneId, out: &mut Vec<Effect>) -> bool {
        let Some(PaneState::Resuming(stage)) = self.panes.get(&pane).map(|entry| &entry.state)
        else {
            return false;
        };
        let ResumeStage::Continuing { id, evidence, .. } = &**stage else {
            return false;
        };
        let (id, evidence): (AgentSessionId, _) = (id.clone(), evidence.clone());
        self.finish_resume(now, pane, None, id, VerdictWord::Verified, evidence, out);
        true
    }

    /// The turn does not go on; the conversation stays open for its person.
    pub(super) fn not_continued(
        &mut self,
        now: Now,
        pane: PaneId,
        request: Option<RequestId>,
        why: &str,
        settle: bool,
        out: &mut Vec<Effect>,
    ) {
        self.drop_attempt(pane);
        if self.close_continuing(now, pane, out) {
            self.must_last(now, pane);
        }
        if settle && let Some(agent) = self.agent_mut(pane) {
            agent.turns.settle();
        }
        self.tell_not_continued(now, pane, why, out);
        // A marker that came back would be continued.
        self.save.require_barrier();
        if let Some(request) = request {
            let why = why.into();
            reply(out, request, Err(CommandError::NotContinued { pane, why }));
        }
    }
}
