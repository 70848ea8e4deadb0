//! Agents that a person starts in a shell, by hand (D-22).
//!
//! Which agent is the pane's is decided here, from what is seen of its
//! processes. It is the one in the foreground. While none is there, as after
//! Ctrl-Z, it stays the one that it was for as long as that lives: an agent that
//! was only ever in the background is nobody's. Several in the foreground, as in
//! a pipeline, leave it open, and an agent below another one speaks for nobody
//! (C031).

use super::{Effect, Ended, Event, PaneEntry, Session, publish};
use crate::agent::{
    AgentKind, AgentPlace, AgentSessionId, FoundAgent, LaunchOptions, ProcessMark, SavedAgent,
};
use crate::id::{InstanceId, PaneId};
use crate::pane::Lifecycle;
use crate::restore::PaneState;
use crate::time::Now;

impl Session {
    pub(super) fn agents_found(
        &mut self,
        now: Now,
        instance: InstanceId,
        found: &[FoundAgent],
        out: &mut Vec<Effect>,
    ) {
        // What ends in a shutdown was ended by it.
        if self.is_stopping() {
            return;
        }
        let Some(pane) = self.instances.get(&instance).copied() else {
            return;
        };
        let Some(entry) = self.panes.get(&pane) else {
            return;
        };
        if !entry.is_shell(instance) {
            return;
        }
        let before = entry.run.followed.as_ref().map(|(_, process)| *process);
        let chosen = choose(found, before);
        if chosen.map(|agent| agent.process) == before {
            return;
        }
        if before.is_some() {
            self.leave_agent(now, pane, out);
        }
        if let Some(agent) = chosen {
            self.follow_agent(now, pane, agent);
        }
        publish(out, Event::PaneUpdated { pane });
        out.push(Effect::Follow { instance, agent: chosen.cloned() });
        if let Some(agent) = chosen {
            out.push(Effect::Observe { instance, kind: agent.kind.clone() });
        }
    }

    fn follow_agent(&mut self, now: Now, pane: PaneId, found: &FoundAgent) {
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        entry.run.followed = Some((found.kind.clone(), found.process));
        entry.run.home = Some((found.cwd.clone(), found.config_env.clone()));
        entry.run.options = found.options.clone();
        entry.run.candidate = None;
        entry.run.reported = None;
        entry.run.left = None;
        // A conversation that can be reopened is kept until the new agent has
        // one of its own (C028).
        let agent = entry.record.agent.as_ref();
        if agent.is_none_or(|a| a.conversation.is_none() && a.reported_argv.is_none()) {
            let (place, options) = (AgentPlace::Shell, found.options.clone());
            entry.edit().agent =
                Some(SavedAgent { place, options, ..SavedAgent::new(found.kind.clone()) });
            self.save.changed(now.mono);
        }
    }

    /// The agent ended, or another took its place: the pane is a shell again.
    fn leave_agent(&mut self, now: Now, pane: PaneId, out: &mut Vec<Effect>) {
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        entry.drop_decision(pane, out);
        entry.run.followed = None;
        entry.run.options = LaunchOptions::default();
        entry.run.home = None;
        entry.run.candidate = None;
        // What another agent reported of itself ends with that one.
        if entry.reports().is_none() {
            entry.leave(now);
        }
        self.save.changed(now.mono);
        self.clear_request(now, pane, out);
        self.set_lifecycle(now, pane, Lifecycle::Unknown, out);
    }
}

impl PaneEntry {
    /// The agent in its shell ended, and the shell goes on.
    pub(super) fn leave(&mut self, now: Now) {
        let doing = self.record.lifecycle;
        let held = self.record.agent.as_ref().filter(|agent| agent.place == AgentPlace::Shell);
        match held.map(|a| a.conversation.is_some() || a.reported_argv.is_some()) {
            Some(true) => {
                self.run.left = Some(Ended { at: now.mono, by_user: false, doing });
                if let Some(agent) = &mut self.edit().agent {
                    agent.place = AgentPlace::Left;
                }
            }
            Some(false) => self.edit().agent = None,
            None => {}
        }
    }

    /// The process that reported the session which is saved of its agent.
    pub(super) fn reports(&self) -> Option<ProcessMark> {
        let (kind, process) = self.run.reporter.as_ref()?;
        let agent = self.record.agent.as_ref().filter(|agent| agent.kind == *kind)?;
        (agent.place == AgentPlace::Shell).then_some(*process)
    }

    /// It runs what it was started with, and that is no agent.
    pub(super) fn is_shell(&self, instance: InstanceId) -> bool {
        let own = self.record.agent.as_ref().is_some_and(|a| a.place == AgentPlace::Own);
        self.state == PaneState::Live { instance } && !self.run.reopened && !own
    }

    /// The kind of the agent that runs now, or ran last.
    pub(super) fn agent_kind(&self) -> Option<&AgentKind> {
        let followed = self.run.followed.as_ref().map(|(kind, _)| kind);
        followed.or_else(|| self.record.agent.as_ref().map(|agent| &agent.kind))
    }

    /// Its agent has this conversation open: the saved one, maybe again.
    pub(super) fn opened_again(&mut self, id: &AgentSessionId) -> bool {
        let Some((kind, _)) = &self.run.followed else {
            return false;
        };
        let again = |agent: &SavedAgent| {
            agent.place == AgentPlace::Left
                && agent.kind == *kind
                && agent.conversation.as_ref().is_some_and(|saved| saved.id == *id)
        };
        if !self.record.agent.as_ref().is_some_and(again) {
            return false;
        }
        let options = self.run.options.clone();
        if let Some(agent) = &mut self.edit().agent {
            agent.place = AgentPlace::Shell;
            // The conversation is open with these now.
            agent.options = options;
        }
        true
    }

    /// The conversation that it holds is open, as far as that is known.
    pub(super) fn holds_open(&self) -> bool {
        self.record.agent.as_ref().is_some_and(|agent| agent.place != AgentPlace::Left)
    }

    /// An agent that left so shortly before a shutdown was ended by it (D-8).
    pub(super) fn reclaim_left(&mut self, now: Now, window: std::time::Duration) {
        let recent = |left: &Ended| now.mono.saturating_sub(left.at) <= window;
        let Some(left) = self.run.left.filter(recent) else {
            return;
        };
        self.run.left = None;
        let record = self.edit();
        record.lifecycle = left.doing;
        if let Some(agent) = record.agent.as_mut().filter(|a| a.place == AgentPlace::Left) {
            agent.place = AgentPlace::Shell;
        }
        self.interrupt(left.doing);
    }
}

fn choose(found: &[FoundAgent], before: Option<ProcessMark>) -> Option<&FoundAgent> {
    let mut front = found.iter().filter(|agent| agent.foreground && !agent.nested);
    match (front.next(), front.next()) {
        (Some(only), None) => Some(only),
        (Some(_), Some(_)) => None,
        (None, _) => found.iter().find(|agent| Some(agent.process) == before && !agent.nested),
    }
}
