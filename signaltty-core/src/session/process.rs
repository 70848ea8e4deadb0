//! Processes of panes: started, ended, and what their output tells.

use std::path::PathBuf;
use std::sync::Arc;

use super::{
    CommandError, Effect, Ended, Event, PaneEntry, PaneFact, Program, Reply, Run, Session,
    SpawnCommand, TITLE_CHARS, plain_line, publish, reply,
};
use crate::agent::{AgentKind, AgentPlace, SavedAgent};
use crate::env::ConfigEnv;
use crate::id::{InstanceId, PaneId, RequestId};
use crate::pane::{Attention, EndCause, ExitStatus, Lifecycle, PaneEnd, PaneSignal};
use crate::restore::{FailureCode, PaneState, Refusal, classify};
use crate::time::Now;

/// Something that is being started in the slot of a tombstone, by hand.
#[derive(Debug, Clone)]
pub(super) struct Restarting {
    pub(super) request: RequestId,
    pub(super) pane: PaneId,
    /// Where, and with which variables of the agent.
    pub(super) home: (PathBuf, ConfigEnv),
    /// It is the command that the agent reported, not the saved one.
    pub(super) reported: bool,
}

impl Session {
    pub(super) fn spawned(
        &mut self,
        now: Now,
        instance: InstanceId,
        result: Result<(), Refusal>,
        out: &mut Vec<Effect>,
    ) {
        let Some(size) = self.starting.remove(&instance) else {
            return;
        };
        if let Some(creation) = self.pending.remove(&instance) {
            match result {
                Ok(()) => self.place(now, instance, creation, out),
                Err(refusal) => {
                    reply(out, creation.request, Err(CommandError::SpawnFailed(refusal)));
                }
            }
        } else if let Some(tab) = self.group_of(instance) {
            self.group_spawned(now, tab, instance, result, out);
        } else if self.restarting.contains_key(&instance) {
            self.restarted(now, instance, result, out);
        } else if let Some(pane) = self.instances.get(&instance).copied() {
            self.resume_spawned(now, pane, instance, result, out);
        } else if result.is_ok() {
            // Nobody waits for it any more.
            out.push(Effect::Kill { instance });
        }
        // The layout may have changed while it was being started.
        let pane = self.instances.get(&instance);
        let wanted = pane.and_then(|pane| self.panes.get(pane));
        if let Some(entry) = wanted.filter(|entry| entry.record.size != size) {
            let size = entry.record.size;
            out.push(Effect::Resize { instance, size });
        }
    }

    pub(super) fn exited(
        &mut self,
        now: Now,
        instance: InstanceId,
        status: ExitStatus,
        last_line: Option<&str>,
        out: &mut Vec<Effect>,
    ) {
        let Some(pane) = self.instances.remove(&instance) else {
            self.group_exited(instance, status, last_line);
            return;
        };
        let stopping = self.is_stopping();
        self.attempt_lost_its_process(now, pane, out);
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        entry.drop_decision(pane, out);
        if let PaneState::Resuming(_) = entry.state {
            self.resume_exited(now, pane, status, last_line, out);
            return;
        }
        let explicit = entry.run.ended_by_user;
        let ended = Ended { at: now.mono, by_user: explicit, doing: entry.record.lifecycle };
        entry.run = Run { ended: Some(ended), ..Run::default() };
        let by_itself = matches!(status.code, Some(0 | 130));
        let cause = match (explicit, stopping, by_itself) {
            (true, _, _) => EndCause::User,
            (false, true, _) => EndCause::Shutdown,
            (false, false, true) => EndCause::User,
            (false, false, false) => EndCause::Process,
        };
        entry.end(now, cause, Some(status));
        self.save.changed(now.mono);
        publish(out, Event::PaneExited { pane, status });
        self.publish_state(pane, out);
        // A shutdown freezes what panes were doing, and calls for nobody.
        if cause != EndCause::Shutdown {
            self.set_lifecycle(now, pane, Lifecycle::Exited, out);
            self.raise_attention(now, pane, Attention::Unread, out);
        }
    }

    /// A person ends what runs in a pane.
    pub(super) fn terminate(
        &mut self,
        pane: PaneId,
        out: &mut Vec<Effect>,
    ) -> Result<Reply, CommandError> {
        let entry = self.panes.get_mut(&pane).ok_or(CommandError::NoSuchPane(pane))?;
        let state = entry.state.as_str();
        let PaneState::Live { instance } = entry.state else {
            return Err(CommandError::NoProcess(pane, state));
        };
        entry.run.ended_by_user = true;
        out.push(Effect::Kill { instance });
        Ok(Reply::Done)
    }

