//! Who ended a process, and what that makes of its pane (D-8).

use signaltty_core::pane::{Attention, EndCause, ExitStatus, Lifecycle};
use signaltty_core::session::{Command, Input, ShutdownCause};

use crate::support::words::words;
use crate::support::{World, agent, pane, shell};

/// One pane ends with `status`, and `after` seconds later the server goes.
fn ended(status: ExitStatus, by_user: bool, talking: bool, after: Option<u64>) -> World {
    let mut world = World::new();
    let instance =
        if talking { world.talking(1, "claude", "A") } else { world.workspace(1, shell()) };
    world.does(instance, Lifecycle::Working);
    if by_user {
        assert_eq!(words(&world.ask(Command::Terminate(pane(1)))), ["kill", "ok"]);
    }
    world.input(Input::Exited { instance, status, last_line: None });
    if let Some(seconds) = after {
        world.pass(seconds * 1_000);
        world.input(Input::Shutdown(ShutdownCause::Host));
    }
    world
}

fn code(code: i32) -> ExitStatus {
    ExitStatus { code: Some(code), signal: None }
}

fn signal(signal: i32) -> ExitStatus {
    ExitStatus { code: None, signal: Some(signal) }
}

#[test]
fn d8_the_cause_decides_which_tombstone_remains() {
    use EndCause::{Process, Shutdown, User};
    let table = [
        // status, by user, talking, shutdown after, cause, state
        (code(0), false, true, None, User, "exited"),
        (code(130), false, true, None, User, "exited"),
        (code(1), false, true, None, Process, "resumable"),
        (signal(9), false, true, None, Process, "resumable"),
        (code(143), true, true, None, User, "exited"),
        (code(1), false, false, None, Process, "exited"),
        // In the ten seconds before a shutdown: the shutdown did it.
        (code(0), false, true, Some(5), Shutdown, "resumable"),
        (code(130), false, true, Some(10), Shutdown, "resumable"),
        (code(1), false, true, Some(0), Shutdown, "resumable"),
        (code(0), false, false, Some(5), Shutdown, "restored"),
        // Unless it was a person, or longer ago.
        (code(143), true, true, Some(5), User, "exited"),
        (code(0), false, true, Some(11), User, "exited"),
        (code(1), false, false, Some(11), Process, "exited"),
    ];
    for (status, by_user, talking, after, cause, state) in table {
        let mut world = ended(status, by_user, talking, after);
        let case = format!("{status} {by_user} {talking} {after:?}");
        let end = world.pane(pane(1)).record.end.unwrap();
        assert_eq!((end.cause, end.status), (cause, Some(status)), "{case}");
        assert_eq!(world.state(pane(1)), state, "{case}");
        // The next starts agree.
        for _ in 0..2 {
            world.crash();
            assert_eq!(world.state(pane(1)), state, "{case}");
        }
    }
}

#[test]
fn c001_c002_children_that_die_around_a_shutdown_keep_every_pane() {
    for status in [signal(1), code(1), code(129), code(143), code(0)] {
        let mut world = World::new();
        let instances = [
            world.workspace(1, shell()),
            world.split(1, 2, agent("claude")),
            world.talking(3, "claude", "A"),
        ];
        for (n, instance) in instances.into_iter().enumerate() {
            // The last one dies only after the shutdown began.
            if n == 2 {
                world.pass(200);
                world.input(Input::Shutdown(ShutdownCause::Terminate));
            }
            world.input(Input::Exited { instance, status, last_line: None });
        }
        world.crash();
        let states = [1, 2, 3].map(|n| world.state(pane(n)));
        assert_eq!(states, ["restored", "restored", "resumable"], "{status}");
        assert_eq!(world.saved().tabs.len(), 2);
    }
}

