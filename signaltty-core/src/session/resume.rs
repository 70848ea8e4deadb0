//! Reopening a conversation: preflight, spawn, evidence, verdict.
//!
//! Every way out that is not a proof ends in the same tombstone, with the
//! reason, the saved conversation and the tail kept (R7, S1-19). A person's own
//! resume differs in one point: without enough evidence the agent stays open
//! for them to judge, and nothing is typed.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::{
    CommandError, Effect, Event, PaneVerdict, Program, Proof, Reply, Run, Session, SpawnCommand,
    VerdictWord, process, publish, reply,
};
use crate::agent::{
    AgentKind, AgentPolicy, AgentSessionId, Conversation, Fingerprint, Moment, RecordRead,
    Relation, SavedAgent, Verdict, Witness, judge,
};
use crate::id::{InstanceId, PaneId, RequestId};
use crate::pane::{Attention, ExitStatus};
use crate::restore::{FailureCode, PaneState, Refusal, ResumeFailure, ResumeStage};
use crate::time::Now;

/// Longest refusal message that is saved, in characters.
const MESSAGE_CHARS: usize = 1_000;

/// Longest line of a witness, in characters.
const DETAIL_CHARS: usize = 200;

/// How many different things an instance may show before it is judged.
pub(super) const MOST_WITNESSES: usize = 64;

impl Session {
    pub(super) fn begin_resume(
        &mut self,
        now: Now,
        request: RequestId,
        pane: PaneId,
        anyway: bool,
        cwd: Option<PathBuf>,
        out: &mut Vec<Effect>,
    ) -> Result<(), CommandError> {
        let entry = self.panes.get(&pane).ok_or(CommandError::NoSuchPane(pane))?;
        let PaneState::Tombstone(_) = entry.state else {
            return Err(CommandError::HasProcess(pane, entry.state.as_str()));
        };
        if self.restarting.values().any(|restart| restart.1 == pane) {
            return Err(CommandError::HasProcess(pane, "being restarted"));
        }
        let (kind, mut conversation) = saved_conversation(pane, entry.record.agent.as_ref())?;
        if let Some(cwd) = cwd {
            conversation.cwd = cwd;
        }
        if let Some(other) = self.holder_of(pane, &kind, &conversation) {
            let message = format!(
                "conversation {} is open in pane {other} already; it can be open only once",
                conversation.id
            );
            self.fail_resume(now, pane, Refusal::new(FailureCode::Duplicate, message), out);
            let refusal = self.last_refusal(pane);
            return Err(CommandError::ResumeRefused { pane, refusal, evidence: Vec::new() });
        }
        if let Some(entry) = self.panes.get_mut(&pane) {
            // What the resume starts from; what is saved changes only on proof.
            let home = Some((conversation.cwd.clone(), conversation.config_env.clone()));
            entry.run = Run { home, ended: entry.run.ended, ..Run::default() };
        }
        self.set_stage(pane, ResumeStage::Checking { request, anyway }, out);
        out.push(Effect::Preflight { pane, request, kind, conversation });
        Ok(())
    }

    /// Another pane that has the conversation open or is about to (D-13).
    fn holder_of(&self, pane: PaneId, kind: &AgentKind, wanted: &Conversation) -> Option<PaneId> {
        let holds = |entry: &super::PaneEntry| {
            let agent = entry.record.agent.as_ref();
            let agent = agent.filter(|agent| agent.kind == *kind);
            let saved = agent.and_then(|agent| agent.conversation.as_ref());
            // One that it shows and that is not anchored yet is open as well.
            let shown = entry.run.candidate.as_ref().zip(entry.run.home.as_ref());
            let shown = shown.filter(|_| agent.is_some());
            saved.is_some_and(|saved| saved.same_as(wanted))
                || shown.is_some_and(|(id, (_, env))| *id == wanted.id && *env == wanted.config_env)
        };
        let mut others = self.panes.iter().filter(|(id, _)| **id != pane);
        let open = |entry: &super::PaneEntry| !matches!(entry.state, PaneState::Tombstone(_));
        let holder = others.find(|(_, entry)| open(entry) && holds(entry));
        holder.map(|(id, _)| *id)
    }

