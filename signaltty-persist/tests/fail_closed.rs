//! Parts that cannot be believed become the careful choice.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed step fails the test"
)]

mod common;

use serde_json::{Value, json};
use signaltty_core::pane::{Attention, EndCause, Lifecycle};
use signaltty_core::workspace::Naming;
use signaltty_persist::Problem;

use common::edited::changed;

#[test]
fn words_that_are_not_known_become_the_careful_choice() {
    let (session, problems) = changed(&[1], |v| {
        v["panes"][0]["lifecycle"] = json!("dreaming");
        v["panes"][0]["attention"] = json!("on_fire");
        v["panes"][0]["end"]["cause"] = json!("meteor");
        v["workspaces"][0]["naming"] = json!("by_committee");
    });
    let pane = &session.panes[0];
    assert_eq!(pane.lifecycle, Lifecycle::Unknown);
    assert_eq!(pane.attention, Attention::Warning);
    assert_eq!(pane.end.unwrap().cause, EndCause::User, "nothing may start by itself");
    assert_eq!(session.workspaces[0].naming, Naming::Manual);
    assert_eq!(problems.len(), 4, "{problems:?}");
}

#[test]
fn a_conversation_that_is_not_as_written_is_not_resumable() {
    let conversation = |v: &mut Value, path: &str, value: Value| {
        *v.pointer_mut(&format!("/panes/0/agent/conversation{path}")).unwrap() = value;
    };
    let cases = [
        ("/anchor/user_messages", json!(0)),
        ("/anchor/record", json!("relative")),
        ("/anchor/extent", json!({"lines": {"bytes": 1, "sha256": "00"}})),
        ("/anchor/extent", json!({"dreams": 1})),
        ("/anchor", json!([])),
        ("/config_env", json!({"PATH": "/evil"})),
        ("/config_env", json!({"CLAUDE_CONFIG_DIR": "relative"})),
        ("/id", json!("--dangerous")),
        ("", json!("gone")),
    ];
    for (path, value) in cases {
        let (session, problems) = changed(&[1], |v| conversation(v, path, value.clone()));
        let agent = session.panes[0].agent.as_ref().unwrap();
        assert_eq!(agent.kind.as_str(), "claude");
        assert!(agent.resumable().is_none(), "{path} = {value}");
        assert!(matches!(problems[..], [Problem::PartReplaced { .. }]), "{path}: {problems:?}");
        let text = problems[0].to_string();
        assert!(text.contains("pane_") && !text.contains("/evil"), "{text}");
    }
}

#[test]
fn inv_p4_a_variable_that_was_added_by_hand_is_dropped_and_said() {
    let (session, problems) = changed(&[1], |v| {
        v["panes"][0]["env"]["ANTHROPIC_API_KEY"] = json!("CANARY");
    });
    assert!(session.panes[0].env.iter().all(|(name, _)| name != "ANTHROPIC_API_KEY"));
    assert!(matches!(problems[..], [Problem::PartReplaced { part: "the environment", .. }]));
    assert!(!problems[0].to_string().contains("CANARY"));
}

#[test]
fn inv_p4_problems_do_not_quote_the_file() {
    for change in [
        |v: &mut Value| v["panes"][0]["env"] = json!("CANARY"),
        |v: &mut Value| v["panes"][0]["argv"] = json!("CANARY"),
        |v: &mut Value| v["panes"][0]["agent"]["interrupted"] = json!("CANARY"),
    ] {
        let (_, problems) = changed(&[1, 2], change);
        let text: String = problems.iter().map(ToString::to_string).collect();
        assert!(!text.is_empty() && !text.contains("CANARY"), "{text}");
    }
}
