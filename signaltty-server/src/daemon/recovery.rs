//! What people are told of a start, and what it would do.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use signaltty_core::id::{NotificationId, ServerEpoch};
use signaltty_core::notification::Severity;
use signaltty_core::restore::PanePlan;
use signaltty_core::session::{Command, Event, Input, Session};

use super::configure::{ConfigFile, session_config};
use super::event_loop::Daemon;
use super::random;
use crate::config::{Settings, SettingsError};
use crate::protocol::{PlanNode, RestorePlan};

impl Daemon {
    /// A turn that was to go on and does not is a message for its person
    /// (S1-23).
    pub(super) fn notify_of(&mut self, event: &Event) {
        let Event::ContinuationFailed { pane, refusal } = event else {
            return;
        };
        let request = self.new_request();
        let command = Command::Notify {
            id: NotificationId::from_random(random::id()),
            pane: Some(*pane),
            title: "an interrupted turn was not continued".into(),
            body: refusal.message.clone(),
            severity: Severity::Warning,
        };
        self.input(Input::Command { request, command });
    }

    /// What would happen if this server went away now and came again.
    pub(super) fn plan(&self) -> RestorePlan {
        plan_nodes(self.session.plan_restart(self.clock.now()))
    }
}

/// A plan as scripts see it.
pub(crate) fn plan_nodes(plans: Vec<PanePlan>) -> RestorePlan {
    let node = |plan: PanePlan| PlanNode {
        pane_id: plan.pane.to_string(),
        decision: plan.decision.to_owned(),
        rule: plan.rule.to_owned(),
        reason: plan.reason,
    };
    RestorePlan { panes: plans.into_iter().map(node).collect() }
}

/// Why there is no plan: no server would start either.
pub(crate) enum NoPlan {
    /// The configuration.
    Config(SettingsError),
    /// The state.
    State(String),
}

/// What a start would do with the state in a directory and this configuration,
/// read without a server and changed in nothing.
pub(crate) fn plan_of_state(
    state_dir: &Path,
    config: Option<PathBuf>,
) -> Result<RestorePlan, NoPlan> {
    let mut adapters = signaltty_adapters::Adapters::builtin();
    let demo = signaltty_adapters::demo::DemoAdapter::new("signaltty".into(), Vec::new());
    // Of the same kind as a builtin one it could not be.
    let _ = adapters.add(Arc::new(demo));
    let settings = match config {
        None => Settings::default(),
        Some(path) => ConfigFile { path, asked: false }.load(&adapters).map_err(NoPlan::Config)?,
    };
    let path = state_dir.join("snapshot.json");
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(RestorePlan::default());
        }
        Err(error) => {
            return Err(NoPlan::State(format!("{} cannot be read: {error}", path.display())));
        }
    };
    let decoded = signaltty_persist::schema::from_json(&bytes).map_err(|error| {
        let path = path.display();
        NoPlan::State(format!("{path}: {error}; `signaltty-server doctor` says more"))
    })?;
    let config = session_config(&settings, &adapters);
    let now = super::clock::Clock::start().now();
    let (session, _) = Session::restore(decoded.session, ServerEpoch(0), config, now);
    Ok(plan_nodes(session.plan_restart(now)))
}
