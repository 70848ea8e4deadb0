//! Resumes without enough evidence: left open for their person, and settled
//! when evidence comes.

use signaltty_core::agent::{Relation, WitnessSource};
use signaltty_core::pane::{Attention, Lifecycle};
use signaltty_core::restore::FailureCode;
use signaltty_core::session::{Effect, VerdictWord};

use super::resume::tombstone;
use crate::support::facts::{anchor, extends, refusal, witness};
use crate::support::words::{deeds, words};
use crate::support::{World, pane};

/// A resume that its person left open, and what was not read in time.
fn left_open(shown: Option<&str>) -> (World, signaltty_core::id::InstanceId) {
    let mut world = tombstone();
    let instance = world.verifying(1);
    if let Some(shown) = shown {
        world.shows(instance, shown);
    }
    let effects = deeds(&world.pass(10_000));
    assert_eq!(effects[0], "ok resumed A unconfirmed");
    (world, instance)
}

fn word(world: &World) -> Option<VerdictWord> {
    world.pane(pane(1)).verdict.map(|verdict| verdict.word)
}

#[test]
fn c043_silence_is_unconfirmed_and_stays_open() {
    let (world, _) = left_open(None);
    assert_eq!(world.state(pane(1)), "live");
    assert_eq!(world.failure(1), Some(FailureCode::Unconfirmed));
    assert_eq!(world.conversation(1), "A");
    assert_eq!(world.pane(pane(1)).record.lifecycle, Lifecycle::Unknown);
    world.settled();
}

#[test]
fn s1_15_evidence_is_in_time_until_the_deadline() {
    let mut world = tombstone();
    let instance = world.verifying(1);
    world.pass(9_000);
    world.shows(instance, "A");
    let effects = deeds(&world.read(instance, 0, "A", Ok(extends("A", 1))));
    assert_eq!(effects, ["ok resumed A verified"]);
}

#[test]
fn unconfirmed_becomes_verified_when_the_evidence_comes() {
    let (mut world, instance) = left_open(None);
    assert_eq!(deeds(&world.shows(instance, "A")), ["read 0 A"]);
    let effects = words(&world.read(instance, 0, "A", Ok(extends("A", 3))));
    assert_eq!(effects[0], "~resume.verdict verified");
    assert_eq!(word(&world), Some(VerdictWord::Verified));
    assert_eq!(world.failure(1), None);
    let agent = world.pane(pane(1)).record.agent.clone().unwrap();
    let anchor_now = agent.conversation.unwrap().anchor.unwrap();
    assert_eq!(anchor_now, anchor("A", 3));
}

#[test]
fn a_late_proof_under_a_new_id_saves_that_id() {
    let (mut world, instance) = left_open(Some("B"));
    let effects = words(&world.read(instance, 0, "B", Ok(extends("B", 2))));
    assert!(effects.contains(&"~resume.verdict verified".into()));
    assert_eq!(world.conversation(1), "B");
    let agent = world.pane(pane(1)).record.agent.clone().unwrap();
    assert_eq!(agent.conversation.unwrap().previous.unwrap().as_str(), "A");
}

#[test]
fn a_read_that_comes_after_the_deadline_still_contradicts() {
    let (mut world, instance) = left_open(Some("Z"));
    let gone = Err(refusal(FailureCode::Gone));
    let effects = words(&world.read(instance, 0, "Z", gone));
    assert_eq!(effects[0], "~resume.verdict contradicted");
    // A person may have typed already: it is said, and the process is theirs.
    assert_eq!(deeds(&effects_of(&mut world)), [""; 0]);
    assert_eq!(word(&world), Some(VerdictWord::Contradicted));
    assert_eq!(world.failure(1), Some(FailureCode::Contradicted));
    assert_eq!(world.pane(pane(1)).record.attention, Attention::Error);
    assert_eq!(world.conversation(1), "A");
}

fn effects_of(world: &mut World) -> Vec<Effect> {
    world.pass(0)
}

#[test]
fn what_a_person_opens_later_is_no_contradiction() {
    let (mut world, instance) = left_open(Some("A"));
    // They went to another conversation from inside the agent.
    world.shows(instance, "Z");
    let gone = Err(refusal(FailureCode::Gone));
    assert_eq!(words(&world.read(instance, 1, "Z", gone)), [""; 0]);
    assert_eq!(word(&world), Some(VerdictWord::Unconfirmed));
    assert_eq!(world.conversation(1), "A");
}

#[test]
fn looks_that_say_the_same_are_read_once() {
    let (mut world, instance) = left_open(None);
    assert_eq!(deeds(&world.shows(instance, "A")), ["read 0 A"]);
    for _ in 0..100 {
        assert_eq!(deeds(&world.shows(instance, "A")), [""; 0]);
    }
}

#[test]
fn c046_an_unproven_process_does_not_replace_the_saved_id() {
    let (mut world, instance) = left_open(None);
    world.shows(instance, "Z");
    world.anchored(instance, "Z", 5);
    world.does(instance, Lifecycle::Done);
    assert_eq!(world.conversation(1), "A");
    // After it ends the tombstone says why it was not proven.
    world.exit(instance, 1);
    assert_eq!(world.state(pane(1)), "resumable");
    assert_eq!(world.failure(1), Some(FailureCode::Unconfirmed));
    assert_eq!(word(&world), None);
}

#[test]
fn evidence_is_what_was_seen_in_plain_lines() {
    let mut world = tombstone();
    let instance = world.verifying(1);
    let mut strange = witness(instance, WitnessSource::LiveRegistry, &["A"]);
    strange.detail = "sessions/7.json\u{1b}[2J\nshows A".into();
    world.sees(strange);
    let mut rewritten = extends("A", 1);
    rewritten.relation = Relation::Rewritten;
    world.read(instance, 0, "A", Ok(rewritten));
    world.pass(10_000);
    let verdict = world.pane(pane(1)).verdict.unwrap();
    let expected = [
        "live_registry: sessions/7.json [2J shows A",
        "record: A read after the witness, rewritten since the start",
    ];
    let lines: Vec<_> = verdict.evidence.iter().map(|line| &**line).collect();
    assert_eq!(lines, expected);
}

#[test]
fn s1_14_a_required_source_that_showed_nothing_is_named() {
    let (world, _) = left_open(None);
    let verdict = world.pane(pane(1)).verdict.unwrap();
    let lines: Vec<_> = verdict.evidence.iter().map(|line| &**line).collect();
    assert_eq!(lines, ["no live_registry came in time"]);
}

#[test]
fn an_agent_without_a_policy_is_never_verified() {
    let mut world = World::new();
    let instance = world.workspace(1, crate::support::agent("mystery"));
    world.shows(instance, "A");
    world.anchored(instance, "A", 1);
    world.crash();
    let instance = world.verifying(1);
    world.shows(instance, "A");
    let effects = world.read(instance, 0, "A", Ok(extends("A", 1)));
    assert_eq!(deeds(&effects), [""; 0]);
    let effects = deeds(&world.pass(10_000));
    assert_eq!(effects[0], "ok resumed A unconfirmed");
}
