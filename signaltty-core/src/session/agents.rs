//! What agents in live panes show: what they do, and which conversation they
//! have open.
//!
//! The saved conversation of a pane follows its agent (`/clear`, `/resume` and
//! forks change the id while the process lives), but only to one in which
//! somebody has said something: an id without a message cannot be resumed, so
//! it never replaces one that can (C028, C029, C035).

use super::{Effect, Event, Heard, PaneVerdict, Session, VerdictWord, publish, verify};
use crate::agent::{
    AgentPlace, AgentReport, Moment, RecordRead, SavedAgent, Verdict, Witness, judge,
};
use crate::env::ConfigEnv;
use crate::id::{InstanceId, PaneId};
use crate::pane::{Attention, Lifecycle};
use crate::restore::{FailureCode, PaneState, Refusal, ResumeStage};
use crate::time::Now;

impl Session {
    pub(super) fn report(
        &mut self,
        now: Now,
        instance: InstanceId,
        report: AgentReport,
        out: &mut Vec<Effect>,
    ) {
        // Facts from another instance change nothing (R9).
        let Some(pane) = self.instances.get(&instance).copied() else {
            return;
        };
        let AgentReport { witness, lifecycle, finished, attention, message, accepted_prompt } =
            report;
        let witness = witness.filter(|witness| witness.instance == instance);
        self.decision_overtaken(now, pane, lifecycle, out);
        let (lifecycle, attention) = match self.is_held_by_decision(pane, lifecycle) {
            true => (None, None),
            false => (lifecycle, attention),
        };
        match attention {
            // A process that may be the wrong one cannot take back what the
            // right one asked for.
            Some(Attention::None) if self.is_resuming(pane) => {}
            Some(Attention::None) => self.clear_request(now, pane, out),
            Some(attention) => self.raise_attention(now, pane, attention, out),
            None => {}
        }
        if let Some(heard) = self.heard(pane) {
            heard.lifecycle = lifecycle.or(heard.lifecycle);
            heard.message = message.or_else(|| heard.message.take());
            heard.accepted_prompt |= accepted_prompt;
            if let Some(witness) = witness {
                self.moved_away(pane, &witness, out);
                self.witnessed(now, pane, witness, out);
            }
            if accepted_prompt && self.awaits_acceptance(pane) {
                self.accepted(now, pane, lifecycle, out);
            }
            return;
        }
        let turn_ended = matches!(lifecycle, Some(Lifecycle::Done | Lifecycle::Idle));
        match (lifecycle, finished) {
            (Some(lifecycle), Some(turn)) if turn_ended => {
                self.finished(now, pane, lifecycle, turn, out);
            }
            (Some(lifecycle), _) => self.set_lifecycle(now, pane, lifecycle, out),
            (None, _) => {}
        }
        if accepted_prompt && self.awaits_acceptance(pane) {
            self.accepted(now, pane, lifecycle, out);
        }
        self.note_words(now, pane, message, accepted_prompt, out);
        match witness {
            Some(witness) => {
                self.bind(now, pane, &witness);
                self.looked_at(now, pane, &witness);
                self.later_witness(pane, witness, out);
                self.take_anchor(pane, turn_ended, out);
                self.tell_shared(now, pane, out);
            }
            None if turn_ended => self.take_anchor(pane, true, out),
            None => {}
        }
    }

    /// The pane's own agent keeps its records elsewhere than it was told: what it
    /// shows from now on is looked for there. What reopened a conversation is left
    /// out, since that was saved with its own place.
    pub(super) fn agent_moved(
        &mut self,
        instance: InstanceId,
        env: ConfigEnv,
        out: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.instances.get(&instance).and_then(|pane| self.panes.get_mut(pane))
        else {
            return;
        };
        let own = entry.record.agent.as_ref().filter(|agent| agent.place == AgentPlace::Own);
        let (Some(kind), false) = (own.map(|agent| agent.kind.clone()), entry.run.reopened) else {
            return;
        };
        if entry.state != (PaneState::Live { instance }) {
            return;
        }
        if let Some((_, of)) = &mut entry.run.home {
            *of = env;
            out.push(Effect::Observe { instance, kind });
        }
    }