#[test]
fn c038_agents_killed_by_the_logout_are_resumable_and_interrupted() {
    for status in [code(0), code(1), code(143), signal(15)] {
        let world = ended(status, false, true, Some(5));
        let record = world.pane(pane(1)).record;
        assert_eq!(world.state(pane(1)), "resumable", "{status}");
        assert!(record.agent.as_ref().unwrap().interrupted, "{status}");
        assert_eq!(record.lifecycle, Lifecycle::Working, "{status}");
    }
    let control = ended(code(0), false, true, Some(600));
    let record = control.pane(pane(1)).record;
    assert_eq!(control.state(pane(1)), "exited");
    assert!(!record.agent.as_ref().unwrap().interrupted);
    assert_eq!(record.lifecycle, Lifecycle::Exited);
}

#[test]
fn d28_the_shutdown_freezes_what_panes_were_doing() {
    let mut world = World::new();
    let instance = world.talking(1, "claude", "A");
    world.does(instance, Lifecycle::Blocked);
    world.input(Input::Shutdown(ShutdownCause::Host));
    let effects = world.exit(instance, 0);
    assert_eq!(words(&effects), ["~pane.exited", "~pane.state resumable"]);
    let record = world.pane(pane(1)).record;
    assert_eq!(record.lifecycle, Lifecycle::Blocked);
    assert!(record.agent.as_ref().unwrap().interrupted);
}

#[test]
fn an_exit_is_told_and_wants_attention() {
    let mut world = World::new();
    let instance = world.workspace(1, shell());
    let expected = [
        "~pane.exited",
        "~pane.state exited",
        "~agent.lifecycle unknown exited",
        "~attention.changed unread",
    ];
    assert_eq!(words(&world.exit(instance, 1)), expected);
    assert_eq!(world.exit(instance, 1), []);
    assert_eq!(words(&world.ask(Command::Terminate(pane(1)))), ["err PANE_NOT_LIVE"]);
    let seen = words(&world.ask(Command::MarkSeen(pane(1))));
    assert_eq!(seen, ["~attention.changed none", "ok"]);
    assert_eq!(world.pane(pane(1)).record.attention, Attention::None);
}

#[test]
fn r9_c118_facts_of_a_dead_process_change_nothing() {
    let mut world = World::new();
    let old = world.talking(1, "claude", "A");
    world.exit(old, 1);
    let new = crate::support::spawn_of(
        &world.ask(Command::Restart { pane: pane(1), config_env: Default::default() }),
    );
    world.started(new);
    let before = world.saved();
    for effects in [
        world.does(old, Lifecycle::Working),
        world.shows(old, "Z"),
        world.anchored(old, "A", 9),
        world.exit(old, 0),
        world.started(old),
    ] {
        assert_eq!(effects, []);
    }
    assert_eq!(world.saved(), before);
    assert_eq!(world.state(pane(1)), "live");
}

#[test]
fn restart_runs_the_saved_command_in_the_same_slot() {
    let mut world = World::new();
    let instance = world.workspace(1, shell());
    world.exit(instance, 1);
    let effects = world.ask(Command::Restart { pane: pane(1), config_env: Default::default() });
    assert_eq!(words(&effects), ["spawn sleep 600"]);
    assert_eq!(
        words(&world.ask(Command::Restart { pane: pane(1), config_env: Default::default() })),
        ["err PANE_LIVE"]
    );
    let effects = world.started(crate::support::spawn_of(&effects));
    let expected = ["~pane.state live", "~agent.lifecycle exited unknown", "ok"];
    assert_eq!(words(&effects), expected);
    assert_eq!(world.pane(pane(1)).record.end, None);
    world.settled();
}

#[test]
fn a_pane_closed_while_it_restarts_leaves_no_process() {
    let mut world = World::new();
    let instance = world.workspace(1, shell());
    world.exit(instance, 1);
    let spawn = world.ask(Command::Restart { pane: pane(1), config_env: Default::default() });
    world.ask(Command::ClosePane(pane(1)));
    let effects = world.started(crate::support::spawn_of(&spawn));
    assert_eq!(words(&effects), ["kill", "err GONE"]);
    world.settled();
}
