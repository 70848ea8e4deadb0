//! What Grok's hooks say, where a person set them up.
//!
//! Nothing is installed for Grok. Its order is not what it seems: a prompt may
//! be reported before the start. Only a start that says that it loaded a saved
//! conversation speaks of a resume (S1-17).

use std::path::Path;

use signaltty_core::agent::AgentReport;
use signaltty_core::id::InstanceId;

use crate::hook_payload::{self, dropped, member, text, unfollowed};
use crate::{AdapterError, AgentSpec, HookReport};

/// Reads one payload.
pub(super) fn read(
    spec: &AgentSpec,
    instance: InstanceId,
    report: &HookReport<'_>,
) -> Result<AgentReport, AdapterError> {
    let payload = hook_payload::read(report)?;
    let id = member(&payload, "sessionId", "it names no conversation the way grok does")?;
    let id = spec.id_form.parse(id)?;
    let event = hook_payload::event(&payload)?;
    if let Some(path) = text(&payload, "transcript_path") {
        let dir = Path::new(path).parent().and_then(Path::file_name);
        if dir.is_none_or(|name| name != id.as_str()) {
            return dropped("its transcript is another conversation's");
        }
    }
    Ok(match event {
        "SessionStart" => {
            let witness = hook_payload::started("grok", instance, id, &payload, "load");
            AgentReport { witness: Some(witness), ..AgentReport::default() }
        }
        "UserPromptSubmit" => hook_payload::prompted(),
        "PermissionRequest" => hook_payload::asks(&payload),
        // It also stops when it is shut down.
        "Stop" if text(&payload, "reason") == Some("end_turn") => {
            hook_payload::finished(&payload, "lastAssistantMessage")
        }
        other => return unfollowed(other),
    })
}