    /// While a prompt of ours is on its way, the process shows another
    /// conversation: it is stopped, so that the prompt goes nowhere else (S1-26).
    fn moved_away(&mut self, pane: PaneId, witness: &Witness, out: &mut Vec<Effect>) {
        let policy = self.policy_of(pane);
        let Some(PaneState::Resuming(stage)) = self.panes.get(&pane).map(|entry| &entry.state)
        else {
            return;
        };
        let ResumeStage::Continuing { instance, id, evidence } = &**stage else {
            return;
        };
        let admissible = policy.is_some_and(|policy| policy.required.contains(&witness.source));
        if !admissible || witness.sessions.is_empty() || witness.sessions.contains(id) {
            return;
        }
        let (instance, mut evidence) = (*instance, evidence.clone());
        evidence.push(super::plain_line(&witness.detail, super::TITLE_CHARS));
        let message = format!(
            "the agent went on to another conversation before it was continued; the process was \
             stopped, the saved conversation {id} is kept"
        );
        let refusal = Refusal::new(FailureCode::Contradicted, message);
        self.stop_resume(pane, None, instance, refusal, evidence, out);
    }

    fn is_resuming(&self, pane: PaneId) -> bool {
        let state = self.panes.get(&pane).map(|entry| &entry.state);
        matches!(state, Some(PaneState::Resuming(_)))
    }

    /// Where to keep what the process of a pane says while its conversation is
    /// not known.
    pub(super) fn heard(&mut self, pane: PaneId) -> Option<&mut Heard> {
        let entry = self.panes.get_mut(&pane)?;
        matches!(entry.state, PaneState::Resuming(_)).then_some(&mut entry.run.heard)
    }

    pub(super) fn note_words(
        &mut self,
        now: Now,
        pane: PaneId,
        message: Option<std::sync::Arc<str>>,
        accepted_prompt: bool,
        out: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        let message = message.map(|text| super::plain_line(&text, super::TITLE_CHARS));
        if message.is_some() && entry.record.last_message != message {
            entry.edit().last_message = message;
            self.save.changed(now.mono);
            self.program_changed(now, pane, out);
        }
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        let open = |agent: &SavedAgent| {
            agent.interrupted || agent.question_expired || agent.turns.marker().is_some()
        };
        if accepted_prompt
            && entry.record.agent.as_ref().is_some_and(open)
            && let Some(agent) = &mut entry.edit().agent
        {
            agent.interrupted = false;
            agent.question_expired = false;
            agent.last_failure.take_if(|had| had.refusal.code == FailureCode::NotContinued);
            // Whoever's prompt it was: the marked turn is taken up or superseded.
            if agent.turns.marker().is_some() {
                agent.turns.forget_marker();
                self.save.require_barrier();
            }
            self.save.changed(now.mono);
        }
    }

    /// Follows the agent to the conversation that it shows.
    fn bind(&mut self, now: Now, pane: PaneId, witness: &Witness) {
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        let mut sessions = witness.sessions.iter();
        // Several at once say nothing about which of them is in front.
        let (Some(only), None) = (sessions.next(), sessions.next()) else {
            return;
        };
        let Some(agent) = &entry.record.agent else {
            return;
        };
        let saved = agent.conversation.as_ref();
        if let Some(unproven) = &mut entry.run.unproven {
            unproven.shows(only);
        }
        let other_kind = entry.agent_kind().is_some_and(|kind| *kind != agent.kind);
        let is_saved = !other_kind && saved.is_some_and(|c| c.id == *only);
        entry.run.candidate = if is_saved { None } else { Some(only.clone()) };
        let told = entry.record.agent.as_ref().and_then(|agent| agent.last_failure.as_ref());
        if is_saved
            && told.is_some_and(|told| told.refusal.code == FailureCode::NotKept)
            && let Some(agent) = &mut entry.edit().agent
        {
            agent.last_failure = None;
            self.save.changed(now.mono);
        }
        if entry.opened_again(only) {
            self.save.changed(now.mono);
        }
    }

