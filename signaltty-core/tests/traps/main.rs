//! Ways in which a resume opens a wrong or a fresh conversation, one test each:
//! whatever the agent does, the saved conversation stays and nothing is proven.
//!
//! What an agent's own command line and records have to do with them is tested
//! in signaltty-adapters: 1, 2, 18 by `s0_20_…` and `s1_18_…` of each
//! `*_record.rs`; 3 by `s1_31_…` of `cursor/main.rs`; 4 by `c035_…`, 5 to 7 by
//! `d3_…` and `s1_31_…` of each record; 8 by `c041_…`; 9 by
//! `s1_15_the_end_of_a_failed_resume_proves_nothing` in `claude_reports.rs`;
//! 10 by `c031_…` of `codex_live.rs`; 11 by `d12_…` of `codex_launch.rs`; 16 by
//! `d13_…` of each `*_live.rs`; 19 by `s1_17_…` of `grok_reports.rs`; 20 by
//! `d3_the_anchor_of_a_fork_includes_its_parents_part` in `codex_record.rs`.
//!
//! The cases from C028 to C053 that concern decisions have tests of their number
//! elsewhere. Here in `stories`: C028, C029, C035, C037 in `binding.rs`; C038 in
//! `exits.rs` and `shutdown.rs`; C032, C046 in `resume.rs`; C040 in
//! `restore.rs`; C043, C046 in `evidence.rs`; C046, C047, C052, C053 in
//! `refused.rs`; and C032, C043 in `judge.rs`. In signaltty-adapters: C031 in
//! `*_live.rs`; C034, C035, C041 in `claude_record.rs`, the first two and C049
//! in `codex_record.rs`; C032, C044 in `conformance.rs`; C050 in
//! `codex_launch.rs`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    unreachable_pub,
    dead_code
)]

#[path = "../support/mod.rs"]
mod support;

mod kept;

use signaltty_core::agent::{
    AgentReport, AgentSessionId, Fingerprint, Relation, Witness, WitnessSource,
};
use signaltty_core::id::InstanceId;
use signaltty_core::pane::Lifecycle;
use signaltty_core::restore::{FailureCode, OfficialCommand, Refusal};
use signaltty_core::session::{Command, Effect, Input};

use FailureCode::{Damaged, Gone, Rewritten, Unreadable};
use WitnessSource::{FreshStart, HeldLock, LiveRegistry, StartReport};
use support::facts::{extends, refusal, witness};
use support::words::{deeds, words};
use support::{World, agent, pane, resume};

type Read = Result<Fingerprint, Refusal>;

fn tombstone(kind: &str, name: &str) -> World {
    let mut world = World::new();
    world.talking(1, kind, name);
    world.crash();
    world
}

fn resuming(kind: &str) -> (World, InstanceId) {
    let mut world = tombstone(kind, "A");
    let instance = world.verifying(1);
    (world, instance)
}

/// The agent shows something, and the record that it names is read.
fn look(world: &mut World, witness: Witness, result: Read) -> Vec<String> {
    let effects = world.sees(witness);
    let [Effect::ReadRecord { instance, witness, named, .. }] = &effects[..] else {
        panic!("{effects:?}")
    };
    let (instance, witness, named) = (*instance, *witness, named.id.clone());
    deeds(&world.input(Input::RecordRead { instance, witness, named, result }))
}

fn rewritten(name: &str) -> Fingerprint {
    Fingerprint { relation: Relation::Rewritten, ..extends(name, 1) }
}

/// What was done is to stop the process; its exit code says nothing.
#[track_caller]
fn stopped(world: &mut World, instance: InstanceId, done: &[String]) {
    assert_eq!(done, ["kill"]);
    assert_eq!(deeds(&world.exit(instance, 0)), ["err RESUME_REFUSED contradicted"]);
    assert_eq!((world.state(pane(1)), world.conversation(1)), ("resumable", "A".into()));
    assert_eq!(world.failure(1), Some(FailureCode::Contradicted));
    world.settled();
}

