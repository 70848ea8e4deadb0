//! Embeds the core: a session without terminals, files or clocks.
//!
//! The caller gives time, ids and facts, and performs the effects. Here they are
//! only printed.
//!
//! Run it with `cargo run -p signaltty-core --example embed_core`.

use std::time::Duration;

use signaltty_core::env::{ConfigEnv, SavedEnv};
use signaltty_core::id::{PaneId, RequestId, ServerEpoch, TabId, WorkspaceId};
use signaltty_core::layout::Direction;
use signaltty_core::pane::ExitStatus;
use signaltty_core::session::{Command, Config, Effect, Input, PaneSpec, Session};
use signaltty_core::time::{Now, UnixMillis};

fn main() {
    let mut session = Session::new(ServerEpoch(1), Config::default());
    let first = PaneId::from_random([1; 10]);
    let command = Command::NewWorkspace {
        workspace: WorkspaceId::from_random([1; 10]),
        name: Some("api".into()),
        cwd: "/home/me/api".into(),
        tab: TabId::from_random([1; 10]),
        pane: first,
        spec: shell(),
    };
    step(&mut session, 0, Input::Command { request: RequestId(1), command });
    let new = PaneId::from_random([2; 10]);
    let command = Command::Split { pane: first, direction: Direction::Right, new, spec: shell() };
    step(&mut session, 10, Input::Command { request: RequestId(2), command });

    // What is saved has no process in it, so neither has what comes back.
    let saved = session.saved(at(20));
    let (restored, _) = Session::restore(saved, ServerEpoch(2), Config::default(), at(30));
    for workspace in restored.workspaces() {
        for tab in workspace.tabs() {
            say(&format!("{} {}", workspace.record.handle, tab.record.layout));
            for pane in tab.panes() {
                say(&format!("  {} is {}", pane.record.id, pane.state));
            }
        }
    }
}

/// Gives an input and plays the world: every start succeeds, and the process in
/// the first pane ends at once.
fn step(session: &mut Session, millis: u64, input: Input) {
    for effect in session.handle(at(millis), input) {
        say(&format!("{effect:?}"));
        if let Effect::Spawn { instance, .. } = effect {
            step(session, millis + 1, Input::Spawned { instance, result: Ok(()) });
            let status = ExitStatus { code: Some(0), signal: None };
            step(session, millis + 2, Input::Exited { instance, status, last_line: None });
        }
    }
}

fn shell() -> PaneSpec {
    PaneSpec {
        argv: vec!["sh".into()],
        cwd: "/home/me/api".into(),
        env: SavedEnv::filter([("TERM", "xterm-256color"), ("TOKEN", "never kept")]),
        agent: None,
        config_env: ConfigEnv::default(),
    }
}

fn at(millis: u64) -> Now {
    Now { mono: Duration::from_millis(millis), wall: UnixMillis(1_800_000_000_000 + millis) }
}

#[expect(clippy::print_stdout, reason = "an example shows what it does")]
fn say(line: &str) {
    println!("{line}");
}
