//! Which conversation a pane is saved with while its agent lives.

use signaltty_core::agent::{ReportedArgv, WitnessSource};
use signaltty_core::pane::{Attention, Lifecycle};
use signaltty_core::restore::FailureCode;
use signaltty_core::session::{Command, Effect, Input, VerdictWord};

use crate::support::facts::{extends, id, refusal, witness};
use crate::support::words::words;
use crate::support::{World, agent, pane, spawn_of};

fn not_used(world: &mut World, instance: signaltty_core::id::InstanceId, name: &str) {
    let effects = world.input(Input::Anchored {
        instance,
        id: id(name),
        result: Err(refusal(FailureCode::Gone)),
    });
    assert_eq!(effects, []);
}

#[test]
fn c028_a_resume_inside_the_agent_replaces_the_empty_start_up_id() {
    let mut world = World::new();
    let instance = world.workspace(1, agent("claude"));
    assert_eq!(words(&world.shows(instance, "A")), ["anchor A"]);
    not_used(&mut world, instance, "A");
    assert_eq!(world.conversation(1), "none");
    assert_eq!(words(&world.shows(instance, "B")), ["anchor B"]);
    assert_eq!(words(&world.anchored(instance, "B", 4)), ["~agent.bound B"]);
    assert_eq!(world.conversation(1), "B");
}

#[test]
fn c029_the_id_follows_clear_and_compaction() {
    let mut world = World::new();
    let instance = world.talking(1, "claude", "A");
    for (next, before) in [("B", "A"), ("C", "B")] {
        world.shows(instance, next);
        not_used(&mut world, instance, next);
        // Until somebody says something in it, the old one is kept.
        assert_eq!(world.conversation(1), before);
        assert_eq!(words(&world.does(instance, Lifecycle::Done))[1..], [format!("anchor {next}")]);
        world.does(instance, Lifecycle::Working);
        world.anchored(instance, next, 1);
        assert_eq!(world.conversation(1), next);
        let agent = world.pane(pane(1)).record.agent.clone().unwrap();
        assert_eq!(agent.conversation.unwrap().previous, Some(id(before)));
    }
}

#[test]
fn c035_an_id_that_was_never_used_is_not_saved() {
    let mut world = World::new();
    let instance = world.workspace(1, agent("claude"));
    world.shows(instance, "A");
    world.anchored(instance, "A", 0);
    assert_eq!(world.conversation(1), "none");
    world.crash();
    assert_eq!(world.state(pane(1)), "restored");
}

#[test]
fn c053_an_anchor_that_cannot_be_taken_removes_none() {
    let mut world = World::new();
    let instance = world.talking(1, "claude", "A");
    let before = world.saved();
    let effects = world.does(instance, Lifecycle::Done);
    assert_eq!(words(&effects)[1], "anchor A");
    not_used(&mut world, instance, "A");
    assert_eq!(world.saved().panes[0].agent, before.panes[0].agent);
}

#[test]
fn d3_an_anchor_never_shrinks() {
    let mut world = World::new();
    let instance = world.talking(1, "claude", "A");
    world.anchored(instance, "A", 7);
    let before = world.saved();
    world.anchored(instance, "A", 6);
    assert_eq!(world.saved(), before);
}

#[test]
fn anchors_are_taken_one_at_a_time() {
    let mut world = World::new();
    let instance = world.talking(1, "claude", "A");
    let asked = |effects: &[_]| words(effects).contains(&"anchor A".to_owned());
    assert!(asked(&world.does(instance, Lifecycle::Done)));
    world.does(instance, Lifecycle::Working);
    assert!(!asked(&world.does(instance, Lifecycle::Done)));
    assert!(asked(&world.anchored(instance, "A", 2)));
    assert!(!asked(&world.anchored(instance, "A", 3)));
}

#[test]
fn several_conversations_at_once_name_none() {
    let mut world = World::new();
    let instance = world.talking(1, "claude", "A");
    let two = witness(instance, WitnessSource::LiveRegistry, &["B", "C"]);
    assert_eq!(world.sees(two), []);
    assert_eq!(world.pane(pane(1)).candidate, None);
}

#[test]
fn r9_a_witness_of_another_instance_binds_nothing() {
    let mut world = World::new();
    let first = world.talking(1, "claude", "A");
    let second = world.talking(2, "claude", "B");
    let mut forged = witness(second, WitnessSource::LiveRegistry, &["Z"]);
    forged.instance = first;
    world.report(
        second,
        signaltty_core::agent::AgentReport { witness: Some(forged), ..Default::default() },
    );
    assert_eq!(world.pane(pane(1)).candidate, None);
    assert_eq!(world.pane(pane(2)).candidate, None);
}

#[test]
fn c037_a_silent_while_keeps_the_id() {
    let mut world = World::new();
    let instance = world.talking(1, "claude", "A");
    world.sees(witness(instance, WitnessSource::LiveRegistry, &[]));
    world.pass(2_000);
    world.crash();
    assert_eq!(world.conversation(1), "A");
    assert_eq!(world.state(pane(1)), "resumable");
}

