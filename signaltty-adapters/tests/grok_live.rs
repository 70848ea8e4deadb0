//! What a running Grok shows: its list of what runs, and the events that it has
//! open.
#![cfg(all(feature = "testing", feature = "claude", feature = "codex", feature = "grok"))]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

mod common;

use std::fs;

use common::grok::GrokStage;
use common::{A, PID, TICKS, Z, id};
use serde_json::{Value, json};
use signaltty_adapters::conformance::Stage;
use signaltty_adapters::testing::{FakeHost, block_on};
use signaltty_adapters::{AgentAdapter, OpenFile};
use signaltty_core::agent::{AgentReport, WitnessSource};
use signaltty_core::id::InstanceId;
use signaltty_core::pane::Lifecycle;

fn host() -> FakeHost {
    let mut host = FakeHost::with_programs(&["grok"]);
    host.start(PID, 1, TICKS, &["grok"]);
    host
}

/// A conversation that a Grok has open and lists.
fn opened() -> (GrokStage, FakeHost) {
    let mut stage = GrokStage::new();
    stage.turn(&id(A), "first");
    stage.entries(&json!([stage.entry(PID, A, 9)]));
    let mut host = host();
    stage.write_events(&mut host, PID, &id(A));
    (stage, host)
}

fn inspect(stage: &GrokStage, host: &FakeHost) -> Vec<AgentReport> {
    let view = stage.view(InstanceId::fake(1));
    block_on(stage.adapter.inspect(&view, host))
}

fn shown(reports: &[AgentReport]) -> Vec<String> {
    let witnesses = reports.iter().filter_map(|report| report.witness.as_ref());
    witnesses
        .flat_map(|witness| {
            assert_eq!(witness.source, WitnessSource::LiveRegistry);
            assert_eq!(witness.instance, InstanceId::fake(1));
            witness.sessions.iter().map(ToString::to_string)
        })
        .collect()
}

