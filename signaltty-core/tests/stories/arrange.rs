//! Moving, swapping, sizing and ordering what exists; tabs from layouts.

use signaltty_core::layout::{Axis, Direction, Size, Weight};
use signaltty_core::pane::Attention;
use signaltty_core::restore::FailureCode;
use signaltty_core::session::{Command, CommandError, Effect, Input, PaneFact};

use crate::support::facts::refusal;
use crate::support::words::{deeds, words};
use crate::support::{World, agent, new_workspace, pane, reply_of, shell, spawn_of, tab, ws};

/// Tab 1 holds panes 1 and 2, tab 3 pane 3; workspace 4 holds pane 4.
fn world() -> World {
    let mut world = World::new();
    world.workspace(1, shell());
    world.split(1, 2, shell());
    let spawn = world.ask(Command::NewTab {
        workspace: ws(1),
        tab: tab(3),
        title: None,
        pane: pane(3),
        spec: shell(),
    });
    world.started(spawn_of(&spawn));
    world.workspace(4, shell());
    world
}

/// The layout of a tab, with the number of each pane.
fn layout(world: &World, n: u8) -> String {
    let Some(view) = world.session.tab(tab(n)) else { return "none".into() };
    let mut text = view.record.layout.to_string();
    for n in 0..8 {
        text = text.replace(&pane(n).to_string(), &n.to_string());
    }
    text
}

fn parsed(text: &str) -> signaltty_core::layout::Layout<signaltty_core::id::PaneId> {
    let body = text.strip_prefix("v1:").unwrap();
    let mut full = String::from("v1:");
    for c in body.chars() {
        match c.to_digit(10).filter(|_| !full.ends_with('*')) {
            Some(n) => full += &pane(u8::try_from(n).unwrap()).to_string(),
            None => full.push(c),
        }
    }
    full.parse().unwrap()
}

fn moved(n: u8, beside: u8, direction: Direction) -> Command {
    Command::MovePane { pane: pane(n), beside: pane(beside), direction }
}

#[test]
fn a_pane_moves_within_its_tab_and_to_another() {
    let mut world = world();
    let effects = world.ask(moved(2, 1, Direction::Up));
    assert_eq!(deeds(&effects), ["resize 80x12", "resize 80x11", "ok"]);
    assert_eq!(layout(&world, 1), "v1:[2/1]");

    let effects = world.ask(moved(2, 3, Direction::Left));
    assert_eq!((layout(&world, 1), layout(&world, 3)), ("v1:1".into(), "v1:[2|3]".into()));
    assert_eq!(deeds(&effects), ["resize 80x24", "resize 40x24", "resize 39x24", "ok"]);
    assert_eq!(world.session.tab(tab(3)).unwrap().record.active_pane, pane(2));
}

#[test]
fn the_last_pane_that_moves_out_takes_its_tab_but_not_its_process() {
    let mut world = world();
    let effects = world.ask(moved(3, 1, Direction::Down));
    assert_eq!(layout(&world, 3), "none");
    assert_eq!(layout(&world, 1), "v1:[[1/3]|2]");
    assert!(words(&effects).contains(&"~tab.closed".into()));
    assert!(!effects.iter().any(|e| matches!(e, Effect::Kill { .. } | Effect::ForgetTail { .. })));
    assert_eq!(world.state(pane(3)), "live");
}

#[test]
fn panes_swap_within_a_tab_and_across_two() {
    let mut world = world();
    world.ask(Command::SwapPanes(pane(1), pane(2)));
    assert_eq!(layout(&world, 1), "v1:[2|1]");
    world.ask(Command::SwapPanes(pane(1), pane(3)));
    assert_eq!((layout(&world, 1), layout(&world, 3)), ("v1:[2|3]".into(), "v1:1".into()));
    assert_eq!(world.pane(pane(1)).record.size, Size { cols: 80, rows: 24 });
}

