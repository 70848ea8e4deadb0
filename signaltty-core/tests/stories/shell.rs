//! Agents that a person types into a shell (D-22).

use signaltty_core::agent::{AgentPlace, AgentReport, FoundAgent};
use signaltty_core::id::InstanceId;
use signaltty_core::pane::{Attention, Lifecycle};
use signaltty_core::restore::FailureCode;
use signaltty_core::session::{Command, Effect, Input, ShutdownCause};

use crate::support::facts::{extends, found, id, refusal};
use crate::support::words::{deeds, words};
use crate::support::{World, agent, pane, resume, shell, spawn_of};

fn finds(world: &mut World, instance: InstanceId, found: &[FoundAgent]) -> Vec<String> {
    deeds(&world.input(Input::AgentsFound { instance, found: found.to_vec() }))
}

/// A shell in which a person started `claude` and said something in A.
fn by_hand(world: &mut World, n: u8) -> InstanceId {
    let instance = world.workspace(n, shell());
    assert_eq!(
        finds(world, instance, &[found("claude", 10, true)]),
        ["follow claude 10", "observe claude"]
    );
    assert_eq!(words(&world.shows(instance, "A"))[0], "anchor A");
    assert_eq!(words(&world.anchored(instance, "A", 1)), ["~agent.bound A"]);
    instance
}

fn place(world: &World, n: u8) -> Option<AgentPlace> {
    world.pane(pane(n)).record.agent.as_ref().map(|agent| agent.place)
}

#[test]
fn d22_an_agent_in_a_shell_is_followed_and_resumable_after_a_crash() {
    let mut world = World::new();
    let instance = by_hand(&mut world, 1);
    assert_eq!(place(&world, 1), Some(AgentPlace::Shell));
    // The same again is nothing new.
    assert_eq!(finds(&mut world, instance, &[found("claude", 10, true)]), [""; 0]);
    let saved = world.pane(pane(1)).record.agent.clone().unwrap().conversation.unwrap();
    assert_eq!(saved.cwd, std::path::Path::new("/by/hand"));
    world.crash();
    assert_eq!(world.state(pane(1)), "resumable");
    let effects = world.ask(resume(1));
    assert_eq!(deeds(&effects), ["preflight A"]);
}

#[test]
fn d22_a_restart_of_its_slot_runs_the_shell_and_no_agent() {
    let mut world = World::new();
    by_hand(&mut world, 1);
    world.crash();
    let effects = world.ask(Command::Restart { pane: pane(1), config_env: Default::default() });
    let Some(Effect::Spawn { command, .. }) =
        effects.iter().find(|effect| matches!(effect, Effect::Spawn { .. }))
    else {
        panic!("{effects:?}");
    };
    let program = format!("{:?}", command.program);
    assert!(program.contains("agent: None"), "a shell is not wired up: {program}");
    let instance = spawn_of(&effects);
    assert!(!words(&world.started(instance)).iter().any(|word| word.starts_with("observe")));
    // Nothing is open in it now; what it had can be reopened by hand.
    assert_eq!(place(&world, 1), Some(AgentPlace::Left));
    assert_eq!(world.conversation(1), "A");
    world.crash();
    assert_eq!(world.state(pane(1)), "restored");
    assert_eq!(deeds(&world.ask(resume(1))), ["preflight A"]);
}

#[test]
fn d8_d22_an_agent_that_ended_leaves_a_shell_that_is_not_resumable_by_itself() {
    let mut world = World::new();
    let instance = by_hand(&mut world, 1);
    world.does(instance, Lifecycle::Working);
    assert_eq!(finds(&mut world, instance, &[]), ["follow none"]);
    assert_eq!(world.state(pane(1)), "live");
    assert_eq!(place(&world, 1), Some(AgentPlace::Left));
    assert_eq!(world.pane(pane(1)).record.lifecycle, Lifecycle::Unknown);
    world.crash();
    assert_eq!(world.state(pane(1)), "restored");
    assert!(!world.pane(pane(1)).record.agent.as_ref().unwrap().interrupted);
    // D-9: by hand it can be, and is open again then.
    let instance = world.verifying(1);
    world.shows(instance, "A");
    world.read(instance, 0, "A", Ok(extends("A", 1)));
    assert_eq!(place(&world, 1), Some(AgentPlace::Shell));
    // The agent is in the slot itself: nothing is looked for in a shell.
    assert_eq!(finds(&mut world, instance, &[found("codex", 12, true)]), [""; 0]);
    world.crash();
    assert_eq!(world.state(pane(1)), "resumable");
}

#[test]
fn d22_an_agent_without_a_word_leaves_nothing() {
    let mut world = World::new();
    let instance = world.workspace(1, shell());
    finds(&mut world, instance, &[found("claude", 10, true)]);
    world.shows(instance, "A");
    world.input(Input::Anchored { instance, id: id("A"), result: Err(refusal(FailureCode::Gone)) });
    assert_eq!(world.pane(pane(1)).followed.map(|kind| kind.as_str()), Some("claude"));
    finds(&mut world, instance, &[]);
    assert_eq!(place(&world, 1), None);
    assert_eq!((world.pane(pane(1)).followed, world.pane(pane(1)).candidate), (None, None));
    world.crash();
    assert_eq!(world.state(pane(1)), "restored");
}

