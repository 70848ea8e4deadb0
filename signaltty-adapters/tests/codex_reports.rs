//! What Codex's hooks say, where a person set them up.
#![cfg(all(feature = "testing", feature = "claude", feature = "codex", feature = "grok"))]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

mod common;

use common::codex::CodexStage;
use common::{A, Z, id};
use serde_json::{Value, json};
use signaltty_adapters::conformance::Stage;
use signaltty_adapters::{AgentAdapter, HookReport};
use signaltty_core::agent::WitnessSource;
use signaltty_core::id::InstanceId;
use signaltty_core::pane::{Attention, Lifecycle};

fn payload(stage: &CodexStage, id: &str, event: &str, rest: &Value) -> Vec<u8> {
    let mut payload = json!({
        "session_id": id, "turn_id": "t", "cwd": stage.cwd(), "hook_event_name": event,
        "model": "m", "permission_mode": "default",
    });
    for (key, value) in rest.as_object().unwrap() {
        payload[key] = value.clone();
    }
    payload.to_string().into_bytes()
}

#[test]
fn s1_27_only_a_start_from_a_resume_speaks_of_a_resume() {
    let stage = CodexStage::new();
    for (source, expected) in [
        ("resume", WitnessSource::StartReport),
        ("startup", WitnessSource::FreshStart),
        ("clear", WitnessSource::FreshStart),
        ("compact", WitnessSource::FreshStart),
        ("", WitnessSource::FreshStart),
    ] {
        let bytes = payload(&stage, A, "SessionStart", &json!({"source": source}));
        let witness = stage.read(&bytes).unwrap().witness.unwrap();
        assert_eq!(witness.source, expected, "{source}");
        assert_eq!(witness.sessions, [id(A)].into());
    }
}

#[test]
fn row_status_is_what_the_events_say() {
    let stage = CodexStage::new();
    for (event, rest, lifecycle, attention) in [
        ("UserPromptSubmit", json!({"prompt": "x"}), Lifecycle::Working, Attention::None),
        (
            "PermissionRequest",
            json!({"tool_name": "shell"}),
            Lifecycle::Blocked,
            Attention::PermissionRequired,
        ),
        ("Stop", json!({"last_assistant_message": "x"}), Lifecycle::Done, Attention::Unread),
        ("Interrupt", json!({}), Lifecycle::Idle, Attention::None),
    ] {
        let report = stage.read(&payload(&stage, A, event, &rest)).unwrap();
        assert_eq!(report.lifecycle, Some(lifecycle), "{event}");
        assert_eq!(report.attention, Some(attention), "{event}");
        assert!(!report.accepted_prompt, "another hook may block it: {event}");
        assert!(report.witness.is_none(), "{event}");
    }
}

#[test]
fn c049_what_is_not_codexs_is_dropped() {
    let stage = CodexStage::new();
    let neighbour = json!({"source": "resume", "transcript_path": stage.record(&id(Z))});
    for (what, bytes) in [
        ("a name", payload(&stage, "planb", "SessionStart", &json!({"source": "resume"}))),
        ("an option", payload(&stage, "--last", "SessionStart", &json!({}))),
        ("grok's", payload(&stage, A, "SessionStart", &json!({"sessionId": A}))),
        ("a neighbour's rollout", payload(&stage, A, "SessionStart", &neighbour)),
        ("not followed", payload(&stage, A, "PreToolUse", &json!({}))),
        ("no event", json!({"session_id": A}).to_string().into_bytes()),
        ("no conversation", json!({"hook_event_name": "Stop"}).to_string().into_bytes()),
        ("not an object", b"[1]".to_vec()),
        ("nothing", Vec::new()),
    ] {
        assert!(stage.read(&bytes).is_err(), "{what}");
    }
    let own = json!({"source": "resume", "transcript_path": stage.record(&id(A))});
    assert!(stage.read(&payload(&stage, A, "SessionStart", &own)).is_ok());
}

#[test]
fn a_permission_is_a_question_that_a_person_can_answer() {
    let stage = CodexStage::new();
    let asked = |event: &str, rest: Value| {
        let bytes = payload(&stage, A, event, &rest);
        let view = stage.view(InstanceId::fake(1));
        stage.adapter.question(&HookReport { payload: &bytes, view: &view })
    };
    let input = json!({"tool_name": "Bash", "tool_input": {"command": "rm x"}});
    let question = asked("PermissionRequest", input.clone()).unwrap();
    assert_eq!(question.text, "Bash: rm x");
    assert!(question.allow.contains("\"allow\"") && question.deny.contains("\"deny\""));
    assert_eq!(asked("Stop", input), None);
}
