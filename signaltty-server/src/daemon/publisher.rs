//! Events to whoever subscribed, in order, each with a number.
//!
//! The loop hands an event over and goes on; it never waits for a disk. The
//! [recorder](super::recorder) gives it a number, makes its record durable and
//! only then sends it to the subscribers. A subscriber that falls behind is told
//! and dropped; it reads the state again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::TrySendError;

use serde_json::{Value, json};
use signaltty_core::id::ServerEpoch;
use signaltty_core::session::Event;
use signaltty_core::time::UnixMillis;
use signaltty_persist::journal::{Erased, View};
use tokio::sync::{broadcast, oneshot};

use super::bounded::Sender;
use super::clock::{rfc3339, wall};
use super::effects::to_value;
use crate::protocol as wire;

/// Events and requests that may wait for the recorder: some seconds of a very
/// busy server on a disk that does not answer. What does not fit is dropped and
/// counted; subscribers are told that they missed something, and the journal
/// that it has a gap.
pub(crate) const WAITING: usize = 16 * 1_024;

/// Events that may wait for a subscriber. One that has more waiting is told
/// that it fell behind, and dropped.
pub(crate) const BEHIND: usize = 4 * 1_024;

/// Hands events to the recorder. The recorder ends once this is gone, after it
/// recorded what was handed over.
pub(crate) struct Publisher {
    jobs: Sender<Job>,
    shared: Arc<Shared>,
    epoch: ServerEpoch,
}

/// What the loop and the recorder both know.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// The number that the next snapshot carries.
    pub(crate) published: AtomicU64,
    /// Events that did not fit into the queue, since the last one that did.
    pub(crate) dropped: AtomicU64,
}

/// What the recorder is asked for.
pub(crate) enum Job {
    Publish(Pending),
    Subscribe {
        /// The past is asked for too.
        replay: bool,
        done: oneshot::Sender<Subscription>,
    },
    /// Payloads of records with one of these texts are to go.
    Forget {
        texts: Vec<String>,
        done: oneshot::Sender<ForgetResult>,
    },
    /// What was handed over before is to be recorded; the answer is its last
    /// number.
    Flush {
        dropped_before: u64,
        done: oneshot::Sender<u64>,
    },
}

/// What taking payloads out of the journal comes to.
pub(crate) type ForgetResult = Result<Erased, String>;

/// An event without its number.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) event: &'static str,
    pub(crate) at: UnixMillis,
    pub(crate) payload: String,
    /// What the record says, where it says less.
    pub(crate) recorded: Option<String>,
    /// It takes a number and leaves no record.
    pub(crate) passing: bool,
    /// So many events before this one found no room.
    pub(crate) dropped_before: u64,
}

/// An event as subscribers get it.
#[derive(Debug, Clone)]
pub(crate) enum Line {
    Event {
        name: Arc<str>,
        text: Arc<[u8]>,
    },
    /// Some events were published to nobody.
    Missed(u64),
}

/// Whether texts of agents go into the record (D-30).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Messages {
    Recorded,
    Withheld,
}

/// Members of payloads that hold what agents and programs wrote.
const MESSAGES: [&str; 2] = ["message", "evidence"];

/// Events from one moment on.
pub(crate) struct Subscription {
    pub(crate) lines: broadcast::Receiver<Line>,
    /// The last number before.
    pub(crate) seq: u64,
    pub(crate) journal_id: Option<String>,
    /// The past, or why there is none.
    pub(crate) past: Option<Result<View, String>>,
}

impl Publisher {
    pub(crate) fn new(jobs: Sender<Job>, shared: Arc<Shared>, epoch: ServerEpoch) -> Self {
        Self { jobs, shared, epoch }
    }

    pub(crate) fn publish(&self, event: &Event, messages: Messages) {
        let mut payload = payload(event);
        let shown = payload.to_string();
        let recorded = match (messages, payload.as_object_mut()) {
            (Messages::Withheld, Some(members)) => {
                let before = members.len();
                members.retain(|name, _| !MESSAGES.contains(&name.as_str()));
                (members.len() < before).then(|| payload.to_string())
            }
            _ => None,
        };
        self.hand_over(Pending {
            event: event.name(),
            at: wall(),
            payload: shown,
            recorded,
            passing: is_passing(event.name()),
            dropped_before: 0,
        });
    }

    pub(crate) fn hand_over(&self, mut pending: Pending) {
        pending.dropped_before = self.shared.dropped.swap(0, Ordering::Relaxed);
        match self.jobs.try_send(Job::Publish(pending)) {
            Err(TrySendError::Full(Job::Publish(pending))) => {
                self.shared.dropped.store(pending.dropped_before + 1, Ordering::Relaxed);
            }
            Err(TrySendError::Disconnected(_)) => {
                tracing::error!("a bug: the recorder of events ended early");
            }
            Ok(()) | Err(TrySendError::Full(_)) => {}
        }
    }

    /// Events from now on. The sender is dropped if the recorder has no room.
    pub(crate) fn subscribe(&self, replay: bool) -> oneshot::Receiver<Subscription> {
        let (done, receiver) = oneshot::channel();
        let _ = self.jobs.try_send(Job::Subscribe { replay, done });
        receiver
    }

    pub(crate) fn epoch(&self) -> String {
        format!("{:016x}", self.epoch.0)
    }

    /// The last number that a record has, for the next snapshot.
    pub(crate) fn published(&self) -> u64 {
        self.shared.published.load(Ordering::Acquire)
    }

