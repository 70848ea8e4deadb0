//! What a running OpenCode shows, and gives when it is asked.

use std::time::{Duration, Instant};

use serde_json::json;
use signaltty_adapters::conformance::Stage;
use signaltty_adapters::testing::{FakeHost, block_on};
use signaltty_adapters::{AgentAdapter, InstanceView, LaunchFacts};
use signaltty_core::agent::{
    AgentReport, Conversation, Fingerprint, Relation, Witness, WitnessSource,
};
use signaltty_core::id::InstanceId;
use signaltty_core::pane::{Attention, Lifecycle};
use signaltty_core::restore::{FailureCode, Refusal};

use crate::stage::{A, OpenCodeStage, PID, TICKS, Z, id};

/// A stage whose process has the saved conversation open.
fn running() -> (OpenCodeStage, Conversation) {
    let mut stage = OpenCodeStage::new();
    stage.turn(&id(A), "first");
    stage.turn(&id(A), "second");
    let mut saved = stage.saved();
    saved.anchor = Some(block_on(stage.adapter.anchor(&saved, &stage.host())).unwrap());
    stage.list(PID, TICKS, &id(A), 4);
    (stage, saved)
}

fn view(stage: &OpenCodeStage) -> InstanceView {
    stage.view(InstanceId::fake(1))
}

fn look(stage: &OpenCodeStage) -> Vec<AgentReport> {
    block_on(stage.adapter.inspect(&view(stage), &stage.host()))
}

fn witnesses(reports: &[AgentReport]) -> Vec<&Witness> {
    reports.iter().filter_map(|report| report.witness.as_ref()).collect()
}

fn read(stage: &OpenCodeStage, named: &Conversation) -> Result<Fingerprint, Refusal> {
    let host = stage.host();
    block_on(stage.adapter.read_record(named, WitnessSource::Channel, &view(stage), &host))
}

#[track_caller]
fn refused(stage: &OpenCodeStage, named: &Conversation, code: FailureCode, why: &str) {
    let refusal = read(stage, named).unwrap_err();
    assert_eq!(refusal.code, code, "{refusal}");
    assert!(refusal.message.contains(why), "{refusal}");
}

#[test]
fn d2_a_look_at_an_idle_process_names_no_conversation() {
    let (stage, _) = running();
    let reports = look(&stage);
    let [channel] = witnesses(&reports)[..] else {
        panic!("{reports:?}");
    };
    assert!(channel.is_addressed());
    assert_eq!(reports[0].lifecycle, Some(Lifecycle::Idle));
    assert!(!reports[0].accepted_prompt);
    let heard = stage.has().heard.clone();
    assert!(heard.iter().all(|path| !path.contains("ses_")), "{heard:?}");
}

#[test]
fn a_turn_shows_the_conversation_of_the_person_and_not_of_a_subagent() {
    let (stage, _) = running();
    stage.row(&id(Z));
    stage.sql(&format!("UPDATE session SET parent_id = '{A}' WHERE id = '{Z}'"));
    {
        let mut has = stage.has();
        has.sessions.insert(Z.to_owned(), true);
        has.busy = vec![A.to_owned(), Z.to_owned(), "../odd".to_owned()];
    }
    let reports = look(&stage);
    let [channel, turn] = witnesses(&reports)[..] else {
        panic!("{reports:?}");
    };
    assert!(channel.is_addressed());
    assert_eq!(turn.source, WitnessSource::Turn);
    assert_eq!(turn.sessions, [id(A)].into());
    assert_eq!(reports[0].lifecycle, Some(Lifecycle::Working));
    assert!(reports[0].accepted_prompt);
    stage.has().asked = vec![json!({"id": "per_1", "sessionID": A})];
    let reports = look(&stage);
    assert_eq!(reports[0].lifecycle, Some(Lifecycle::Blocked));
    assert_eq!(reports[0].attention, Some(Attention::PermissionRequired));
}

#[test]
fn a_turn_that_is_over_shows_the_conversation_as_well() {
    let (stage, _) = running();
    stage.row(&id(Z));
    stage.sql(&format!("UPDATE session SET parent_id = '{A}' WHERE id = '{Z}'"));
    {
        let mut has = stage.has();
        has.sessions.insert(Z.to_owned(), true);
        let events = [(A, "busy"), (Z, "busy"), (Z, "idle"), (A, "idle")].map(|(id, kind)| {
            let status = json!({"sessionID": id, "status": {"type": kind}});
            format!("data: {}\n\n", json!({"type": "session.status", "properties": status}))
        });
        has.events = events.concat();
    }
    let until = Instant::now() + Duration::from_secs(30);
    let reports = loop {
        let reports = look(&stage);
        if witnesses(&reports).len() == 2 || Instant::now() > until {
            break reports;
        }
        std::thread::yield_now();
    };
    let [_, turn] = witnesses(&reports)[..] else {
        panic!("{reports:?}");
    };
    assert_eq!((turn.source, &turn.sessions), (WitnessSource::Turn, &[id(A)].into()));
    assert_eq!(reports[0].lifecycle, Some(Lifecycle::Idle));
    assert!(reports[0].accepted_prompt);
    let asked = stage.has().heard.iter().filter(|path| *path == "/event").count();
    assert_eq!(asked, 1, "whoever listens does not ask again");
}