#[test]
fn s1_what_makes_no_sense_is_refused_and_changes_nothing() {
    let mut world = world();
    let before = world.saved();
    let small = Weight::new(3).unwrap();
    let cases = [
        (moved(1, 1, Direction::Up), "BAD_PARAMS"),
        (moved(1, 4, Direction::Up), "BAD_PARAMS"),
        (moved(9, 1, Direction::Up), "NO_SUCH_PANE"),
        (Command::SwapPanes(pane(1), pane(1)), "BAD_PARAMS"),
        (Command::SwapPanes(pane(1), pane(4)), "BAD_PARAMS"),
        (Command::SetWeight { pane: pane(3), axis: None, weight: small }, "BAD_PARAMS"),
        (
            Command::SetWeight { pane: pane(1), axis: Some(Axis::Column), weight: small },
            "BAD_PARAMS",
        ),
        (Command::SetLayout { tab: tab(1), layout: parsed("v1:1") }, "BAD_PARAMS"),
        (Command::SetLayout { tab: tab(1), layout: parsed("v1:[1|2|3]") }, "BAD_PARAMS"),
        (Command::SetLayout { tab: tab(9), layout: parsed("v1:1") }, "NO_SUCH_TAB"),
        (Command::Equalise(tab(9)), "NO_SUCH_TAB"),
        (Command::FocusPane(pane(9)), "NO_SUCH_PANE"),
        (Command::MoveTab { tab: tab(9), position: 0 }, "NO_SUCH_TAB"),
        (Command::MoveWorkspace { workspace: ws(9), position: 0 }, "NO_SUCH_WORKSPACE"),
    ];
    for (command, code) in cases {
        let effects = world.ask(command.clone());
        assert_eq!(deeds(&effects), [format!("err {code}")], "{command:?}");
        assert_eq!(world.saved(), before, "{command:?}");
    }
    world.settled();
}

#[test]
fn a_layout_without_room_is_refused() {
    let mut world = world();
    world.ask(Command::SetArea { tab: tab(1), area: Size { cols: 2, rows: 24 }, zoomed: false });
    // One of them has no column any more; a column of both has room.
    let effects = world.ask(Command::SetLayout { tab: tab(1), layout: parsed("v1:[1/2]") });
    assert_eq!(deeds(&effects).last().map(String::as_str), Some("ok"));
    let effects = world.ask(Command::SetLayout { tab: tab(1), layout: parsed("v1:[1|2]") });
    assert_eq!(deeds(&effects), ["err NO_ROOM"]);
    assert_eq!(layout(&world, 1), "v1:[1/2]");
}

#[test]
fn shares_are_set_and_made_equal_again() {
    let mut world = world();
    let weight = Weight::new(3).unwrap();
    let effects = world.ask(Command::SetWeight { pane: pane(1), axis: None, weight });
    assert_eq!(deeds(&effects), ["resize 59x24", "resize 20x24", "ok"]);
    assert_eq!(layout(&world, 1), "v1:[1*3|2]");
    world.ask(Command::Equalise(tab(1)));
    assert_eq!(layout(&world, 1), "v1:[1|2]");
    // What is as it should be is not published and not saved again.
    assert_eq!(words(&world.ask(Command::Equalise(tab(1)))), ["ok"]);
}

#[test]
fn the_focus_moves_the_active_tab_along_and_counts_as_looking() {
    let mut world = world();
    let instance = world.pane(pane(1)).state.instance().unwrap();
    world.input(Input::Fact { instance, fact: PaneFact::Bell });
    assert_eq!(world.pane(pane(1)).record.attention, Attention::Unread);
    let effects = world.ask(Command::FocusPane(pane(1)));
    let expected = ["~tab.updated", "~workspace.updated", "~attention.changed none", "ok"];
    assert_eq!(words(&effects), expected);
    let first = world.saved().workspaces[0].active_tab;
    assert_eq!(first, Some(tab(1)));
}

#[test]
fn tabs_and_workspaces_have_an_order() {
    let mut world = world();
    world.ask(Command::MoveTab { tab: tab(3), position: 0 });
    world.ask(Command::MoveWorkspace { workspace: ws(1), position: 9 });
    let saved = world.saved();
    let tabs: Vec<_> = saved.tabs.iter().map(|t| t.id).collect();
    assert_eq!(tabs, [tab(4), tab(3), tab(1)]);
    let order: Vec<_> = saved.workspaces.iter().map(|w| w.id).collect();
    assert_eq!(order, [ws(4), ws(1)]);
    world.crash();
    assert_eq!(world.saved(), saved);
}

fn applied(specs: &[u8], text: &str) -> Command {
    Command::ApplyLayout {
        workspace: ws(1),
        tab: tab(5),
        title: Some("three".into()),
        layout: parsed(text),
        specs: specs.iter().map(|n| (pane(*n), agent("claude"))).collect(),
    }
}

