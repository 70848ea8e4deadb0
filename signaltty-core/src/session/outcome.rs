//! How a resume ends.
//!
//! Every way out that is not a proof ends in the same tombstone, with the
//! reason, the saved conversation and the tail kept (R7, S1-19).

use std::sync::Arc;

use super::verify::evidence;
use super::{
    CommandError, Effect, Event, PaneVerdict, Reply, Run, Session, VerdictWord, process, publish,
    reply,
};
use crate::agent::{AgentPlace, AgentSessionId, Conversation};
use crate::id::{InstanceId, PaneId, RequestId};
use crate::pane::{Attention, ExitStatus};
use crate::restore::{FailureCode, PaneState, Refusal, ResumeFailure, ResumeStage};
use crate::time::Now;

/// Longest refusal message that is saved, in characters.
const MESSAGE_CHARS: usize = 1_000;

impl Session {
    /// The process ended before it proved anything, or because it was stopped.
    pub(super) fn resume_exited(
        &mut self,
        now: Now,
        pane: PaneId,
        status: ExitStatus,
        last_line: Option<&str>,
        out: &mut Vec<Effect>,
    ) {
        let program =
            self.resumed_conversation(pane).map_or("the agent".to_owned(), |(k, _)| k.to_string());
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        let PaneState::Resuming(stage) = &entry.state else {
            return;
        };
        let (refusal, evidence) = match &**stage {
            ResumeStage::Stopping { refusal, evidence, .. } => (refusal.clone(), evidence.clone()),
            ResumeStage::Verifying { witnesses, .. } => {
                (process::early_exit(&program, status, last_line), evidence(witnesses))
            }
            _ => (process::early_exit(&program, status, last_line), Vec::new()),
        };
        publish(out, Event::PaneExited { pane, status });
        self.refuse_resume(now, pane, refusal, evidence, out);
    }

    pub(super) fn stop_resume(
        &mut self,
        pane: PaneId,
        request: Option<RequestId>,
        instance: InstanceId,
        refusal: Refusal,
        evidence: Vec<Arc<str>>,
        out: &mut Vec<Effect>,
    ) {
        let unconfirmed = refusal.code == FailureCode::Unconfirmed;
        let verdict =
            if unconfirmed { VerdictWord::Unconfirmed } else { VerdictWord::Contradicted };
        publish(out, Event::ResumeVerdict { pane, verdict, evidence: evidence.clone() });
        self.set_stage(pane, ResumeStage::Stopping { request, instance, refusal, evidence }, out);
        out.push(Effect::Kill { instance });
    }

    /// Back to the tombstone, with the reason; nothing runs.
    pub(super) fn refuse_resume(
        &mut self,
        now: Now,
        pane: PaneId,
        refusal: Refusal,
        evidence: Vec<Arc<str>>,
        out: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        let PaneState::Resuming(stage) = &entry.state else {
            return;
        };
        let request = stage.request();
        let other = entry.take_back();
        entry.run = Run { ended: entry.run.ended, ..Run::default() };
        entry.settle();
        self.drop_attempt(pane);
        if other {
            // It says nothing of the conversation that the pane holds again.
            self.publish_state(pane, out);
            let error = CommandError::ResumeRefused { pane, previous: true, refusal, evidence };
            return request.into_iter().for_each(|request| reply(out, request, Err(error.clone())));
        }
        self.fail_resume(now, pane, refusal, out);
        if request.is_none() {
            self.give_up_turn(now, pane, out);
        }
        self.publish_state(pane, out);
        let refusal = self.last_refusal(pane);
        let error = CommandError::ResumeRefused { pane, previous: false, refusal, evidence };
        if let Some(request) = request {
            reply(out, request, Err(error));
        }
    }

    /// An automatic start was refused, so the turn that was to go on does not
    /// (S1-23). Its person saw why.
    fn give_up_turn(&mut self, now: Now, pane: PaneId, out: &mut Vec<Effect>) {
        let refusal = self.last_refusal(pane);
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        let record = entry.edit();
        let Some(agent) = record.agent.as_mut().filter(|agent| agent.turns.marker().is_some())
        else {
            return;
        };
        agent.turns.settle();
        let message = format!(
            "continuing after the restart failed: {}; resume the pane and send a new message",
            refusal.message
        );
        let message = super::plain_line(&message, MESSAGE_CHARS);
        record.last_message = Some(super::plain_line(&message, super::TITLE_CHARS));
        self.save.changed(now.mono);
        // One that came back would be tried again.
        self.save.require_barrier();
        let refusal = Refusal { message, ..refusal };
        publish(out, Event::ContinuationFailed { pane, refusal });
    }

    /// Notes why a resume did not succeed, and tells people.
    pub(super) fn fail_resume(
        &mut self,
        now: Now,
        pane: PaneId,
        refusal: Refusal,
        out: &mut Vec<Effect>,
    ) {
        let message = super::plain_line(&refusal.message, MESSAGE_CHARS);
        let refusal = Refusal { message, ..refusal };
        if let Some(entry) = self.panes.get_mut(&pane)
            && let Some(agent) = &mut entry.edit().agent
        {
            agent.last_failure = Some(ResumeFailure { refusal: refusal.clone(), at: now.wall });
        }
        self.save.changed(now.mono);
        publish(out, Event::ResumeFailed { pane, refusal });
        self.raise_attention(now, pane, Attention::Warning, out);
    }

