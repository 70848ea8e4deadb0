//! Making, splitting, closing and naming.

use signaltty_core::layout::Size;
use signaltty_core::restore::FailureCode;
use signaltty_core::session::{Command, Effect, Input};

use crate::support::facts::refusal;
use crate::support::words::{deeds, words};
use crate::support::{World, agent, new_workspace, pane, save_of, shell, spawn_of, split, tab, ws};

#[test]
fn a_pane_exists_once_its_process_runs() {
    let mut world = World::new();
    let effects = world.ask(new_workspace(1, agent("claude")));
    assert_eq!(words(&effects), ["spawn claude --model x"]);
    assert!(world.session.pane(pane(1)).is_none());

    let effects = world.started(spawn_of(&effects));
    let expected =
        ["~workspace.created", "~tab.created", "~pane.created", "ok created", "observe claude"];
    assert_eq!(words(&effects), expected);
    assert_eq!(world.state(pane(1)), "live");
    assert_eq!(words(&world.pass(1_500)), ["save relaxed"]);
    world.settled();
}

#[test]
fn s1_a_failed_start_leaves_neither_tab_nor_pane() {
    let mut world = World::new();
    world.workspace(1, shell());
    let before = world.saved();
    let commands = [
        new_workspace(2, shell()),
        split(1, 3, shell()),
        Command::NewTab {
            workspace: ws(1),
            tab: tab(4),
            title: None,
            pane: pane(4),
            spec: shell(),
        },
    ];
    for command in commands {
        let instance = spawn_of(&world.ask(command));
        let effects = world
            .input(Input::Spawned { instance, result: Err(refusal(FailureCode::BinaryMissing)) });
        assert_eq!(words(&effects), ["err SPAWN_FAILED binary_missing"]);
        assert_eq!(world.saved(), before);
    }
    world.settled();
}

#[test]
fn c115_a_split_resizes_its_neighbour_and_a_close_gives_the_room_back() {
    let mut world = World::new();
    world.workspace(1, shell());
    let spawn = world.ask(split(1, 2, shell()));
    let effects = world.started(spawn_of(&spawn));
    assert_eq!(deeds(&effects), ["resize 40x24", "ok created"]);
    let ids: Vec<_> = world.saved().panes.iter().map(|p| p.id).collect();
    assert_eq!(ids, [pane(1), pane(2)]);

    let effects = world.ask(Command::ClosePane(pane(2)));
    let expected = ["kill", "forget", "~pane.closed", "~tab.updated", "resize 80x24", "ok"];
    assert_eq!(words(&effects), expected);
    assert_eq!(world.saved().tabs[0].active_pane, pane(1));
    world.settled();
}

#[test]
fn a_split_into_no_room_is_refused_and_starts_nothing() {
    let mut world = World::new();
    world.workspace(1, shell());
    let area = Size { cols: 2, rows: 1 };
    world.ask(Command::SetArea { tab: tab(1), area, zoomed: false });
    let before = world.saved();
    assert_eq!(deeds(&world.ask(split(1, 2, shell()))), ["err NO_ROOM"]);
    assert_eq!(world.saved(), before);
}

#[test]
fn c070_row_d10_what_could_not_be_saved_is_not_made() {
    let mut world = World::new();
    world.workspace(1, shell());
    let mib = "x".repeat(1 << 20);
    let new_tab = |n, spec| {
        let workspace = ws(1);
        Command::NewTab { workspace, tab: tab(n), title: None, pane: pane(n), spec }
    };
    let long = || signaltty_core::session::PaneSpec {
        argv: vec!["true".into(), mib.clone().into()],
        ..shell()
    };
    let mut made = 1;
    let refused = loop {
        let effects = world.ask(new_tab(made + 1, long()));
        match deeds(&effects).as_slice() {
            [refused] if refused.starts_with("err") => break refused.clone(),
            _ => world.started(spawn_of(&effects)),
        };
        made += 1;
        assert!(made < 64, "more than a snapshot takes");
    };
    assert_eq!(refused, "err NO_ROOM");
    assert!(made > 40, "{made}");
    // Small ones are made all the same, and one that goes gives its room back.
    let effects = world.ask(new_tab(200, shell()));
    world.started(spawn_of(&effects));
    world.ask(Command::ClosePane(pane(2)));
    let effects = world.ask(new_tab(201, long()));
    world.started(spawn_of(&effects));
    assert_eq!(deeds(&world.ask(new_tab(202, long()))), ["err NO_ROOM"]);
    world.settled();
}

