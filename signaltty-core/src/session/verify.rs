//! Evidence during a resume, and what is decided from it.
//!
//! The record that a witness names is read after the witness; only then does it
//! count. Nothing here starts or stops a process except through the outcome.

use std::sync::Arc;
use std::time::Duration;

use super::attempts::Step;
use super::unproven::{Proof, Unproven};
use super::{Effect, Session, VerdictWord};
use crate::agent::{
    AgentKind, AgentPolicy, AgentSessionId, Conversation, Fingerprint, LoadedRule, Moment,
    RecordRead, Relation, Verdict, VerifiedSession, Witness, judge,
};
use crate::id::{InstanceId, PaneId, RequestId};
use crate::restore::{FailureCode, PaneState, Refusal, ResumeStage};
use crate::time::Now;

/// Longest line of a witness, in characters.
const DETAIL_CHARS: usize = 200;

/// How many different things an instance may show before it is judged.
pub(super) const MOST_WITNESSES: usize = 64;

impl Session {
    /// Evidence arrived. The record that it names is read next, and only then
    /// is anything decided.
    pub(super) fn witnessed(
        &mut self,
        now: Now,
        pane: PaneId,
        witness: Witness,
        out: &mut Vec<Effect>,
    ) {
        let Some((kind, saved)) = self.resumed_conversation(pane) else {
            return;
        };
        let Some((before, witnesses)) = self.verifying(pane) else {
            return;
        };
        let (new, read) = add_witness(&kind, &saved, before.as_ref(), witnesses, witness);
        out.extend(read);
        // Who changes their mind so often is judged by what they show now.
        let moment =
            if witnesses.len() < MOST_WITNESSES { Moment::Waiting } else { Moment::Deadline };
        if new {
            self.decide(now, pane, moment, out);
        }
    }

    pub(super) fn record_read(
        &mut self,
        now: Now,
        instance: InstanceId,
        witness: usize,
        named: AgentSessionId,
        result: Result<Fingerprint, Refusal>,
        out: &mut Vec<Effect>,
    ) {
        let Some(pane) = self.instances.get(&instance).copied() else {
            return;
        };
        let read = RecordRead::Done { named, result };
        let Some((_, witnesses)) = self.verifying(pane) else {
            return self.later_record(now, pane, witness, read, out);
        };
        if let Some(known) = witnesses.get_mut(witness) {
            known.record = read;
        }
        self.decide(now, pane, Moment::Waiting, out);
    }

    pub(super) fn decide(&mut self, now: Now, pane: PaneId, moment: Moment, out: &mut Vec<Effect>) {
        let policy = self.policy_of(pane);
        let Some((_, saved)) = self.resumed_conversation(pane) else {
            return;
        };
        let Some(entry) = self.panes.get(&pane) else {
            return;
        };
        let PaneState::Resuming(stage) = &entry.state else {
            return;
        };
        let ResumeStage::Verifying { request, instance, before, witnesses, .. } = &**stage else {
            return;
        };
        let (request, instance) = (*request, *instance);
        let nothing = AgentPolicy::unprovable(Duration::ZERO);
        let policy = policy.as_ref().unwrap_or(&nothing);
        match judge(&saved, before.as_ref(), policy, instance, witnesses, moment) {
            Verdict::Verified(session) => {
                let anchor = newest_anchor(witnesses, session.id());
                let evidence = evidence(witnesses);
                self.keep_conversation(pane, &saved, session.id().clone(), anchor, out);
                self.proven(now, pane, request, session, evidence, out);
            }
            Verdict::Contradicted(why) => {
                let mut evidence = evidence(witnesses);
                evidence.push(why.to_string().into());
                let message = format!(
                    "{why}; the process was stopped, the saved conversation {} is kept",
                    saved.id
                );
                let refusal = Refusal::new(FailureCode::Contradicted, message);
                self.stop_resume(pane, request, instance, refusal, evidence, out);
            }
            // Nobody is there to judge it (D-2).
            Verdict::Unconfirmed
                if moment == Moment::Deadline
                    && request.is_none()
                    && !policy.silent_until_prompt =>
            {
                let mut evidence = evidence(witnesses);
                let missing = missing(policy, before.as_ref(), witnesses);
                let why = match missing.as_slice() {
                    [] => "the agent did not show it".to_owned(),
                    missing => missing.join(", "),
                };
                evidence.extend(missing);
                evidence.push("no sufficient evidence came in time".into());
                let message = format!(
                    "nothing proved in time which conversation the agent has open ({why}), so the \
                     process was stopped; conversation {} is kept",
                    saved.id
                );
                let refusal = Refusal::new(FailureCode::Unconfirmed, message);
                self.stop_resume(pane, request, instance, refusal, evidence, out);
            }
            Verdict::Unconfirmed if moment == Moment::Deadline => {
                let mut evidence = evidence(witnesses);
                let missing = missing(policy, before.as_ref(), witnesses);
                evidence.extend(missing.iter().cloned());
                // Without a sound preflight, or for an agent that can show
                // nothing, no evidence could settle it any more.
                let provable = before.clone().filter(|_| !policy.required.is_empty());
                let proof =
                    provable.map(|before| Proof { before, witnesses: witnesses.clone(), moment });
                let overrode = before.is_none();
                let unproven = Unproven::new(witnesses, overrode);
                let word = VerdictWord::Unconfirmed;
                let silent = policy.silent_until_prompt;
                let by_itself = request.is_none();
                self.finish_resume(now, pane, request, saved.id, word, evidence, out);
                self.drop_attempt(pane);
                if by_itself {
                    self.must_last(now, pane);
                }
                if let Some(entry) = self.panes.get_mut(&pane) {
                    entry.run.proof = proof;
                    entry.run.unproven = Some(unproven);
                }
                self.note_unconfirmed(now, pane, silent, &missing);
                if overrode {
                    // How much was said until now, to see what is said after.
                    self.take_anchor(pane, true, out);
                }
            }
            Verdict::Unconfirmed => {}
        }
    }

