//! The suite, for every adapter of this crate.
#![cfg(all(
    feature = "testing",
    feature = "demo",
    feature = "claude",
    feature = "codex",
    feature = "grok"
))]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

#[path = "../common/mod.rs"]
mod common;
mod demo_stage;
mod wrong;

use std::ffi::OsString;
use std::fs;
use std::io::BufReader;

use common::codex::CodexStage;
use common::grok::GrokStage;
use common::{A, ClaudeStage, PID, TICKS, Z, id};
use demo_stage::DemoStage;
use signaltty_adapters::AgentAdapter;
use signaltty_adapters::conformance::{Mode, Stage, check, play};
use signaltty_adapters::demo::{self, VERB};
use signaltty_core::agent::{Contradiction, Verdict};
use signaltty_core::id::InstanceId;

#[test]
fn s1_28_claude_is_verified_only_with_its_history() {
    check(ClaudeStage::new).unwrap();
}

#[test]
fn s1_27_codex_is_verified_only_with_its_lock_and_its_history() {
    check(CodexStage::new).unwrap();
}

#[test]
fn s1_27_s1_28_grok_is_verified_only_with_its_events_and_its_history() {
    check(GrokStage::new).unwrap();
}

#[test]
fn s1_28_demo_is_verified_only_with_its_history() {
    check(DemoStage::new).unwrap();
}

#[test]
fn s1_28_nothing_is_asked_of_a_rotation_that_the_agent_never_does() {
    check(|| DemoStage::with(|stage| stage.keeps_its_id = true)).unwrap();
}

#[test]
fn s1_28_a_wrong_verdict_comes_with_the_right_one_and_what_was_seen() {
    let failure = check(|| DemoStage::with(|stage| stage.silent = true)).unwrap_err();
    let said = "Good: led to Unconfirmed, and verified would be right; live_registry is required \
                and was not seen";
    assert_eq!(failure.to_string(), said);
}

#[test]
fn c032_a_throw_away_start_changes_nothing_in_either_order() {
    for mode in [Mode::DoubleStart, Mode::LateDoubleStart] {
        let verdict = play(&mut ClaudeStage::new(), mode).unwrap();
        let Verdict::Verified(session) = verdict else {
            panic!("{mode:?}: {verdict:?}");
        };
        assert_eq!(session.id().as_str(), A);
    }
}

#[test]
fn c044_a_new_conversation_is_named() {
    let verdict = play(&mut ClaudeStage::new(), Mode::RotatesWithout);
    let seen = [id(Z)].into();
    assert_eq!(verdict.unwrap(), Verdict::Contradicted(Contradiction::Other { seen }));
}

#[test]
fn a_reused_process_id_is_not_the_instance_of_a_demo() {
    use signaltty_adapters::testing::{FakeHost, block_on};

    let mut stage = DemoStage::new();
    stage.list(PID, TICKS + 1, &id(A), 4);
    let mut host = FakeHost::default();
    host.start(PID, 1, TICKS + 1, &["signaltty", VERB]);
    let view = stage.view(InstanceId::fake(1));
    assert!(block_on(stage.adapter.inspect(&view, &host)).is_empty());
}

/// Runs the real program through one line of input after another.
fn talk(world: &demo::World, args: &[&str], lines: &str) -> (u8, String) {
    let args: Vec<_> = args.iter().map(OsString::from).collect();
    let mut output = Vec::new();
    let code = demo::run(&args, world, &mut BufReader::new(lines.as_bytes()), &mut output);
    (code, String::from_utf8(output).unwrap())
}

#[test]
fn impostors_of_the_demo_agent_are_told_apart_by_their_files() {
    let instance = InstanceId::fake(1);
    for (behaviour, expected) in [
        ("good", "verified"),
        ("fresh", "contradicted"),
        ("other", "contradicted"),
        ("echo", "contradicted"),
        ("silent", "unconfirmed"),
        ("exit", "unconfirmed"),
    ] {
        let stage = DemoStage::new();
        let verdict = resume_as(&stage, instance, behaviour);
        let shown = match verdict {
            Verdict::Verified(_) => "verified",
            Verdict::Unconfirmed => "unconfirmed",
            Verdict::Contradicted(_) => "contradicted",
        };
        assert_eq!(shown, expected, "{behaviour}");
    }
}

/// Lets the real program make a conversation and reopen it.
fn resume_as(stage: &DemoStage, instance: InstanceId, behaviour: &str) -> Verdict {
    use signaltty_adapters::testing::{FakeHost, block_on};
    use signaltty_core::agent::{Moment, RecordRead, judge};

    let home = stage.dir.path().join("home");
    let world =
        demo::World { home: home.clone(), cwd: stage.saved().cwd, pid: PID, start_ticks: TICKS };
    talk(&world, &[], "remember the blue door\n");
    let records = fs::read_dir(stage.record(&id(A)).parent().unwrap()).unwrap();
    let record = records.last().unwrap().unwrap().path();
    let mut saved = stage.saved();
    saved.id = id(record.file_stem().unwrap().to_str().unwrap());
    let mut host = FakeHost::with_programs(&["signaltty"]);
    saved.anchor = Some(block_on(stage.adapter.anchor(&saved, &host)).unwrap());
    let before = block_on(stage.adapter.preflight(&saved, &host)).unwrap();

    fs::write(home.join("behaviour"), behaviour).unwrap();
    host.start(PID, 1, TICKS, &["signaltty", VERB]);
    // The program takes its list away when it ends, so look while it waits for
    // its next line.
    let mut witnesses = Vec::new();
    let mut input = Asked {
        ask: Some(Box::new(|| {
            let view = stage.view(instance);
            for report in block_on(stage.adapter.inspect(&view, &host)) {
                let mut witness = report.witness.unwrap();
                let mut named = saved.clone();
                named.id = witness.sessions.first().unwrap().clone();
                named.anchor = Some(before.now.clone());
                witness.record = RecordRead::Done {
                    result: block_on(stage.adapter.preflight(&named, &host)),
                    named: named.id,
                };
                witnesses.push(witness);
            }
        })),
    };
    let args: Vec<OsString> = vec!["--resume".into(), saved.id.as_str().into()];
    let mut output = Vec::new();
    let code = demo::run(&args, &world, &mut BufReader::new(&mut input), &mut output);
    drop(input);
    assert_eq!(code, u8::from(behaviour == "exit"), "{behaviour}");
    let policy = &stage.adapter.spec().policy;
    judge(&saved, Some(&before), policy, instance, &witnesses, Moment::Deadline)
}

/// An input that ends at once, and asks somebody when it is read.
struct Asked<'a> {
    ask: Option<Box<dyn FnOnce() + 'a>>,
}

impl std::io::Read for Asked<'_> {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        if let Some(ask) = self.ask.take() {
            ask();
        }
        Ok(0)
    }
}
