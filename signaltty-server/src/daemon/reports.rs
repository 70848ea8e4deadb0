//! A report of an agent: whose it is, and what it says.

use std::sync::Arc;

use signaltty_adapters::{AgentAdapter, AgentHost, HookReport, InstanceView, Question};
use signaltty_core::agent::{AgentKind, AgentSessionId, Conversation, ReportedArgv};
use signaltty_core::id::InstanceId;
use signaltty_core::session::{Command, Input, SessionReport};

use super::event::Peer;
use super::event_loop::Daemon;
use super::{reporter, scout};
use crate::protocol::{AgentHook, AgentSession, HookAnswer, WireError, code};

/// An agent that says nothing else of itself.
const GENERIC: &str = "generic";

impl Daemon {
    pub(super) fn hook(&mut self, peer: Peer, hook: &AgentHook) -> Result<HookAnswer, WireError> {
        let kind = kind_of(hook)?;
        if let Some(instance) = self.launches.named(&hook.launch).map(|of| of.view.instance) {
            self.settle(instance);
        }
        let mut found = self.reporter(peer, &kind, hook);
        // A person may have started it just now, and it was not seen yet.
        if found.is_err() && self.look_again(&hook.launch) {
            found = self.reporter(peer, &kind, hook);
        }
        let (adapter, view) = match found {
            Ok(found) => found,
            Err(reason) => return dropped(&kind, reason),
        };
        let report = HookReport { payload: hook.payload.as_bytes(), view: &view };
        match adapter.read_report(view.instance, &report) {
            Ok(read) => {
                let asks = adapter.question(&report).is_some();
                self.input(Input::Report { instance: view.instance, report: read });
                Ok(HookAnswer { accepted: true, reason: None, asks })
            }
            Err(error) => dropped(&kind, error.to_string()),
        }
    }

    /// What an agent says of its session, as a command.
    pub(super) fn session_report(
        &mut self,
        peer: Peer,
        ask: AgentSession,
    ) -> Result<Command, WireError> {
        let runs = |daemon: &Self| {
            let launch = daemon.launches.named(&ask.launch)?;
            launch.kind.as_ref().map(ToString::to_string)
        };
        // A person may have started it just now, and it was not seen yet.
        if runs(self).is_none() {
            self.look_again(&ask.launch);
        }
        let agent = ask.agent.clone().or_else(|| runs(self));
        let hook = AgentHook {
            agent: agent.unwrap_or_else(|| GENERIC.to_owned()),
            launch: ask.launch,
            payload: String::new(),
            agent_pid: ask.agent_pid,
            installed: false,
        };
        let malformed = |error: String| WireError::new(code::BAD_PARAMS, error);
        let kind = kind_of(&hook)?;
        let id = ask.id.map(|id| id.parse::<AgentSessionId>()).transpose();
        let id = id.map_err(|error| malformed(error.to_string()))?;
        let words = ask.argv.map(|words| words.into_iter().map(|word| word.0).collect());
        let argv = words.map(ReportedArgv);
        if let Some(Err(error)) = argv.as_ref().map(ReportedArgv::check) {
            return Err(malformed(error.to_string()));
        }
        let foreign = |reason: String| {
            let message = format!("the report of {kind} was dropped: {reason}");
            WireError::new(code::FORBIDDEN, message)
        };
        let mut from = None;
        let instance = if self.adapters.of(&kind).is_some() {
            let (adapter, view) = self.reporter(peer, &kind, &hook).map_err(foreign)?;
            if let Some(id) = &id {
                let (cwd, config_env) = (view.cwd.clone(), view.config_env.clone());
                let asked =
                    Conversation { id: id.clone(), cwd, config_env, anchor: None, previous: None };
                adapter.resume_command(&asked).map_err(|error| malformed(error.to_string()))?;
            }
            view.instance
        } else {
            let around: (&dyn AgentHost, _) = (&*self.host, &self.adapters);
            let (launch, line) = self
                .launches
                .attribute_unknown(around, peer.pid, &kind, &hook.launch)
                .map_err(|reason| foreign(reason.to_string()))?;
            from = reporter::of(&self.host, &line);
            launch.view.instance
        };
        Ok(Command::ReportSession { instance, report: SessionReport { kind, id, argv, from } })
    }

    /// Looks once more which agent runs in the shell of a launch; whether it is
    /// one.
    fn look_again(&mut self, secret: &str) -> bool {
        let launch = self.launches.named(secret);
        let Some(shell) = launch.and_then(|launch| launch.shell.as_ref()) else {
            return false;
        };
        let (instance, root) = (shell.view.instance, scout::mark(&shell.view));
        let found = scout::look(&self.adapters, root, true);
        self.input(Input::AgentsFound { instance, found });
        true
    }

    /// The question of an agent whose hook waits, and who asks it.
    pub(super) fn question(
        &self,
        peer: Peer,
        hook: &AgentHook,
    ) -> Result<(InstanceId, Question), WireError> {
        let refused = |reason| WireError::new(code::BAD_PARAMS, reason);
        let found = self.reporter(peer, &kind_of(hook)?, hook);
        let (adapter, view) = found.map_err(refused)?;
        let report = HookReport { payload: hook.payload.as_bytes(), view: &view };
        let question = adapter.question(&report);
        let question = question.ok_or_else(|| refused("the report asks for nothing".to_owned()))?;
        Ok((view.instance, question))
    }

    /// Whose report it is, or why it is nobody's.
    fn reporter(
        &self,
        peer: Peer,
        kind: &AgentKind,
        hook: &AgentHook,
    ) -> Result<(Arc<dyn AgentAdapter>, InstanceView), String> {
        let around: (&dyn AgentHost, _) = (&*self.host, &self.adapters);
        let (peer, secret, agent) = (peer.pid, &hook.launch, hook.agent_pid);
        let launch = self
            .launches
            .attribute(around, peer, kind, secret, agent)
            .map_err(|reason| reason.to_string())?;
        // Else each of its questions would be asked twice.
        if hook.installed && launch.wired {
            return Err("this launch reports by hooks of its own".to_owned());
        }
        let adapter = self.adapters.of(kind);
        let adapter = adapter.ok_or_else(|| format!("this server has no adapter for {kind}"))?;
        Ok((Arc::clone(adapter), launch.view.clone()))
    }
}

fn kind_of(hook: &AgentHook) -> Result<AgentKind, WireError> {
    hook.agent.parse().map_err(|error| WireError::new(code::BAD_PARAMS, format!("{error}")))
}

fn dropped(kind: &AgentKind, reason: String) -> Result<HookAnswer, WireError> {
    tracing::debug!("a report of {kind} was dropped: {reason}");
    Ok(HookAnswer { accepted: false, reason: Some(reason), asks: false })
}
