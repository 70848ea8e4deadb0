//! A report of an agent: whose it is, and what it says.

use std::sync::Arc;

use signaltty_adapters::{AgentHost, HookReport};
use signaltty_core::agent::AgentKind;
use signaltty_core::session::Input;

use super::event::Peer;
use super::event_loop::Daemon;
use super::scout;
use crate::protocol::{AgentHook, HookAnswer, WireError, code};

impl Daemon {
    pub(super) fn hook(&mut self, peer: Peer, hook: &AgentHook) -> Result<HookAnswer, WireError> {
        let kind: AgentKind = hook
            .agent
            .parse()
            .map_err(|error| WireError::new(code::BAD_PARAMS, format!("{error}")))?;
        let dropped = |reason: String| {
            tracing::debug!("a report of {kind} was dropped: {reason}");
            Ok(HookAnswer { accepted: false, reason: Some(reason) })
        };
        let host = Arc::clone(&self.host);
        let around: (&dyn AgentHost, _) = (&*host, &self.adapters);
        let (peer, secret, agent) = (peer.pid, &hook.launch, hook.agent_pid);
        let mut found = self.launches.attribute(around, peer, &kind, secret, agent);
        if found.is_err()
            && let Some(launch) = self.launches.named(secret)
            && let Some(shell) = &launch.shell
        {
            // A person may have started it just now, and it was not seen yet.
            let (instance, root) = (shell.view.instance, scout::mark(&shell.view));
            let seen = scout::look(&self.adapters, root, true);
            self.input(Input::AgentsFound { instance, found: seen });
            let around: (&dyn AgentHost, _) = (&*host, &self.adapters);
            found = self.launches.attribute(around, peer, &kind, secret, agent);
        }
        let view = match found {
            Ok(launch) => launch.view.clone(),
            Err(reason) => return dropped(reason.to_string()),
        };
        let Some(adapter) = self.adapters.of(&kind) else {
            return dropped(format!("this server has no adapter for {kind}"));
        };
        let payload = hook.payload.as_bytes();
        match adapter.read_report(view.instance, &HookReport { payload, view: &view }) {
            Ok(report) => {
                self.input(Input::Report { instance: view.instance, report });
                Ok(HookAnswer { accepted: true, reason: None })
            }
            Err(error) => dropped(error.to_string()),
        }
    }
}
