//! Agents whose evidence is of another kind: a channel that can be asked for
//! any conversation, and an agent that says nothing before its first prompt.

use signaltty_core::agent::WitnessSource::{self, Channel, StartReport, Turn};
use signaltty_core::id::InstanceId;
use signaltty_core::restore::FailureCode;
use signaltty_core::session::{Effect, VerdictWord};

use crate::support::facts::{extends, refusal, witness};
use crate::support::words::{deeds, words};
use crate::support::{World, agent, pane, save_of};

/// A pane of this kind that held conversation A, after a crash, being resumed.
fn resuming(kind: &str) -> (World, InstanceId) {
    let mut world = World::new();
    let instance = world.workspace(1, agent(kind));
    world.sees(witness(instance, Turn, &["A"]));
    world.anchored(instance, "A", 1);
    let save = save_of(&world.pass(5_000));
    world.save_ok(save);
    world.crash();
    let instance = world.verifying(1);
    (world, instance)
}

fn source_of(effects: &[Effect]) -> Option<WitnessSource> {
    effects.iter().find_map(|effect| match effect {
        Effect::ReadRecord { source, .. } => Some(*source),
        _ => None,
    })
}

#[test]
fn d2_a_channel_is_asked_for_the_saved_conversation_and_answers_with_its_record() {
    let (mut world, instance) = resuming("addressed");
    let effects = world.sees(witness(instance, Channel, &[]));
    assert_eq!(deeds(&effects), ["read 0 A"]);
    assert_eq!(source_of(&effects), Some(Channel));
    let effects = deeds(&world.read(instance, 0, "A", Ok(extends("A", 1))));
    assert_eq!(effects, ["ok resumed A verified"]);
}

#[test]
fn s1_16_a_channel_with_another_record_is_stopped() {
    for code in [FailureCode::Gone, FailureCode::Damaged] {
        let (mut world, instance) = resuming("addressed");
        world.sees(witness(instance, Channel, &[]));
        let effects = deeds(&world.read(instance, 0, "A", Err(refusal(code))));
        assert_eq!(effects, ["kill"], "{code}");
    }
}

#[test]
fn a_channel_that_could_not_be_read_says_nothing() {
    let (mut world, instance) = resuming("addressed");
    world.sees(witness(instance, Channel, &[]));
    let failed = Err(refusal(FailureCode::Unreadable));
    assert_eq!(deeds(&world.read(instance, 0, "A", failed)), [""; 0]);
    assert_eq!(deeds(&world.sees(witness(instance, Channel, &[]))), ["read 0 A"]);
    let effects = deeds(&world.pass(10_000));
    assert_eq!(effects[0], "ok resumed A unconfirmed");
}

#[test]
fn a_turn_is_followed_and_proves_nothing() {
    let (mut world, instance) = resuming("addressed");
    world.sees(witness(instance, Turn, &["A"]));
    world.read(instance, 0, "A", Ok(extends("A", 1)));
    let effects = deeds(&world.pass(10_000));
    assert_eq!(effects[0], "ok resumed A unconfirmed");
}

#[test]
fn a_channel_does_not_say_what_a_fresh_pane_holds() {
    let mut world = World::new();
    let instance = world.workspace(1, agent("addressed"));
    assert_eq!(deeds(&world.sees(witness(instance, Channel, &[]))), [""; 0]);
    assert_eq!(deeds(&world.sees(witness(instance, Turn, &["A"]))), ["anchor A"]);
}

#[test]
fn d2_an_agent_that_is_silent_until_its_prompt_is_settled_by_it() {
    let (mut world, instance) = resuming("silent");
    let effects = deeds(&world.pass(10_000));
    assert_eq!(effects[0], "ok resumed A unconfirmed");
    let why = world.pane(pane(1)).record.agent.clone().unwrap().last_failure.unwrap();
    assert!(why.refusal.message.contains("once it is prompted"), "{}", why.refusal);
    let effects = deeds(&world.sees(witness(instance, StartReport, &["A"])));
    assert_eq!(effects, ["read 0 A"]);
    let effects = words(&world.read(instance, 0, "A", Ok(extends("A", 2))));
    assert_eq!(effects[0], "~resume.verdict verified");
    let verdict = world.pane(pane(1)).verdict.unwrap();
    assert_eq!(verdict.word, VerdictWord::Verified);
}