    pub(super) fn preflighted(
        &mut self,
        now: Now,
        pane: PaneId,
        request: RequestId,
        result: Result<Fingerprint, Refusal>,
        out: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.panes.get(&pane) else {
            return;
        };
        let PaneState::Resuming(stage) = &entry.state else {
            return;
        };
        let ResumeStage::Checking { request: ours, anyway } = **stage else {
            return;
        };
        if ours != request {
            return;
        }
        let before = match result {
            Ok(found) if found.relation == Relation::Extends => Some(found),
            Ok(_) if anyway => None,
            Ok(_) => {
                let message = "the agent's record was rewritten since it was saved: its end is \
                               the saved one, what lies before changed; look at it, then resume \
                               with --anyway";
                let refusal = Refusal::new(FailureCode::Rewritten, message);
                return self.refuse_resume(now, pane, refusal, Vec::new(), out);
            }
            Err(refusal) if anyway && refusal.code.can_be_overridden() => None,
            Err(refusal) => return self.refuse_resume(now, pane, refusal, Vec::new(), out),
        };
        let Some((kind, conversation)) = self.resumed_conversation(pane) else {
            return;
        };
        let size = self.panes.get(&pane).map(|entry| entry.record.size);
        let Some(size) = size else { return };
        let instance = self.new_instance();
        self.instances.insert(instance, pane);
        self.set_stage(pane, ResumeStage::Spawning { request, instance, before }, out);
        let command = SpawnCommand {
            cwd: conversation.cwd.clone(),
            config_env: conversation.config_env.clone(),
            program: Program::Official { kind, conversation },
        };
        self.start(instance, pane, command, size, request, out);
    }

    pub(super) fn resume_spawned(
        &mut self,
        now: Now,
        pane: PaneId,
        instance: InstanceId,
        result: Result<(), Refusal>,
        out: &mut Vec<Effect>,
    ) {
        let wait = self.policy_of(pane).map_or(self.config.default_deadline, |p| p.deadline);
        let Some(entry) = self.panes.get(&pane) else {
            return;
        };
        let PaneState::Resuming(stage) = &entry.state else {
            return;
        };
        let ResumeStage::Spawning { request, instance: ours, before } = &**stage else {
            return;
        };
        if *ours != instance {
            return;
        }
        let (request, before) = (*request, before.clone());
        if let Err(refusal) = result {
            self.instances.remove(&instance);
            return self.refuse_resume(now, pane, refusal, Vec::new(), out);
        }
        let deadline = now.mono.saturating_add(wait);
        let witnesses = Vec::new();
        let stage = ResumeStage::Verifying { request, instance, before, witnesses, deadline };
        self.set_stage(pane, stage, out);
        if let Some((kind, _)) = self.resumed_conversation(pane) {
            out.push(Effect::Observe { instance, kind });
        }
    }

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

