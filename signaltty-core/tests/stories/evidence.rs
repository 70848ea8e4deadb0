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
fn c046_an_unproven_process_does_not_replace_the_saved_id() {
    let (mut world, instance) = left_open(None);
    world.shows(instance, "Z");
    world.anchored(instance, "Z", 5);
    world.does(instance, Lifecycle::Done);
    assert_eq!(world.conversation(1), "A");
    assert_eq!(world.pane(pane(1)).candidate, None);
    // After it ends the tombstone says why it was not proven.
    world.exit(instance, 1);
    assert_eq!(world.state(pane(1)), "resumable");
    assert_eq!(world.failure(1), Some(FailureCode::Unconfirmed));
    assert_eq!(word(&world), None);
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
