//! What programs change in a loop, and how much of it becomes events.

use signaltty_core::id::InstanceId;
use signaltty_core::pane::Attention;
use signaltty_core::session::{Command, Effect, Event, Input, PaneFact, ShutdownCause};

use crate::support::words::words;
use crate::support::{World, pane, shell};

/// How often a pane was said to have changed, and its attention.
fn told(effects: &[Effect]) -> usize {
    let is_one = |effect: &&Effect| {
        let Effect::Publish(event) = effect else {
            return false;
        };
        matches!(event, Event::PaneUpdated { .. } | Event::AttentionChanged { .. })
    };
    effects.iter().filter(is_one).count()
}

/// Passes time as a shell does: it ticks at the deadline. Gives what came.
fn run_for(world: &mut World, millis: u64) -> Vec<Effect> {
    let (until, mut effects) = (world.now + std::time::Duration::from_millis(millis), Vec::new());
    while let Some(at) = world.session.deadline().filter(|at| *at <= until) {
        world.now = world.now.max(at);
        let new = world.input(Input::Tick);
        for effect in &new {
            if let Effect::Save { token, .. } = effect {
                world.save_ok(*token);
            }
        }
        effects.extend(new);
    }
    world.now = until;
    effects
}

fn spin(world: &mut World, instance: InstanceId, fact: impl Fn(u64) -> PaneFact) -> usize {
    let mut events = 0;
    for n in 0..8_300 {
        let fact = fact(n);
        events += told(&world.input(Input::Fact { instance, fact }));
        events += told(&run_for(world, 1));
    }
    events
}

#[test]
fn a_title_that_spins_is_an_event_a_second_and_the_last_one_is_told() {
    let mut world = World::new();
    let instance = world.workspace(1, shell());
    let at_once = Input::Fact { instance, fact: PaneFact::Title("working".into()) };
    assert_eq!(words(&world.input(at_once)), ["~pane.updated"]);
    let events = spin(&mut world, instance, |n| PaneFact::Title(format!("work {n}").into()));
    assert_eq!(events, 8);
    assert_eq!(&*world.pane(pane(1)).record.title, "work 8299", "whoever asks sees the newest");
    assert_eq!(told(&run_for(&mut world, 1_000)), 1, "the last change is told");
    run_for(&mut world, 5_000);
    assert_eq!(world.session.deadline(), None, "no timer runs for a pane that rests");
    let again = Input::Fact { instance, fact: PaneFact::Title("done".into()) };
    assert_eq!(words(&world.input(again)), ["~pane.updated"]);
    world.replay();
}

#[test]
fn a_directory_and_a_bell_in_a_loop_are_bounded_in_the_same_way() {
    let mut world = World::new();
    let instance = world.workspace(1, shell());
    let events = spin(&mut world, instance, |n| PaneFact::Cwd(format!("/srv/{n}").into()));
    assert!((8..=9).contains(&events), "{events}");
    run_for(&mut world, 10_000);
    let mut rung = 0;
    for _ in 0..8_000 {
        rung += told(&world.input(Input::Fact { instance, fact: PaneFact::Bell }));
        rung += told(&run_for(&mut world, 1));
        // As a full-screen client does that shows the pane.
        if world.pane(pane(1)).record.attention != Attention::None {
            rung += told(&world.ask(Command::MarkSeen(pane(1))));
        }
    }
    assert!((16..=18).contains(&rung), "{rung}");
}

#[test]
fn a_bell_soon_after_one_that_was_seen_is_late_and_not_lost() {
    let mut world = World::new();
    let instance = world.workspace(1, shell());
    let bell = |world: &mut World| world.input(Input::Fact { instance, fact: PaneFact::Bell });
    assert_eq!(told(&bell(&mut world)), 1);
    world.ask(Command::MarkSeen(pane(1)));
    run_for(&mut world, 300);
    assert_eq!(told(&bell(&mut world)), 0);
    assert_eq!(told(&run_for(&mut world, 700)), 1);
    assert_eq!(world.pane(pane(1)).record.attention, Attention::Unread);
    // One that its person saw after it rang asks for nothing more.
    world.ask(Command::MarkSeen(pane(1)));
    run_for(&mut world, 300);
    bell(&mut world);
    world.ask(Command::MarkSeen(pane(1)));
    run_for(&mut world, 2_000);
    assert_eq!(world.pane(pane(1)).record.attention, Attention::None);
}

#[test]
fn what_waits_is_told_when_the_process_ends_or_the_server_does() {
    let mut world = World::new();
    let instance = world.workspace(1, shell());
    let title = |text: &str| Input::Fact { instance, fact: PaneFact::Title(text.into()) };
    world.input(title("one"));
    assert_eq!(told(&world.input(title("two"))), 0);
    world.exit(instance, 0);
    assert_eq!(told(&run_for(&mut world, 1_000)), 1);

    let mut world = World::new();
    let instance = world.workspace(1, shell());
    let title = |text: &str| Input::Fact { instance, fact: PaneFact::Title(text.into()) };
    world.input(title("one"));
    world.input(title("two"));
    let last = words(&world.input(Input::Shutdown(ShutdownCause::Terminate)));
    let told = last.iter().position(|word| word == "~pane.updated");
    let stopping = last.iter().position(|word| word == "~server.stopping");
    assert!(told.is_some() && told < stopping, "{last:?}");
}