    fn decide(&mut self, now: Now, pane: PaneId, moment: Moment, out: &mut Vec<Effect>) {
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
                let id = session.id().clone();
                self.keep_conversation(pane, &saved, id.clone(), anchor, out);
                self.finish_resume(now, pane, request, id, VerdictWord::Verified, evidence, out);
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
            Verdict::Unconfirmed if moment == Moment::Deadline => {
                let evidence = evidence(witnesses);
                // Without a sound preflight, or for an agent that can show
                // nothing, no evidence could settle it any more.
                let provable = before.clone().filter(|_| !policy.required.is_empty());
                let proof =
                    provable.map(|before| Proof { before, witnesses: witnesses.clone(), moment });
                let word = VerdictWord::Unconfirmed;
                self.finish_resume(now, pane, request, saved.id, word, evidence, out);
                if let Some(entry) = self.panes.get_mut(&pane) {
                    entry.run.proof = proof;
                }
                self.note_unconfirmed(now, pane);
            }
            Verdict::Unconfirmed => {}
        }
    }

    pub(super) fn check_deadlines(&mut self, now: Now, out: &mut Vec<Effect>) {
        let passed = |entry: &super::PaneEntry| entry.deadline().is_some_and(|at| at <= now.mono);
        let due: Vec<_> = self.panes.iter().filter(|(_, e)| passed(e)).map(|(id, _)| *id).collect();
        for pane in due {
            self.decide(now, pane, Moment::Deadline, out);
        }
    }

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

    fn stop_resume(
        &mut self,
        pane: PaneId,
        request: RequestId,
        instance: InstanceId,
        refusal: Refusal,
        evidence: Vec<Arc<str>>,
        out: &mut Vec<Effect>,
    ) {
        let verdict = VerdictWord::Contradicted;
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
        entry.run = Run { ended: entry.run.ended, ..Run::default() };
        entry.settle();
        self.fail_resume(now, pane, refusal, out);
        self.publish_state(pane, out);
        let refusal = self.last_refusal(pane);
        let error = CommandError::ResumeRefused { pane, refusal, evidence };
        reply(out, request, Err(error));
    }

    /// Notes why a resume did not succeed, and tells people.
    fn fail_resume(&mut self, now: Now, pane: PaneId, refusal: Refusal, out: &mut Vec<Effect>) {
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

    fn note_unconfirmed(&mut self, now: Now, pane: PaneId) {
        let message = "the agent did not show which conversation it has open; it was left open, \
                       look at it before you type";
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
    fn finish_resume(
        &mut self,
        now: Now,
        pane: PaneId,
        request: RequestId,
        id: AgentSessionId,
        word: VerdictWord,
        evidence: Vec<Arc<str>>,
        out: &mut Vec<Effect>,
    ) {
        let Some(instance) = self.panes.get(&pane).and_then(|e| e.state.instance()) else {
            return;
        };
        let verdict = PaneVerdict { word, evidence: evidence.clone() };
        self.go_live(now, pane, instance, out);
        if let Some(entry) = self.panes.get_mut(&pane) {
            entry.run.verdict = Some(verdict.clone());
            if let Some(agent) = &mut entry.edit().agent {
                agent.last_failure = None;
            }
        }
        publish(out, Event::ResumeVerdict { pane, verdict: word, evidence });
        reply(out, request, Ok(Reply::Resumed { pane, id, verdict }));
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
        let Some(saved) = entry.edit().agent.as_mut().and_then(|a| a.conversation.as_mut()) else {
            return;
        };
        saved.cwd = resumed.cwd.clone();
        if let Some(anchor) = anchor {
            saved.anchor = Some(anchor);
        }
        if saved.id != id {
            saved.previous = Some(std::mem::replace(&mut saved.id, id.clone()));
            publish(out, Event::AgentBound { pane, id });
        }
    }

    /// The conversation that a pane's resume is about: the saved one, started
    /// where the resume was told to.
    pub(super) fn resumed_conversation(&self, pane: PaneId) -> Option<(AgentKind, Conversation)> {
        let entry = self.panes.get(&pane)?;
        let agent = entry.record.agent.as_ref()?;
        let mut conversation = agent.conversation.clone()?;
        if let Some((cwd, _)) = &entry.run.home {
            conversation.cwd = cwd.clone();
        }
        Some((agent.kind.clone(), conversation))
    }

    fn verifying(&mut self, pane: PaneId) -> Option<(&Option<Fingerprint>, &mut Vec<Witness>)> {
        let PaneState::Resuming(stage) = &mut self.panes.get_mut(&pane)?.state else {
            return None;
        };
        match &mut **stage {
            ResumeStage::Verifying { before, witnesses, .. } => Some((before, witnesses)),
            _ => None,
        }
    }

    fn set_stage(&mut self, pane: PaneId, stage: ResumeStage, out: &mut Vec<Effect>) {
        let word = stage.as_str();
        if let Some(entry) = self.panes.get_mut(&pane) {
            let first = matches!(entry.state, PaneState::Tombstone(_));
            entry.state = PaneState::Resuming(Box::new(stage));
            if first {
                publish(out, Event::PaneState { pane, state: "resuming" });
            }
            publish(out, Event::ResumeStage { pane, stage: word });
        }
    }

    pub(super) fn policy_of(&self, pane: PaneId) -> Option<AgentPolicy> {
        let agent = self.panes.get(&pane)?.record.agent.as_ref()?;
        self.config.policies.get(&agent.kind).cloned()
    }

    fn last_refusal(&self, pane: PaneId) -> Refusal {
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
            entry.run = Run { ended: entry.run.ended, ..Run::default() };
            entry.settle();
            if let Some(instance) = instance {
                self.instances.remove(&instance);
                self.stop(instance, out);
            }
            self.publish_state(pane, out);
            reply(out, request, Err(CommandError::Stopping));
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
/// witness in both cases.
fn read_for(
    kind: &AgentKind,
    saved: &Conversation,
    before: Option<&Fingerprint>,
    witness: &Witness,
    index: usize,
) -> Option<Effect> {
    let before = before?;
    let mut shown = witness.sessions.iter();
    let named = match (shown.next(), shown.next()) {
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

pub(super) fn newest_anchor(
    witnesses: &[Witness],
    id: &AgentSessionId,
) -> Option<crate::agent::Anchor> {
    witnesses.iter().rev().find_map(|witness| match &witness.record {
        RecordRead::Done { named, result: Ok(found) } if named == id => Some(found.now.clone()),
        _ => None,
    })
}

fn saved_conversation(
    pane: PaneId,
    agent: Option<&SavedAgent>,
) -> Result<(AgentKind, Conversation), CommandError> {
    let refuse = |reason| CommandError::NotResumable { pane, reason };
    let agent = agent.ok_or_else(|| {
        refuse("it held no agent; `signaltty pane restart` runs its saved command again")
    })?;
    let conversation = agent.conversation.as_ref().ok_or_else(|| {
        refuse("no conversation of its agent is known, so there is none to reopen")
    })?;
    if conversation.anchor.is_none() {
        return Err(refuse("nobody had said anything in its conversation yet"));
    }
    Ok((agent.kind.clone(), conversation.clone()))
}
