//! Events to whoever subscribed, in order, each with a number.
//!
//! In memory for now: a server that starts again begins a new numbering, and
//! says so by its epoch. A subscriber that falls behind is told and dropped; it
//! reads the state again.

use serde_json::{Value, json};
use signaltty_core::id::ServerEpoch;
use signaltty_core::session::Event;
use tokio::sync::broadcast;

use super::clock::{rfc3339, wall};
use crate::protocol::EventLine;

/// Events that may wait for a subscriber.
const WAITING: usize = 1_024;

/// Numbers events and fans them out.
pub(crate) struct Publisher {
    lines: broadcast::Sender<EventLine>,
    seq: u64,
    epoch: ServerEpoch,
}

/// Events from one moment on.
pub(crate) struct Subscription {
    pub(crate) lines: broadcast::Receiver<EventLine>,
    /// The last event before.
    pub(crate) seq: u64,
    pub(crate) epoch: ServerEpoch,
}

impl Publisher {
    pub(crate) fn new(epoch: ServerEpoch) -> Self {
        Self { lines: broadcast::Sender::new(WAITING), seq: 0, epoch }
    }

    pub(crate) fn publish(&mut self, event: &Event) {
        self.seq += 1;
        let line = EventLine {
            event: event.name().to_owned(),
            seq: self.seq,
            at: rfc3339(wall()),
            payload: payload(event),
        };
        // No subscriber is no error.
        let _ = self.lines.send(line);
    }

    pub(crate) fn subscribe(&self) -> Subscription {
        Subscription { lines: self.lines.subscribe(), seq: self.seq, epoch: self.epoch }
    }
}

fn payload(event: &Event) -> Value {
    match event {
        Event::WorkspaceCreated { workspace }
        | Event::WorkspaceUpdated { workspace }
        | Event::WorkspaceClosed { workspace } => json!({"workspace_id": workspace.to_string()}),
        Event::TabCreated { tab } | Event::TabUpdated { tab } | Event::TabClosed { tab } => {
            json!({"tab_id": tab.to_string()})
        }
        Event::PaneCreated { pane } | Event::PaneUpdated { pane } | Event::PaneClosed { pane } => {
            json!({"pane_id": pane.to_string()})
        }
        Event::PaneState { pane, state } => json!({"pane_id": pane.to_string(), "state": state}),
        Event::PaneExited { pane, status } => json!({
            "pane_id": pane.to_string(),
            "exit": {"code": status.code, "signal": status.signal},
        }),
        Event::AgentLifecycle { pane, lifecycle, previous } => json!({
            "pane_id": pane.to_string(),
            "lifecycle": lifecycle.as_str(),
            "prev": previous.as_str(),
        }),
        Event::AttentionChanged { pane, attention } => {
            json!({"pane_id": pane.to_string(), "attention": attention.as_str()})
        }
        Event::AgentBound { pane, id } => {
            json!({"pane_id": pane.to_string(), "agent_session_id": id.as_str()})
        }
        Event::ResumeStage { pane, stage } => {
            json!({"pane_id": pane.to_string(), "stage": stage})
        }
        Event::ResumeVerdict { pane, verdict, evidence } => json!({
            "pane_id": pane.to_string(),
            "verdict": verdict.as_str(),
            "evidence": evidence.iter().map(|line| &**line).collect::<Vec<_>>(),
        }),
        Event::ResumeFailed { pane, refusal } => json!({
            "pane_id": pane.to_string(),
            "code": refusal.code.as_str(),
            "message": &*refusal.message,
        }),
        _ => json!({}),
    }
}