#[test]
fn s0_19_another_conversation_drops_the_reported_command() {
    let mut world = World::new();
    world.talking(1, "claude", "A");
    let mut saved = world.saved();
    let record = std::sync::Arc::make_mut(&mut saved.panes[0]);
    let reported = ReportedArgv(vec!["claude".into(), "-r".into(), "A".into()]);
    record.agent.as_mut().unwrap().reported_argv = Some(reported);
    let mut world = World::restored(saved);
    let instance =
        spawn_of(&world.ask(Command::Restart { pane: pane(1), config_env: Default::default() }));
    world.started(instance);
    let kept = |world: &World| {
        let agent = world.pane(pane(1)).record.agent.clone().unwrap();
        agent.reported_argv.is_some()
    };
    world.shows(instance, "A");
    world.anchored(instance, "A", 2);
    assert!(kept(&world));
    world.shows(instance, "B");
    world.anchored(instance, "B", 1);
    assert!(!kept(&world));
}

#[test]
fn a_fresh_conversation_after_a_restart_replaces_only_once_used() {
    let mut world = World::new();
    let instance = world.talking(1, "claude", "A");
    world.exit(instance, 0);
    let instance =
        spawn_of(&world.ask(Command::Restart { pane: pane(1), config_env: Default::default() }));
    world.started(instance);
    world.shows(instance, "Z");
    not_used(&mut world, instance, "Z");
    world.exit(instance, 1);
    assert_eq!(world.conversation(1), "A");
    assert_eq!(world.pane(pane(1)).candidate, None);
}

#[test]
fn d23_c058_a_conversation_of_another_directory_is_kept_with_its_own() {
    let mut world = World::new();
    let instance = world.talking(1, "claude", "A");
    let held = |world: &World| world.pane(pane(1)).record.agent.clone().unwrap();
    let launch = held(&world).conversation.unwrap().cwd;
    world.shows(instance, "B");
    let elsewhere = std::path::PathBuf::from("/project/.worktrees/feat");
    let works_in = |name| Input::WorksIn { instance, id: id(name), cwd: elsewhere.clone() };
    world.input(works_in("B"));
    world.anchored(instance, "B", 1);
    let conversation = held(&world).conversation.unwrap();
    assert_eq!((conversation.id, conversation.cwd), (id("B"), elsewhere.clone()));
    // The next one is the launch's again, where its record says nothing else.
    world.shows(instance, "C");
    world.anchored(instance, "C", 1);
    assert_eq!(held(&world).conversation.unwrap().cwd, launch);
    // Its agent moves it.
    world.input(works_in("C"));
    assert_eq!(held(&world).conversation.unwrap().cwd, elsewhere);
    world.crash();
    world.ask(crate::support::resume(1));
    let effects = world.preflight(1, Ok(extends("C", 1)));
    let started = effects.iter().find_map(|effect| match effect {
        Effect::Spawn { command, .. } => Some(command.cwd.clone()),
        _ => None,
    });
    assert_eq!(started, Some(elsewhere));
}

#[test]
fn c029_a_conversation_that_cannot_be_kept_is_told_and_nothing_is_proven_any_more() {
    let mut world = super::resume::tombstone();
    let instance = world.verifying(1);
    world.shows(instance, "A");
    world.read(instance, 0, "A", Ok(extends("A", 1)));
    let verdict = |world: &World| world.pane(pane(1)).verdict.map(|verdict| verdict.word);
    assert_eq!(verdict(&world), Some(VerdictWord::Verified));

    world.shows(instance, "B");
    not_used(&mut world, instance, "B");
    assert_eq!(verdict(&world), Some(VerdictWord::Verified), "nobody said anything in it");
    let result = Err(refusal(FailureCode::Damaged));
    world.input(Input::Anchored { instance, id: id("B"), result });
    assert_eq!((world.conversation(1), verdict(&world)), ("A".into(), None));
    let told = world.pane(pane(1)).record.agent.clone().unwrap().last_failure.unwrap();
    assert_eq!(told.refusal.code, FailureCode::NotKept);
    assert!(told.refusal.message.starts_with("its agent has B open"), "{}", told.refusal.message);
    assert_eq!(world.pane(pane(1)).record.attention, Attention::Warning);
    // Back in the one that is kept, there is nothing to be told.
    world.shows(instance, "A");
    assert_eq!(world.failure(1), None);
}

#[test]
fn d2_a_conversation_is_saved_with_the_place_that_a_wrapper_set() {
    use signaltty_core::env::ConfigEnv;
    let place = |dir: &str| {
        ConfigEnv::filter([("CLAUDE_CONFIG_DIR", dir)], &["CLAUDE_CONFIG_DIR"], "/".as_ref())
    };
    let mut world = World::new();
    let instance = world.workspace(1, agent("claude"));
    let moved = |instance| Input::AgentMoved { instance, env: place("/work") };
    assert_eq!(words(&world.input(moved(instance))), ["observe claude"]);
    world.shows(instance, "A");
    world.anchored(instance, "A", 1);
    let saved = world.pane(pane(1)).record.agent.clone().unwrap().conversation.unwrap();
    assert_eq!(saved.config_env, place("/work"));
    // Of a process that is over it says nothing, and none that reopened it moves it.
    world.crash();
    let resumed = world.verifying(1);
    assert_eq!(world.input(moved(instance)), []);
    assert_eq!(world.input(moved(resumed)), []);
}