fn spawned(effects: &[Effect]) -> Vec<signaltty_core::id::InstanceId> {
    let spawns = effects.iter().filter_map(|effect| match effect {
        Effect::Spawn { instance, .. } => Some(*instance),
        _ => None,
    });
    spawns.collect()
}

#[test]
fn a_tab_is_made_of_a_layout_once_all_of_it_runs() {
    let mut world = world();
    let effects = world.ask(applied(&[6, 5, 7], "v1:[5*2|[6/7]]"));
    let sizes = effects.iter().filter_map(|effect| match effect {
        Effect::Spawn { size, .. } => Some((size.cols, size.rows)),
        _ => None,
    });
    assert_eq!(sizes.collect::<Vec<_>>(), [(53, 24), (26, 12), (26, 11)]);
    let starting = spawned(&effects);
    world.started(starting[0]);
    world.started(starting[2]);
    assert_eq!(layout(&world, 5), "none");
    // One that ended meanwhile is there, and ended.
    world.exit(starting[0], 3);
    let effects = world.started(starting[1]);
    assert_eq!(deeds(&effects), ["ok created", "observe claude", "observe claude"]);
    assert_eq!(layout(&world, 5), "v1:[5*2|[6/7]]");
    assert_eq!([5, 6, 7].map(|n| world.state(pane(n))), ["exited", "live", "live"]);
    world.settled();
}

#[test]
fn one_pane_that_cannot_start_undoes_the_whole_tab() {
    let mut world = world();
    let before = world.saved();
    let starting = spawned(&world.ask(applied(&[5, 6, 7], "v1:[5|6|7]")));
    world.started(starting[0]);
    let failed = Err(refusal(FailureCode::BinaryMissing));
    let effects = world.input(Input::Spawned { instance: starting[1], result: failed });
    assert_eq!(deeds(&effects), ["kill", "err SPAWN_FAILED binary_missing"]);
    assert_eq!(deeds(&world.started(starting[2])), ["kill"]);
    world.exit(starting[0], 143);
    assert_eq!(world.saved(), before);
    // The ids are free again.
    assert_eq!(spawned(&world.ask(applied(&[5], "v1:5"))).len(), 1);
}

#[test]
fn a_layout_that_does_not_fit_its_commands_starts_nothing() {
    let mut world = world();
    for (specs, text, code) in [
        (&[5, 6][..], "v1:[5|6|7]", "BAD_PARAMS"),
        (&[5, 6, 7], "v1:[5|6]", "BAD_PARAMS"),
        (&[5, 5], "v1:5", "BAD_PARAMS"),
        (&[1, 5], "v1:[1|5]", "INTERNAL"),
    ] {
        let effects = world.ask(applied(specs, text));
        assert_eq!(deeds(&effects), [format!("err {code}")], "{text}");
    }
    let starting = spawned(&world.ask(applied(&[5], "v1:5")));
    world.ask(Command::CloseWorkspace(ws(1)));
    let effects = world.started(starting[0]);
    assert_eq!(deeds(&effects), ["kill", "err NO_SUCH_WORKSPACE"]);
}

#[test]
fn s6_a_shutdown_ends_what_a_layout_started() {
    let mut world = world();
    let starting = spawned(&world.ask(applied(&[5, 6], "v1:[5|6]")));
    world.started(starting[0]);
    let refused = world.ask(Command::Shutdown { force: false, continue_turns: false });
    assert_eq!(reply_of(&refused), &Err(CommandError::PanesAlive(6)));
    assert_eq!(
        [1, 6].map(|count| CommandError::PanesAlive(count).to_string()),
        [
            "1 pane has a running process; end it, or `signaltty shutdown --force` ends it",
            "6 panes have a running process; end them, or `signaltty shutdown --force` ends them",
        ]
    );
    let effects = world.input(Input::Shutdown(signaltty_core::session::ShutdownCause::Terminate));
    assert_eq!(deeds(&effects), ["kill", "err STOPPING", "save synced"]);
    assert_eq!(deeds(&world.started(starting[1])), ["kill"]);
}

#[test]
fn an_id_is_taken_while_its_process_starts() {
    let mut world = World::new();
    world.ask(new_workspace(1, shell()));
    let again = world.ask(Command::NewWorkspace {
        workspace: ws(2),
        name: None,
        cwd: "/work".into(),
        tab: tab(2),
        pane: pane(1),
        spec: shell(),
    });
    assert_eq!(reply_of(&again), &Err(CommandError::IdInUse("pane")));
}
