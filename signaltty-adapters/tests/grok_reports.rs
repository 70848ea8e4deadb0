//! What Grok's hooks say, where a person set them up.
#![cfg(all(feature = "testing", feature = "claude", feature = "codex", feature = "grok"))]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

mod common;

use common::grok::GrokStage;
use common::{A, ClaudeStage, Z, id};
use serde_json::json;
use signaltty_adapters::conformance::Stage;
use signaltty_adapters::{AgentAdapter, Integration, Launch, LaunchContext};
use signaltty_core::agent::WitnessSource;
use signaltty_core::id::InstanceId;
use signaltty_core::pane::{Attention, Lifecycle};

#[test]
fn s1_17_only_a_start_from_a_load_speaks_of_a_resume() {
    let stage = GrokStage::new();
    for (source, expected) in [
        ("load", WitnessSource::StartReport),
        ("new", WitnessSource::FreshStart),
        ("resume", WitnessSource::FreshStart),
        ("", WitnessSource::FreshStart),
    ] {
        let bytes = stage.payload(A, "SessionStart", &json!({"source": source}));
        let witness = stage.read(&bytes).unwrap().witness.unwrap();
        assert_eq!(witness.source, expected, "{source}");
        assert_eq!(witness.sessions, [id(A)].into());
    }
    // A load that failed is followed by an end, which says nothing.
    let end = stage.payload(A, "SessionEnd", &json!({"reason": "shutdown"}));
    assert!(stage.read(&end).is_err());
}

#[test]
fn row_status_is_what_the_events_say() {
    let stage = GrokStage::new();
    for (event, rest, lifecycle, attention) in [
        ("UserPromptSubmit", json!({"prompt": "x"}), Lifecycle::Working, Attention::None),
        (
            "PermissionRequest",
            json!({"tool_name": "shell"}),
            Lifecycle::Blocked,
            Attention::PermissionRequired,
        ),
        ("Stop", json!({"reason": "end_turn"}), Lifecycle::Done, Attention::Unread),
    ] {
        let report = stage.read(&stage.payload(A, event, &rest)).unwrap();
        assert_eq!(report.lifecycle, Some(lifecycle), "{event}");
        assert_eq!(report.attention, Some(attention), "{event}");
        assert!(!report.accepted_prompt, "another hook may block it: {event}");
        assert!(report.witness.is_none(), "{event}");
    }
}

#[test]
fn s1_17_what_is_not_groks_is_dropped() {
    let stage = GrokStage::new();
    let place = |of: &str| stage.place(&id(of)).join("updates.jsonl");
    let neighbour = json!({"source": "load", "transcript_path": place(Z)});
    let claudes = json!({"hook_event_name": "SessionStart", "session_id": A, "source": "load"});
    for (what, bytes) in [
        ("a title", stage.payload("planb", "SessionStart", &json!({"source": "load"}))),
        ("an option", stage.payload("-r", "SessionStart", &json!({"source": "load"}))),
        ("a neighbour's transcript", stage.payload(A, "SessionStart", &neighbour)),
        ("another agent's", claudes.to_string().into_bytes()),
        ("its shutdown", stage.payload(A, "Stop", &json!({"reason": "shutdown"}))),
        ("not followed", stage.payload(A, "PreToolUse", &json!({}))),
        ("no event", json!({"sessionId": A}).to_string().into_bytes()),
        ("not an object", b"[1]".to_vec()),
        ("nothing", Vec::new()),
    ] {
        assert!(stage.read(&bytes).is_err(), "{what}");
    }
    let own = json!({"source": "load", "transcript_path": place(A)});
    assert!(stage.read(&stage.payload(A, "SessionStart", &own)).is_ok());
}

#[test]
fn s1_17_grok_running_claudes_hooks_is_not_taken_for_claude() {
    let (grok, claude) = (GrokStage::new(), ClaudeStage::new());
    for source in ["new", "load", "resume"] {
        let bytes = grok.payload(A, "SessionStart", &json!({"source": source}));
        let error = claude.read(InstanceId::fake(1), &bytes).unwrap_err();
        assert!(error.contains("grok"), "{error}");
    }
}

#[test]
fn d12_nothing_is_added_to_a_launch() {
    let stage = GrokStage::new();
    let argv = stage.adapter.resume_command(&stage.saved()).unwrap().argv().to_vec();
    let launch = Launch { argv, env: Vec::new() };
    let context = LaunchContext {
        cwd: std::path::Path::new("/"),
        runtime_dir: "/run/signaltty".as_ref(),
        hook_program: "/bin/signaltty".as_ref(),
        instance: InstanceId::fake(7),
        secret: "",
        loopback_port: None,
    };
    let prepared = stage.adapter.prepare_launch(launch.clone(), &context).unwrap();
    assert_eq!(prepared.launch, launch);
    assert_eq!(prepared.integration, Integration::None);
    assert!(prepared.files.is_empty());
}
