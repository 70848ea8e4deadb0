//! Grok's records: preflight and anchors, before anything starts.
#![cfg(all(feature = "testing", feature = "claude", feature = "codex", feature = "grok"))]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

mod common;

use std::fs;

use common::grok::GrokStage;
use common::record::{anchor, check_directory, check_edit, code, continued, host, preflight};
use common::{A, Z, id};
use signaltty_adapters::conformance::Stage;
use signaltty_adapters::testing::{FakeHost, block_on};
use signaltty_adapters::{Adapters, AgentAdapter};
use signaltty_core::agent::{Conversation, Extent, Relation};
use signaltty_core::restore::FailureCode;

fn saved_and_continued() -> (GrokStage, Conversation) {
    continued(GrokStage::new())
}

#[test]
fn s0_20_the_official_command_is_exact() {
    let stage = GrokStage::new();
    let command = stage.adapter.resume_command(&stage.saved()).unwrap();
    assert_eq!(command.argv(), ["grok", "-r", A]);
}

#[test]
fn s1_18_ids_of_another_form_reach_no_command_and_no_file() {
    let stage = GrokStage::new();
    // A title would be taken for an id.
    for text in ["planb", &A.to_uppercase(), &A[1..], "x"] {
        let saved = stage.conversation(id(text));
        assert!(stage.adapter.resume_command(&saved).is_err(), "{text}");
        assert_eq!(code(&stage, &saved), FailureCode::MalformedId);
        assert_eq!(anchor(&stage, &saved).unwrap_err().code, FailureCode::MalformedId);
    }
    for text in ["", "-r", "../x", "a\u{1b}b"] {
        assert!(stage.adapter.parse_id(text).is_err(), "{text:?}");
    }
}

#[test]
fn s0_39_the_home_is_the_identity_variable() {
    let adapters = Adapters::builtin();
    let grok = adapters.of(&"grok".parse().unwrap()).unwrap();
    assert_eq!(grok.spec().identity_vars, ["GROK_HOME"]);
    assert!(grok.spec().scrubbed_vars.contains(&"GROK_SESSION_ID"));
    assert!(!grok.spec().scrubbed_vars.contains(&"GROK_HOME"));
    // Without the variable, the records are below the home directory.
    let mut stage = GrokStage::new();
    let mut saved = stage.saved();
    stage.turn(&saved.id, "first");
    fs::rename(stage.home(), stage.dir.path().join(".grok")).unwrap();
    saved.config_env = Default::default();
    let mut host = host(&stage);
    host.home = Some(stage.dir.path().to_owned());
    assert!(block_on(stage.adapter.anchor(&saved, &host)).is_ok());
}

#[test]
fn d3_what_extends_the_anchor_goes_on_and_nothing_else() {
    type Edit = fn(&str) -> String;
    let table: [(&str, Edit, Result<Relation, FailureCode>); 9] = [
        ("unchanged", str::to_owned, Ok(Relation::Extends)),
        ("a cut last line", |text| format!("{text}{{\"type\""), Ok(Relation::Extends)),
        (
            "the program's own words rewritten by an update",
            |text| text.replacen("be kind", "be kinder", 1),
            Ok(Relation::Rewritten),
        ),
        ("empty", |_| String::new(), Err(FailureCode::Damaged)),
        ("shorter", |text| text[..text.len() / 2].to_owned(), Err(FailureCode::Damaged)),
        (
            "without messages of a person",
            |text| {
                let kept = text.lines().filter(|line| !line.contains("prompt_index"));
                kept.map(|line| format!("{line}\n")).collect::<String>().repeat(3)
            },
            Err(FailureCode::Damaged),
        ),
        ("zeros", |text| "\0".repeat(text.len()), Err(FailureCode::Damaged)),
        (
            "a broken line in the saved part",
            |text| text.replacen("\"system\"", "\"system", 1) + "{}\n",
            Err(FailureCode::Damaged),
        ),
        (
            "a summary in place of the history",
            |text| text.replace("\"yes\"", "\"a shorter account\""),
            Err(FailureCode::Damaged),
        ),
    ];
    for (what, edit, expected) in table {
        let (stage, saved) = saved_and_continued();
        let path = stage.record(&saved.id);
        check_edit(&stage, (&saved, &path), what, edit, expected);
    }
}

#[test]
fn d3_an_anchor_covers_whole_lines_and_grows() {
    let (stage, saved) = saved_and_continued();
    let path = stage.record(&saved.id);
    let whole = fs::metadata(&path).unwrap().len();
    let now = preflight(&stage, &saved).unwrap().now;
    assert!(matches!(now.extent, Extent::Lines { bytes, .. } if bytes == whole));
    assert_eq!((&now.record, now.user_messages), (&path, 3));
    assert_eq!(anchor(&stage, &saved).unwrap(), now);
}