    /// Sends a signal to what runs in a pane. One that ends programs is a
    /// person's wish that it ends (D-8).
    pub(super) fn signal(
        &mut self,
        pane: PaneId,
        signal: PaneSignal,
        out: &mut Vec<Effect>,
    ) -> Result<Reply, CommandError> {
        let entry = self.panes.get_mut(&pane).ok_or(CommandError::NoSuchPane(pane))?;
        let state = entry.state.as_str();
        let PaneState::Live { instance } = entry.state else {
            return Err(CommandError::NoProcess(pane, state));
        };
        entry.run.ended_by_user |= signal.ends();
        out.push(Effect::Signal { instance, signal });
        Ok(Reply::Done)
    }

    /// Runs the saved command of a tombstone again, by hand.
    pub(super) fn restart(
        &mut self,
        request: RequestId,
        pane: PaneId,
        config_env: ConfigEnv,
        out: &mut Vec<Effect>,
    ) -> Result<(), CommandError> {
        let entry = self.panes.get(&pane).ok_or(CommandError::NoSuchPane(pane))?;
        let PaneState::Tombstone(_) = entry.state else {
            return Err(CommandError::HasProcess(pane, entry.state.as_str()));
        };
        if self.awaited.contains(&pane) {
            return Err(CommandError::HasProcess(pane, "being restarted"));
        }
        let record = &entry.record;
        let home = (record.cwd.clone(), config_env.clone());
        let command = SpawnCommand {
            program: Program::Argv {
                argv: record.argv.clone(),
                agent: own_agent(record.agent.as_ref()),
            },
            cwd: record.cwd.clone(),
            config_env,
        };
        self.start_again(Restarting { request, pane, home, reported: false }, command, out);
        Ok(())
    }

    /// Starts something in the slot of a tombstone.
    pub(super) fn start_again(
        &mut self,
        again: Restarting,
        command: SpawnCommand,
        out: &mut Vec<Effect>,
    ) {
        let Restarting { request, pane, .. } = again;
        let Some(size) = self.panes.get(&pane).map(|entry| entry.record.size) else {
            return;
        };
        let instance = self.new_instance();
        self.awaited.insert(pane);
        self.restarting.insert(instance, again);
        self.start(instance, pane, command, size, request, out);
    }

    pub(super) fn restarted(
        &mut self,
        now: Now,
        instance: InstanceId,
        result: Result<(), Refusal>,
        out: &mut Vec<Effect>,
    ) {
        let Some(again) = self.restarting.remove(&instance) else {
            return;
        };
        let (request, pane) = (again.request, again.pane);
        self.awaited.remove(&pane);
        if again.reported && (result.is_err() || self.panes.get(&pane).is_some()) {
            return self.reported_started(now, instance, again, result, out);
        }
        if let Err(refusal) = result {
            reply(out, request, Err(CommandError::NotRestarted { pane, refusal }));
            return;
        }
        let Some(entry) = self.panes.get_mut(&pane) else {
            out.push(Effect::Kill { instance });
            reply(out, request, Err(CommandError::Gone("the pane was closed meanwhile")));
            return;
        };
        entry.run = Run { home: Some(again.home), ..Run::default() };
        let kind = own_agent(entry.record.agent.as_ref());
        if let Some(agent) = entry.edit().agent.as_mut().filter(|a| a.place == AgentPlace::Shell) {
            // What runs again is the shell.
            agent.place = AgentPlace::Left;
        }
        self.go_live(now, pane, instance, out);
        reply(out, request, Ok(Reply::Done));
        if let Some(kind) = kind {
            out.push(Effect::Observe { instance, kind });
        }
    }

