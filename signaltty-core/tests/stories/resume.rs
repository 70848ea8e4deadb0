//! The good path of a resume, and what ends it on the way.

use std::path::PathBuf;

use signaltty_core::agent::{AgentReport, Continuity};
use signaltty_core::pane::Lifecycle;
use signaltty_core::session::{Command, Effect, Input};

use crate::support::facts::{extends, refusal};
use crate::support::words::{deeds, words};
use crate::support::{World, pane, resume, save_of, spawn_of};

/// A tombstone of an agent that was working.
pub(crate) fn tombstone() -> World {
    let mut world = World::new();
    let instance = world.talking(1, "claude", "A");
    world.does(instance, Lifecycle::Working);
    world.crash();
    let save = save_of(&world.pass(5_000));
    world.save_ok(save);
    assert_eq!(world.state(pane(1)), "resumable");
    world
}

#[test]
fn c046_a_conversation_is_reopened_and_proven() {
    let mut world = tombstone();
    let expected = ["~pane.state resuming", "~resume.stage checking", "preflight A"];
    assert_eq!(words(&world.ask(resume(1))), expected);

    let effects = world.preflight(1, Ok(extends("A", 1)));
    let expected = ["~resume.stage spawning", "spawn official claude A"];
    assert_eq!(words(&effects), expected);
    let instance = spawn_of(&effects);

    let expected = ["~resume.stage verifying", "observe claude"];
    assert_eq!(words(&world.started(instance)), expected);
    assert_eq!(words(&world.shows(instance, "A")), ["read 0 A"]);

    let effects = world.read(instance, 0, "A", Ok(extends("A", 2)));
    let expected = [
        "~pane.state live",
        "~agent.lifecycle working unknown",
        "~resume.verdict verified",
        "ok resumed A verified",
    ];
    assert_eq!(words(&effects), expected);
    world.settled();
    let agent = world.pane(pane(1)).record.agent.clone().unwrap();
    let anchor = agent.conversation.unwrap().anchor.unwrap();
    assert_eq!(anchor.user_messages, 2);
    assert_eq!(agent.last_failure, None);
    assert!(agent.interrupted, "nobody has taken the turn up yet");
}

#[test]
fn d28_a_fresh_process_never_pretends_to_be_working() {
    let mut world = tombstone();
    let instance = world.verifying(1);
    world.shows(instance, "A");
    world.read(instance, 0, "A", Ok(extends("A", 1)));
    assert_eq!(world.pane(pane(1)).record.lifecycle, Lifecycle::Unknown);

    // What it said of itself before the proof counts once it is proven.
    let mut world = tombstone();
    let instance = world.verifying(1);
    world.does(instance, Lifecycle::Idle);
    assert_eq!(world.pane(pane(1)).record.lifecycle, Lifecycle::Working);
    world.shows(instance, "A");
    world.read(instance, 0, "A", Ok(extends("A", 1)));
    assert_eq!(world.pane(pane(1)).record.lifecycle, Lifecycle::Idle);
}

#[test]
fn a_prompt_that_the_agent_takes_ends_the_interruption() {
    let mut world = tombstone();
    let instance = world.verifying(1);
    world.shows(instance, "A");
    world.read(instance, 0, "A", Ok(extends("A", 1)));
    world.report(
        instance,
        AgentReport {
            accepted_prompt: true,
            lifecycle: Some(Lifecycle::Working),
            ..AgentReport::default()
        },
    );
    let record = world.pane(pane(1)).record;
    assert!(!record.agent.as_ref().unwrap().interrupted);
    assert_eq!(record.lifecycle, Lifecycle::Working);
}

#[test]
fn s1_26_nothing_of_a_conversation_is_said_of_another_one() {
    let mut world = tombstone();
    let instance = world.verifying(1);
    world.shows(instance, "A");
    world.read(instance, 0, "A", Ok(extends("A", 1)));
    assert!(world.pane(pane(1)).verdict.is_some());
    let agent = world.pane(pane(1)).record.agent.clone().unwrap();
    assert!(agent.interrupted);
    assert_eq!(agent.continuity.resumed, 1);

    // Its person goes to another one inside the agent.
    world.shows(instance, "B");
    world.anchored(instance, "B", 3);
    assert!(world.pane(pane(1)).verdict.is_none());
    let agent = world.pane(pane(1)).record.agent.clone().unwrap();
    assert_eq!(agent.conversation.as_ref().unwrap().id.as_str(), "B");
    assert!(!agent.interrupted && !agent.question_expired);
    assert_eq!(agent.continuity, Continuity::default());
    assert_eq!(agent.turns.marker(), None);

    world.crash();
    let effects = world.ask(Command::Continue(pane(1)));
    assert_eq!(words(&effects), ["err NOT_INTERRUPTED"]);
}

