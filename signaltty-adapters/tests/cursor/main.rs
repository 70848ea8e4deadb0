//! The Cursor CLI: its store, its reports, and the suite. The real program was
//! not run; its files are as public reports describe them.
#![cfg(all(feature = "testing", feature = "cursor"))]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "test code")]

mod stage;

use std::fs;
use std::path::Path;

use serde_json::json;
use signaltty_adapters::conformance::Stage;
use signaltty_adapters::testing::{FakeHost, block_on};
use signaltty_adapters::{AgentAdapter, CursorAdapter, Integration, Launch, LaunchContext, PROMPT};
use signaltty_core::agent::{Anchor, Conversation, Fingerprint, TurnRecord, WitnessSource};
use signaltty_core::env::ConfigEnv;
use signaltty_core::id::InstanceId;
use signaltty_core::pane::{Attention, Lifecycle};
use signaltty_core::restore::{FailureCode, Refusal};

use stage::{A, CursorStage, Z, id};

fn saved() -> (CursorStage, Conversation) {
    let mut stage = CursorStage::new();
    stage.turn(&id(A), "first");
    stage.turn(&id(A), "second");
    let mut conversation = stage.saved();
    conversation.anchor = Some(anchor(&stage, &conversation).unwrap());
    (stage, conversation)
}

fn host() -> FakeHost {
    FakeHost::with_programs(&["cursor-agent"])
}

fn anchor(stage: &CursorStage, conversation: &Conversation) -> Result<Anchor, Refusal> {
    block_on(stage.adapter.anchor(conversation, &host()))
}

fn preflight(stage: &CursorStage, conversation: &Conversation) -> Result<Fingerprint, Refusal> {
    block_on(stage.adapter.preflight(conversation, &host()))
}

#[track_caller]
fn refused(stage: &CursorStage, conversation: &Conversation, code: FailureCode, why: &str) {
    let refusal = preflight(stage, conversation).unwrap_err();
    assert_eq!(refusal.code, code, "{refusal}");
    assert!(refusal.message.contains(why), "{refusal}");
}

#[test]
fn s0_20_the_official_command_is_exact() {
    let (stage, conversation) = saved();
    let command = stage.adapter.resume_command(&conversation).unwrap();
    assert_eq!(command.argv(), ["cursor-agent", "--resume", A]);
    let spec = stage.adapter.spec();
    assert!(spec.policy.silent_until_prompt);
    assert_eq!(spec.policy.required, [WitnessSource::StartReport]);
}

#[test]
fn s1_18_other_ids_are_no_ids_of_cursor() {
    let adapter = CursorAdapter::new();
    let upper = A.to_uppercase();
    for text in ["", "--resume", "last", &A[1..], &upper, "../../x"] {
        assert!(adapter.parse_id(text).is_err(), "{text:?}");
    }
}

#[test]
fn s1_31_a_chat_that_does_not_exist_is_refused_before_cursor_makes_it() {
    let (mut stage, conversation) = saved();
    assert!(preflight(&stage, &conversation).is_ok());
    let other = Conversation { id: id(Z), ..conversation.clone() };
    refused(&stage, &other, FailureCode::Gone, "would begin a new one under that id");
    stage.remove(&id(A));
    refused(&stage, &conversation, FailureCode::Gone, A);
    fs::remove_dir_all(stage.dir.path().join("config")).unwrap();
    refused(&stage, &conversation, FailureCode::Gone, A);
}

#[test]
fn s1_31_c058_a_chat_of_another_directory_would_be_made_anew() {
    let (stage, mut conversation) = saved();
    conversation.cwd = stage.dir.path().join("elsewhere");
    refused(&stage, &conversation, FailureCode::Gone, "does not look");
    let link = stage.dir.path().join("link");
    std::os::unix::fs::symlink(stage.cwd(), &link).unwrap();
    conversation.cwd = link;
    assert!(preflight(&stage, &conversation).is_ok());
    // The same chat in two places.
    let twice = stage.dir.path().join("config/chats/x").join(A);
    fs::create_dir_all(&twice).unwrap();
    fs::copy(stage.chat(&id(A)).join("store.db"), twice.join("store.db")).unwrap();
    refused(&stage, &conversation, FailureCode::Unreadable, "two directories");
}

#[test]
fn d3_a_store_that_shrank_or_was_begun_anew_is_damaged() {
    let (mut stage, conversation) = saved();
    stage.sql(&id(A), "DELETE FROM blobs WHERE data = 'first'");
    refused(&stage, &conversation, FailureCode::Damaged, "has 1 rows, 2 were saved");
    stage.remove(&id(A));
    for text in ["begun", "anew", "and longer"] {
        stage.turn(&id(A), text);
    }
    refused(&stage, &conversation, FailureCode::Damaged, "created at another time");
    fs::remove_file(stage.chat(&id(A)).join("meta.json")).unwrap();
    refused(&stage, &conversation, FailureCode::Damaged, "created at another time");
    fs::write(stage.chat(&id(A)).join("store.db"), "").unwrap();
    refused(&stage, &conversation, FailureCode::Damaged, "is empty");
}

