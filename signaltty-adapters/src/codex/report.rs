//! What Codex's hooks say, where a person set them up.
//!
//! Nothing is installed for Codex: a hook of it runs only once a person trusted
//! it. Its start is reported with the first prompt, so no proof waits for that.

use serde_json::{Map, Value};
use signaltty_core::agent::{AgentReport, RecordRead, Witness, WitnessSource};
use signaltty_core::id::InstanceId;
use signaltty_core::pane::{Attention, Lifecycle};

use super::record;
use crate::text::one_line;
use crate::{AdapterError, AgentSpec, HookReport};

/// Reads one payload.
pub(super) fn read(
    spec: &AgentSpec,
    instance: InstanceId,
    report: &HookReport<'_>,
) -> Result<AgentReport, AdapterError> {
    let Ok(Value::Object(payload)) = serde_json::from_slice(report.payload) else {
        return dropped("it is not a JSON object");
    };
    // Grok writes its fields in both spellings.
    if payload.contains_key("sessionId") {
        return dropped("it comes from another agent");
    }
    let Some(event) = text(&payload, "hook_event_name") else {
        return dropped("it names no event");
    };
    let Some(id) = text(&payload, "session_id") else {
        return dropped("it names no conversation");
    };
    let id = spec.id_form.parse(id)?;
    if let Some(path) = text(&payload, "transcript_path")
        && record::rollout_id(path.as_ref()) != Some(id.as_str())
    {
        return dropped("its rollout is another conversation's");
    }
    match event {
        "SessionStart" => {
            let how = text(&payload, "source").unwrap_or("");
            let source = match how {
                "resume" => WitnessSource::StartReport,
                _ => WitnessSource::FreshStart,
            };
            let how = one_line(how).unwrap_or_else(|| "an unnamed source".into());
            let witness = Witness {
                instance,
                source,
                detail: format!("codex reported the start of {id} from {how}").into(),
                sessions: [id].into(),
                loaded: None,
                record: RecordRead::Pending,
            };
            Ok(AgentReport { witness: Some(witness), ..AgentReport::default() })
        }
        "UserPromptSubmit" => {
            Ok(AgentReport { accepted_prompt: true, ..doing(Lifecycle::Working, Attention::None) })
        }
        "PermissionRequest" => Ok(AgentReport {
            message: text(&payload, "tool_name")
                .and_then(one_line)
                .map(|tool| format!("asks for a permission: {tool}").into()),
            ..doing(Lifecycle::Blocked, Attention::PermissionRequired)
        }),
        "Stop" => Ok(AgentReport {
            message: text(&payload, "last_assistant_message").and_then(one_line),
            ..doing(Lifecycle::Done, Attention::Unread)
        }),
        "Interrupt" => Ok(doing(Lifecycle::Idle, Attention::None)),
        other => dropped(format!(
            "the event {:?} says nothing that is followed",
            one_line(other).unwrap_or_default()
        )),
    }
}

fn doing(lifecycle: Lifecycle, attention: Attention) -> AgentReport {
    AgentReport { lifecycle: Some(lifecycle), attention: Some(attention), ..AgentReport::default() }
}

fn text<'a>(payload: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    payload.get(name).and_then(Value::as_str)
}

fn dropped<T>(why: impl Into<String>) -> Result<T, AdapterError> {
    Err(AdapterError::Report(why.into()))
}
