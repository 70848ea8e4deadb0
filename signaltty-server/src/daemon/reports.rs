//! A report of an agent: whose it is, and what it says.

use std::sync::Arc;

use signaltty_adapters::{AgentAdapter, AgentHost, HookReport, InstanceView, Question};
use signaltty_core::agent::AgentKind;
use signaltty_core::id::InstanceId;
use signaltty_core::session::Input;

use super::event::Peer;
use super::event_loop::Daemon;
use super::scout;
use crate::protocol::{AgentHook, HookAnswer, WireError, code};

impl Daemon {
    pub(super) fn hook(&mut self, peer: Peer, hook: &AgentHook) -> Result<HookAnswer, WireError> {
        let kind = kind_of(hook)?;
        let mut found = self.reporter(peer, &kind, hook);
        if found.is_err()
            && let Some(launch) = self.launches.named(&hook.launch)
            && let Some(shell) = &launch.shell
        {
            // A person may have started it just now, and it was not seen yet.
            let (instance, root) = (shell.view.instance, scout::mark(&shell.view));
            let seen = scout::look(&self.adapters, root, true);
            self.input(Input::AgentsFound { instance, found: seen });
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