    /// More evidence about a conversation that a person left open unconfirmed.
    fn later_witness(&mut self, pane: PaneId, witness: Witness, out: &mut Vec<Effect>) {
        let Some((kind, saved)) = self.resumed_conversation(pane) else {
            return;
        };
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        let Some(proof) = &mut entry.run.proof else {
            return;
        };
        let (before, witnesses) = (Some(&proof.before), &mut proof.witnesses);
        let (new, read) = verify::add_witness(&kind, &saved, before, witnesses, witness);
        if new {
            proof.moment = Moment::Waiting;
        }
        if proof.witnesses.len() > verify::MOST_WITNESSES {
            // It stays unconfirmed; this must not grow with the days.
            entry.run.proof = None;
            return;
        }
        out.extend(read);
    }

    /// The record that such a later witness named was read.
    pub(super) fn later_record(
        &mut self,
        now: Now,
        pane: PaneId,
        witness: usize,
        read: RecordRead,
        out: &mut Vec<Effect>,
    ) {
        let Some(policy) = self.policy_of(pane) else {
            return;
        };
        let Some((_, saved)) = self.resumed_conversation(pane) else {
            return;
        };
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        let (PaneState::Live { instance }, Some(proof)) = (&entry.state, &mut entry.run.proof)
        else {
            return;
        };
        if let Some(known) = proof.witnesses.get_mut(witness) {
            known.record = read;
        }
        let (before, witnesses) = (Some(&proof.before), &proof.witnesses);
        match judge(&saved, before, &policy, *instance, witnesses, proof.moment) {
            Verdict::Verified(session) => {
                let evidence = verify::evidence(witnesses);
                let anchor = verify::newest_anchor(witnesses, session.id());
                self.keep_conversation(pane, &saved, session.id().clone(), anchor, out);
                if let Some(entry) = self.panes.get_mut(&pane) {
                    entry.run.verified = Some(session);
                    if let Some(agent) = &mut entry.edit().agent {
                        agent.last_failure = None;
                        agent.continuity.proven(now.wall);
                    }
                }
                self.save.changed(now.mono);
                self.set_verdict(now, pane, VerdictWord::Verified, evidence, out);
            }
            Verdict::Contradicted(why) => {
                let mut evidence = verify::evidence(witnesses);
                evidence.push(why.to_string().into());
                let message = format!(
                    "{why}; the process was left to its person, the saved conversation {} is kept",
                    saved.id
                );
                let refusal = Refusal::new(FailureCode::Contradicted, message);
                self.note_failure(now, pane, refusal);
                self.save.changed(now.mono);
                self.set_verdict(now, pane, VerdictWord::Contradicted, evidence, out);
                self.raise_attention(now, pane, Attention::Error, out);
            }
            Verdict::Unconfirmed => {}
        }
    }

    fn set_verdict(
        &mut self,
        now: Now,
        pane: PaneId,
        word: VerdictWord,
        evidence: Vec<std::sync::Arc<str>>,
        out: &mut Vec<Effect>,
    ) {
        if let Some(entry) = self.panes.get_mut(&pane) {
            entry.run.proof = None;
            if word == VerdictWord::Verified {
                entry.run.unproven = None;
                entry.run.candidate = None;
            }
            entry.run.verdict =
                Some(PaneVerdict { word, evidence: evidence.clone(), at: now.wall });
            publish(out, Event::ResumeVerdict { pane, verdict: word, evidence });
        }
    }
}
