//! What Codex's hooks say, where a person set them up.
//!
//! Nothing is installed for Codex: a hook of it runs only once a person trusted
//! it. Its start is reported with the first prompt, so no proof waits for that.

use signaltty_core::agent::AgentReport;
use signaltty_core::id::InstanceId;
use signaltty_core::pane::{Attention, Lifecycle};

use super::record;
use crate::hook_payload::{self, dropped, member, text, unfollowed};
use crate::{AdapterError, AgentSpec, HookReport};

/// Reads one payload.
pub(super) fn read(
    spec: &AgentSpec,
    instance: InstanceId,
    report: &HookReport<'_>,
) -> Result<AgentReport, AdapterError> {
    let payload = hook_payload::read(report)?;
    // Grok writes its fields in both spellings.
    if payload.contains_key("sessionId") {
        return dropped("it comes from another agent");
    }
    let event = hook_payload::event(&payload)?;
    let id = member(&payload, "session_id", "it names no conversation")?;
    let id = spec.id_form.parse(id)?;
    if let Some(path) = text(&payload, "transcript_path")
        && record::rollout_id(path.as_ref()) != Some(id.as_str())
    {
        return dropped("its rollout is another conversation's");
    }
    Ok(match event {
        "SessionStart" => {
            let witness = hook_payload::started("codex", instance, id, &payload, "resume");
            AgentReport { witness: Some(witness), ..AgentReport::default() }
        }
        "UserPromptSubmit" => hook_payload::prompted(),
        "PermissionRequest" => hook_payload::asks(&payload),
        "Stop" => hook_payload::finished(&payload, "last_assistant_message"),
        "Interrupt" => hook_payload::doing(Lifecycle::Idle, Attention::None),
        other => return unfollowed(other),
    })
}