    /// Its conversation is proven.
    fn proven(
        &mut self,
        now: Now,
        pane: PaneId,
        request: Option<RequestId>,
        session: VerifiedSession,
        evidence: Vec<Arc<str>>,
        out: &mut Vec<Effect>,
    ) {
        let by_hand = request.is_some();
        if let Some(entry) = self.panes.get_mut(&pane) {
            entry.run.verified = Some(session.clone());
            // Its person saw both, and took this one.
            if by_hand
                && entry.run.before.is_none()
                && let Some(agent) = &mut entry.edit().agent
            {
                agent.previous = None;
                agent.previous_in_doubt = false;
            }
        }
        let attempt = self.take_attempt(pane);
        let (id, word) = (session.id().clone(), VerdictWord::Verified);
        match (attempt.map(|attempt| attempt.step), request) {
            (Some(Step::Running(spawn)), _) => {
                self.proven_by_itself(now, pane, spawn, session, evidence, out);
            }
            (Some(Step::Hand), Some(request)) => {
                self.finish_resume(now, pane, None, id, word, evidence, out);
                self.read_by_hand(now, pane, session, request, out);
            }
            _ => self.finish_resume(now, pane, request, id, word, evidence, out),
        }
    }

    fn decide_if_due(&mut self, now: Now, pane: PaneId, out: &mut Vec<Effect>) {
        let Some(PaneState::Resuming(stage)) = self.panes.get(&pane).map(|entry| &entry.state)
        else {
            return;
        };
        if matches!(**stage, ResumeStage::Verifying { deadline, .. } if deadline <= now.mono) {
            self.decide(now, pane, Moment::Deadline, out);
        }
    }

    pub(super) fn check_deadlines(&mut self, now: Now, out: &mut Vec<Effect>) {
        for pane in self.panes.due(now.mono) {
            self.attempt_is_due(now, pane, out);
            self.check_took_too_long(now, pane, out);
            self.decide_if_due(now, pane, out);
            self.anchor_if_due(now, pane, out);
            self.tell_if_due(now, pane, out);
        }
    }

    pub(super) fn verifying(
        &mut self,
        pane: PaneId,
    ) -> Option<(&Option<Fingerprint>, &mut Vec<Witness>)> {
        let PaneState::Resuming(stage) = &mut self.panes.get_mut(&pane)?.state else {
            return None;
        };
        match &mut **stage {
            ResumeStage::Verifying { before, witnesses, .. } => Some((before, witnesses)),
            _ => None,
        }
    }
}

