//! What Cursor's hooks say, where a user has set them to call ours.
//!
//! A prompt names the chat that takes it. That is a witness, and a weak one: a
//! chat that was begun anew has the id that was asked for. What counts is what
//! is found in the chat's store then. The event at the end of a turn names the
//! chat again, when the turn has been written.

use serde_json::{Map, Value};
use signaltty_core::agent::{AgentReport, AgentSessionId, RecordRead, Witness, WitnessSource};
use signaltty_core::id::InstanceId;
use signaltty_core::pane::{Attention, Lifecycle};

use crate::text::one_line;
use crate::{AdapterError, AgentSpec};

/// Reads one payload.
pub(super) fn read(
    spec: &AgentSpec,
    instance: InstanceId,
    payload: &[u8],
) -> Result<AgentReport, AdapterError> {
    let Ok(Value::Object(payload)) = serde_json::from_slice(payload) else {
        return dropped("it is not a JSON object");
    };
    // Cursor runs hooks that were set for other agents, and others may run its.
    let Some(id) = text(&payload, "conversation_id") else {
        return dropped("it names no chat of cursor");
    };
    let id = spec.id_form.parse(id)?;
    let Some(event) = text(&payload, "hook_event_name") else {
        return dropped("it names no event");
    };
    let witness = |source, id: AgentSessionId| {
        Some(Witness {
            instance,
            source,
            detail: format!("cursor reported {event} of {id}").into(),
            sessions: [id].into(),
            loaded: None,
            record: RecordRead::Pending,
        })
    };
    match event {
        "sessionStart" => Ok(AgentReport {
            witness: witness(WitnessSource::FreshStart, id),
            lifecycle: Some(Lifecycle::Idle),
            ..AgentReport::default()
        }),
        "beforeSubmitPrompt" => Ok(AgentReport {
            witness: witness(WitnessSource::StartReport, id),
            lifecycle: Some(Lifecycle::Working),
            attention: Some(Attention::None),
            accepted_prompt: true,
            ..AgentReport::default()
        }),
        "stop" => Ok(AgentReport {
            witness: witness(WitnessSource::StartReport, id),
            lifecycle: Some(Lifecycle::Done),
            attention: Some(Attention::Unread),
            ..AgentReport::default()
        }),
        "sessionEnd" => Ok(AgentReport {
            lifecycle: Some(Lifecycle::Exited),
            attention: Some(Attention::None),
            ..AgentReport::default()
        }),
        other => dropped(format!(
            "the event {:?} says nothing that is followed",
            one_line(other).unwrap_or_default()
        )),
    }
}

fn text<'a>(payload: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    payload.get(name).and_then(Value::as_str)
}

fn dropped<T>(why: impl Into<String>) -> Result<T, AdapterError> {
    Err(AdapterError::Report(why.into()))
}