#[test]
fn c035_a_conversation_in_which_nobody_spoke_has_no_anchor() {
    let stage = GrokStage::new();
    let saved = stage.saved();
    assert_eq!(anchor(&stage, &saved).unwrap_err().code, FailureCode::Gone);
    stage.summary(&saved.id, A, stage.cwd().to_str().unwrap());
    assert_eq!(anchor(&stage, &saved).unwrap_err().code, FailureCode::Gone);
    let rules = serde_json::json!({"type": "user", "content": []});
    stage.append(&saved.id, "chat_history.jsonl", &rules);
    assert_eq!(anchor(&stage, &saved).unwrap_err().code, FailureCode::Gone);
    assert_eq!(code(&stage, &saved), FailureCode::Gone);
}

#[test]
fn s1_31_nothing_that_grok_would_replace_is_resumed() {
    let (mut stage, saved) = saved_and_continued();
    // A fork of it, which Grok would open instead.
    let fork = id(Z);
    stage.copy(&saved.id.clone(), &fork);
    let summary = stage.place(&saved.id).join("summary.json");
    let sound = fs::read_to_string(&summary).unwrap();
    fs::remove_file(&summary).unwrap();
    let refusal = preflight(&stage, &saved).unwrap_err();
    assert_eq!(refusal.code, FailureCode::Gone);
    assert!(refusal.message.contains("fork"), "{refusal}");
    let moved = stage.dir.path().to_str().unwrap();
    for (what, text) in [
        ("empty", String::new()),
        ("garbage", "{".to_owned()),
        ("no conversation", "{\"info\":{}}".to_owned()),
        ("another conversation", sound.replace(A, Z)),
        ("another directory", sound.replace(stage.cwd().to_str().unwrap(), moved)),
    ] {
        fs::write(&summary, text).unwrap();
        assert_eq!(code(&stage, &saved), FailureCode::Damaged, "{what}");
    }
    fs::write(&summary, sound).unwrap();
    assert!(preflight(&stage, &saved).is_ok());
    // It would make up a history from another file.
    fs::remove_file(stage.record(&saved.id)).unwrap();
    assert_eq!(code(&stage, &saved), FailureCode::Damaged);
    // An empty directory, and none.
    fs::remove_file(summary).unwrap();
    assert_eq!(code(&stage, &saved), FailureCode::Gone);
    fs::remove_dir(stage.place(&saved.id)).unwrap();
    assert_eq!(code(&stage, &saved), FailureCode::Gone);
    assert!(preflight(&stage, &Conversation { id: fork, ..saved }).is_ok());
}

#[test]
fn d3_a_record_in_one_other_project_is_found_and_in_two_is_refused() {
    let (stage, saved) = saved_and_continued();
    let elsewhere = |name: &str| stage.home().join("sessions").join(name).join(A);
    for name in ["%2Fone", "%2Ftwo"] {
        fs::create_dir_all(elsewhere(name).parent().unwrap()).unwrap();
    }
    fs::rename(stage.place(&saved.id), elsewhere("%2Fone")).unwrap();
    assert!(preflight(&stage, &saved).is_ok());
    fs::create_dir(elsewhere("%2Ftwo")).unwrap();
    assert_eq!(code(&stage, &saved), FailureCode::Unreadable);
}

#[test]
fn s0_22_a_missing_program_is_named() {
    let (stage, saved) = saved_and_continued();
    let refusal = block_on(stage.adapter.preflight(&saved, &FakeHost::default())).unwrap_err();
    assert_eq!(refusal.code, FailureCode::BinaryMissing);
    assert!(refusal.message.contains("\"grok\""), "{refusal}");
}

#[test]
fn c055_c056_the_directory_must_be_the_conversations_and_be_there() {
    let (stage, mut saved) = saved_and_continued();
    let moved = stage.dir.path().join("moved");
    fs::rename(stage.cwd(), &moved).unwrap();
    assert_eq!(code(&stage, &saved), FailureCode::CwdMissing);
    std::os::unix::fs::symlink(&moved, stage.cwd()).unwrap();
    assert!(preflight(&stage, &saved).is_ok());
    saved.cwd = moved;
    assert!(preflight(&stage, &saved).is_ok());
    saved.cwd = stage.dir.path().to_owned();
    assert_eq!(code(&stage, &saved), FailureCode::Damaged);
}

#[test]
fn d3_no_cut_and_no_change_of_a_record_passes_for_the_saved_one() {
    let mut stage = GrokStage::new();
    let mut saved = stage.saved();
    stage.turn(&saved.id, "first");
    saved.anchor = Some(anchor(&stage, &saved).unwrap());
    let path = stage.record(&saved.id);
    let whole = fs::read(&path).unwrap();
    for length in (0..whole.len()).step_by(3) {
        fs::write(&path, &whole[..length]).unwrap();
        assert_eq!(code(&stage, &saved), FailureCode::Damaged, "{length}");
    }
    for at in (0..whole.len()).step_by(3) {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        fs::write(&path, &changed).unwrap();
        let extends = preflight(&stage, &saved).is_ok_and(|f| f.relation == Relation::Extends);
        assert!(!extends, "byte {at}");
    }
}

#[test]
fn d23_c058_the_record_says_in_which_directory_it_goes_on() {
    check_directory(GrokStage::new());
}