#[test]
fn d3_a_chat_without_contents_has_no_anchor() {
    let (stage, conversation) = saved();
    stage.sql(&id(A), "DELETE FROM blobs");
    let fresh = Conversation { anchor: None, ..conversation.clone() };
    assert_eq!(anchor(&stage, &fresh).unwrap_err().code, FailureCode::Gone);
    assert_eq!(anchor(&stage, &conversation).unwrap_err().code, FailureCode::Damaged);
    refused(&stage, &fresh, FailureCode::Gone, "nobody had said anything");
}

#[test]
fn c059_a_directory_that_is_gone_is_named_and_works_again_once_it_is_back() {
    let (stage, conversation) = saved();
    fs::rename(stage.cwd(), stage.dir.path().join("away")).unwrap();
    refused(&stage, &conversation, FailureCode::CwdMissing, "work is not there");
    fs::rename(stage.dir.path().join("away"), stage.cwd()).unwrap();
    assert!(preflight(&stage, &conversation).is_ok());
}

#[test]
fn d2_a_prompt_is_proof_only_once_the_store_has_grown() {
    let (mut stage, conversation) = saved();
    let view = stage.view(InstanceId::fake(1));
    let read = |stage: &CursorStage| {
        let source = WitnessSource::StartReport;
        block_on(stage.adapter.read_record(&conversation, source, &view, &host()))
    };
    let refusal = read(&stage).unwrap_err();
    assert_eq!(refusal.code, FailureCode::Unreadable, "says nothing");
    stage.turn(&id(A), "third");
    assert!(read(&stage).is_ok());
}

/// A prompt in the store is a row among others, so it cannot be recognised.
#[test]
fn s1_11_a_store_says_nothing_of_the_interrupted_turn() {
    let (mut stage, conversation) = saved();
    let read = |stage: &CursorStage| block_on(stage.adapter.read_turn(&conversation, &host()));
    let unknown = TurnRecord { unfinished: None, prompted: None, last_tool: None };
    assert_eq!(read(&stage), unknown);
    stage.turn(&id(A), PROMPT);
    assert_eq!(read(&stage), unknown);
}

#[test]
fn reports_say_what_the_agent_does() {
    let stage = CursorStage::new();
    for (event, source, lifecycle, attention, accepted) in [
        ("sessionStart", Some(WitnessSource::FreshStart), Lifecycle::Idle, None, false),
        (
            "beforeSubmitPrompt",
            Some(WitnessSource::StartReport),
            Lifecycle::Working,
            Some(Attention::None),
            true,
        ),
        ("stop", Some(WitnessSource::StartReport), Lifecycle::Done, Some(Attention::Unread), false),
        ("sessionEnd", None, Lifecycle::Exited, Some(Attention::None), false),
    ] {
        let report = stage.says(&id(A), event);
        assert_eq!(report.witness.map(|witness| witness.source), source, "{event}");
        assert_eq!(report.lifecycle, Some(lifecycle), "{event}");
        assert_eq!((report.attention, report.accepted_prompt), (attention, accepted), "{event}");
    }
}

#[test]
fn c118_reports_of_other_agents_and_forms_are_dropped() {
    let stage = CursorStage::new();
    for payload in [
        json!([]),
        json!({"session_id": A, "hook_event_name": "SessionStart"}),
        json!({"conversation_id": "../x", "hook_event_name": "stop"}),
        json!({"conversation_id": A}),
        json!({"conversation_id": A, "hook_event_name": "afterFileEdit\u{1b}[2J"}),
    ] {
        let error = stage.read(&payload).unwrap_err();
        assert!(!error.contains('\u{1b}'), "{error}");
    }
}

#[test]
fn d12_nothing_is_added_to_a_launch() {
    let launch = Launch { argv: vec!["cursor-agent".into()], env: Vec::new() };
    let context = LaunchContext {
        cwd: Path::new("/"),
        runtime_dir: Path::new("/run"),
        hook_program: Path::new("/bin/signaltty"),
        instance: InstanceId::fake(1),
        secret: "x",
        loopback_port: Some(1),
    };
    let prepared = CursorAdapter::new().prepare_launch(launch.clone(), &context).unwrap();
    assert_eq!(prepared.launch, launch);
    assert_eq!(prepared.integration, Integration::None);
}

#[test]
fn s0_39_the_store_is_below_the_saved_variables_or_the_home() {
    let (stage, mut conversation) = saved();
    let home = stage.dir.path().join("home");
    fs::create_dir_all(home.join("xdg")).unwrap();
    let mut host = host();
    host.home = Some(home.clone());
    let adapter = &stage.adapter;
    fs::rename(stage.dir.path().join("config"), home.join("xdg/cursor")).unwrap();
    conversation.config_env = ConfigEnv::filter(
        [("XDG_CONFIG_HOME", home.join("xdg"))],
        adapter.spec().identity_vars,
        Path::new("/"),
    );
    assert!(block_on(adapter.preflight(&conversation, &host)).is_ok());
    conversation.config_env = ConfigEnv::default();
    fs::rename(home.join("xdg/cursor"), home.join(".cursor")).unwrap();
    assert!(block_on(adapter.preflight(&conversation, &host)).is_ok());
}