#[test]
fn s1_what_is_not_there_is_refused_and_changes_nothing() {
    let mut world = World::new();
    world.workspace(1, shell());
    let before = world.saved();
    let refused = [
        (Command::ClosePane(pane(9)), "err NO_SUCH_PANE"),
        (Command::CloseTab(tab(9)), "err NO_SUCH_TAB"),
        (Command::CloseWorkspace(ws(9)), "err NO_SUCH_WORKSPACE"),
        (Command::Restart { pane: pane(1), config_env: Default::default() }, "err PANE_LIVE"),
        (crate::support::resume(1), "err PANE_LIVE"),
        (Command::Terminate(pane(9)), "err NO_SUCH_PANE"),
        (split(1, 1, shell()), "err INTERNAL"),
        (new_workspace(1, shell()), "err INTERNAL"),
        (Command::Shutdown { force: false, continue_turns: false }, "err PANES_ALIVE"),
    ];
    for (command, expected) in refused {
        assert_eq!(words(&world.ask(command)), [expected]);
        assert_eq!(world.saved(), before);
    }
    world.settled();
}

#[test]
fn the_last_pane_takes_tab_and_workspace_along() {
    let mut world = World::new();
    world.workspace(1, shell());
    assert!(!world.saved().emptied_by_user);
    let effects = world.ask(Command::ClosePane(pane(1)));
    let expected = ["kill", "forget", "~pane.closed", "~tab.closed", "~workspace.closed", "ok"];
    assert_eq!(words(&effects), expected);
    // P9: this emptiness may be saved over what was there.
    assert!(world.saved().is_empty() && world.saved().emptied_by_user);
    world.workspace(2, shell());
    assert!(!world.saved().emptied_by_user);
}

#[test]
fn a_pane_whose_place_went_away_is_stopped() {
    let mut world = World::new();
    world.workspace(1, shell());
    let spawn = world.ask(split(1, 2, shell()));
    world.ask(Command::ClosePane(pane(1)));
    let effects = world.started(spawn_of(&spawn));
    assert_eq!(words(&effects), ["kill", "err NO_SUCH_PANE"]);
    world.settled();
}

#[test]
fn c082_names_are_one_plain_line_and_a_title_can_be_given_back() {
    let mut world = World::new();
    let instance = world.workspace(1, shell());
    let rename = |title: &str| Command::RenamePane { pane: pane(1), title: title.into() };
    world.ask(rename("build\u{1b}[31m\n\u{202e}x"));
    assert_eq!(&*world.pane(pane(1)).record.title, "build [31m x");
    let fact = |text: &str| Input::Fact {
        instance,
        fact: signaltty_core::session::PaneFact::Title(text.into()),
    };
    assert_eq!(world.input(fact("vim")), []);
    world.ask(rename(""));
    assert_eq!(&*world.pane(pane(1)).record.title, "sleep");
    assert_eq!(words(&world.input(fact("vim"))), ["~pane.updated"]);
    assert_eq!(&*world.pane(pane(1)).record.title, "vim");
}

#[test]
fn d10_a_process_gets_the_size_that_its_pane_has_once_it_runs() {
    let mut world = World::new();
    world.workspace(1, shell());
    let spawn = world.ask(split(1, 2, shell()));
    let area = Size { cols: 100, rows: 30 };
    world.ask(Command::SetArea { tab: tab(1), area, zoomed: false });
    let effects = world.started(spawn_of(&spawn));
    let sizes = ["resize 50x30", "resize 49x30", "ok created"];
    let mut got = deeds(&effects);
    got.sort();
    let mut sizes = sizes.map(str::to_owned);
    sizes.sort();
    assert_eq!(got, sizes);
    let resized = |effect: &Effect| matches!(effect, Effect::Resize { .. });
    assert_eq!(effects.iter().filter(|e| resized(e)).count(), 2);
}

#[test]
fn d10_s0_45_the_area_of_a_client_is_saved_and_that_of_a_zoom_is_not() {
    let mut world = World::new();
    world.workspace(1, shell());
    world.split(1, 2, shell());
    let mut set = |cols, zoomed| {
        let area = Size { cols, rows: 30 };
        world.ask(Command::SetArea { tab: tab(1), area, zoomed });
        let size = world.pane(pane(1)).record.size.cols;
        let effects = world.pass(10_000);
        let saves = !effects.is_empty();
        if saves {
            world.save_ok(save_of(&effects));
        }
        (size, world.saved().tabs[0].area.cols, saves)
    };
    assert_eq!(set(100, false), (50, 100, true));
    assert_eq!(set(100, false), (50, 100, false));
    assert_eq!(set(200, true), (100, 100, false));
    assert_eq!(set(220, true), (110, 100, false));
    assert_eq!(set(100, false), (50, 100, false));
    assert_eq!(set(200, true), (100, 100, false));
    assert_eq!(set(120, false), (60, 120, true));
    assert_eq!(set(200, true), (100, 120, false));
    world.crash();
    assert_eq!(world.pane(pane(1)).record.size, Size { cols: 60, rows: 30 });
}
