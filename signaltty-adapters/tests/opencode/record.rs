//! What is refused before a process starts.

use std::fs;

use signaltty_adapters::conformance::Stage;
use signaltty_adapters::testing::{FakeHost, block_on};
use signaltty_adapters::{AgentAdapter, OpenCodeAdapter};
use signaltty_core::agent::{Anchor, Conversation, Extent, Fingerprint, Relation};
use signaltty_core::restore::{FailureCode, Refusal};

use crate::stage::{A, OpenCodeStage, Z, id};

/// A stage whose conversation had two turns when it was saved.
fn saved() -> (OpenCodeStage, Conversation) {
    let mut stage = OpenCodeStage::new();
    stage.turn(&id(A), "first");
    stage.turn(&id(A), "second");
    let mut conversation = stage.saved();
    conversation.anchor = Some(anchor(&stage, &conversation).unwrap());
    (stage, conversation)
}

fn anchor(stage: &OpenCodeStage, conversation: &Conversation) -> Result<Anchor, Refusal> {
    block_on(stage.adapter.anchor(conversation, &stage.host()))
}

fn preflight(stage: &OpenCodeStage, conversation: &Conversation) -> Result<Fingerprint, Refusal> {
    block_on(stage.adapter.preflight(conversation, &stage.host()))
}

#[track_caller]
fn refused(stage: &OpenCodeStage, conversation: &Conversation, code: FailureCode, why: &str) {
    let refusal = preflight(stage, conversation).unwrap_err();
    assert_eq!(refusal.code, code, "{refusal}");
    assert!(refusal.message.contains(why), "{refusal}");
}

#[test]
fn s0_20_the_official_command_is_exact() {
    let (stage, conversation) = saved();
    let command = stage.adapter.resume_command(&conversation).unwrap();
    assert_eq!(command.argv(), ["opencode", "--session", A]);
}

#[test]
fn s1_18_other_ids_are_no_ids_of_opencode() {
    let adapter = OpenCodeAdapter::new();
    assert!(adapter.parse_id(A).is_ok());
    let long = format!("{A}a");
    let uuid = "aaaaaaaa-0000-4000-8000-000000000001";
    for text in ["", "ses_", "-s", "ses_aaaaaaaaaaaaaaaaaaaaaaaaa-", &long, uuid, &A[1..]] {
        assert!(adapter.parse_id(text).is_err(), "{text:?}");
    }
    let (stage, mut conversation) = saved();
    conversation.id = id(uuid);
    refused(&stage, &conversation, FailureCode::MalformedId, "form");
}

#[test]
fn c047_an_opencode_that_was_started_with_a_conversation_holds_it() {
    let (stage, conversation) = saved();
    let with = format!("--session={A}");
    let holder = |argv: &[&str]| {
        let mut host = FakeHost::with_programs(&["opencode"]);
        host.start(1, 0, 1, &["init"]);
        host.start(20, 1, 5, &["bash"]);
        host.start(21, 20, 6, argv);
        block_on(stage.adapter.holder(&conversation, &host))
    };
    for argv in [
        &["/opt/opencode", "--port", "1", "--session", A][..],
        &["opencode", "-s", A, "dir"],
        &["opencode", &with],
        &["opencode", "run", "-s", A, "go on"],
        &["opencode", "attach", "http://127.0.0.1:1", "--session", A],
    ] {
        let named = holder(argv).unwrap_or_else(|| panic!("{argv:?} holds it"));
        assert!(named.contains("process 21 (opencode)"), "{named}");
    }
    for argv in [
        &["opencode"][..],
        &["opencode", "--session", Z],
        &["opencode", "--session", A, "--fork"],
        &["opencode", "export", A],
        &["opencode", "session", "-s", A],
        &["opencode", "--prompt", A],
        &["vim", "--session", A],
    ] {
        assert_eq!(holder(argv), None, "{argv:?}");
    }
}

#[test]
fn s1_16_an_unchanged_or_grown_record_extends_its_anchor() {
    let (mut stage, conversation) = saved();
    let saved = conversation.anchor.clone().unwrap();
    assert_eq!(saved.extent, Extent::Rows { messages: 4 });
    assert_eq!(saved.user_messages, 2);
    assert_eq!(saved.record, stage.path());
    let found = preflight(&stage, &conversation).unwrap();
    assert_eq!((found.relation, found.now), (Relation::Extends, saved));
    stage.turn(&id(A), "third");
    stage.turn(&id(Z), "another conversation");
    let grown = preflight(&stage, &conversation).unwrap().now;
    assert_eq!(grown.extent, Extent::Rows { messages: 6 });
    assert_eq!(anchor(&stage, &conversation), Ok(grown));
}

#[test]
fn s1_31_a_conversation_that_does_not_exist_is_refused_before_the_spawn() {
    let (mut stage, conversation) = saved();
    let other = Conversation { id: id(Z), ..conversation.clone() };
    refused(&stage, &other, FailureCode::Gone, "no conversation ses_Z");
    stage.remove(&id(A));
    refused(&stage, &conversation, FailureCode::Gone, "no conversation ses_a");
    let away = stage.path().with_file_name("away");
    fs::rename(stage.path(), away).unwrap();
    refused(&stage, &conversation, FailureCode::Gone, "is not there");
}

