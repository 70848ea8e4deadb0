//! From a saved session back to one in which nothing runs.

use std::sync::Arc;

use signaltty_core::pane::{Attention, Lifecycle};
use signaltty_core::session::Command;
use signaltty_core::workspace::Naming;

use crate::support::facts::id;
use crate::support::words::words;
use crate::support::{World, agent, pane, shell, tab};

/// One pane of every kind, and some splits.
fn furnished() -> World {
    let mut world = World::new();
    world.workspace(1, shell());
    world.split(1, 2, agent("claude"));
    let talking = world.talking(3, "claude", "A");
    world.does(talking, Lifecycle::Working);
    let ended = world.talking(4, "codex", "B");
    world.exit(ended, 0);
    let died = world.split(4, 5, shell());
    world.exit(died, 1);
    world.ask(Command::SetArea {
        tab: tab(4),
        area: signaltty_core::layout::Size { cols: 120, rows: 40 },
        zoomed: false,
    });
    world
}

#[test]
fn r1_nothing_is_live_after_a_restore_and_nothing_starts() {
    let mut world = furnished();
    world.crash();
    let states = [1, 2, 3, 4, 5].map(|n| world.state(pane(n)));
    let expected = ["restored", "restored", "resumable", "exited", "exited"];
    assert_eq!(states, expected);
    assert_eq!(world.session.live_panes(), 0);
    assert!(world.session.workspaces().count() == 3);
    assert_eq!(words(&world.pass(1_500)), ["save relaxed"]);
    assert_eq!(words(&world.pass(600_000)), [""; 0]);
}

#[test]
fn s0_14_lifecycle_attention_title_and_size_are_as_saved() {
    let mut world = furnished();
    let before = world.saved();
    world.crash();
    let after = world.saved();
    assert_eq!(after.tabs, before.tabs);
    assert_eq!(after.workspaces, before.workspaces);
    for (was, is) in before.panes.iter().zip(&after.panes) {
        let mut was = Arc::unwrap_or_clone(Arc::clone(was));
        if was.id == pane(3) {
            // That a turn was cut off is a field of its own (D-28).
            was.agent.as_mut().unwrap().interrupted = true;
        }
        assert_eq!(was, **is);
    }
    assert_eq!(world.pane(pane(3)).record.lifecycle, Lifecycle::Working);
    assert_eq!(world.pane(pane(5)).record.attention, Attention::Unread);
}

#[test]
fn r10_any_number_of_restarts_gives_the_same_tombstones() {
    let mut world = furnished();
    world.crash();
    let (first, states) = (world.saved(), [1, 2, 3, 4, 5].map(|n| world.state(pane(n))));
    for _ in 0..10 {
        world.crash();
        assert_eq!(world.saved(), first);
        assert_eq!([1, 2, 3, 4, 5].map(|n| world.state(pane(n))), states);
    }
}

#[test]
fn s0_15_a_restore_never_runs_what_is_saved_whatever_the_switches_say() {
    for n in 0..8u8 {
        let mut world = furnished();
        for workspace in [1, 3, 4] {
            world.ask(Command::SetSwitches {
                workspace: crate::support::ws(workspace),
                change: signaltty_core::session::SwitchChange {
                    auto_resume: Some(n & 1 > 0),
                    auto_continue: Some(n & 2 > 0),
                    history: Some(n & 4 > 0),
                    archived: None,
                },
            });
        }
        world.crash();
        for _ in 0..20 {
            let effects = words(&world.pass(5_000));
            assert!(effects.iter().all(|word| word.starts_with("save")));
        }
    }
}

#[test]
fn s0_56_a_name_that_was_being_made_is_failed() {
    let mut world = furnished();
    let mut saved = world.saved();
    Arc::make_mut(&mut saved.workspaces[0]).naming = Naming::Generating;
    world = World::restored(saved);
    assert_eq!(world.saved().workspaces[0].naming, Naming::Failed);
    assert!(!world.session.is_saved());
}

#[test]
fn c116_instances_of_another_start_never_match() {
    let mut world = World::new();
    let old = world.talking(1, "claude", "A");
    world.crash();
    let new = world.verifying(1);
    assert_ne!(old, new);
    let before = world.saved();
    assert_eq!(world.shows(old, "A"), []);
    assert_eq!(world.exit(old, 0), []);
    assert_eq!(world.saved(), before);
    assert_eq!(world.stage(pane(1)), "verifying");
}

#[test]
fn c040_a_pane_without_an_id_is_not_resumed() {
    let mut world = furnished();
    world.crash();
    for n in [1, 2] {
        let effects = words(&world.ask(crate::support::resume(n)));
        assert_eq!(effects, ["err NOT_RESUMABLE"]);
    }
    // One that the user ended can be resumed, by hand (D-9).
    let effects = words(&world.ask(crate::support::resume(4)));
    assert_eq!(effects.last().unwrap(), "preflight B");
    assert_eq!(world.conversation(4), id("B").to_string());
}
