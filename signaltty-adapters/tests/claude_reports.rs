//! Recorded payloads of Claude's hooks, and ones that are not Claude's.
#![cfg(all(feature = "testing", feature = "claude", feature = "codex", feature = "grok"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "test code")]

mod common;

use common::{A, ClaudeStage, Z, id};
use serde_json::{Value, json};
use signaltty_core::agent::{AgentReport, RecordRead, WitnessSource};
use signaltty_core::id::InstanceId;
use signaltty_core::pane::{Attention, Lifecycle};

fn instance() -> InstanceId {
    InstanceId::fake(1)
}

/// Reads one event of conversation A.
fn read(event: &str, rest: Value) -> AgentReport {
    let stage = ClaudeStage::new();
    let payload = stage.payload(&id(A), event, &rest);
    stage.read(instance(), &payload).unwrap()
}

#[test]
fn c028_c029_only_a_resumed_start_is_a_witness_of_a_resume() {
    let loaded = json!({
        "source": "resume", "seconds_since_last_response": 24, "context_tokens": 15,
        "prompt_cache_likely_expired": false, "estimated_cache_write_usd": 0.0001,
    });
    let table = [
        (loaded, WitnessSource::StartReport, Some(15)),
        (json!({"source": "resume"}), WitnessSource::StartReport, None),
        (json!({"source": "resume", "context_tokens": 0}), WitnessSource::StartReport, None),
        (json!({"source": "resume", "context_tokens": -3}), WitnessSource::StartReport, None),
        (json!({"source": "resume", "context_tokens": "9"}), WitnessSource::StartReport, None),
        (json!({"source": "startup", "model": "m"}), WitnessSource::FreshStart, None),
        (json!({"source": "clear"}), WitnessSource::FreshStart, None),
        (json!({"source": "compact", "model": "m"}), WitnessSource::FreshStart, None),
        (json!({"source": "fork", "context_tokens": 15}), WitnessSource::FreshStart, Some(15)),
        (json!({"source": "RESUME"}), WitnessSource::FreshStart, None),
        (json!({"source": 7}), WitnessSource::FreshStart, None),
        (json!({}), WitnessSource::FreshStart, None),
    ];
    for (rest, source, loaded) in table {
        let report = read("SessionStart", rest.clone());
        let witness = report.witness.unwrap();
        assert_eq!((witness.source, witness.loaded), (source, loaded), "{rest}");
        assert_eq!(witness.sessions, [id(A)].into(), "{rest}");
        assert_eq!(witness.instance, instance());
        assert_eq!(witness.record, RecordRead::Pending);
        assert!(!report.accepted_prompt);
    }
    assert_eq!(read("SessionStart", json!({"source": "compact"})).lifecycle, None);
}

#[test]
fn row_events_become_what_people_see() {
    use Lifecycle::{Blocked, Done, Exited, Working};
    let none = Some(Attention::None);
    let asks = Some(Attention::PermissionRequired);
    let permission = json!({
        "tool_name": "Bash", "tool_input": {"command": "touch x"}, "permission_suggestions": [],
    });
    let notified = json!({
        "message": "Claude needs your permission", "notification_type": "permission_prompt",
    });
    let stopped = json!({
        "stop_hook_active": false, "background_tasks": [], "session_crons": [],
        "last_assistant_message": "\n\u{1b}[1mhello\u{7} there\nsecond line",
    });
    let table = [
        // Another hook may block it.
        ("UserPromptSubmit", json!({"prompt": "x"}), Some(Working), none, None, false),
        (
            "PermissionRequest",
            permission,
            Some(Blocked),
            asks,
            Some("asks for a permission: Bash"),
            false,
        ),
        (
            "Notification",
            notified,
            Some(Blocked),
            asks,
            Some("Claude needs your permission"),
            false,
        ),
        (
            "Notification",
            json!({"notification_type": "idle_prompt"}),
            None,
            Some(Attention::InputRequired),
            None,
            false,
        ),
        ("Notification", json!({"message": "x"}), None, None, Some("x"), false),
        ("Stop", stopped, Some(Done), Some(Attention::Unread), Some("[1mhello there"), false),
        ("Stop", json!({}), Some(Done), Some(Attention::Unread), None, false),
        ("SessionEnd", json!({"reason": "other"}), Some(Exited), none, None, false),
        ("SessionEnd", json!({"reason": "clear"}), None, None, None, false),
        ("SessionEnd", json!({"reason": "resume"}), None, None, None, false),
    ];
    for (event, rest, lifecycle, attention, message, accepted) in table {
        let report = read(event, rest.clone());
        assert_eq!(report.witness, None, "{event} is no witness");
        assert_eq!(report.lifecycle, lifecycle, "{event} {rest}");
        assert_eq!(report.attention, attention, "{event} {rest}");
        assert_eq!(report.message.as_deref(), message, "{event} {rest}");
        assert_eq!(report.accepted_prompt, accepted, "{event}");
    }
}