    /// A process runs in the pane from now on.
    pub(super) fn go_live(
        &mut self,
        now: Now,
        pane: PaneId,
        instance: InstanceId,
        out: &mut Vec<Effect>,
    ) {
        self.instances.insert(instance, pane);
        if let Some(entry) = self.panes.get_mut(&pane) {
            entry.state = PaneState::Live { instance };
            entry.watch.replaced();
            entry.edit().end = None;
        }
        self.save.changed(now.mono);
        self.publish_state(pane, out);
        let entry = self.panes.get_mut(&pane);
        let heard = entry.map(|entry| std::mem::take(&mut entry.run.heard));
        let heard = heard.unwrap_or_default();
        // What the last process was doing says nothing about this one (D-28).
        let lifecycle = heard.lifecycle.unwrap_or(Lifecycle::Unknown);
        self.set_lifecycle(now, pane, lifecycle, out);
        self.note_words(now, pane, heard.message, heard.accepted_prompt, out);
        if let Some(title) = heard.title {
            self.set_title(now, pane, title, out);
        }
        if let Some(cwd) = heard.cwd {
            self.set_cwd(now, pane, cwd, out);
        }
    }

    pub(super) fn fact(
        &mut self,
        now: Now,
        instance: InstanceId,
        fact: PaneFact,
        out: &mut Vec<Effect>,
    ) {
        let Some(pane) = self.instances.get(&instance).copied() else {
            return;
        };
        match fact {
            PaneFact::Printed => self.save.printed(now.mono),
            PaneFact::Bell => self.rang(now, pane, out),
            PaneFact::Title(title) => {
                let title = plain_line(&title, TITLE_CHARS);
                match self.heard(pane) {
                    Some(heard) => heard.title = Some(title),
                    None => self.set_title(now, pane, title, out),
                }
            }
            PaneFact::Notification { id, title, body } => {
                self.program_told(now, pane, id, title.as_deref(), &body, out);
            }
            PaneFact::Cwd(cwd) => match self.heard(pane) {
                Some(heard) => heard.cwd = Some(cwd),
                None => self.set_cwd(now, pane, cwd, out),
            },
        }
    }

    fn set_title(&mut self, now: Now, pane: PaneId, title: Arc<str>, out: &mut Vec<Effect>) {
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        if entry.record.titled_by_user || title.is_empty() || entry.record.title == title {
            return;
        }
        entry.edit().title = title;
        self.save.changed(now.mono);
        self.program_changed(now, pane, out);
    }

    fn set_cwd(&mut self, now: Now, pane: PaneId, cwd: PathBuf, out: &mut Vec<Effect>) {
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        if entry.record.cwd != cwd && cwd.is_absolute() {
            entry.edit().cwd = cwd;
            self.save.changed(now.mono);
            self.program_changed(now, pane, out);
        }
    }

    pub(super) fn publish_state(&self, pane: PaneId, out: &mut Vec<Effect>) {
        if let Some(entry) = self.panes.get(&pane) {
            publish(out, Event::PaneState { pane, state: entry.state.as_str() });
        }
    }
}

impl PaneEntry {
    /// The process is gone: record how, and become the tombstone that follows
    /// from it.
    pub(super) fn end(&mut self, now: Now, cause: EndCause, status: Option<ExitStatus>) {
        let doing = self.record.lifecycle;
        let record = self.edit();
        record.end = Some(PaneEnd { cause, status, at: now.wall });
        if cause != EndCause::User {
            self.interrupt(doing);
        }
        self.settle();
    }

    /// Its process was taken away while it was `doing` that.
    pub(super) fn interrupt(&mut self, doing: Lifecycle) {
        if matches!(doing, Lifecycle::Working | Lifecycle::Blocked)
            && let Some(agent) = &mut self.edit().agent
        {
            agent.interrupted = true;
        }
    }

    /// Becomes the tombstone that follows from what is saved.
    pub(super) fn settle(&mut self) {
        let (end, agent) = (self.record.end.as_ref(), self.record.agent.as_ref());
        self.state = PaneState::Tombstone(classify(end, agent));
    }
}

/// The agent that the saved command itself starts.
fn own_agent(agent: Option<&SavedAgent>) -> Option<AgentKind> {
    agent.filter(|agent| agent.place == AgentPlace::Own).map(|agent| agent.kind.clone())
}

/// Why a process that was to prove something ended, with its last words.
pub(super) fn early_exit(program: &str, status: ExitStatus, last_line: Option<&str>) -> Refusal {
    let said = match last_line.map(|line| plain_line(line, 160)) {
        Some(line) if !line.is_empty() => format!("; its last line was: {line}"),
        _ => String::new(),
    };
    Refusal::new(
        FailureCode::SpawnFailed,
        format!(
            "{program} ended with {status} before it showed which conversation it had open{said}"
        ),
    )
}