#[test]
fn d22_the_next_agent_replaces_the_last_one_only_once_it_was_used() {
    let mut world = World::new();
    let instance = by_hand(&mut world, 1);
    finds(&mut world, instance, &[]);
    assert_eq!(
        finds(&mut world, instance, &[found("codex", 12, true)]),
        ["follow codex 12", "observe codex"]
    );
    world.shows(instance, "C");
    assert_eq!(world.conversation(1), "A");
    world.crash();
    assert_eq!(world.state(pane(1)), "restored", "the person had ended A");

    let mut world = World::new();
    let instance = by_hand(&mut world, 1);
    finds(&mut world, instance, &[]);
    finds(&mut world, instance, &[found("codex", 12, true)]);
    let Effect::Anchor { kind, conversation, .. } = world.shows(instance, "C").remove(0) else {
        panic!("no anchor");
    };
    assert_eq!((kind.as_str(), conversation.previous), ("codex", None));
    world.anchored(instance, "C", 1);
    let saved = world.pane(pane(1)).record.agent.clone().unwrap();
    assert_eq!((saved.kind.as_str(), saved.place), ("codex", AgentPlace::Shell));
    world.crash();
    assert_eq!(world.state(pane(1)), "resumable");
}

#[test]
fn d22_the_same_conversation_typed_again_is_open_again() {
    let mut world = World::new();
    let instance = by_hand(&mut world, 1);
    finds(&mut world, instance, &[]);
    finds(&mut world, instance, &[found("claude", 20, true)]);
    assert_eq!(place(&world, 1), Some(AgentPlace::Left));
    world.shows(instance, "A");
    assert_eq!(place(&world, 1), Some(AgentPlace::Shell));
    world.crash();
    assert_eq!(world.state(pane(1)), "resumable");
}

#[test]
fn c031_d22_only_the_agent_in_front_is_the_panes() {
    let nested = |mut agent: FoundAgent| {
        agent.nested = true;
        agent
    };
    let mut world = World::new();
    let instance = world.workspace(1, shell());
    // In the background from the start, below another, or two at once.
    let nobodys = [
        vec![found("claude", 10, false)],
        vec![nested(found("codex", 11, true))],
        vec![found("claude", 10, true), found("codex", 11, true)],
    ];
    for found in nobodys {
        assert_eq!(finds(&mut world, instance, &found), [""; 0], "{found:?}");
        assert_eq!(place(&world, 1), None);
    }
    let inner = vec![found("claude", 10, true), nested(found("codex", 11, true))];
    assert_eq!(finds(&mut world, instance, &inner), ["follow claude 10", "observe claude"]);
    // Stopped with Ctrl-Z it lives on, and is the pane's until another comes.
    assert_eq!(finds(&mut world, instance, &[found("claude", 10, false)]), [""; 0]);
    let two = [found("claude", 10, false), found("codex", 12, true)];
    assert_eq!(finds(&mut world, instance, &two), ["follow codex 12", "observe codex"]);
    // A number that came again is another process.
    let mut again = found("codex", 12, true);
    again.process.start_ticks += 1;
    assert_eq!(finds(&mut world, instance, &[again]), ["follow codex 12", "observe codex"]);
}

#[test]
fn d13_what_was_left_can_be_opened_in_another_pane() {
    let mut world = World::new();
    let first = by_hand(&mut world, 1);
    finds(&mut world, first, &[]);
    let second = by_hand(&mut world, 2);
    world.exit(second, 1);
    assert_eq!(world.state(pane(2)), "resumable");
    assert_eq!(deeds(&world.ask(resume(2))), ["preflight A"]);
}

#[test]
fn d13_what_a_shell_has_open_is_not_opened_again() {
    let mut world = World::new();
    by_hand(&mut world, 1);
    let second = by_hand(&mut world, 2);
    world.exit(second, 1);
    assert_eq!(deeds(&world.ask(resume(2))), ["err RESUME_REFUSED duplicate"]);
}

#[test]
fn d8_d22_agents_that_a_shutdown_ended_first_are_resumable() {
    let mut world = World::new();
    let instance = by_hand(&mut world, 1);
    world.does(instance, Lifecycle::Working);
    finds(&mut world, instance, &[]);
    world.pass(9_000);
    world.input(Input::Shutdown(ShutdownCause::Host));
    // What is seen from now on changes nothing.
    assert_eq!(finds(&mut world, instance, &[found("codex", 12, true)]), [""; 0]);
    world.crash();
    assert_eq!(world.state(pane(1)), "resumable");
    let record = world.pane(pane(1)).record.clone();
    assert_eq!(record.lifecycle, Lifecycle::Working);
    assert!(record.agent.unwrap().interrupted);

    let mut world = World::new();
    let instance = by_hand(&mut world, 1);
    finds(&mut world, instance, &[]);
    world.pass(11_000);
    world.input(Input::Shutdown(ShutdownCause::Host));
    world.crash();
    assert_eq!(world.state(pane(1)), "restored");
}

#[test]
fn d22_what_an_agent_asked_for_goes_with_it() {
    let mut world = World::new();
    let instance = by_hand(&mut world, 1);
    let attention = Some(Attention::PermissionRequired);
    world.report(instance, AgentReport { attention, ..AgentReport::default() });
    assert_eq!(world.pane(pane(1)).record.attention, Attention::PermissionRequired);
    finds(&mut world, instance, &[]);
    assert_eq!(world.pane(pane(1)).record.attention, Attention::Unread);
}

#[test]
fn d22_a_pane_whose_own_program_is_an_agent_has_no_other() {
    let mut world = World::new();
    let instance = world.workspace(1, agent("claude"));
    assert_eq!(finds(&mut world, instance, &[found("codex", 12, true)]), [""; 0]);
    assert_eq!(place(&world, 1), Some(AgentPlace::Own));
}