#[test]
fn s1_15_the_end_of_a_failed_resume_proves_nothing() {
    // Sent with the very id that was asked for, where nothing was found.
    let report = read("SessionEnd", json!({"reason": "other"}));
    assert_eq!(report.witness, None);
}

#[test]
fn long_messages_are_cut() {
    let text = "\u{e4}".repeat(5000);
    let report = read("Stop", json!({"last_assistant_message": text}));
    assert_eq!(report.message.unwrap().chars().count(), 200);
}

#[test]
fn reports_that_are_not_ours_are_dropped_with_a_reason() {
    let stage = ClaudeStage::new();
    let start = |rest: Value| stage.payload(&id(A), "SessionStart", &rest);
    let table = [
        (b"".to_vec(), "not a JSON object"),
        (b"[]".to_vec(), "not a JSON object"),
        (b"\xff\xff".to_vec(), "not a JSON object"),
        (b"{}{}".to_vec(), "not a JSON object"),
        (b"{}".to_vec(), "names no event"),
        (br#"{"hook_event_name":"Stop"}"#.to_vec(), "names no conversation"),
        (start(json!({"sessionId": A})), "grok"),
        (start(json!({"GROK_SESSION_ID": A})), "grok"),
        (start(json!({"workspaceRoot": "/"})), "grok"),
        (start(json!({"cursor_version": "1"})), "cursor"),
        (start(json!({"conversation_id": A})), "cursor"),
        (start(json!({"session_id": "planb"})), "form"),
        (start(json!({"session_id": "--resume"})), "is not a conversation id"),
        (start(json!({"session_id": ""})), "is not a conversation id"),
        (start(json!({"session_id": 7})), "names no conversation"),
        (start(json!({"hook_event_name": "PreToolUse"})), "PreToolUse"),
        (start(json!({"hook_event_name": "\u{1b}[2J"})), "[2J"),
        (start(json!({"transcript_path": "/else/projects/p/x.jsonl"})), "outside"),
        (start(json!({"transcript_path": format!("/else/projects/p/{A}.jsonl")})), "outside"),
        (start(json!({"transcript_path": stage.record(&id(Z))})), "outside"),
        (
            start(json!({"transcript_path": format!(
                "{}/projects/../../{A}.jsonl", stage.config().display()
            )})),
            "outside",
        ),
    ];
    for (payload, reason) in table {
        let shown = String::from_utf8_lossy(&payload).into_owned();
        let Err(error) = stage.read(instance(), &payload) else {
            panic!("{shown} was taken");
        };
        assert!(error.contains(reason), "{shown}: {error}");
        assert!(!error.contains('\u{1b}'), "{error:?}");
    }
}

#[test]
fn a_transcript_that_is_spelled_otherwise_or_not_named_is_taken() {
    let stage = ClaudeStage::new();
    let config = stage.config();
    let spelled = [
        Value::Null,
        "".into(),
        format!("{}/x/../projects/p/{A}.jsonl", config.display()).into(),
        format!("../config/projects/p/./{A}.jsonl").into(),
    ];
    for path in spelled {
        let payload = stage.payload(&id(A), "Stop", &json!({"transcript_path": path}));
        assert!(stage.read(instance(), &payload).is_ok(), "{path}");
    }
}

#[test]
fn no_bytes_make_the_reader_panic() {
    let stage = ClaudeStage::new();
    let deep = [vec![b'['; 500_000], br#"{"a":"#.repeat(100_000)].concat();
    assert!(stage.read(instance(), &deep).is_err());
    let whole = stage.payload(&id(A), "SessionStart", &json!({"source": "resume"}));
    for at in 0..whole.len() {
        let _ = stage.read(instance(), whole.get(..at).unwrap());
        for bit in 0..8 {
            let mut changed = whole.clone();
            *changed.get_mut(at).unwrap() ^= 1 << bit;
            let _ = stage.read(instance(), &changed);
        }
    }
}
