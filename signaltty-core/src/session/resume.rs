//! Reopening a conversation: preflight, spawn, evidence, verdict.
//!
//! Every way out that is not a proof ends in the same tombstone, with the
//! reason, the saved conversation and the tail kept (R7, S1-19). A person's own
//! resume differs in one point: without enough evidence the agent stays open
//! for them to judge, and nothing is typed.

use std::path::PathBuf;
use std::time::Duration;

use super::sharing::duplicate;
use super::{CommandError, Effect, Event, Program, Run, Session, SpawnCommand, publish};
use crate::agent::{
    AgentKind, AgentPolicy, Conversation, Fingerprint, Relation, SavedAgent, TurnRecord, Widening,
};
use crate::id::{InstanceId, PaneId, RequestId};
use crate::restore::{FailureCode, OfficialCommand, PaneState, Refusal, ResumeStage};
use crate::time::Now;

/// How long the look before a start may take. The server gives up on an adapter
/// long before that.
pub(super) const LONGEST_CHECK: Duration = Duration::from_secs(60);

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
        self.take_over(pane, out);
        let entry = self.panes.get(&pane).ok_or(CommandError::NoSuchPane(pane))?;
        let PaneState::Tombstone(_) = entry.state else {
            return Err(CommandError::HasProcess(pane, entry.state.as_str()));
        };
        if self.awaited.contains(&pane) {
            return Err(CommandError::HasProcess(pane, "being restarted"));
        }
        if entry.record.agent.as_ref().is_some_and(|agent| agent.reported_argv.is_some()) {
            return self.begin_reported(now, request, pane, cwd, out);
        }
        let (kind, mut conversation) = saved_conversation(pane, entry.record.agent.as_ref())?;
        if let Some(cwd) = cwd {
            conversation.cwd = cwd;
        }
        if let Some(other) = self.holder_of(pane, &kind, &conversation) {
            self.fail_resume(now, pane, duplicate(&conversation, other), out);
            let refusal = self.last_refusal(pane);
            return Err(CommandError::ResumeRefused {
                pane,
                previous: false,
                refusal,
                evidence: Vec::new(),
            });
        }
        if let Some(entry) = self.panes.get_mut(&pane) {
            // What the resume starts from; what is saved changes only on proof.
            let home = Some((conversation.cwd.clone(), conversation.config_env.clone()));
            entry.run = Run { home, ended: entry.run.ended, ..Run::default() };
        }
        let deadline = now.mono.saturating_add(LONGEST_CHECK);
        let request = Some(request);
        self.set_stage(pane, ResumeStage::Checking { request, anyway, deadline }, out);
        out.push(Effect::Preflight { pane, request, kind, conversation });
        Ok(())
    }

    /// A person does by hand what the server has not begun yet.
    fn take_over(&mut self, pane: PaneId, out: &mut Vec<Effect>) {
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        let waits = matches!(&entry.state, PaneState::Resuming(stage)
            if matches!(**stage, ResumeStage::Marking { .. }));
        if !waits {
            return;
        }
        entry.settle();
        if let Some(agent) = &mut entry.edit().agent {
            agent.turns.settle();
            agent.continuity.starts = 0;
        }
        self.drop_attempt(pane);
        self.publish_state(pane, out);
    }

    pub(super) fn preflighted(
        &mut self,
        now: Now,
        pane: PaneId,
        request: Option<RequestId>,
        result: Result<Fingerprint, Refusal>,
        out: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.panes.get(&pane) else {
            return;
        };
        let PaneState::Resuming(stage) = &entry.state else {
            return;
        };
        let ResumeStage::Checking { request: ours, anyway, .. } = **stage else {
            return;
        };
        if ours != request {
            return;
        }
        let other = result.as_ref().ok().and_then(|found| self.found_elsewhere(pane, found));
        if let Some(refusal) = other {
            return self.refuse_resume(now, pane, refusal, Vec::new(), out);
        }
        let result = result.and_then(|found| self.in_its_place(pane, found));
        if request.is_none() {
            return self.checked_by_itself(now, pane, result, out);
        }
        let before = match result {
            Ok(found) if found.relation == Relation::Extends => Some(found),
            Ok(_) if anyway => None,
            Ok(_) => {
                let message = "the agent's record was rewritten since it was saved: its end is \
                               the saved one, what lies before changed; restore it from a backup";
                let refusal = Refusal::new(FailureCode::Rewritten, message);
                return self.refuse_resume(now, pane, refusal, Vec::new(), out);
            }
            Err(refusal) if anyway && refusal.code.can_be_overridden() => None,
            Err(refusal) => return self.refuse_resume(now, pane, refusal, Vec::new(), out),
        };
        let Some((kind, conversation)) = self.resumed_conversation(pane) else {
            return;
        };
        let agent = self.panes.get(&pane).and_then(|entry| entry.record.agent.as_ref());
        let options = agent.map(|agent| agent.options.clone()).unwrap_or_default();
        // A person asked for this resume and sees what goes along (D-29).
        let command = OfficialCommand::new(kind, conversation)
            .with_options(options)
            .carrying(Widening::Carried);
        self.spawn_official(pane, request, before, command, out);
    }

    /// Refuses a record that is another file than the saved one, in another place:
    /// whoever asks may have another home, and a copy there goes its own way.
    fn in_its_place(&self, pane: PaneId, found: Fingerprint) -> Result<Fingerprint, Refusal> {
        let saved = self.resumed_conversation(pane).and_then(|(_, saved)| saved.anchor);
        match saved {
            Some(saved) if !saved.is_of_same_record(&found.now) => {
                let message = format!(
                    "its record would be {}, which is not the file that was saved, {}, but one \
                     like it; resume it with the home directory that it was begun with, or accept \
                     this one with --anyway",
                    found.now.record.display(),
                    saved.record.display()
                );
                Err(Refusal::new(FailureCode::Elsewhere, message))
            }
            _ => Ok(found),
        }
    }

    /// Starts the official command in the pane's place and size.
    pub(super) fn spawn_official(
        &mut self,
        pane: PaneId,
        request: Option<RequestId>,
        before: Option<Fingerprint>,
        command: OfficialCommand,
        out: &mut Vec<Effect>,
    ) {
        let size = self.panes.get(&pane).map(|entry| entry.record.size);
        let Some(size) = size else { return };
        let instance = self.new_instance();
        self.instances.insert(instance, pane);
        self.set_stage(pane, ResumeStage::Spawning { request, instance, before }, out);
        let command = SpawnCommand {
            cwd: command.conversation().cwd.clone(),
            config_env: command.conversation().config_env.clone(),
            program: Program::Official(Box::new(command)),
        };
        self.start(instance, pane, command, size, request, out);
    }

    /// Refuses a resume whose look at the record did not come to an end.
    pub(super) fn check_took_too_long(&mut self, now: Now, pane: PaneId, out: &mut Vec<Effect>) {
        let Some(PaneState::Resuming(stage)) = self.panes.get(&pane).map(|entry| &entry.state)
        else {
            return;
        };
        if let ResumeStage::Reading { deadline, .. } = **stage
            && deadline <= now.mono
        {
            // Nobody could say anything of the turn.
            return self.turn_read(now, pane, TurnRecord::default(), out);
        }
        if let ResumeStage::Checking { deadline, .. } = **stage
            && deadline <= now.mono
        {
            let message = format!(
                "nobody could say within {LONGEST_CHECK:?} whether the conversation is as it was \
                 saved; it is kept, ask again"
            );
            let refusal = Refusal::new(FailureCode::Unreadable, message);
            self.refuse_resume(now, pane, refusal, Vec::new(), out);
        }
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

    pub(super) fn set_stage(&mut self, pane: PaneId, stage: ResumeStage, out: &mut Vec<Effect>) {
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
        // The load says so where there was one that it could not read.
        let lost = agent.last_failure.as_ref().map(|failure| &failure.refusal);
        if let Some(refusal) = lost.filter(|refusal| refusal.code == FailureCode::Unreadable) {
            let refusal = refusal.clone();
            return Err(CommandError::ResumeRefused {
                pane,
                previous: false,
                refusal,
                evidence: Vec::new(),
            });
        }
        return Err(refuse("nobody had said anything in its conversation yet"));
    }
    Ok((agent.kind.clone(), conversation.clone()))
}
