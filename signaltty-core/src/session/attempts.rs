//! The steps of one automatic attempt, or of one continuation by hand, in a
//! pane; and the continuation itself.
//!
//! A prompt goes out at most once for each attempt (R5): the marker says on the
//! disk that it is about to (K6), the proof and the switches are looked at once
//! more, and only the agent's own word that it took it clears the marker (R6).

use std::sync::Arc;
use std::time::Duration;

use super::{CommandError, Effect, Event, PaneEntry, Reply, Session, VerdictWord, publish, reply};
use crate::agent::{AgentSessionId, SavedAgent, VerifiedSession};
use crate::id::{InstanceId, PaneId, RequestId};
use crate::pane::Lifecycle;
use crate::restore::{
    AutomaticSpawn, Continuation, Marked, MarkerSaved, Marking, NoContinuation, PaneState,
    Recovery, ResumeStage,
};
use crate::save::SaveFailure;
use crate::time::Now;

/// How long after the proof the agent may take to accept a prompt, the wait for
/// a quiet screen included.
const ACCEPTANCE: Duration = Duration::from_secs(45);

/// One attempt in a pane.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) step: Step,
    /// Who waits for the outcome; nobody where the server began it.
    pub(super) request: Option<RequestId>,
    /// When this step must be over.
    pub(super) deadline: Option<Duration>,
}

/// How far it is.
#[derive(Debug)]
pub(super) enum Step {
    /// The marker, or the count, is being saved.
    Marking(Marking),
    /// It is on the disk; others have their turn.
    Queued(Marked),
    /// Preflight.
    Checking(Marked),
    /// What the record says of the turn is being read.
    Reading(AutomaticSpawn),
    /// The process is being started, or must prove itself.
    Running(AutomaticSpawn),
    /// It is proven; that the prompt is about to go out is being saved.
    Sending(Marked, VerifiedSession, u8),
    /// By hand: the conversation is being reopened first.
    Hand,
    /// By hand: what the record says of the turn is being read.
    HandReading(VerifiedSession),
    /// By hand: the marker is being saved.
    Promising(Marking, VerifiedSession),
    /// The prompt goes out, or did; the agent has not said that it took it.
    Sent,
    /// It came through, and must last.
    Lasting,
}

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
    #[error("the agent's screen did not come to rest; it may show a question")]
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

impl Attempt {
    pub(super) fn new(step: Step) -> Self {
        Self { step, request: None, deadline: None }
    }
}

impl Clone for Attempt {
    fn clone(&self) -> Self {
        let step = match &self.step {
            Step::Marking(marking) => Step::Marking(marking.in_another_world()),
            Step::Queued(marked) => Step::Queued(marked.in_another_world()),
            Step::Checking(marked) => Step::Checking(marked.in_another_world()),
            Step::Reading(spawn) => Step::Reading(spawn.in_another_world()),
            Step::Running(spawn) => Step::Running(spawn.in_another_world()),
            Step::Sending(marked, verified, failures) => {
                Step::Sending(marked.in_another_world(), verified.clone(), *failures)
            }
            Step::Hand => Step::Hand,
            Step::HandReading(verified) => Step::HandReading(verified.clone()),
            Step::Promising(marking, verified) => {
                Step::Promising(marking.in_another_world(), verified.clone())
            }
            Step::Sent => Step::Sent,
            Step::Lasting => Step::Lasting,
        };
        Self { step, ..*self }
    }
}

impl Session {
    pub(super) fn agent_mut(&mut self, pane: PaneId) -> Option<&mut SavedAgent> {
        self.panes.get_mut(&pane)?.edit().agent.as_mut()
    }

    pub(super) fn set_attempt(&mut self, pane: PaneId, attempt: Attempt) {
        if let Some(entry) = self.panes.get_mut(&pane) {
            entry.attempt = Some(attempt);
        }
    }

    pub(super) fn take_attempt(&mut self, pane: PaneId) -> Option<Attempt> {
        self.panes.get_mut(&pane)?.attempt.take()
    }

    /// Ends whatever is under way in a pane, and answers who waits for it.
    pub(super) fn drop_attempt(&mut self, pane: PaneId) -> Option<RequestId> {
        self.forget_barrier(pane);
        self.take_attempt(pane).and_then(|attempt| attempt.request)
    }

