//! What a running Claude shows: its list of what runs.
#![cfg(all(feature = "testing", feature = "claude", feature = "codex", feature = "grok"))]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

mod common;

use std::fs;
use std::time::{Duration, UNIX_EPOCH};

use common::{A, ClaudeStage, PID, TICKS, Z, id};
use serde_json::{Value, json};
use signaltty_adapters::AgentAdapter;
use signaltty_adapters::conformance::Stage;
use signaltty_adapters::testing::{FakeHost, block_on};
use signaltty_core::agent::{AgentReport, Conversation, WitnessSource};
use signaltty_core::id::InstanceId;
use signaltty_core::pane::{Attention, Lifecycle};

fn host() -> FakeHost {
    let mut host = FakeHost::with_programs(&["claude"]);
    host.start(PID, 1, TICKS, &["claude"]);
    host
}

fn entry(pid: u32, ticks: u64, id: &str, status: &str) -> Value {
    json!({
        "pid": pid, "sessionId": id, "procStart": ticks.to_string(), "kind": "interactive",
        "entrypoint": "cli", "cwd": "/work", "status": status,
    })
}

fn inspect(stage: &ClaudeStage, host: &FakeHost) -> Vec<AgentReport> {
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
fn s1_15_only_a_living_process_of_the_instance_is_a_witness() {
    let with = |key: &str, value: Value| {
        let mut entry = entry(PID, TICKS, A, "idle");
        entry[key] = value;
        entry
    };
    let table = [
        ("as it is", entry(PID, TICKS, A, "idle"), true),
        ("start time as a number", with("procStart", TICKS.into()), true),
        ("an older Claude without an entrypoint", with("entrypoint", Value::Null), true),
        ("left behind by a process with our number", entry(PID, TICKS - 1, A, "idle"), false),
        ("another number inside", entry(PID + 1, TICKS, A, "idle"), false),
        ("no status: the picker", with("status", Value::Null), false),
        ("a run without a terminal", with("entrypoint", "sdk-cli".into()), false),
        ("an id of another form", entry(PID, TICKS, "planb", "idle"), false),
        ("an id that is an option", entry(PID, TICKS, "--resume", "idle"), false),
        ("no start time", with("procStart", Value::Null), false),
        ("an odd start time", with("procStart", "soon".into()), false),
        ("not an object", json!([1, 2]), false),
    ];
    for (what, entry, witness) in table {
        let stage = ClaudeStage::new();
        stage.entry(PID, &entry);
        let expected: &[&str] = if witness { &[A] } else { &[] };
        assert_eq!(shown(&inspect(&stage, &host())), expected, "{what}");
    }
}

#[test]
fn s1_15_a_file_that_is_no_entry_hurts_nobody() {
    for bytes in [&b""[..], b"{", b"\xff\xfe", &[b'['; 60_000], &[b' '; 70_000]] {
        let stage = ClaudeStage::new();
        fs::write(stage.config().join(format!("sessions/{PID}.json")), bytes).unwrap();
        assert!(inspect(&stage, &host()).is_empty());
    }
}

#[test]
fn row_status_becomes_what_people_see() {
    let table = [
        ("idle", "", Some(Lifecycle::Idle), None),
        ("busy", "", Some(Lifecycle::Working), Some(Attention::None)),
        (
            "waiting",
            "permission prompt",
            Some(Lifecycle::Blocked),
            Some(Attention::PermissionRequired),
        ),
        ("waiting", "answer", Some(Lifecycle::Blocked), Some(Attention::InputRequired)),
        ("dreaming", "", None, None),
    ];
    for (status, waiting_for, lifecycle, attention) in table {
        let stage = ClaudeStage::new();
        let mut entry = entry(PID, TICKS, A, status);
        entry["waitingFor"] = waiting_for.into();
        stage.entry(PID, &entry);
        let reports = inspect(&stage, &host());
        assert_eq!(reports.len(), 1, "{status}");
        assert_eq!((reports[0].lifecycle, reports[0].attention), (lifecycle, attention));
        assert_eq!(reports[0].witness.as_ref().unwrap().loaded, None);
        assert!(!reports[0].accepted_prompt);
    }
}

#[test]
fn c031_an_agent_within_an_agent_does_not_speak_for_the_pane() {
    let stage = ClaudeStage::new();
    let mut host = FakeHost::default();
    // A shell, a Claude in it, and below that another one.
    host.start(PID, 1, TICKS, &["bash"]);
    host.start(150, PID, TICKS + 1, &["claude"]);
    host.start(160, 150, TICKS + 2, &["sh", "-c", "claude"]);
    host.start(170, 160, TICKS + 3, &["claude"]);
    stage.entry(150, &entry(150, TICKS + 1, A, "busy"));
    stage.entry(170, &entry(170, TICKS + 3, Z, "idle"));
    assert_eq!(shown(&inspect(&stage, &host)), [A]);
    // Two side by side are both shown: the core decides what that means.
    host.start(180, PID, TICKS + 4, &["claude"]);
    stage.entry(180, &entry(180, TICKS + 4, Z, "idle"));
    assert_eq!(shown(&inspect(&stage, &host)), [A, Z]);
}

#[test]
fn a_reused_process_id_is_not_the_instance() {
    let stage = ClaudeStage::new();
    stage.entry(PID, &entry(PID, TICKS + 9, A, "idle"));
    let mut host = FakeHost::default();
    assert!(inspect(&stage, &host).is_empty(), "no process");
    host.start(PID, 1, TICKS + 9, &["claude"]);
    assert!(inspect(&stage, &host).is_empty(), "another process");
}

#[test]
fn d13_a_conversation_open_elsewhere_is_busy_while_its_process_lives() {
    let stage = ClaudeStage::new();
    let mut host = FakeHost::default();
    let saved = stage.saved();
    let holder = |host: &FakeHost| block_on(stage.adapter.holder(&saved, host));
    assert_eq!(holder(&host), None);
    stage.entry(900, &entry(900, 77, Z, "idle"));
    stage.entry(901, &entry(901, 77, A, "busy"));
    host.start(900, 1, 77, &["claude"]);
    assert_eq!(holder(&host), None, "left behind by a process that is gone");
    host.start(901, 1, 78, &["vi"]);
    assert_eq!(holder(&host), None, "its number came again");
    host.start(901, 1, 77, &["claude"]);
    let text = holder(&host).unwrap();
    assert!(text.contains("901") && text.contains("/work"), "{text}");
    let neighbour = stage.conversation(id(Z));
    assert!(block_on(stage.adapter.holder(&neighbour, &host)).is_some());
}

#[test]
fn c028_a_conversation_that_went_to_the_background_is_the_jobs() {
    let stage = ClaudeStage::new();
    let (job, other) = (PID + 10, PID + 11);
    let mut parked = entry(PID, TICKS, A, "idle");
    parked["parkedJobId"] = "13a4245e".into();
    stage.entry(PID, &parked);
    let mut host = host();
    host.start(job, 1, TICKS + 1, &["claude"]);
    host.start(other, 1, TICKS + 2, &["claude"]);
    let list = |pid: u32, ticks, id: &str, name: &str| {
        let mut entry = entry(pid, ticks, id, "busy");
        entry["kind"] = "bg".into();
        entry["jobId"] = name.into();
        stage.entry(pid, &entry);
    };
    list(other, TICKS + 2, A, "00000000");
    assert_eq!(shown(&inspect(&stage, &host)), [""; 0], "the job is not there yet");
    list(job, TICKS + 1, Z, "13a4245e");
    let reports = inspect(&stage, &host);
    assert_eq!(shown(&reports), [Z]);
    assert_eq!(reports[0].lifecycle, Some(Lifecycle::Working));
    let holder = |of: &str, host: &FakeHost| {
        let conversation = Conversation { id: id(of), ..stage.saved() };
        block_on(stage.adapter.holder(&conversation, host))
    };
    let said = holder(Z, &host).unwrap();
    assert!(said.contains(&format!("process {job} ")), "{said}");
    assert!(said.contains("claude attach 13a4245e"), "{said}");
    host.end(other);
    assert_eq!(holder(A, &host), None, "it was left for the job");
}

#[test]
fn s1_12_s1_23_a_prompt_is_taken_once_it_stands_in_the_record() {
    let stage = ClaudeStage::new();
    let mut host = host();
    let started = UNIX_EPOCH + Duration::from_secs(1_796_000_000);
    host.boot = started.checked_sub(Duration::from_millis(TICKS * 10));
    let mut here = entry(PID, TICKS, A, "busy");
    here["cwd"] = stage.cwd().to_str().unwrap().into();
    stage.entry(PID, &here);
    let record = stage.record_in(&stage.cwd(), &id(A));
    fs::create_dir_all(record.parent().unwrap()).unwrap();
    let line = |kind: &str, at: &str, more: Value| {
        let mut line = json!({"type": kind, "uuid": Z, "timestamp": at, "sessionId": A});
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        format!("{line}\n")
    };
    let said = json!({"message": {"role": "user", "content": "Continue where you left off."}});
    let earlier = line("user", "2026-11-29T00:00:00.000Z", said.clone());
    let blocked = line(
        "system",
        "2026-12-01T00:00:00.000Z",
        json!({"subtype": "informational", "content": "UserPromptSubmit operation blocked by hook"}),
    );
    let taken = line("user", "2026-12-01T00:00:00.000Z", said);
    for (what, lines, accepted) in [
        ("of an earlier process", vec![&earlier], false),
        ("blocked by a hook", vec![&earlier, &blocked], false),
        ("taken", vec![&earlier, &blocked, &taken], true),
    ] {
        fs::write(&record, lines.into_iter().cloned().collect::<String>()).unwrap();
        let found = inspect(&stage, &host);
        assert_eq!(found[0].accepted_prompt, accepted, "{what}");
        assert_eq!(found[0].lifecycle, Some(Lifecycle::Working), "{what}");
    }
}
