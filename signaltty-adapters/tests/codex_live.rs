//! What a running Codex shows: the locks that it holds.
#![cfg(all(feature = "testing", feature = "claude", feature = "codex", feature = "grok"))]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

mod common;

use std::fs;

use common::codex::CodexStage;
use common::{A, PID, TICKS, Z, id};
use signaltty_adapters::conformance::Stage;
use signaltty_adapters::testing::{FakeHost, block_on};
use signaltty_adapters::{AgentAdapter, OpenFile};
use signaltty_core::agent::{AgentReport, LoadedRule, WitnessSource};
use signaltty_core::id::InstanceId;
use signaltty_core::pane::{Attention, Lifecycle};

fn inspect(stage: &CodexStage, host: &FakeHost) -> Vec<AgentReport> {
    let view = stage.view(InstanceId::fake(1));
    block_on(stage.adapter.inspect(&view, host))
}

fn shown(reports: &[AgentReport]) -> Vec<String> {
    let witnesses = reports.iter().filter_map(|report| report.witness.as_ref());
    witnesses
        .flat_map(|witness| {
            assert_eq!(witness.source, WitnessSource::HeldLock);
            assert_eq!(witness.instance, InstanceId::fake(1));
            assert_eq!(witness.loaded, None);
            witness.sessions.iter().map(ToString::to_string)
        })
        .collect()
}

#[test]
fn s1_27_codex_is_proven_by_its_lock_alone() {
    let stage = CodexStage::new();
    let policy = &stage.adapter.spec().policy;
    assert_eq!(policy.required, [WitnessSource::HeldLock]);
    assert_eq!(policy.loaded, LoadedRule::NotReported);
}