    /// A save ended that a pane waited for.
    pub(super) fn barrier_passed(
        &mut self,
        now: Now,
        pane: PaneId,
        result: Result<(), SaveFailure>,
        out: &mut Vec<Effect>,
    ) {
        let Some(Attempt { step, request, deadline }) = self.take_attempt(pane) else {
            return;
        };
        match step {
            Step::Marking(marking) => match marking.saved(result) {
                MarkerSaved::Marked(marked) => {
                    self.set_attempt(pane, Attempt::new(Step::Queued(marked)));
                    self.enqueue(now, pane, out);
                }
                MarkerSaved::Again(marking) => {
                    self.set_attempt(pane, Attempt::new(Step::Marking(marking)));
                    self.await_barrier(now, pane);
                }
                MarkerSaved::Refused(why) => self.give_up(now, pane, why, out),
            },
            Step::Promising(marking, verified) => match marking.saved(result) {
                MarkerSaved::Marked(marked) => {
                    self.send(now, pane, marked, verified, request, out);
                }
                MarkerSaved::Again(marking) => {
                    let step = Step::Promising(marking, verified);
                    self.set_attempt(pane, Attempt { step, request, deadline });
                    self.await_barrier(now, pane);
                }
                MarkerSaved::Refused(why) => {
                    self.not_continued(now, pane, request, &why.to_string(), true, out);
                }
            },
            Step::Sending(marked, verified, failures) => match (result, failures) {
                (Ok(()), _) => self.send(now, pane, marked, verified, request, out),
                (Err(_), 0) => {
                    let step = Step::Sending(marked, verified, 1);
                    self.set_attempt(pane, Attempt { step, request, deadline });
                    self.await_barrier(now, pane);
                }
                (Err(_), _) => {
                    let why = NoContinuation::MarkerNotSaved.to_string();
                    self.not_continued(now, pane, request, &why, true, out);
                }
            },
            step => self.set_attempt(pane, Attempt { step, request, deadline }),
        }
    }

    /// An automatic start is proven: its turn goes on, or it must last.
    pub(super) fn proven_by_itself(
        &mut self,
        now: Now,
        pane: PaneId,
        spawn: AutomaticSpawn,
        verified: VerifiedSession,
        evidence: Vec<Arc<str>>,
        out: &mut Vec<Effect>,
    ) {
        let took_over = self.heard(pane).is_some_and(|heard| heard.accepted_prompt);
        let id = verified.id().clone();
        if spawn.turn().is_none() || took_over {
            if took_over && let Some(agent) = self.agent_mut(pane) {
                agent.turns.forget_marker();
            }
            self.finish_resume(now, pane, None, id, VerdictWord::Verified, evidence, out);
            return self.must_last(now, pane);
        }
        let instance = verified.instance();
        if let Some(agent) = self.agent_mut(pane) {
            agent.turns.sending();
        }
        self.set_stage(pane, ResumeStage::Continuing { instance, id, evidence }, out);
        let step = Step::Sending(spawn.into_marked(), verified, 0);
        self.set_attempt(pane, Attempt::new(step));
        self.await_barrier(now, pane);
    }

    /// An automatic start came through; that it lasts is seen later (D-14).
    pub(super) fn must_last(&mut self, now: Now, pane: PaneId) {
        let deadline = Some(now.mono.saturating_add(self.config.recovery.lasts));
        self.set_attempt(pane, Attempt { step: Step::Lasting, request: None, deadline });
    }

    /// Everything is on the disk: looks once more, and sends.
    fn send(
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
        let by_itself = self.close_continuing(now, pane, out);
        let Some(agent) = self.agent_mut(pane) else {
            return;
        };
        let marked = agent.turns.marker().map(|marker| marker.turn);
        // What it works on now is the continuation, counted already or not.
        let turn = match marked {
            Some(marked) if agent.turns.newest() == marked.get() => agent.turns.accepted(),
            _ => {
                agent.turns.forget_marker();
                agent.turns.active()
            }
        };
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
    fn not_continued(
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

    /// The process of a live pane that was being continued ended.
    pub(super) fn attempt_lost_its_process(
        &mut self,
        now: Now,
        pane: PaneId,
        out: &mut Vec<Effect>,
    ) {
        let state = self.panes.get(&pane).map(|entry| &entry.state);
        if !matches!(state, Some(PaneState::Live { .. })) || self.is_stopping() {
            return;
        }
        let Some(request) = self.drop_attempt(pane) else {
            return;
        };
        let why = "the process ended before it took the prompt";
        self.not_continued(now, pane, Some(request), why, true, out);
    }

    /// A step took as long as it may.
    pub(super) fn attempt_is_due(&mut self, now: Now, pane: PaneId, out: &mut Vec<Effect>) {
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        let due = |attempt: &mut Attempt| attempt.deadline.is_some_and(|at| at <= now.mono);
        let Some(attempt) = entry.attempt.take_if(due) else {
            return;
        };
        match attempt.step {
            Step::Lasting => {
                if let Some(agent) = self.agent_mut(pane) {
                    agent.continuity.starts = 0;
                }
                self.save.changed(now.mono);
            }
            // S1-12: the promise stays, and a later start looks whether the
            // prompt arrived after all.
            Step::Sent => {
                let why = "the agent did not say that it took the prompt";
                self.not_continued(now, pane, attempt.request, why, false, out);
            }
            Step::HandReading(verified) => {
                self.promise_by_hand(now, pane, verified, attempt.request, out);
            }
            step => entry.attempt = Some(Attempt { step, deadline: None, ..attempt }),
        }
    }

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

impl PaneEntry {
    /// Whether a start that nobody asked for takes part of the machine.
    pub(super) fn starts_by_itself(&self) -> bool {
        let attempt = self.attempt.as_ref().map(|attempt| &attempt.step);
        let own = matches!(attempt, Some(Step::Checking(_) | Step::Reading(_) | Step::Running(_)));
        own || matches!(&self.state, PaneState::Resuming(stage)
            if matches!(&**stage, ResumeStage::Stopping { request: None, .. }))
    }
}