/// Notes a witness, and gives the effect that reads the record which it names.
///
/// The same look with the same answer proves nothing more: it is not new. It
/// only has the record read once more if that could not be read yet.
pub(super) fn add_witness(
    kind: &AgentKind,
    saved: &Conversation,
    before: Option<&Fingerprint>,
    witnesses: &mut Vec<Witness>,
    witness: Witness,
) -> (bool, Option<Effect>) {
    let mut latest = witnesses.iter().enumerate().rev();
    let known = latest
        .find(|(_, known)| known.source == witness.source)
        .filter(|(_, w)| w.sessions == witness.sessions && w.loaded == witness.loaded);
    let Some((index, known)) = known else {
        let read = read_for(kind, saved, before, &witness, witnesses.len());
        witnesses.push(witness);
        return (true, read);
    };
    let passing = |code| {
        use FailureCode::{Busy, Gone, Unreadable};
        matches!(code, Gone | Unreadable | Busy)
    };
    let again = match &known.record {
        RecordRead::Done { result: Err(refusal), .. } => passing(refusal.code),
        _ => false,
    };
    let read = read_for(kind, saved, before, &witness, index).filter(|_| again);
    (false, read)
}

/// The effect that reads the record which a witness names.
///
/// A witness that shows the saved id names that; one that shows a single other
/// id may still be the same conversation under a new one. The id comes from the
/// witness in both cases. An addressed channel shows no id and is asked for the
/// saved one: it answers with a record, which an echo of the id is not.
pub(super) fn read_for(
    kind: &AgentKind,
    saved: &Conversation,
    before: Option<&Fingerprint>,
    witness: &Witness,
    index: usize,
) -> Option<Effect> {
    let before = before?;
    let mut shown = witness.sessions.iter();
    let named = match (shown.next(), shown.next()) {
        (None, _) if witness.is_addressed() => &saved.id,
        (Some(only), None) => only,
        _ => witness.sessions.get(&saved.id)?,
    };
    let named = Conversation {
        id: named.clone(),
        anchor: Some(before.now.clone()),
        previous: None,
        cwd: saved.cwd.clone(),
        config_env: saved.config_env.clone(),
    };
    Some(Effect::ReadRecord {
        instance: witness.instance,
        witness: index,
        kind: kind.clone(),
        source: witness.source,
        named,
    })
}

/// What the witnesses say, a line each, the latest of every source.
pub(super) fn evidence(witnesses: &[Witness]) -> Vec<Arc<str>> {
    let mut lines = Vec::new();
    for (at, witness) in witnesses.iter().enumerate() {
        let later = witnesses.iter().skip(at + 1).any(|w| w.source == witness.source);
        if later {
            continue;
        }
        let detail = super::plain_line(&witness.detail, DETAIL_CHARS);
        lines.push(format!("{}: {detail}", witness.source).into());
        match &witness.record {
            RecordRead::Done { named, result: Ok(found) }
                if found.relation != Relation::Extends =>
            {
                lines.push(
                    format!("record: {named} read after the witness, rewritten since the start")
                        .into(),
                );
            }
            RecordRead::Done { named, result: Ok(found) } => lines.push(
                format!(
                    "record: {named} read after the witness, extends the saved one, {} messages \
                     of the person",
                    found.now.user_messages
                )
                .into(),
            ),
            RecordRead::Done { named, result: Err(refusal) } => {
                lines.push(format!("record: {named} read after the witness: {refusal}").into());
            }
            RecordRead::Pending => {}
        }
        if let Some(loaded) = witness.loaded {
            lines.push(format!("loaded: the agent says {loaded}").into());
        }
    }
    lines
}

/// What a verdict still needs, a line each: a hook that never came through looks
/// like an agent that is slow.
fn missing(
    policy: &AgentPolicy,
    before: Option<&Fingerprint>,
    witnesses: &[Witness],
) -> Vec<Arc<str>> {
    let shown = |source| witnesses.iter().any(|witness| witness.source == source);
    let absent = policy.required.iter().filter(|source| !shown(**source));
    let mut missing: Vec<Arc<str>> =
        absent.map(|source| format!("no {source} came in time").into()).collect();
    let says = witnesses.iter().any(|witness| witness.loaded.is_some());
    let need_not_say = before.is_some_and(|before| before.unanswered);
    if policy.loaded == LoadedRule::Required && !says && !need_not_say {
        missing.push("the agent did not say that it loaded a history".into());
    }
    if before.is_none() {
        missing.push("what was found before the start was overridden by hand".into());
    }
    missing
}

pub(super) fn newest_anchor(
    witnesses: &[Witness],
    id: &AgentSessionId,
) -> Option<crate::agent::Anchor> {
    witnesses.iter().rev().find_map(|witness| match &witness.record {
        RecordRead::Done { named, result: Ok(found) } if named == id => Some(found.now.clone()),
        _ => None,
    })
}