    pub(super) fn note_unconfirmed(
        &mut self,
        now: Now,
        pane: PaneId,
        silent: bool,
        missing: &[Arc<str>],
    ) {
        let message = match missing {
            _ if silent => "this agent shows which conversation it has open only once it is \
                            prompted; it was left open, look at it before you type"
                .to_owned(),
            [] => "nothing proves which conversation the agent has open; it was left open, look \
                   at it before you type"
                .to_owned(),
            missing => format!(
                "nothing proves which conversation the agent has open: {}; it was left open, look \
                 at it before you type",
                missing.join(", ")
            ),
        };
        self.note_failure(now, pane, Refusal::new(FailureCode::Unconfirmed, message));
    }

    pub(super) fn note_failure(&mut self, now: Now, pane: PaneId, refusal: Refusal) {
        if let Some(entry) = self.panes.get_mut(&pane)
            && let Some(agent) = &mut entry.edit().agent
        {
            agent.last_failure = Some(ResumeFailure { refusal, at: now.wall });
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the outcome of a resume, from one place")]
    pub(super) fn finish_resume(
        &mut self,
        now: Now,
        pane: PaneId,
        request: Option<RequestId>,
        id: AgentSessionId,
        word: VerdictWord,
        evidence: Vec<Arc<str>>,
        out: &mut Vec<Effect>,
    ) {
        let Some(instance) = self.panes.get(&pane).and_then(|e| e.state.instance()) else {
            return;
        };
        let verdict = PaneVerdict { word, evidence: evidence.clone(), at: now.wall };
        self.go_live(now, pane, instance, out);
        if let Some(entry) = self.panes.get_mut(&pane) {
            entry.run.reopened = true;
            entry.run.verdict = Some(verdict.clone());
            entry.run.before = None;
            if let Some(agent) = &mut entry.edit().agent {
                if agent.place == AgentPlace::Left {
                    // It is open again, in the slot of the shell.
                    agent.place = AgentPlace::Shell;
                }
                // That its turn does not go on is still to be read.
                agent.last_failure.take_if(|had| had.refusal.code != FailureCode::NotContinued);
                if word == VerdictWord::Verified {
                    agent.continuity.proven(now.wall);
                }
                if request.is_some() {
                    agent.continuity.starts = 0;
                }
            }
        }
        publish(out, Event::ResumeVerdict { pane, verdict: word, evidence });
        if let Some(request) = request {
            reply(out, request, Ok(Reply::Resumed { pane, id: Some(id), verdict }));
        }
    }

    /// A proof alone changes what is saved of the conversation.
    pub(super) fn keep_conversation(
        &mut self,
        pane: PaneId,
        resumed: &Conversation,
        id: AgentSessionId,
        anchor: Option<crate::agent::Anchor>,
        out: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        let Some(agent) = entry.edit().agent.as_mut() else {
            return;
        };
        let awaited = agent.turns.awaits_word();
        let Some(saved) = agent.conversation.as_mut() else {
            return;
        };
        saved.cwd = resumed.cwd.clone();
        if let Some(anchor) = anchor.filter(|_| !awaited) {
            saved.anchor = Some(anchor);
        }
        if saved.id != id {
            saved.previous = Some(std::mem::replace(&mut saved.id, id.clone()));
            entry.watch.replaced();
            publish(out, Event::AgentBound { pane, id });
        }
    }

    pub(super) fn last_refusal(&self, pane: PaneId) -> Refusal {
        let agent = self.panes.get(&pane).and_then(|entry| entry.record.agent.as_ref());
        let failure = agent.and_then(|agent| agent.last_failure.as_ref());
        failure.map_or_else(
            || Refusal::new(FailureCode::SpawnFailed, "the pane holds no agent"),
            |failure| failure.refusal.clone(),
        )
    }

    /// Everything that was being resumed goes back to its tombstone (S6).
    pub(super) fn abandon_resumes(&mut self, out: &mut Vec<Effect>) {
        let resuming = |entry: &super::PaneEntry| matches!(entry.state, PaneState::Resuming(_));
        let panes: Vec<_> =
            self.panes.iter().filter(|(_, e)| resuming(e)).map(|(id, _)| *id).collect();
        for pane in panes {
            let Some(entry) = self.panes.get_mut(&pane) else {
                continue;
            };
            let PaneState::Resuming(stage) = &entry.state else {
                continue;
            };
            let (request, instance) = (stage.request(), stage.instance());
            entry.take_back();
            entry.run = Run { ended: entry.run.ended, ..Run::default() };
            entry.attempt = None;
            entry.settle();
            if let Some(instance) = instance {
                self.instances.remove(&instance);
                self.stop(instance, out);
            }
            self.publish_state(pane, out);
            if let Some(request) = request {
                reply(out, request, Err(CommandError::Stopping));
            }
        }
        let attempts = self.panes.iter_mut().filter_map(|entry| entry.attempt.take());
        for request in attempts.filter_map(|attempt| attempt.request) {
            reply(out, request, Err(CommandError::Stopping));
        }
    }
}
