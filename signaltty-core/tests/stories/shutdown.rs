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
    let refused = words(&world.ask(Command::Shutdown { force: false }));
    assert_eq!(refused, ["err PANES_ALIVE"]);
    let effects = world.ask(Command::Shutdown { force: true });
    assert_eq!(words(&effects), ["~server.stopping", "save synced"]);
    assert_eq!(world.input(HOST), []);
    let denied = words(&world.ask(new_workspace(2, shell())));
    assert_eq!(denied, ["err STOPPING"]);
    assert_eq!(words(&world.save_ok(save_of(&effects))), ["ok", "stop"]);
    // S6: nothing more is started.
    world.exit(instance, 0);
    assert_eq!(words(&world.pass(600_000)), [""; 0]);
    assert_eq!(
        words(&world.ask(Command::Shutdown { force: true })),
        ["err STOPPING"]
    );
    world.settled();
}