#[test]
fn d3_a_row_without_its_messages_is_damaged() {
    let all = format!("DELETE FROM message WHERE session_id = '{A}'");
    for (change, why) in [
        (all.as_str(), "has 0 messages, 4 were saved"),
        ("DELETE FROM message WHERE id LIKE '%4'", "has 3 messages"),
        ("UPDATE message SET id = 'msg_x' WHERE id LIKE '%4'", "does not hold the last message"),
        ("UPDATE message SET time_created = 9 WHERE id LIKE '%2'", "has holes"),
        ("UPDATE message SET data = '{\"role\":\"assistant\"}'", "has holes"),
        ("UPDATE message SET data = '{\"role' WHERE id LIKE '%1'", "without a role"),
        ("UPDATE message SET data = '[]' WHERE id LIKE '%1'", "without a role"),
    ] {
        let (stage, conversation) = saved();
        stage.sql(change);
        refused(&stage, &conversation, FailureCode::Damaged, why);
        let again = anchor(&stage, &conversation).unwrap_err();
        assert_eq!(again.code, FailureCode::Damaged, "{change}");
    }
}

#[test]
fn d3_a_conversation_without_a_message_has_no_anchor() {
    let stage = OpenCodeStage::new();
    stage.row(&id(A));
    let refusal = anchor(&stage, &stage.saved()).unwrap_err();
    assert_eq!(refusal.code, FailureCode::Gone);
    refused(&stage, &stage.saved(), FailureCode::Gone, "nobody had said anything");
}

#[test]
fn d3_databases_that_are_none_are_damaged_or_unreadable() {
    for (contents, code) in
        [(&b""[..], FailureCode::Damaged), (&[b'x'; 9000], FailureCode::Damaged)]
    {
        let (stage, conversation) = saved();
        fs::write(stage.path(), contents).unwrap();
        let refusal = preflight(&stage, &conversation).unwrap_err();
        assert_eq!(refusal.code, code, "{refusal}");
    }
    let (stage, conversation) = saved();
    stage.sql("ALTER TABLE message RENAME COLUMN data TO contents");
    refused(&stage, &conversation, FailureCode::Unreadable, "no such column");
}

#[test]
fn s1_16_c058_a_conversation_of_another_directory_is_refused() {
    let (stage, mut conversation) = saved();
    conversation.cwd = stage.dir.path().join("elsewhere");
    refused(&stage, &conversation, FailureCode::Damaged, "where it would hang");
    // Reached through a link it is the same directory.
    let link = stage.dir.path().join("link");
    std::os::unix::fs::symlink(stage.cwd(), &link).unwrap();
    conversation.cwd = link;
    assert!(preflight(&stage, &conversation).is_ok());
    stage.sql("UPDATE session SET directory = '/'");
    refused(&stage, &conversation, FailureCode::Damaged, "for the directory /,");
}

#[test]
fn c059_a_directory_that_is_gone_is_named_and_works_again_once_it_is_back() {
    let (stage, conversation) = saved();
    let away = stage.dir.path().join("away");
    fs::rename(stage.cwd(), &away).unwrap();
    refused(&stage, &conversation, FailureCode::CwdMissing, "work is not there");
    assert!(FailureCode::CwdMissing.can_be_overridden());
    fs::rename(away, stage.cwd()).unwrap();
    assert!(preflight(&stage, &conversation).is_ok());
}

#[test]
fn s0_22_a_missing_program_is_named() {
    let (stage, conversation) = saved();
    let host = FakeHost::default();
    let refusal = block_on(stage.adapter.preflight(&conversation, &host)).unwrap_err();
    assert_eq!(refusal.code, FailureCode::BinaryMissing);
    assert!(refusal.message.contains("opencode"), "{refusal}");
}

#[test]
fn s0_39_the_store_is_below_the_saved_variable_or_the_home() {
    let adapter = OpenCodeAdapter::new();
    assert_eq!(adapter.spec().identity_vars, ["OPENCODE_CONFIG_DIR", "XDG_DATA_HOME"]);
    let (stage, mut conversation) = saved();
    conversation.config_env = Default::default();
    let mut host = stage.host();
    let at_home = stage.dir.path().join(".local/share");
    fs::create_dir_all(&at_home).unwrap();
    fs::rename(stage.dir.path().join("data/opencode"), at_home.join("opencode")).unwrap();
    let nowhere = block_on(stage.adapter.preflight(&conversation, &host)).unwrap_err();
    assert_eq!(nowhere.code, FailureCode::Unreadable);
    host.home = Some(stage.dir.path().to_owned());
    assert!(block_on(stage.adapter.preflight(&conversation, &host)).is_ok());
}

#[test]
fn d23_c058_the_row_says_in_which_directory_a_conversation_goes_on() {
    let (stage, conversation) = saved();
    let elsewhere = conversation.cwd.parent().unwrap().to_owned();
    let shown = Conversation { cwd: elsewhere, anchor: None, ..conversation.clone() };
    let directory = |of: &Conversation| block_on(stage.adapter.directory(of, &stage.host()));
    assert_eq!(directory(&shown), Some(conversation.cwd));
    assert_eq!(directory(&Conversation { id: id(Z), ..shown }), None);
}