/// The agent has only a conversation that nobody has seen before.
#[track_caller]
fn opened_another(kind: &str, sources: &[WitnessSource], read: &Read) {
    let (mut world, instance) = resuming(kind);
    for source in sources {
        let done = look(&mut world, witness(instance, *source, &["Z"]), read.clone());
        assert_eq!(done, [""; 0]);
    }
    let done = deeds(&world.pass(10_000));
    stopped(&mut world, instance, &done);
}

/// Nothing was proven until the deadline.
#[track_caller]
fn unconfirmed(world: &mut World) {
    assert_eq!(deeds(&world.pass(10_000))[0], "ok resumed A unconfirmed");
    assert_eq!((world.state(pane(1)), world.conversation(1)), ("live", "A".into()));
    assert_eq!(world.failure(1), Some(FailureCode::Unconfirmed));
}

/// What was found before the start stops it, for its person too if `always`.
#[track_caller]
fn not_started(kind: &str, read: &Read, code: FailureCode, always: bool) {
    let mut world = tombstone(kind, "A");
    world.ask(resume(1));
    let refused = [format!("err RESUME_REFUSED {code}")];
    assert_eq!(deeds(&world.preflight(1, read.clone())), refused);
    assert_eq!((world.state(pane(1)), world.failure(1)), ("resumable", Some(code)));
    world.ask(Command::Resume { pane: pane(1), anyway: true, previous: false, cwd: None });
    let effects = deeds(&world.preflight(1, read.clone()));
    if always {
        assert_eq!(effects, refused);
        return;
    }
    // It is their conversation then, and proves nothing.
    assert_eq!(effects, [format!("spawn official {kind} A")]);
    let instance = world.pane(pane(1)).state.instance().unwrap();
    world.started(instance);
    for source in [LiveRegistry, HeldLock, StartReport] {
        assert_eq!(deeds(&world.sees(witness(instance, source, &["A"]))), [""; 0]);
    }
    unconfirmed(&mut world);
}

#[test]
fn trap_01_a_fresh_thread_with_good_output_and_exit_0_is_another() {
    opened_another("codex", &[HeldLock, StartReport], &Err(refusal(Gone)));
    opened_another("codex", &[HeldLock], &Err(refusal(Unreadable)));
}

#[test]
fn trap_02_without_an_id_there_is_no_command_and_no_latest_one() {
    for text in ["", " ", "-", "-c", "--continue", "--last", "--session"] {
        assert!(text.parse::<AgentSessionId>().is_err(), "{text:?}");
    }
    for kind in ["claude", "codex", "addressed", "silent"] {
        let mut world = World::new();
        world.workspace(1, agent(kind));
        world.crash();
        let saved = world.pane(pane(1)).record.agent.clone().unwrap();
        assert_eq!(OfficialCommand::of(&saved), None);
        assert_eq!(words(&world.ask(resume(1))), ["err NOT_RESUMABLE"]);
    }
}

#[test]
fn trap_03_a_fresh_chat_under_the_requested_id_is_not_it() {
    for code in [Gone, Damaged, Rewritten] {
        let (mut world, instance) = resuming("silent");
        let read = Err(refusal(code));
        let done = look(&mut world, witness(instance, StartReport, &["A"]), read);
        stopped(&mut world, instance, &done);
    }
    not_started("silent", &Err(refusal(Gone)), Gone, true);
}

#[test]
fn trap_04_the_right_id_over_an_empty_history_is_stopped() {
    for (kind, source) in [("claude", LiveRegistry), ("codex", HeldLock), ("silent", StartReport)] {
        let (mut world, instance) = resuming(kind);
        let empty = Witness { loaded: Some(0), ..witness(instance, source, &["A"]) };
        let done = look(&mut world, empty, Ok(extends("A", 1)));
        stopped(&mut world, instance, &done);
    }
}

