//! What the plugin says that `signaltty integration` installs.
//!
//! It reports turns of conversations that a person has, and no others; a turn
//! names the conversation of an OpenCode in a shell. It proves nothing about a
//! resume, for which the server of the process is asked.

use serde::Deserialize;
use signaltty_core::agent::{AgentReport, RecordRead, Witness, WitnessSource};
use signaltty_core::id::InstanceId;
use signaltty_core::pane::{Attention, Lifecycle};

use crate::{AdapterError, AgentSpec};

#[derive(Deserialize)]
struct Payload {
    hook_event_name: String,
    session_id: String,
    #[serde(default)]
    status: Option<String>,
}

/// Reads one payload.
pub(super) fn read(
    spec: &AgentSpec,
    instance: InstanceId,
    payload: &[u8],
) -> Result<AgentReport, AdapterError> {
    let dropped = |why: &str| Err(AdapterError::Report(why.to_owned()));
    let Ok(payload) = serde_json::from_slice::<Payload>(payload) else {
        return dropped("it is not from our plugin for opencode");
    };
    let id = spec.id_form.parse(&payload.session_id)?;
    let (lifecycle, attention, begins) =
        match (payload.hook_event_name.as_str(), payload.status.as_deref()) {
            // `session.idle` says the same.
            ("session.status", Some("idle")) => return dropped("it says nothing new"),
            ("session.status", Some(_)) => (Lifecycle::Working, Some(Attention::None), true),
            // By a person, who has nothing to read.
            ("session.idle", Some("broken_off")) => (Lifecycle::Idle, None, false),
            ("session.idle", _) => (Lifecycle::Done, Some(Attention::Unread), false),
            ("permission.asked", _) => {
                (Lifecycle::Blocked, Some(Attention::PermissionRequired), false)
            }
            ("permission.replied", _) => (Lifecycle::Working, Some(Attention::None), false),
            _ => return dropped("the event says nothing that is followed"),
        };
    let detail = format!("opencode reported {} of {id}", payload.hook_event_name);
    Ok(AgentReport {
        witness: Some(Witness {
            instance,
            source: WitnessSource::Turn,
            detail: detail.into(),
            sessions: [id].into(),
            loaded: None,
            record: RecordRead::Pending,
        }),
        lifecycle: Some(lifecycle),
        attention,
        accepted_prompt: begins,
        ..AgentReport::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AgentAdapter as _, OpenCodeAdapter};

    fn read_one(payload: &str) -> Result<AgentReport, AdapterError> {
        let instance = InstanceId::fake(1);
        read(OpenCodeAdapter::new().spec(), instance, payload.as_bytes())
    }

    #[test]
    fn d22_turns_name_the_conversation_and_nothing_proves_a_resume() {
        const ID: &str = "ses_ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        for (event, status, lifecycle) in [
            ("session.status", "busy", Some(Lifecycle::Working)),
            ("session.status", "retry", Some(Lifecycle::Working)),
            ("session.status", "idle", None),
            ("session.idle", "", Some(Lifecycle::Done)),
            ("session.idle", "broken_off", Some(Lifecycle::Idle)),
            ("permission.asked", "", Some(Lifecycle::Blocked)),
            ("permission.replied", "", Some(Lifecycle::Working)),
            ("session.created", "", None),
        ] {
            let payload = serde_json::json!({
                "hook_event_name": event, "session_id": ID, "status": status,
            });
            let read = read_one(&payload.to_string());
            assert_eq!(read.as_ref().ok().and_then(|read| read.lifecycle), lifecycle, "{event}");
            if let Ok(read) = read {
                let witness = read.witness.unwrap();
                assert_eq!(witness.source, WitnessSource::Turn);
                let unread = read.attention == Some(Attention::Unread);
                assert_eq!(unread, lifecycle == Some(Lifecycle::Done), "{event} {status}");
                assert_eq!(witness.sessions.first().unwrap().as_str(), ID);
            }
        }
        for garbage in ["", "{}", "[]", r#"{"hook_event_name":"session.idle","session_id":"x"}"#] {
            assert!(read_one(garbage).is_err(), "{garbage}");
        }
    }
}
