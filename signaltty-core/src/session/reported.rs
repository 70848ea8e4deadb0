//! What an agent reports of itself: which session it has open, and a command
//! that reopens it.
//!
//! Such a command runs only when a person resumes the pane (S0-18), and what it
//! starts is never verified (D-16). It belongs to the session that it was
//! reported for: another session, or another agent, drops it (S0-19). Where an
//! agent has an adapter, its session counts once its record is read, as any
//! other that it shows; where it has none, its word is all that there is.

use std::path::PathBuf;
use std::sync::Arc;

use super::process::Restarting;
use super::unproven::Unproven;
use super::{
    CommandError, Effect, Event, PaneVerdict, Program, Reply, Run, Session, SpawnCommand,
    VerdictWord, publish, reply,
};
use crate::agent::{
    AgentKind, AgentPlace, AgentSessionId, Conversation, ProcessMark, ReportedArgv, SavedAgent,
};
use crate::env::ConfigEnv;
use crate::id::{InstanceId, PaneId, RequestId};
use crate::pane::Attention;
use crate::restore::{FailureCode, PaneState, Refusal};
use crate::time::Now;

/// What an agent says of its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionReport {
    /// Which agent.
    pub kind: AgentKind,
    /// Its session; by default the one that is known of it.
    pub id: Option<AgentSessionId>,
    /// The command that reopens it, [checked](ReportedArgv::check).
    pub argv: Option<ReportedArgv>,
    /// Where it runs, of an agent without an adapter and as far as it was seen.
    pub from: Option<Reporter>,
}

/// The process of a pane that said something of its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reporter {
    /// The job of the pane's terminal that it is, or the pane's own process.
    pub process: ProcessMark,
    /// Where it was started, in the spelling that was used.
    pub cwd: PathBuf,
}

impl Session {
    pub(super) fn report_session(
        &mut self,
        now: Now,
        instance: InstanceId,
        report: SessionReport,
        out: &mut Vec<Effect>,
    ) -> Result<Reply, CommandError> {
        let gone = || CommandError::Gone("the process that reports is not running any more");
        let pane = self.instances.get(&instance).copied().ok_or_else(gone)?;
        let has_records = self.config.policies.contains_key(&report.kind);
        let entry = self.panes.get(&pane).ok_or_else(gone)?;
        let refuse = |reason| CommandError::NotReported { pane, reason };
        if entry.state != (PaneState::Live { instance }) {
            return Err(refuse("its conversation is being reopened; report again after that"));
        }
        if has_records {
            self.report_recorded(now, pane, report, out).map_err(refuse)?;
        } else {
            self.report_unknown(now, pane, report).map_err(refuse)?;
        }
        publish(out, Event::PaneUpdated { pane });
        Ok(Reply::Done)
    }