    /// The same, once all that was handed over so far is recorded.
    pub(crate) fn flush(&self) -> oneshot::Receiver<u64> {
        let (done, receiver) = oneshot::channel();
        let dropped_before = self.shared.dropped.swap(0, Ordering::Relaxed);
        // Without room the sender is dropped, and an older number is good enough.
        if self.jobs.try_send(Job::Flush { dropped_before, done }).is_err() {
            self.shared.dropped.store(dropped_before, Ordering::Relaxed);
        }
        receiver
    }
}

impl Publisher {
    /// Takes payloads with one of these texts out of the journal. The sender is
    /// dropped if the recorder has no room.
    pub(crate) fn forget(&self, texts: Vec<String>) -> oneshot::Receiver<ForgetResult> {
        let (done, receiver) = oneshot::channel();
        let _ = self.jobs.try_send(Job::Forget { texts, done });
        receiver
    }
}

impl Pending {
    /// The line that subscribers get.
    pub(crate) fn line(&self, seq: Option<u64>) -> Line {
        Line::Event { name: self.event.into(), text: text(self.event, seq, self.at, &self.payload) }
    }
}

/// A line for subscribers. `payload` is JSON.
pub(crate) fn text(event: &str, seq: Option<u64>, at: UnixMillis, payload: &str) -> Arc<[u8]> {
    let seq = seq.map(|seq| format!("\"seq\":{seq},")).unwrap_or_default();
    let at = rfc3339(at);
    let line = format!("{{\"event\":\"{event}\",{seq}\"at\":\"{at}\",\"payload\":{payload}}}\n");
    line.into_bytes().into()
}

/// Events that say nothing about the state. None of today's is one.
fn is_passing(event: &str) -> bool {
    matches!(event, "pane.bell" | "pane.activity")
}

fn payload(event: &Event) -> Value {
    let text = ToString::to_string;
    match event {
        Event::WorkspaceCreated { workspace }
        | Event::WorkspaceUpdated { workspace }
        | Event::WorkspaceClosed { workspace } => {
            to_value(wire::WorkspaceEvent { workspace_id: workspace.to_string() })
        }
        Event::TabCreated { tab } | Event::TabUpdated { tab } | Event::TabClosed { tab } => {
            to_value(wire::TabEvent { tab_id: tab.to_string() })
        }
        Event::PaneCreated { pane } | Event::PaneUpdated { pane } | Event::PaneClosed { pane } => {
            to_value(wire::PaneEvent { pane_id: pane.to_string() })
        }
        Event::PaneState { pane, state } => {
            to_value(wire::PaneStateEvent { pane_id: pane.to_string(), state: text(state) })
        }
        Event::PaneExited { pane, status } => to_value(wire::PaneExitedEvent {
            pane_id: pane.to_string(),
            exit: wire::ExitNode { code: status.code, signal: status.signal },
        }),
        Event::AgentLifecycle { pane, lifecycle, previous } => to_value(wire::LifecycleEvent {
            pane_id: pane.to_string(),
            lifecycle: lifecycle.to_string(),
            prev: previous.to_string(),
        }),
        Event::AttentionChanged { pane, attention } => to_value(wire::AttentionEvent {
            pane_id: pane.to_string(),
            attention: attention.to_string(),
        }),
        Event::DecisionAsked { pane, question } | Event::DecisionEnded { pane, question } => {
            to_value(wire::DecisionEvent {
                pane_id: pane.to_string(),
                decision_id: question.to_string(),
            })
        }
        Event::ConversationShared { pane, other } => to_value(wire::SharedEvent {
            pane_id: pane.to_string(),
            with_pane_id: other.to_string(),
        }),
        Event::AgentBound { pane, id } => to_value(wire::BoundEvent {
            pane_id: pane.to_string(),
            agent_session_id: id.to_string(),
        }),
        Event::ResumeStage { pane, stage } => {
            to_value(wire::StageEvent { pane_id: pane.to_string(), stage: text(stage) })
        }
        Event::ResumeVerdict { pane, verdict, evidence } => to_value(wire::VerdictEvent {
            pane_id: pane.to_string(),
            verdict: verdict.as_str().to_owned(),
            evidence: Some(evidence.iter().map(ToString::to_string).collect()),
        }),
        Event::TurnSettled { pane, reason } => {
            to_value(wire::SettledEvent { pane_id: pane.to_string(), reason: text(reason) })
        }
        Event::ContinuationAccepted { pane, turn } => {
            to_value(wire::AcceptedEvent { pane_id: pane.to_string(), turn: turn.get() })
        }
        Event::NotificationCreated { notification, pane, severity } => {
            to_value(wire::NotificationEvent {
                notification_id: notification.to_string(),
                pane_id: pane.as_ref().map(ToString::to_string),
                severity: severity.as_str().to_owned(),
            })
        }
        Event::NotificationRead { notification } => {
            to_value(wire::NotificationReadEvent { notification_id: notification.to_string() })
        }
        Event::TurnsMarked { turns } => to_value(wire::MarkedEvent { turns: *turns }),
        Event::ResumeFailed { pane, refusal } | Event::ContinuationFailed { pane, refusal } => {
            to_value(wire::FailureEvent {
                pane_id: pane.to_string(),
                code: refusal.code.as_str().to_owned(),
                message: Some(refusal.message.to_string()),
            })
        }
        Event::ServerStopping {} => json!({}),
        other => {
            tracing::error!("a bug: nobody says what {} is about", other.name());
            json!({})
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_protocol_names_every_event_of_a_session() {
        let ours = ["events.missed"];
        let known: BTreeSet<_> = Event::NAMES.iter().chain(&ours).copied().collect();
        assert_eq!(known, wire::EVENTS.iter().copied().collect());
    }
}
