//! The steps of one automatic attempt, or of one continuation by hand, in a
//! pane.

use std::sync::Arc;
use std::time::Duration;

use super::{Effect, PaneEntry, Session, VerdictWord};
use crate::agent::{SavedAgent, VerifiedSession};
use crate::id::{PaneId, RequestId};
use crate::restore::{
    AutomaticSpawn, Marked, MarkerSaved, Marking, NoContinuation, PaneState, ResumeStage,
};
use crate::save::SaveFailure;
use crate::time::Now;

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
