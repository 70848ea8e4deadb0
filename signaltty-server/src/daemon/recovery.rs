//! What people are told of a start, and what it would do.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use signaltty_core::id::{NotificationId, ServerEpoch};
use signaltty_core::notification::Severity;
use signaltty_core::restore::PanePlan;
use signaltty_core::session::{Command, Event, Input, Session};
use signaltty_persist::OpenError;
use signaltty_persist::inspect::{ReadOnly, read_only};

use super::configure::{ConfigFile, session_config};
use super::event_loop::Daemon;
use super::load::{Means, way_back_of};
use super::owned::owned;
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
    RestorePlan { panes: plans.into_iter().map(node).collect(), remarks: Vec::new() }
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
    let state = |why: String| NoPlan::State(why);
    let dir = match read_only(state_dir) {
        Ok(dir) => dir,
        Err(error) if error.source.kind() == std::io::ErrorKind::NotFound => {
            return Ok(RestorePlan::default());
        }
        Err(error) => return Err(state(format!("{error}; no server would start"))),
    };
    if let Some(refusal) = dir.refusal() {
        return Err(state(format!("no server would start: {refusal}")));
    }
    free(&dir, state_dir).map_err(|error| state(format!("no server would start: {error}")))?;
    let found = match dir.snapshot() {
        Ok(Some(found)) => found,
        Ok(None) => {
            let way = way_back_of(&dir)
                .map(|way| format!("snapshot.json is gone, so a start would begin empty; {way}"));
            return Ok(RestorePlan {
                remarks: way.into_iter().collect(),
                ..RestorePlan::default()
            });
        }
        Err(found) => match Means::of(&found) {
            Means::Refused(why) => {
                return Err(state(format!(
                    "{}: no server would start: {why}",
                    state_dir.display()
                )));
            }
            Means::SetAside(why) => {
                let way = way_back_of(&dir).map(|way| format!("; {way}")).unwrap_or_default();
                let remarks = vec![format!("{why}{way}")];
                return Ok(RestorePlan { remarks, ..RestorePlan::default() });
            }
            Means::Used(_) => return Ok(RestorePlan::default()),
        },
    };
    let config = session_config(&settings, &adapters);
    let now = super::clock::Clock::start().now();
    let repaired = found.problems.iter().map(|problem| format!("snapshot.json: {problem}"));
    let remarks = repaired.collect();
    let (session, _) = Session::restore(found.session, ServerEpoch(0), config, now);
    Ok(RestorePlan { remarks, ..plan_nodes(session.plan_restart(now)) })
}

/// Whether nobody has the directory; one that is just ending is waited for, as a
/// start does.
fn free(dir: &ReadOnly, path: &Path) -> Result<(), OpenError> {
    owned(|| match dir.held() {
        Ok(None) => Ok(()),
        Ok(Some(holder)) => Err(OpenError::Held { path: path.to_owned(), holder }),
        Err(error) => Err(OpenError::Path(error)),
    })
}