    /// The session of an agent whose records an adapter can read.
    fn report_recorded(
        &mut self,
        now: Now,
        pane: PaneId,
        report: SessionReport,
        out: &mut Vec<Effect>,
    ) -> Result<(), &'static str> {
        let Some(entry) = self.panes.get_mut(&pane) else {
            return Ok(());
        };
        let saved = entry.record.agent.as_ref().filter(|agent| agent.kind == report.kind);
        let saved = saved.filter(|_| entry.holds_open()).and_then(|a| a.conversation.as_ref());
        let saved = saved.map(|conversation| conversation.id.clone());
        let id = report.id.or_else(|| entry.run.candidate.clone()).or_else(|| saved.clone());
        let id = id.ok_or("no session of this agent is known yet; name it with --id")?;
        if saved.as_ref() == Some(&id) {
            if report.argv.is_some()
                && let Some(agent) = &mut entry.edit().agent
            {
                agent.reported_argv = report.argv;
                self.save.changed(now.mono);
            }
            return Ok(());
        }
        if saved.is_some()
            && entry.run.verdict.as_ref().is_some_and(|v| v.word != VerdictWord::Verified)
        {
            return Err("nothing proves which conversation it reopened, so the saved one is kept");
        }
        entry.run.candidate = Some(id.clone());
        entry.run.reported = report.argv.map(|argv| (id, argv));
        self.take_anchor(pane, false, out);
        Ok(())
    }

    /// The session of an agent that nobody but itself knows.
    fn report_unknown(
        &mut self,
        now: Now,
        pane: PaneId,
        report: SessionReport,
    ) -> Result<(), &'static str> {
        let Some(entry) = self.panes.get_mut(&pane) else {
            return Ok(());
        };
        let SessionReport { kind, id, argv, from } = report;
        let cwd = from.as_ref().map_or_else(|| entry.record.cwd.clone(), |from| from.cwd.clone());
        let reporter = from.map(|from| (kind.clone(), from.process));
        if let Some(agent) = &entry.record.agent {
            if agent.resumable().is_some() {
                // R7: only a conversation that can be recognised takes its place.
                return Err("it holds a conversation of another agent that can be reopened");
            }
            let saved = agent.conversation.as_ref().map(|conversation| &conversation.id);
            if agent.kind == kind && (id.is_none() || saved == id.as_ref()) {
                if let Some(agent) = &mut entry.edit().agent {
                    agent.reported_argv = argv.or_else(|| agent.reported_argv.take());
                    agent.place = AgentPlace::Shell;
                    if let Some(conversation) = &mut agent.conversation {
                        // It may have been opened somewhere else this time.
                        conversation.cwd = cwd;
                    }
                }
                entry.run.reporter = reporter;
                self.save.changed(now.mono);
                return Ok(());
            }
        }
        let config_env = ConfigEnv::default();
        let conversation =
            id.map(|id| Conversation { id, cwd, config_env, anchor: None, previous: None });
        entry.edit().agent = Some(SavedAgent {
            conversation,
            reported_argv: argv,
            place: AgentPlace::Shell,
            ..SavedAgent::new(kind)
        });
        entry.run.reporter = reporter;
        self.save.changed(now.mono);
        Ok(())
    }

    /// The process that reported a session of the agent which a pane holds,
    /// while it is not known to have ended.
    pub fn reporter(&self, instance: InstanceId) -> Option<ProcessMark> {
        let entry = self.panes.get(self.instances.get(&instance)?)?;
        entry.reports().filter(|_| entry.is_shell(instance))
    }

    /// That process was looked for and is gone.
    pub(super) fn reporter_gone(
        &mut self,
        now: Now,
        instance: InstanceId,
        process: ProcessMark,
        out: &mut Vec<Effect>,
    ) {
        if self.is_stopping() || self.reporter(instance) != Some(process) {
            return;
        }
        let Some(pane) = self.instances.get(&instance).copied() else {
            return;
        };
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        entry.run.reporter = None;
        entry.leave(now);
        self.save.changed(now.mono);
        publish(out, Event::PaneUpdated { pane });
        self.tell_shared(now, pane, out);
    }

    /// A person resumes a pane whose agent said how.
    pub(super) fn begin_reported(
        &mut self,
        now: Now,
        request: RequestId,
        pane: PaneId,
        cwd: Option<PathBuf>,
        out: &mut Vec<Effect>,
    ) -> Result<(), CommandError> {
        let entry = self.panes.get(&pane).ok_or(CommandError::NoSuchPane(pane))?;
        let agent = entry.record.agent.as_ref();
        let Some((agent, argv)) = agent.and_then(|a| Some((a, a.reported_argv.clone()?))) else {
            return Err(CommandError::NotResumable { pane, reason: "no command was reported" });
        };
        let saved = agent.conversation.as_ref();
        let holder = saved.and_then(|saved| self.holder_of(pane, &agent.kind, saved));
        let refusal = match (argv.check(), holder) {
            (Err(error), _) => {
                Some(Refusal::new(FailureCode::SpawnFailed, format!("it was not run: {error}")))
            }
            (_, Some(other)) => Some(Refusal::new(
                FailureCode::Duplicate,
                format!(
                    "its session is open in pane {other} already, and can be open only once; go on \
                     there: signaltty attach {other}"
                ),
            )),
            _ => None,
        };
        if let Some(refusal) = refusal {
            self.fail_resume(now, pane, refusal, out);
            let refusal = self.last_refusal(pane);
            return Err(CommandError::ResumeRefused {
                pane,
                previous: false,
                refusal,
                evidence: Vec::new(),
            });
        }
        let cwd = cwd.or_else(|| saved.map(|saved| saved.cwd.clone()));
        let cwd = cwd.unwrap_or_else(|| entry.record.cwd.clone());
        let config_env = saved.map(|saved| saved.config_env.clone()).unwrap_or_default();
        let command = SpawnCommand {
            program: Program::Reported { argv, agent: agent.kind.clone() },
            cwd: cwd.clone(),
            config_env: config_env.clone(),
        };
        let home = (cwd, config_env);
        self.start_again(Restarting { request, pane, home, reported: true }, command, out);
        Ok(())
    }

    /// Its process began, or did not.
    pub(super) fn reported_started(
        &mut self,
        now: Now,
        instance: InstanceId,
        again: Restarting,
        result: Result<(), Refusal>,
        out: &mut Vec<Effect>,
    ) {
        let Restarting { request, pane, home, .. } = again;
        if let Err(refusal) = result {
            self.fail_resume(now, pane, refusal, out);
            let refusal = self.last_refusal(pane);
            let error = CommandError::ResumeRefused {
                pane,
                previous: false,
                refusal,
                evidence: Vec::new(),
            };
            return reply(out, request, Err(error));
        }
        let evidence: Vec<Arc<str>> = vec![UNPROVEN.into()];
        let verdict = PaneVerdict {
            word: VerdictWord::Unconfirmed,
            evidence: evidence.clone(),
            at: now.wall,
        };
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        entry.run = Run {
            home: Some(home),
            reopened: true,
            verdict: Some(verdict.clone()),
            unproven: Some(Unproven::default()),
            ..Run::default()
        };
        let mut id = None;
        if let Some(agent) = &mut entry.edit().agent {
            agent.last_failure = None;
            id = agent.conversation.as_ref().map(|conversation| conversation.id.clone());
            if agent.place == AgentPlace::Left {
                // It is open again, in the slot of the shell.
                agent.place = AgentPlace::Shell;
            }
        }
        self.go_live(now, pane, instance, out);
        let word = verdict.word;
        publish(out, Event::ResumeVerdict { pane, verdict: word, evidence });
        self.raise_attention(now, pane, Attention::Unread, out);
        reply(out, request, Ok(Reply::Resumed { pane, id, verdict }));
    }
}

const UNPROVEN: &str = "the command that ran was reported by the agent; what it opened cannot be \
                        checked";
