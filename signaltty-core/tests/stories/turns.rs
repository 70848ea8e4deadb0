//! Turns that end, also where nobody saw them begin, and what is left of them at
//! a start.

use signaltty_core::agent::{AgentReport, TurnRecord};
use signaltty_core::id::InstanceId;
use signaltty_core::pane::{Attention, Lifecycle};
use signaltty_core::restore::FailureCode;
use signaltty_core::session::{Awaited, Command, Effect, Input, SwitchChange};

use super::resume::tombstone;
use crate::support::facts::extends;
use crate::support::words::{deeds, words};
use crate::support::{World, pane, spawn_of, ws};

fn ended(world: &mut World, instance: InstanceId, does: Lifecycle, turn: &str) -> Vec<String> {
    let finished = Some(turn.into());
    let report = AgentReport { lifecycle: Some(does), finished, ..AgentReport::default() };
    words(&world.report(instance, report))
}

#[test]
fn s0_53_one_more_turn_that_ended_is_news_though_the_one_before_had_ended_too() {
    for does in [Lifecycle::Done, Lifecycle::Idle] {
        let mut world = World::new();
        let instance = world.talking(1, "claude", "A");
        ended(&mut world, instance, does, "1");
        let newest = |world: &World| world.pane(pane(1)).record.agent.clone().unwrap().turns;
        let before = newest(&world);
        world.ask(Command::MarkSeen(pane(1)));
        let baseline = world.session.baseline(pane(1)).unwrap();
        let reached =
            |world: &World| world.session.reached(&baseline, Awaited::Lifecycle(does)).unwrap();
        // Looks that say the same are no news.
        for _ in 0..3 {
            let told = ended(&mut world, instance, does, "1");
            assert!(!told.iter().any(|word| word.starts_with("~agent.lifecycle")), "{told:?}");
        }
        assert!(!reached(&world));
        assert_eq!(world.session.next_unread(), None);

        let told = ended(&mut world, instance, does, "2");
        assert!(told.contains(&format!("~agent.lifecycle {does} {does}")), "{told:?}");
        assert!(reached(&world));
        assert_eq!(newest(&world).newest(), before.newest() + 1);
        assert_eq!(newest(&world).active(), None);
        assert_eq!(world.pane(pane(1)).record.attention, Attention::Unread);
        assert_eq!(world.session.next_unread(), Some(pane(1)));
    }
}

#[test]
fn s0_53_a_turn_that_was_seen_at_work_is_counted_once() {
    let mut world = World::new();
    let instance = world.talking(1, "claude", "A");
    world.does(instance, Lifecycle::Working);
    ended(&mut world, instance, Lifecycle::Done, "1");
    ended(&mut world, instance, Lifecycle::Idle, "1");
    let agent = world.pane(pane(1)).record.agent.clone().unwrap();
    assert_eq!((agent.turns.newest(), agent.turns.active()), (1, None));
    assert_eq!(world.pane(pane(1)).record.lifecycle, Lifecycle::Done);
}

#[test]
fn k06_by_hand_nothing_is_sent_where_the_record_shows_an_end() {
    for (unfinished, expected) in
        [(Some(false), "err NOT_CONTINUED"), (Some(true), "save"), (None, "save")]
    {
        let mut world = tombstone();
        let interrupted =
            |world: &World| world.pane(pane(1)).record.agent.clone().unwrap().interrupted;
        assert!(interrupted(&world));
        world.ask(Command::Continue(pane(1)));
        let instance = spawn_of(&world.preflight(1, Ok(extends("A", 1))));
        world.started(instance);
        world.shows(instance, "A");
        world.read(instance, 0, "A", Ok(extends("A", 1)));
        let record = TurnRecord { unfinished, ..TurnRecord::default() };
        let effects = world.input(Input::TurnRead { pane: pane(1), record });
        let sent = |effects: &[Effect]| {
            effects.iter().any(|effect| matches!(effect, Effect::Continue { .. }))
        };
        assert!(!sent(&effects), "nothing goes out before it is on the disk");
        let told = deeds(&effects);
        assert!(told.iter().any(|deed| deed.starts_with(expected)), "{unfinished:?} {told:?}");
        assert_eq!(interrupted(&world), unfinished != Some(false));
    }
}

#[test]
fn d13_of_two_panes_that_a_start_would_reopen_the_second_names_the_first() {
    let mut world = World::new();
    for n in [1, 2] {
        world.talking(n, "claude", "A");
        let change = SwitchChange { auto_resume: Some(true), ..SwitchChange::default() };
        world.ask(Command::SetSwitches { workspace: ws(n), change });
    }
    world.crash();
    world.input(Input::Begin);
    assert_eq!(world.failure(1), None);
    assert_eq!(world.failure(2), Some(FailureCode::Duplicate));
    let agent = world.pane(pane(2)).record.agent.clone().unwrap();
    let message = agent.last_failure.unwrap().refusal.message;
    assert!(message.contains(&pane(1).to_string()), "{message}");
    assert_eq!(world.pane(pane(2)).record.attention, Attention::Warning);
}
