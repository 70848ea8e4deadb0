//! The one way in which a session ends.

use signaltty_core::save::SaveFailure;
use signaltty_core::session::{Command, Input, ShutdownCause};

use super::resume::tombstone;
use crate::support::facts::extends;
use crate::support::words::{deeds, words};
use crate::support::{World, new_workspace, pane, resume, save_of, shell, spawn_of};

const HOST: Input = Input::Shutdown(ShutdownCause::Host);

#[test]
fn s0_4_the_last_save_is_synced_and_then_the_server_stops() {
    let mut world = World::new();
    let instance = world.workspace(1, shell());
    let refused = words(&world.ask(Command::Shutdown { force: false, continue_turns: false }));
    assert_eq!(refused, ["err PANES_ALIVE"]);
    let effects = world.ask(Command::Shutdown { force: true, continue_turns: false });
    assert_eq!(words(&effects), ["~server.stopping", "save synced"]);
    assert_eq!(world.input(HOST), []);
    let denied = words(&world.ask(new_workspace(2, shell())));
    assert_eq!(denied, ["err STOPPING"]);
    assert_eq!(words(&world.save_ok(save_of(&effects))), ["ok", "stop"]);
    // S6: nothing more is started.
    world.exit(instance, 0);
    assert_eq!(words(&world.pass(600_000)), [""; 0]);
    assert_eq!(
        words(&world.ask(Command::Shutdown { force: true, continue_turns: false })),
        ["err STOPPING"]
    );
    world.settled();
}

#[test]
fn s0_28_a_failed_last_save_still_stops_and_says_so() {
    let mut world = World::new();
    world.workspace(1, shell());
    let effects = world.ask(Command::Shutdown { force: true, continue_turns: false });
    let effects =
        world.input(Input::Saved { token: save_of(&effects), result: Err(SaveFailure::NoSpace) });
    assert_eq!(words(&effects), ["err NOT_SAVED", "stop"]);
    assert_eq!(words(&world.pass(600_000)), [""; 0]);
    world.settled();
}

#[test]
fn s0_28_failures_before_do_not_delay_the_last_save() {
    let mut world = World::new();
    world.workspace(1, shell());
    for _ in 0..6 {
        let effects = world.pass(60_000);
        world.input(Input::Saved { token: save_of(&effects), result: Err(SaveFailure::Io) });
    }
    let effects = world.input(HOST);
    assert_eq!(deeds(&effects), ["save synced"]);
}

#[test]
fn a_save_under_way_is_not_the_last_one() {
    for result in [Ok(()), Err(SaveFailure::Io)] {
        let mut world = World::new();
        world.workspace(1, shell());
        let first = save_of(&world.pass(1_500));
        world.ask(Command::Shutdown { force: true, continue_turns: false });
        let effects = world.input(Input::Saved { token: first, result });
        assert_eq!(words(&effects), ["save synced"]);
        let last = save_of(&effects);
        assert_eq!(world.save_ok(first), []);
        assert_eq!(words(&world.save_ok(last)), ["ok", "stop"]);
    }
}

#[test]
fn s6_what_is_being_started_is_answered_and_stopped() {
    let mut world = World::new();
    let old = world.workspace(1, shell());
    world.exit(old, 1);
    let restarting =
        spawn_of(&world.ask(Command::Restart { pane: pane(1), config_env: Default::default() }));
    let creating = spawn_of(&world.ask(new_workspace(2, shell())));
    // They count: something runs, or is about to.
    let refused = words(&world.ask(Command::Shutdown { force: false, continue_turns: false }));
    assert_eq!(refused, ["err PANES_ALIVE"]);
    let effects = deeds(&world.input(HOST));
    assert_eq!(effects, ["err STOPPING", "err STOPPING", "save synced"]);
    world.settled();
    assert_eq!(words(&world.started(restarting)), ["kill"]);
    assert_eq!(words(&world.started(creating)), ["kill"]);
    assert_eq!(world.saved().panes.len(), 1);
}

#[test]
fn s6_a_resume_goes_back_to_its_tombstone() {
    let mut checking = tombstone();
    let before = checking.saved();
    checking.ask(resume(1));
    let effects = words(&checking.input(HOST));
    let expected = ["~pane.state resumable", "err STOPPING", "~server.stopping", "save synced"];
    assert_eq!(effects, expected);
    assert_eq!(checking.preflight(1, Ok(extends("A", 1))), []);

    let mut spawning = tombstone();
    let instance = spawning.spawning(1);
    let effects = deeds(&spawning.input(HOST));
    assert_eq!(effects, ["err STOPPING", "save synced"]);
    assert_eq!(words(&spawning.started(instance)), ["kill"]);

    let mut verifying = tombstone();
    let instance = verifying.verifying(1);
    let effects = deeds(&verifying.input(HOST));
    assert_eq!(effects, ["kill", "err STOPPING", "save synced"]);
    assert_eq!(verifying.exit(instance, 0), []);
    for world in [checking, spawning, verifying] {
        world.settled();
        assert_eq!(world.state(pane(1)), "resumable");
        assert_eq!(world.saved(), before);
    }
}

#[test]
fn c038_a_resume_under_way_does_not_hide_an_exit_of_the_logout() {
    let mut world = World::new();
    let instance = world.talking(1, "claude", "A");
    world.exit(instance, 0);
    world.pass(1_000);
    world.ask(resume(1));
    world.pass(1_000);
    world.input(HOST);
    assert_eq!(world.state(pane(1)), "resumable");
}
