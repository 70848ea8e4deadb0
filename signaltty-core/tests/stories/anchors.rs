//! How far the anchor of a conversation reaches while its agent lives.
//!
//! An agent that says when a turn ends has its record anchored then. Of one that
//! never says what it does, the looks at it have to do.

use signaltty_core::agent::WitnessSource;
use signaltty_core::id::InstanceId;
use signaltty_core::pane::Lifecycle;
use signaltty_core::restore::FailureCode;
use signaltty_core::session::{Effect, Input};

use crate::support::facts::{anchor, id, refusal, witness};
use crate::support::words::words;
use crate::support::{World, pane};

/// Whether the record of A is to be anchored.
fn asked(effects: &[Effect]) -> bool {
    words(effects).contains(&"anchor A".to_owned())
}

/// How many messages of a person the saved anchor covers.
fn covers(world: &World) -> u64 {
    let agent = world.pane(pane(1)).record.agent.clone().unwrap();
    agent.conversation.unwrap().anchor.unwrap().user_messages
}

/// A conversation of an agent that says nothing of what it does, some time after
/// its first anchor.
fn silent() -> (World, InstanceId) {
    let mut world = World::new();
    let instance = world.talking(1, "claude", "A");
    world.pass(10_000);
    (world, instance)
}

#[test]
fn d03_an_agent_without_a_status_is_anchored_anew_when_it_is_looked_at() {
    let (mut world, instance) = silent();
    assert!(asked(&world.shows(instance, "A")));
    world.anchored(instance, "A", 5);
    assert_eq!(covers(&world), 5);
    world.replay();
}

#[test]
fn d03_looks_that_follow_closely_are_one_anchor_after_a_while() {
    let (mut world, instance) = silent();
    world.shows(instance, "A");
    world.anchored(instance, "A", 2);
    for _ in 0..9 {
        assert!(!asked(&world.pass(1_000)));
        assert!(!asked(&world.shows(instance, "A")));
    }
    // No look comes any more: the end of what it wrote is anchored all the same.
    assert!(asked(&world.pass(1_000)));
    world.anchored(instance, "A", 3);
    assert_eq!(covers(&world), 3);
    // And then it rests.
    assert!(!asked(&world.pass(60_000)));
    world.replay();
}

#[test]
fn d03_an_agent_that_says_when_a_turn_ends_is_anchored_then() {
    let (mut world, instance) = silent();
    world.does(instance, Lifecycle::Working);
    assert!(!asked(&world.shows(instance, "A")));
    assert!(asked(&world.does(instance, Lifecycle::Done)));
    // One that waits for its time is not needed any more, either.
    let (mut world, instance) = silent();
    world.shows(instance, "A");
    world.anchored(instance, "A", 2);
    world.shows(instance, "A");
    world.does(instance, Lifecycle::Working);
    assert!(!asked(&world.pass(10_000)));
}

#[test]
fn d03_what_a_look_does_not_show_alone_is_not_anchored() {
    let (mut world, instance) = silent();
    let both = witness(instance, WitnessSource::LiveRegistry, &["A", "B"]);
    assert!(!asked(&world.sees(both)));
    assert!(!asked(&world.sees(witness(instance, WitnessSource::LiveRegistry, &[]))));
    // It went on to another one, in which nobody has said anything yet.
    assert_eq!(words(&world.shows(instance, "B")), ["anchor B"]);
    world.input(Input::Anchored { instance, id: id("B"), result: Err(refusal(FailureCode::Gone)) });
    assert_eq!((world.conversation(1).as_str(), covers(&world)), ("A", 1));
}

#[test]
fn c046_d03_an_unproven_resume_leaves_the_anchor_where_it_was() {
    let (mut world, instance) = silent();
    world.exit(instance, 1);
    let instance = world.verifying(1);
    world.pass(10_000);
    assert_eq!(world.state(pane(1)), "live");
    world.pass(10_000);
    // It shows the saved id now, which proves nothing before its record was read.
    let effects = world.shows(instance, "A");
    assert!(!asked(&effects), "{:?}", words(&effects));
    assert!(!asked(&world.pass(60_000)));
    assert_eq!(covers(&world), 1);
}

#[test]
fn d03_a_look_anchors_nothing_that_was_cut() {
    let (mut world, instance) = silent();
    world.shows(instance, "A");
    world.anchored(instance, "A", 5);
    world.pass(10_000);
    assert!(asked(&world.shows(instance, "A")));
    // The adapter was given what was saved, and refuses.
    world.input(Input::Anchored {
        instance,
        id: id("A"),
        result: Err(refusal(FailureCode::Damaged)),
    });
    assert_eq!(covers(&world), 5);
    // An adapter that does not look at it does no harm.
    world.anchored(instance, "A", 4);
    let agent = world.pane(pane(1)).record.agent.clone().unwrap();
    assert_eq!(agent.conversation.unwrap().anchor, Some(anchor("A", 5)));
}

#[test]
fn d03_a_process_that_is_gone_is_not_anchored() {
    let (mut world, instance) = silent();
    world.shows(instance, "A");
    world.anchored(instance, "A", 2);
    world.shows(instance, "A");
    world.exit(instance, 1);
    assert!(!asked(&world.pass(10_000)));
    assert_eq!(world.session.check(), Ok(()));
}
