//! What is saved of a conversation, and when it is opened at all.

use signaltty_core::agent::WitnessSource::{FreshStart, HeldLock, LiveRegistry, StartReport};
use signaltty_core::agent::{AgentReport, AgentSessionId, Anchor, Fingerprint, Relation};
use signaltty_core::pane::Attention;
use signaltty_core::restore::FailureCode::{
    self, Busy, CwdMissing, Damaged, Gone, MalformedId, Unreadable,
};
use signaltty_core::session::{Effect, Input, PaneFact};

use super::{look, not_started, opened_another, resuming, stopped, unconfirmed};
use crate::support::facts::{anchor, extends, id, refusal, witness};
use crate::support::words::{deeds, words};
use crate::support::{World, agent, pane, resume};

#[test]
fn trap_12_a_dialog_runs_into_the_deadline_and_nothing_is_typed() {
    let (mut world, instance) = resuming("claude");
    let attention = Some(Attention::InputRequired);
    let asks = AgentReport { attention, ..AgentReport::default() };
    assert_eq!(words(&world.report(instance, asks)), ["~attention.changed input_required"]);
    assert_eq!(world.sees(witness(instance, LiveRegistry, &[])), []);
    assert_eq!(deeds(&world.pass(9_999)), ["save relaxed"]);
    assert_eq!(world.stage(pane(1)), "verifying");
    let expected = ["~pane.state live", "~resume.verdict unconfirmed", "ok resumed A unconfirmed"];
    assert_eq!(words(&world.pass(1)), expected);
    assert_eq!(world.failure(1), Some(FailureCode::Unconfirmed));
}

#[test]
fn trap_13_the_id_is_followed_while_the_process_lives() {
    let mut world = World::new();
    let instance = world.talking(1, "claude", "A");
    let steps = [("B", FreshStart), ("C", LiveRegistry), ("A", StartReport), ("D", LiveRegistry)];
    for (next, source) in steps {
        assert_eq!(
            words(&world.sees(witness(instance, source, &[next]))),
            [format!("anchor {next}")]
        );
        let bound = words(&world.anchored(instance, next, 1));
        assert_eq!(bound, [format!("~agent.bound {next}")]);
    }
    world.crash();
    assert_eq!(deeds(&world.ask(resume(1))), ["preflight D"]);
}

#[test]
fn trap_14_an_id_without_a_message_of_its_person_is_not_resumable() {
    for result in [Ok(anchor("A", 0)), Err(refusal(Gone))] {
        let mut world = World::new();
        let instance = world.workspace(1, agent("codex"));
        world.sees(witness(instance, HeldLock, &["A"]));
        assert_eq!(world.input(Input::Anchored { instance, id: id("A"), result }), []);
        world.crash();
        assert_eq!((world.state(pane(1)), world.conversation(1)), ("restored", "none".into()));
        assert_eq!(words(&world.ask(resume(1))), ["err NOT_RESUMABLE"]);
    }
}

#[test]
fn trap_15_it_is_resumed_in_its_own_directory_or_not_at_all() {
    let mut world = World::new();
    let instance = world.talking(1, "claude", "A");
    world.input(Input::Fact { instance, fact: PaneFact::Cwd("/else".into()) });
    world.crash();
    world.ask(resume(1));
    let effects = world.preflight(1, Ok(extends("A", 1)));
    let Some(Effect::Spawn { command, .. }) = effects.last() else { panic!("{effects:?}") };
    assert_eq!(command.cwd.to_str(), Some("/work"));
    not_started("claude", &Err(refusal(CwdMissing)), CwdMissing, false);
}

#[test]
fn trap_16_a_conversation_that_is_open_elsewhere_is_not_opened_twice() {
    for kind in ["claude", "addressed", "silent"] {
        not_started(kind, &Err(refusal(Busy)), Busy, false);
    }
}

#[test]
fn trap_17_what_an_agent_could_not_save_is_not_taken_for_saved() {
    let mut world = World::new();
    let instance = world.talking(1, "claude", "A");
    let before = world.saved().panes[0].agent.clone();
    let read_only = [Ok(anchor("A", 1)), Err(refusal(Unreadable)), Err(refusal(Gone))];
    for result in read_only {
        world.input(Input::Anchored { instance, id: id("A"), result });
        assert_eq!(world.saved().panes[0].agent, before);
    }
    world.shows(instance, "B");
    world.input(Input::Anchored { instance, id: id("B"), result: Err(refusal(Gone)) });
    assert_eq!(world.saved().panes[0].agent, before);
}

#[test]
fn trap_18_a_title_is_no_id() {
    for title in ["Fix the parser", "fix/parser", "Größe"] {
        assert!(title.parse::<AgentSessionId>().is_err(), "{title}");
    }
    // One that could be an id is refused by the agent's adapter.
    not_started("claude", &Err(refusal(MalformedId)), MalformedId, true);
    opened_another("claude", &[LiveRegistry], &Err(refusal(Gone)));
}

#[test]
fn trap_19_a_hook_that_anybody_runs_is_not_the_source_that_counts() {
    let reads =
        [("A", Ok(extends("A", 1))), ("A", Err(refusal(Damaged))), ("Z", Err(refusal(Gone)))];
    for (shown, result) in reads {
        let (mut world, instance) = resuming("claude");
        let foreign = witness(instance, StartReport, &[shown]);
        assert_eq!(look(&mut world, foreign, result), [""; 0]);
        unconfirmed(&mut world);
    }
}

#[test]
fn trap_20_a_fork_is_recognised_together_with_its_parents_part() {
    let mut world = World::new();
    let instance = world.talking(1, "codex", "A");
    let base = Some(Box::new(anchor("P", 5)));
    let fork = Anchor { base: base.clone(), ..anchor("A", 2) };
    world.input(Input::Anchored { instance, id: id("A"), result: Ok(fork.clone()) });
    world.crash();
    let effects = world.ask(resume(1));
    let Some(Effect::Preflight { conversation, .. }) = effects.last() else {
        panic!("{effects:?}")
    };
    assert_eq!(conversation.anchor, Some(fork.clone()));
    world.preflight(1, Ok(Fingerprint::new(Relation::Extends, fork)));
    let instance = world.pane(pane(1)).state.instance().unwrap();
    world.started(instance);
    let effects = world.sees(witness(instance, HeldLock, &["A"]));
    let [Effect::ReadRecord { named, .. }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(named.anchor.as_ref().unwrap().base, base);
    // The parent is missing or has holes.
    let done = deeds(&world.read(instance, 0, "A", Err(refusal(Damaged))));
    stopped(&mut world, instance, &done);
}