#[test]
fn s1_16_the_record_is_the_one_that_the_process_gives() {
    let (mut stage, saved) = running();
    let found = read(&stage, &saved).unwrap();
    assert_eq!(found.relation, Relation::Extends);
    assert_eq!(Some(found.now), saved.anchor);
    stage.turn(&id(A), "third");
    assert_eq!(read(&stage, &saved).unwrap().now.user_messages, 3);
    // The rows on disk are whole; what the process has is not.
    stage.has().sessions.insert(A.to_owned(), false);
    refused(&stage, &saved, FailureCode::Damaged, "has 0 messages, 4 were saved");
    stage.has().sessions.clear();
    refused(&stage, &saved, FailureCode::Gone, "process 4711");
}

#[test]
fn s1_16_c058_a_record_of_another_directory_is_refused() {
    let (stage, saved) = running();
    stage.sql("UPDATE session SET directory = '/'");
    refused(&stage, &saved, FailureCode::Damaged, "for the directory /,");
}

#[test]
fn s1_16_answers_that_are_not_understood_prove_nothing() {
    let one = format!("/session/{A}");
    let messages = format!("/session/{A}/message");
    let other = json!({"id": Z, "directory": "/"}).to_string();
    let cut = json!([{"info": {"id": "m", "role": "user"}}]).to_string();
    for (path, answer, code) in [
        (&one, other.as_str(), FailureCode::Damaged),
        (&one, "[]", FailureCode::Unreadable),
        (&one, "not JSON", FailureCode::Unreadable),
        (&messages, "{}", FailureCode::Unreadable),
        (&messages, &cut[..20], FailureCode::Unreadable),
        (&messages, "[{\"info\":{\"id\":\"m\"}}]", FailureCode::Unreadable),
        (&messages, &cut, FailureCode::Damaged),
    ] {
        let (stage, saved) = running();
        stage.has().odd.insert(path.clone(), answer.to_owned());
        refused(&stage, &saved, code, "");
    }
}

#[test]
fn d12_only_our_own_process_is_asked_and_only_with_its_password() {
    let (mut stage, saved) = running();
    for facts in [
        LaunchFacts::default(),
        LaunchFacts::from([("port", "x".into()), ("password", "".into()), ("user", "".into())]),
    ] {
        let view = InstanceView { facts, ..view(&stage) };
        assert!(block_on(stage.adapter.inspect(&view, &stage.host())).is_empty());
    }
    let facts = [
        ("port", stage.server.port().to_string()),
        ("password", "wrong".to_owned()),
        ("user", "opencode".to_owned()),
    ];
    let wrong = InstanceView { facts: LaunchFacts::from(facts), ..view(&stage) };
    assert!(block_on(stage.adapter.inspect(&wrong, &stage.host())).is_empty());
    // The process is gone, and its number came again.
    let mut again = FakeHost::default();
    again.start(PID, 1, TICKS + 1, &["opencode"]);
    again.listen(PID, stage.server.port());
    assert!(block_on(stage.adapter.inspect(&view(&stage), &again)).is_empty());
    // Somebody else took the port.
    stage.listens = Some((PID + 1, TICKS));
    stage.has().heard.clear();
    assert!(look(&stage).is_empty());
    refused(&stage, &saved, FailureCode::Unreadable, "not held by this process");
    assert_eq!(stage.has().heard, [""; 0]);
}

#[test]
fn a_process_below_the_instance_may_serve() {
    let (mut stage, _) = running();
    let mut host = stage.host();
    stage.listens = None;
    host.start(PID + 5, PID, TICKS + 9, &["opencode", "worker"]);
    host.listen(PID + 5, stage.server.port());
    assert_eq!(block_on(stage.adapter.inspect(&view(&stage), &host)).len(), 1);
}

/// The limit of this evidence, written down: the server knows every stored
/// conversation, so it does not say which one the screen has open.
#[test]
fn d2_the_channel_says_where_a_prompt_goes_and_not_what_the_screen_shows() {
    let (mut stage, saved) = running();
    stage.turn(&id(Z), "shown on the screen");
    stage.list(PID, TICKS, &id(Z), 2);
    stage.has().busy = vec![Z.to_owned()];
    assert!(read(&stage, &saved).is_ok());
    let reports = look(&stage);
    assert_eq!(witnesses(&reports)[1].sessions, [id(Z)].into());
}