#[test]
fn s1_27_only_a_lock_that_is_held_is_a_witness() {
    type Prepare<'a> = &'a dyn Fn(&CodexStage, &mut FakeHost);
    let lock_of =
        |stage: &CodexStage, name: &str| stage.home().join("thread-writer-locks").join(name);
    let table: [(&str, Prepare<'_>, bool); 7] = [
        ("held", &|stage, host| stage.hold(host, PID, &id(A)), true),
        (
            "the file is there, and nobody holds it",
            &|stage, _| fs::write(stage.lock(&id(A)), "").unwrap(),
            false,
        ),
        (
            "open and not locked",
            &|stage, host| host.open(PID, OpenFile { path: stage.lock(&id(A)), locked: false }),
            false,
        ),
        (
            "another directory's",
            &|stage, host| {
                let path = stage.dir.path().join(format!("{A}.lock"));
                host.open(PID, OpenFile { path, locked: true });
            },
            false,
        ),
        (
            "an id of another form",
            &|stage, host| {
                let path = lock_of(stage, "planb.lock");
                host.open(PID, OpenFile { path, locked: true });
            },
            false,
        ),
        (
            "a removed file",
            &|stage, host| {
                let path = lock_of(stage, &format!("{A}.lock (deleted)"));
                host.open(PID, OpenFile { path, locked: true });
            },
            false,
        ),
        (
            "a process beside the pane",
            &|stage, host| {
                host.start(900, 1, 77, &["codex"]);
                stage.hold(host, 900, &id(A));
            },
            false,
        ),
    ];
    for (what, prepare, witness) in table {
        let mut stage = CodexStage::new();
        stage.turn(&id(A), "first");
        let mut host = stage.machine(600);
        prepare(&stage, &mut host);
        let expected: &[&str] = if witness { &[A] } else { &[] };
        assert_eq!(shown(&inspect(&stage, &host)), expected, "{what}");
    }
}

#[test]
fn s1_27_a_lock_below_a_linked_home_is_seen() {
    let mut stage = CodexStage::new();
    stage.turn(&id(A), "first");
    let mut host = stage.machine(600);
    // The system shows where a file really is.
    let real = stage.dir.path().join("dotfiles");
    fs::rename(stage.home(), &real).unwrap();
    std::os::unix::fs::symlink(&real, stage.home()).unwrap();
    let path = real.join(format!("thread-writer-locks/{A}.lock"));
    host.open(PID, OpenFile { path, locked: true });
    assert_eq!(shown(&inspect(&stage, &host)), [A]);
}

#[test]
fn the_conversation_in_front_is_the_one_in_which_a_person_acted_last() {
    let mut stage = CodexStage::new();
    let (first, second) = (id(A), id(Z));
    let host = |stage: &CodexStage| {
        let mut host = stage.machine(0);
        stage.hold(&mut host, PID, &first);
        stage.hold(&mut host, PID, &second);
        host
    };
    // Nothing is written yet: nobody can say which one it is.
    assert_eq!(shown(&inspect(&stage, &host(&stage))), [A, Z]);
    // A resumed one, and a spare one that is not written.
    stage.turn(&first, "first");
    assert_eq!(shown(&inspect(&stage, &host(&stage))), [A]);
    // After /new, with a prompt.
    stage.turn(&second, "in the new one");
    assert_eq!(shown(&inspect(&stage, &host(&stage))), [Z]);
    stage.turn(&first, "back in the first");
    assert_eq!(shown(&inspect(&stage, &host(&stage))), [A]);
    // A fork is in front from its beginning.
    stage.remove(&second);
    stage.begin(&second, Some(&first));
    assert_eq!(shown(&inspect(&stage, &host(&stage))), [Z]);
}

#[test]
fn s1_1_a_question_on_the_side_does_not_take_the_place_of_the_conversation() {
    let mut stage = CodexStage::new();
    stage.turn(&id(A), "first");
    stage.turn(&id(Z), "on the side");
    let path = stage.record(&id(Z));
    let text = fs::read_to_string(&path).unwrap();
    let mut host = stage.machine(0);
    stage.hold(&mut host, PID, &id(A));
    stage.hold(&mut host, PID, &id(Z));
    // As `/side` of 0.171.0 marks it.
    for mark in ["\"thread_source\":\"tui_side_chat\"", "\"attached_thread\":true"] {
        fs::write(&path, text.replacen("\"source\":", &format!("{mark},\"source\":"), 1)).unwrap();
        assert_eq!(shown(&inspect(&stage, &host)), [A], "{mark}");
    }
}

#[test]
fn c031_subagents_and_nested_runs_do_not_speak_for_the_pane() {
    let mut stage = CodexStage::new();
    stage.turn(&id(A), "first");
    stage.turn(&id(Z), "a subagent's");
    let path = stage.record(&id(Z));
    let text = fs::read_to_string(&path).unwrap();
    let marked = text.replacen("\"cli\"", "{\"subagent\":\"review\"}", 1);
    fs::write(&path, marked).unwrap();
    let mut host = stage.machine(0);
    stage.hold(&mut host, PID, &id(A));
    stage.hold(&mut host, PID, &id(Z));
    assert_eq!(shown(&inspect(&stage, &host)), [A]);
    // A run within a Codex, and one of a script in a shell.
    fs::write(&path, text).unwrap();
    let mut host = stage.machine(0);
    stage.hold(&mut host, PID, &id(A));
    host.start(150, PID, TICKS + 1, &["sh"]);
    host.start(160, 150, TICKS + 2, &["codex", "--no-daemon"]);
    stage.hold(&mut host, 160, &id(Z));
    assert_eq!(shown(&inspect(&stage, &host)), [A]);
    let mut host = FakeHost::default();
    host.start(PID, 1, TICKS, &["bash"]);
    host.start(150, PID, TICKS + 1, &["node", "codex"]);
    host.start(160, 150, TICKS + 2, &["/opt/codex", "-m", "o", "exec", "fix it"]);
    stage.hold(&mut host, 160, &id(Z));
    assert!(inspect(&stage, &host).is_empty());
    // Found below its launcher, in a shell (D-22).
    host.start(160, 150, TICKS + 2, &["/opt/codex", "-m", "o"]);
    assert_eq!(shown(&inspect(&stage, &host)), [Z]);
}

#[test]
fn d22_the_shared_server_that_a_codex_started_speaks_for_no_pane() {
    // Seen with 0.171.0: it is a child of the terminal that started it.
    let copy = "/h/.codex/packages/app-server-daemon/releases/0.171.0/bin/codex";
    for server in [
        vec![copy, "app-server", "--listen", "unix://"],
        vec![copy],
        vec!["codex", "app-server", "--listen", "unix://"],
    ] {
        let stage = CodexStage::new();
        let mut host = stage.machine(0);
        host.start(150, PID, TICKS + 1, &server);
        stage.hold(&mut host, 150, &id(Z));
        assert_eq!(shown(&inspect(&stage, &host)), [""; 0], "{server:?}");
        stage.hold(&mut host, PID, &id(A));
        assert_eq!(shown(&inspect(&stage, &host)), [A], "{server:?}");
    }
    // One of the pane's own, at a place of its own, is the pane's.
    let stage = CodexStage::new();
    let mut host = stage.machine(0);
    host.start(150, PID, TICKS + 1, &["codex", "app-server", "--listen", "unix:///run/s"]);
    stage.hold(&mut host, 150, &id(Z));
    assert_eq!(shown(&inspect(&stage, &host)), [Z]);
}

#[test]
fn a_reused_process_id_is_not_the_instance() {
    let stage = CodexStage::new();
    let mut host = FakeHost::default();
    assert!(inspect(&stage, &host).is_empty(), "no process");
    host.start(PID, 1, TICKS + 9, &["codex"]);
    stage.hold(&mut host, PID, &id(A));
    assert!(inspect(&stage, &host).is_empty(), "another process");
}

#[test]
fn row_status_comes_from_the_newest_turn_of_this_process() {
    let (before, after) = (0, 600);
    let table = [
        ("task_started", before, Some(Lifecycle::Working), true),
        ("task_complete", before, Some(Lifecycle::Done), true),
        ("turn_aborted", before, Some(Lifecycle::Idle), false),
        // Left behind by a kill, for ever.
        ("task_started", after, Some(Lifecycle::Idle), false),
        ("task_complete", after, Some(Lifecycle::Idle), false),
    ];
    for (event, started, lifecycle, accepted) in table {
        let mut stage = CodexStage::new();
        stage.turn(&id(A), "first");
        stage.event(&id(A), event);
        stage.line(&id(A), "response_item", &serde_json::json!({"type": "reasoning"}));
        let mut host = stage.machine(started);
        stage.hold(&mut host, PID, &id(A));
        let reports = inspect(&stage, &host);
        let what = format!("{event} with a start at {started}");
        assert_eq!(reports[0].lifecycle, lifecycle, "{what}");
        assert_eq!(reports[0].accepted_prompt, accepted, "{what}");
        let working = lifecycle == Some(Lifecycle::Working);
        let attention = working.then_some(Attention::None);
        assert_eq!(reports[0].attention, attention, "{what}");
        // Where the start of the process is not known, nobody claims work.
        host.boot = None;
        assert_ne!(inspect(&stage, &host)[0].lifecycle, Some(Lifecycle::Working), "{what}");
    }
    let stage = CodexStage::new();
    let mut host = stage.machine(0);
    stage.hold(&mut host, PID, &id(A));
    assert_eq!(inspect(&stage, &host)[0].lifecycle, None, "nothing is written");
}

#[test]
fn d13_a_conversation_open_elsewhere_is_busy_while_its_lock_is_held() {
    let mut stage = CodexStage::new();
    stage.turn(&id(A), "first");
    let mut host = FakeHost::default();
    let saved = stage.saved();
    let holder = |host: &FakeHost| block_on(stage.adapter.holder(&saved, host));
    fs::write(stage.lock(&id(A)), "").unwrap();
    assert_eq!(holder(&host), None, "left behind");
    host.start(900, 1, 77, &["codex"]);
    stage.hold(&mut host, 900, &id(Z));
    assert_eq!(holder(&host), None, "another conversation");
    stage.hold(&mut host, 900, &id(A));
    assert!(holder(&host).unwrap().contains("900"));
    host.end(900);
    assert_eq!(holder(&host), None);
    // A turn that runs on in the shared server after its pane is gone.
    host.start(901, 1, 78, &["codex", "app-server", "--listen", "unix://"]);
    stage.hold(&mut host, 901, &id(A));
    let text = holder(&host).unwrap();
    assert!(text.contains("901") && text.contains("shared server"), "{text}");
}