#[test]
fn d2_a_rotated_id_is_saved_with_the_old_one_as_previous() {
    let mut world = tombstone();
    let instance = world.verifying(1);
    assert_eq!(words(&world.shows(instance, "B")), ["read 0 B"]);
    let effects = words(&world.read(instance, 0, "B", Ok(extends("B", 1))));
    assert!(effects.contains(&"~agent.bound B".into()), "{effects:?}");
    assert_eq!(effects.last().unwrap(), "ok resumed B verified");
    let agent = world.pane(pane(1)).record.agent.clone().unwrap();
    let conversation = agent.conversation.unwrap();
    assert_eq!(conversation.id.as_str(), "B");
    assert_eq!(conversation.previous.unwrap().as_str(), "A");
}

#[test]
fn c032_a_transient_id_is_no_mismatch() {
    let mut world = tombstone();
    let instance = world.verifying(1);
    world.shows(instance, "Z");
    let gone = refusal(signaltty_core::restore::FailureCode::Gone);
    assert_eq!(words(&world.read(instance, 0, "Z", Err(gone))), [""; 0]);
    assert_eq!(words(&world.shows(instance, "A")), ["read 1 A"]);
    let effects = words(&world.read(instance, 1, "A", Ok(extends("A", 1))));
    assert_eq!(effects.last().unwrap(), "ok resumed A verified");
}

#[test]
fn a_record_that_could_not_be_read_is_read_again_at_the_next_look() {
    let mut world = tombstone();
    let instance = world.verifying(1);
    world.shows(instance, "A");
    // The same look again: the first read is still on its way.
    assert_eq!(words(&world.shows(instance, "A")), [""; 0]);
    let unread = refusal(signaltty_core::restore::FailureCode::Unreadable);
    world.read(instance, 0, "A", Err(unread));
    assert_eq!(words(&world.shows(instance, "A")), ["read 0 A"]);
    let effects = words(&world.read(instance, 0, "A", Ok(extends("A", 1))));
    assert_eq!(effects.last().unwrap(), "ok resumed A verified");
}

#[test]
fn d23_another_directory_is_saved_on_proof_only() {
    let cwd_of = |world: &World| {
        let agent = world.pane(pane(1)).record.agent.clone().unwrap();
        agent.conversation.unwrap().cwd
    };
    for proven in [true, false] {
        let mut world = tombstone();
        world.ask(Command::Resume {
            pane: pane(1),
            anyway: false,
            previous: false,
            cwd: Some("/moved".into()),
        });
        let effects = world.preflight(1, Ok(extends("A", 1)));
        let Effect::Spawn { instance, command, .. } = effects.last().unwrap() else {
            panic!("{effects:?}")
        };
        assert_eq!(command.cwd, PathBuf::from("/moved"));
        let instance = *instance;
        world.started(instance);
        if proven {
            world.shows(instance, "A");
            world.read(instance, 0, "A", Ok(extends("A", 1)));
            assert_eq!(cwd_of(&world), PathBuf::from("/moved"));
        } else {
            world.exit(instance, 1);
            assert_eq!(cwd_of(&world), PathBuf::from("/work"));
        }
    }
}

#[test]
fn s1_26_a_pane_with_a_process_is_not_resumed_again() {
    let mut world = tombstone();
    world.verifying(1);
    let before = world.saved();
    assert_eq!(words(&world.ask(resume(1))), ["err PANE_LIVE"]);
    assert_eq!(
        words(&world.ask(Command::Restart { pane: pane(1), config_env: Default::default() })),
        ["err PANE_LIVE"]
    );
    assert_eq!(world.saved(), before);
}

#[test]
fn closing_while_resuming_answers_and_leaves_no_process() {
    // Nothing runs yet.
    let mut world = tombstone();
    world.ask(resume(1));
    let effects = deeds(&world.ask(Command::ClosePane(pane(1))));
    assert_eq!(effects, ["err GONE", "forget", "ok"]);
    assert_eq!(world.preflight(1, Ok(extends("A", 1))), []);
    world.settled();

    // It is being started: stopped as soon as it runs.
    let mut world = tombstone();
    let instance = world.spawning(1);
    let effects = deeds(&world.ask(Command::ClosePane(pane(1))));
    assert_eq!(effects, ["err GONE", "forget", "ok"]);
    assert_eq!(words(&world.started(instance)), ["kill"]);
    assert_eq!(world.started(instance), []);
    world.settled();

    // It runs.
    let mut world = tombstone();
    let instance = world.verifying(1);
    let effects = deeds(&world.ask(Command::ClosePane(pane(1))));
    assert_eq!(effects, ["err GONE", "kill", "forget", "ok"]);
    assert_eq!(world.exit(instance, 0), []);
    world.settled();
}

#[test]
fn a_stale_preflight_starts_nothing() {
    let mut world = tombstone();
    world.ask(resume(1));
    let request = world.request();
    let gone = refusal(signaltty_core::restore::FailureCode::Gone);
    world.preflight(1, Err(gone));
    world.ask(resume(1));
    let effects = world.input(Input::Preflighted {
        pane: pane(1),
        request: Some(request),
        result: Ok(extends("A", 1)),
    });
    assert_eq!(effects, []);
    assert_eq!(world.stage(pane(1)), "checking");
}