#[test]
fn trap_05_the_right_id_with_holes_is_not_started_and_not_believed() {
    for (kind, source) in [("claude", LiveRegistry), ("codex", HeldLock)] {
        not_started(kind, &Err(refusal(Damaged)), Damaged, false);
        let (mut world, instance) = resuming(kind);
        let read = Err(refusal(Damaged));
        let done = look(&mut world, witness(instance, source, &["A"]), read);
        stopped(&mut world, instance, &done);
    }
}

#[test]
fn trap_06_the_right_id_over_foreign_content_is_never_verified() {
    not_started("claude", &Ok(rewritten("A")), Rewritten, false);
    let (mut world, instance) = resuming("claude");
    let shown = witness(instance, LiveRegistry, &["A"]);
    assert_eq!(look(&mut world, shown, Ok(rewritten("A"))), [""; 0]);
    unconfirmed(&mut world);
}

#[test]
fn trap_07_a_fork_or_a_copy_in_its_place_is_another() {
    not_started("silent", &Err(refusal(Damaged)), Damaged, false);
    opened_another("silent", &[StartReport], &Ok(rewritten("Z")));
    opened_another("silent", &[StartReport], &Err(refusal(Damaged)));
}

#[test]
fn trap_08_the_saved_id_is_asked_for_and_not_the_latest() {
    let mut world = World::new();
    let instance = world.talking(1, "claude", "A");
    // After `/clear`, and then a neighbour in the same directory.
    world.shows(instance, "B");
    world.anchored(instance, "B", 1);
    world.pass(60_000);
    world.talking(2, "claude", "C");
    world.crash();
    assert_eq!(deeds(&world.ask(resume(1))), ["preflight B"]);
    let effects = deeds(&world.preflight(1, Ok(extends("B", 1))));
    assert_eq!(effects, ["spawn official claude B"]);
}

#[test]
fn trap_09_an_event_with_the_saved_id_is_no_proof_by_itself() {
    // Before our process runs.
    let mut world = tombstone("silent", "A");
    let instance = world.spawning(1);
    assert_eq!(world.sees(witness(instance, StartReport, &["A"])), []);
    world.started(instance);
    unconfirmed(&mut world);

    // From a process of an earlier start.
    let mut world = World::new();
    let old = world.talking(1, "silent", "A");
    world.crash();
    world.verifying(1);
    assert_eq!(world.sees(witness(old, StartReport, &["A"])), []);
    unconfirmed(&mut world);

    // A start that loaded nothing, and an end, which names no conversation.
    let (mut world, instance) = resuming("silent");
    let begun = witness(instance, FreshStart, &["A"]);
    assert_eq!(look(&mut world, begun, Ok(extends("A", 1))), [""; 0]);
    world.does(instance, Lifecycle::Done);
    unconfirmed(&mut world);
}

#[test]
fn trap_10_a_throw_away_thread_is_not_saved() {
    let mut world = World::new();
    let instance = world.talking(1, "codex", "Z");
    assert_eq!(world.sees(witness(instance, HeldLock, &["T", "Z"])), []);
    assert_eq!(world.pane(pane(1)).candidate, None);
    assert_eq!(words(&world.sees(witness(instance, FreshStart, &["T"]))), ["anchor T"]);
    assert_eq!(world.anchored(instance, "T", 0), []);
    world.crash();
    assert_eq!(deeds(&world.ask(resume(1))), ["preflight Z"]);
}

#[test]
fn trap_11_what_carries_another_panes_environment_proves_nothing() {
    let mut world = World::new();
    world.talking(1, "codex", "A");
    world.talking(2, "codex", "B");
    world.crash();
    let (first, second) = (world.verifying(1), world.verifying(2));
    for source in [HeldLock, StartReport] {
        let witness = Some(witness(first, source, &["A"]));
        let report = AgentReport { witness, ..AgentReport::default() };
        assert_eq!(world.report(second, report), []);
    }
    // A turn goes on, somewhere.
    assert_eq!(world.does(first, Lifecycle::Working), []);
    let replies = deeds(&world.pass(10_000));
    assert_eq!(replies[..2], ["ok resumed A unconfirmed", "ok resumed B unconfirmed"]);
}