#[test]
fn s1_27_s1_28_an_entry_counts_only_with_its_process_and_its_events() {
    type Entries<'a> = &'a dyn Fn(&GrokStage) -> Value;
    let table: [(&str, Entries<'_>, bool); 8] = [
        ("as it is", &|stage| json!([stage.entry(PID, A, 9)]), true),
        ("beside an odd one", &|stage| json!([7, {}, stage.entry(PID, A, 9)]), true),
        ("without a time", &|_| json!([{"session_id": A, "pid": PID}]), true),
        ("another process", &|stage| json!([stage.entry(PID + 1, A, 9)]), false),
        ("an id whose events are not open", &|stage| json!([stage.entry(PID, Z, 9)]), false),
        ("an id of another form", &|stage| json!([stage.entry(PID, "planb", 9)]), false),
        ("none", &|_| json!([]), false),
        ("not a list", &|_| json!({"session_id": A, "pid": PID}), false),
    ];
    for (what, entries, witness) in table {
        let (stage, host) = opened();
        stage.entries(&entries(&stage));
        let expected: &[&str] = if witness { &[A] } else { &[] };
        assert_eq!(shown(&inspect(&stage, &host)), expected, "{what}");
    }
    let (stage, mut host) = opened();
    // Left behind by a kill, and the number came again.
    host.end(PID);
    host.start(PID, 1, TICKS, &["grok"]);
    assert!(inspect(&stage, &host).is_empty(), "no events open");
    let path = stage.dir.path().join("elsewhere").join(A).join("events.jsonl");
    host.open(PID, OpenFile { path, locked: false });
    assert!(inspect(&stage, &host).is_empty(), "another home's events");
    stage.write_events(&mut host, PID, &id(A));
    assert_eq!(shown(&inspect(&stage, &host)), [A]);
    for text in ["", "{", "[", "\u{0}"] {
        fs::write(stage.home().join("active_sessions.json"), text).unwrap();
        assert!(inspect(&stage, &host).is_empty(), "{text:?}");
    }
}

#[test]
fn a_reused_process_id_is_not_the_instance() {
    let (stage, _) = opened();
    let mut host = FakeHost::default();
    assert!(inspect(&stage, &host).is_empty(), "no process");
    host.start(PID, 1, TICKS + 9, &["grok"]);
    stage.write_events(&mut host, PID, &id(A));
    assert!(inspect(&stage, &host).is_empty(), "another process");
}

#[test]
fn c031_an_agent_within_an_agent_does_not_speak_for_the_pane() {
    let mut stage = GrokStage::new();
    stage.turn(&id(A), "first");
    stage.turn(&id(Z), "nested");
    let entries = [stage.entry(150, A, 1), stage.entry(170, Z, 2)];
    stage.entries(&json!(entries));
    let mut host = FakeHost::default();
    // A shell, a Grok in it (D-22), and below that another one.
    host.start(PID, 1, TICKS, &["bash"]);
    host.start(150, PID, TICKS + 1, &["grok"]);
    host.start(160, 150, TICKS + 2, &["sh", "-c", "grok"]);
    host.start(170, 160, TICKS + 3, &["grok"]);
    stage.write_events(&mut host, 150, &id(A));
    stage.write_events(&mut host, 170, &id(Z));
    assert_eq!(shown(&inspect(&stage, &host)), [A]);
}

#[test]
fn the_conversation_in_front_is_the_one_in_which_a_person_acted_last() {
    let (mut stage, mut host) = opened();
    stage.turn(&id(Z), "a fork");
    stage.write_events(&mut host, PID, &id(Z));
    stage.entries(&json!([stage.entry(PID, A, 9), stage.entry(PID, Z, 20)]));
    assert_eq!(shown(&inspect(&stage, &host)), [Z]);
    stage.event(&id(A), 30, "turn_started", "");
    assert_eq!(shown(&inspect(&stage, &host)), [A]);
    stage.event(&id(Z), 40, "turn_started", "");
    assert_eq!(shown(&inspect(&stage, &host)), [Z]);
}

#[test]
fn row_status_comes_from_the_newest_turn_since_it_was_opened() {
    for (second, kind, outcome, lifecycle, accepted) in [
        (10, "turn_started", "", Some(Lifecycle::Working), true),
        (10, "turn_ended", "completed", Some(Lifecycle::Done), true),
        (10, "turn_ended", "interrupted", Some(Lifecycle::Idle), false),
        (8, "turn_started", "", Some(Lifecycle::Idle), false),
        (8, "turn_ended", "completed", Some(Lifecycle::Idle), false),
        (10, "phase_changed", "", None, false),
    ] {
        let (stage, host) = opened();
        stage.event(&id(A), second, kind, outcome);
        stage.event(&id(A), second, "phase_changed", "");
        let reports = inspect(&stage, &host);
        assert_eq!(reports[0].lifecycle, lifecycle, "{kind} {outcome} at {second}");
        assert_eq!(reports[0].accepted_prompt, accepted, "{kind} {outcome} at {second}");
    }
}

#[test]
fn d13_a_conversation_open_elsewhere_is_busy_while_its_process_has_it() {
    let stage = GrokStage::new();
    let mut host = FakeHost::default();
    let saved = stage.saved();
    let holder = |host: &FakeHost| block_on(stage.adapter.holder(&saved, host));
    assert_eq!(holder(&host), None);
    stage.entries(&json!([stage.entry(900, Z, 1), stage.entry(901, A, 2)]));
    host.start(900, 1, 77, &["grok"]);
    stage.write_events(&mut host, 900, &id(Z));
    assert_eq!(holder(&host), None, "left behind by a process that is gone");
    host.start(901, 1, 77, &["vi"]);
    assert_eq!(holder(&host), None, "its number came again");
    stage.write_events(&mut host, 901, &id(A));
    let text = holder(&host).unwrap();
    assert!(text.contains("901") && text.contains("work"), "{text}");
}
