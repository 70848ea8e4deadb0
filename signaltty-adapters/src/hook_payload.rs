//! Payloads of hooks in the form that Claude began and others took over.
//!
//! The agents differ in what proves a payload theirs and in the names of some
//! events; what an event comes to is the same for all.

use serde_json::{Map, Value};
use signaltty_core::agent::{AgentReport, AgentSessionId, RecordRead, Witness, WitnessSource};
use signaltty_core::id::InstanceId;
use signaltty_core::pane::{Attention, Lifecycle};

use crate::text::one_line;
use crate::{AdapterError, HookReport};

/// The members of a payload.
pub(crate) type Payload = Map<String, Value>;

/// The payload.
pub(crate) fn read(report: &HookReport<'_>) -> Result<Payload, AdapterError> {
    match serde_json::from_slice(report.payload) {
        Ok(Value::Object(payload)) => Ok(payload),
        _ => dropped("it is not a JSON object"),
    }
}

/// A member that is text.
pub(crate) fn text<'a>(payload: &'a Payload, name: &str) -> Option<&'a str> {
    payload.get(name).and_then(Value::as_str)
}

/// A member that must be there.
pub(crate) fn member<'a>(
    payload: &'a Payload,
    name: &str,
    missing: &str,
) -> Result<&'a str, AdapterError> {
    text(payload, name).ok_or_else(|| AdapterError::Report(missing.to_owned()))
}

/// The payload's event.
pub(crate) fn event(payload: &Payload) -> Result<&str, AdapterError> {
    member(payload, "hook_event_name", "it names no event")
}

/// Nothing is learned, and why.
pub(crate) fn dropped<T>(why: impl Into<String>) -> Result<T, AdapterError> {
    Err(AdapterError::Report(why.into()))
}

/// An event that is not one of those that are followed.
pub(crate) fn unfollowed<T>(event: &str) -> Result<T, AdapterError> {
    let event = one_line(event).unwrap_or_default();
    dropped(format!("the event {event:?} says nothing that is followed"))
}

/// A conversation was opened. Where its source is `resumed`, it is a saved one.
pub(crate) fn started(
    agent: &str,
    instance: InstanceId,
    id: AgentSessionId,
    payload: &Payload,
    resumed: &str,
) -> Witness {
    let how = text(payload, "source").unwrap_or("");
    let source =
        if how == resumed { WitnessSource::StartReport } else { WitnessSource::FreshStart };
    let how = one_line(how).unwrap_or_else(|| "an unnamed source".into());
    Witness {
        instance,
        source,
        detail: format!("{agent} reported the start of {id} from {how}").into(),
        sessions: [id].into(),
        loaded: None,
        record: RecordRead::Pending,
    }
}

/// A prompt was sent to the agent. Another hook of the person's may still block
/// it, so that it was taken is for the record to say.
pub(crate) fn prompted() -> AgentReport {
    doing(Lifecycle::Working, Attention::None)
}

/// It asks its person for a permission.
pub(crate) fn asks(payload: &Payload) -> AgentReport {
    let tool = text(payload, "tool_name").and_then(one_line);
    AgentReport {
        message: tool.map(|tool| format!("asks for a permission: {tool}").into()),
        ..doing(Lifecycle::Blocked, Attention::PermissionRequired)
    }
}

/// A turn came to its end, with its last words in the member `words`.
pub(crate) fn finished(payload: &Payload, words: &str) -> AgentReport {
    AgentReport {
        message: text(payload, words).and_then(one_line),
        ..doing(Lifecycle::Done, Attention::Unread)
    }
}

/// What it does by now.
pub(crate) fn doing(lifecycle: Lifecycle, attention: Attention) -> AgentReport {
    AgentReport { lifecycle: Some(lifecycle), attention: Some(attention), ..AgentReport::default() }
}
