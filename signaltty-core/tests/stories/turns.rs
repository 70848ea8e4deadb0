//! Turns that end, also where nobody saw them begin.

use signaltty_core::agent::AgentReport;
use signaltty_core::id::InstanceId;
use signaltty_core::pane::{Attention, Lifecycle};
use signaltty_core::session::{Awaited, Command};

use crate::support::words::words;
use crate::support::{World, pane};

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
