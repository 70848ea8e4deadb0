//! What Claude's hooks say.
//!
//! A start report counts as a witness of a resume only where it says that a
//! saved conversation was loaded. Every other start shows an id that a running
//! pane may hold, and nothing about a resume: Claude sends such reports with
//! throw-away ids (C028, C032). The end report is never a witness: it also
//! comes when a resume failed, with the id that was asked for.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use signaltty_core::agent::{AgentReport, AgentSessionId, Witness};
use signaltty_core::id::InstanceId;
use signaltty_core::pane::{Attention, Lifecycle};

use super::CONFIG_VAR;
use crate::hook_payload::{self, Payload, dropped, member, text, unfollowed};
use crate::text::one_line;
use crate::{AdapterError, AgentSpec, HookReport, InstanceView};

/// Reads one payload.
pub(super) fn read(
    spec: &AgentSpec,
    instance: InstanceId,
    report: &HookReport<'_>,
) -> Result<AgentReport, AdapterError> {
    let payload = hook_payload::read(report)?;
    if let Some(agent) = other_agent(&payload) {
        return dropped(format!("it comes from {agent}, which runs claude's hooks too"));
    }
    let event = hook_payload::event(&payload)?;
    let id = member(&payload, "session_id", "it names no conversation")?;
    let id = spec.id_form.parse(id)?;
    check_transcript(&payload, &id, report.view)?;
    Ok(match event {
        "SessionStart" => session_start(&payload, id, instance),
        "SessionEnd" => session_end(&payload),
        "UserPromptSubmit" => hook_payload::prompted(),
        "PermissionRequest" => hook_payload::asks(&payload),
        "Notification" => notification(&payload),
        "Stop" => hook_payload::finished(&payload, "last_assistant_message"),
        other => return unfollowed(other),
    })
}

fn session_start(payload: &Payload, id: AgentSessionId, instance: InstanceId) -> AgentReport {
    // Present exactly where an answered history was loaded. Its absence is no
    // proof of an empty one: a first turn that was cut off has no answer yet.
    let loaded = payload.get("context_tokens").and_then(Value::as_u64).filter(|tokens| *tokens > 0);
    let witness = hook_payload::started("claude", instance, id, payload, "resume");
    AgentReport {
        witness: Some(Witness { loaded, ..witness }),
        // A compaction happens within a turn.
        lifecycle: (text(payload, "source") != Some("compact")).then_some(Lifecycle::Idle),
        ..AgentReport::default()
    }
}

fn session_end(payload: &Payload) -> AgentReport {
    match text(payload, "reason") {
        // The program goes on with another conversation.
        Some("clear" | "resume") => AgentReport::default(),
        _ => hook_payload::doing(Lifecycle::Exited, Attention::None),
    }
}

fn notification(payload: &Payload) -> AgentReport {
    let (lifecycle, attention) = match text(payload, "notification_type") {
        Some("permission_prompt") => {
            (Some(Lifecycle::Blocked), Some(Attention::PermissionRequired))
        }
        Some("idle_prompt") => (None, Some(Attention::InputRequired)),
        Some("elicitation_dialog") => (Some(Lifecycle::Blocked), Some(Attention::InputRequired)),
        _ => (None, None),
    };
    AgentReport {
        lifecycle,
        attention,
        message: text(payload, "message").and_then(one_line),
        ..AgentReport::default()
    }
}

/// Grok and Cursor run the hooks that a user set for Claude. The marks are the
/// fields that only they write.
fn other_agent(payload: &Payload) -> Option<&'static str> {
    let has = |names: &[&str]| names.iter().any(|name| payload.contains_key(*name));
    if has(&["GROK_SESSION_ID", "sessionId", "hookEventName", "workspaceRoot"]) {
        Some("grok")
    } else if has(&["cursor_version", "conversation_id", "generation_id"]) {
        Some("cursor")
    } else {
        None
    }
}

/// The transcript of the conversation lies where this pane's Claude keeps its
/// transcripts, and is named after the conversation.
fn check_transcript(
    payload: &Payload,
    id: &AgentSessionId,
    view: &InstanceView,
) -> Result<(), AdapterError> {
    let Some(path) = text(payload, "transcript_path").filter(|path| !path.is_empty()) else {
        return Ok(());
    };
    let path = plain(&view.cwd.join(path));
    let named = path.file_name().and_then(|name| name.to_str()) == Some(&format!("{id}.jsonl"));
    let projects = path.parent().and_then(Path::parent);
    let placed = match view.config_env.var(CONFIG_VAR) {
        Some(config) => projects == Some(plain(&Path::new(config).join("projects")).as_path()),
        None => projects.is_some_and(|dir| dir.ends_with("projects")),
    };
    if named && placed {
        return Ok(());
    }
    dropped("its transcript lies outside of this pane's claude directory")
}

/// A path without `.` and `..`, without looking at the disk.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}
