//! What Grok's hooks say, where a person set them up.
//!
//! Nothing is installed for Grok. Its order is not what it seems: a prompt may
//! be reported before the start. Only a start that says that it loaded a saved
//! conversation speaks of a resume (S1-17).

use std::path::Path;

use serde_json::{Map, Value};
use signaltty_core::agent::{AgentReport, RecordRead, Witness, WitnessSource};
use signaltty_core::id::InstanceId;
use signaltty_core::pane::{Attention, Lifecycle};

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
    let Some(id) = text(&payload, "sessionId") else {
        return dropped("it names no conversation the way grok does");
    };
    let id = spec.id_form.parse(id)?;
    let Some(event) = text(&payload, "hook_event_name") else {
        return dropped("it names no event");
    };
    if let Some(path) = text(&payload, "transcript_path") {
        let dir = Path::new(path).parent().and_then(Path::file_name);
        if dir.is_none_or(|name| name != id.as_str()) {
            return dropped("its transcript is another conversation's");
        }
    }
    match event {
        "SessionStart" => {
            let how = text(&payload, "source").unwrap_or("");
            let source = match how {
                "load" => WitnessSource::StartReport,
                _ => WitnessSource::FreshStart,
            };
            let how = one_line(how).unwrap_or_else(|| "an unnamed source".into());
            let witness = Witness {
                instance,
                source,
                detail: format!("grok reported the start of {id} from {how}").into(),
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
        // It also stops when it is shut down.
        "Stop" if text(&payload, "reason") == Some("end_turn") => Ok(AgentReport {
            message: text(&payload, "lastAssistantMessage").and_then(one_line),
            ..doing(Lifecycle::Done, Attention::Unread)
        }),
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
