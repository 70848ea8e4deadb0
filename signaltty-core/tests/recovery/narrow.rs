//! Random saved states: nothing goes on unless every condition holds.

use proptest::prelude::*;
use signaltty_core::agent::{Marker, MarkerOrigin, TurnId, Turns};
use signaltty_core::pane::{EndCause, PaneEnd};
use signaltty_core::session::{Command, Effect, Input, SwitchChange};
use signaltty_core::time::UnixMillis;
use std::sync::Arc;

use crate::play::{Mode, Play};
use crate::support::{World, agent, pane, resume, shell, ws};

#[derive(Debug, Clone)]
struct Facts {
    resume: bool,
    go_on: bool,
    archived: bool,
    end: Option<EndCause>,
    conversation: bool,
    interrupted: bool,
    newest: u64,
    active: u64,
    marker: Option<(u64, bool, bool)>,
    attempts: u8,
}

fn facts() -> impl Strategy<Value = Facts> {
    let often = || prop::bool::weighted(0.85);
    let ends = prop::sample::select(vec![
        None,
        None,
        None,
        Some(EndCause::Shutdown),
        Some(EndCause::User),
        Some(EndCause::Process),
    ]);
    let marker = prop::option::of((1..4u64, any::<bool>(), any::<bool>()));
    (
        (often(), often(), prop::bool::weighted(0.15), ends, often(), often()),
        (1..4u64, 0..4u64, marker, 0..5u8),
    )
        .prop_map(|((resume, go_on, archived, end, conversation, interrupted), turns)| Facts {
            resume,
            go_on,
            archived,
            end,
            conversation,
            interrupted,
            newest: turns.0,
            active: turns.1,
            marker: turns.2,
            attempts: turns.3,
        })
}

fn play(facts: &Facts) -> Play {
    let mut play = Play::interrupted(Mode::Good, facts.resume, facts.go_on);
    let change = SwitchChange { archived: Some(facts.archived), ..SwitchChange::default() };
    play.world.ask(Command::SetSwitches { workspace: ws(1), change });
    play.disk = play.world.saved();
    let record = Arc::make_mut(&mut play.disk.panes[0]);
    record.lifecycle = signaltty_core::pane::Lifecycle::Idle;
    record.end = facts.end.map(|cause| PaneEnd { cause, status: None, at: UnixMillis(1) });
    let agent = record.agent.as_mut().unwrap();
    agent.interrupted = facts.interrupted;
    if !facts.conversation {
        agent.conversation = None;
    }
    let marker = facts.marker.map(|(n, planned, prepared)| Marker {
        turn: TurnId::new(n).unwrap(),
        origin: if planned { MarkerOrigin::Planned } else { MarkerOrigin::Automatic },
        prepared,
        sent: false,
    });
    agent.turns =
        Turns::from_saved(facts.newest, TurnId::new(facts.active), marker, facts.attempts);
    play
}

proptest! {
    #[test]
    fn s1_32_s1_5_s1_6_s1_8_s1_9_random_states_go_on_only_where_all_holds(facts in facts()) {
        let mut play = play(&facts);
        play.start("");
        if play.prompts.is_empty() {
            return Ok(());
        }
        let counted = |n: u64| n > 0 && n <= facts.newest;
        let marker = facts.marker.filter(|(n, ..)| counted(*n));
        let planned = marker.is_some_and(|(_, planned, _)| planned);
        prop_assert!(planned || (facts.resume && facts.go_on), "S0-16, S1-24");
        prop_assert!(counted(facts.active) || marker.is_some(), "S1-4");
        prop_assert!(facts.conversation, "S1-5");
        prop_assert!(!facts.archived, "S1-6");
        prop_assert!(!matches!(facts.end, Some(EndCause::User | EndCause::Process)), "D15, D-8");
        if let (Some((marked, ..)), true) = (marker, counted(facts.active)) {
            prop_assert_eq!(marked, facts.active, "S1-7, S1-9");
        }
        prop_assert!(marker.is_none() || facts.attempts < 3, "R11");
        prop_assert_eq!(play.prompts.len(), 1);
    }
}

/// Guards the property against states of which none goes on.
#[test]
fn the_random_states_reach_a_continuation() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let goes_on = (0..400).filter(|_| {
        let mut play = play(&facts().new_tree(&mut runner).unwrap().current());
        play.start("");
        !play.prompts.is_empty()
    });
    assert!(goes_on.count() > 20);
}

#[test]
fn s0_16_s0_17_s0_18_exactly_one_cell_starts_by_itself() {
    let mut started = Vec::new();
    for owner in ["adapter", "reported", "shell"] {
        for resume in [false, true] {
            for state in ["resumable", "ended", "closed"] {
                let mut world = World::new();
                let instance = match owner {
                    "adapter" => world.talking(1, "claude", "A"),
                    "reported" => world.workspace(1, agent("claude")),
                    _ => world.workspace(1, shell()),
                };
                world.workspace(2, shell());
                let change = SwitchChange { auto_resume: Some(resume), ..SwitchChange::default() };
                world.ask(Command::SetSwitches { workspace: ws(1), change });
                match state {
                    "ended" => drop(world.exit(instance, 0)),
                    "closed" => drop(world.ask(Command::ClosePane(pane(1)))),
                    _ => {}
                }
                world.crash();
                let mut todo = world.input(Input::Begin);
                for _ in 0..8 {
                    let mut next = world.pass(2_000);
                    for effect in std::mem::take(&mut todo) {
                        if let Effect::Save { token, .. } = effect {
                            next.extend(world.save_ok(token));
                        }
                        if matches!(effect, Effect::Preflight { .. } | Effect::Spawn { .. }) {
                            started.push((owner, resume, state));
                        }
                    }
                    todo = next;
                }
                if (owner, resume, state) == ("adapter", false, "resumable") {
                    // S0-17: one action, and nothing else, resumes.
                    let instance = world.verifying(1);
                    world.shows(instance, "A");
                    world.read(instance, 0, "A", Ok(crate::support::facts::extends("A", 1)));
                    assert_eq!(world.state(pane(1)), "live");
                }
                if owner != "adapter" && state != "closed" {
                    let words = crate::support::words::words(&world.ask(resume_of()));
                    assert!(words[0].starts_with("err "), "{words:?}");
                }
            }
        }
    }
    assert_eq!(started, [("adapter", true, "resumable")]);
}

fn resume_of() -> Command {
    resume(1)
}
