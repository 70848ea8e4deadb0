//! The programs in `examples/`, run.

#[path = "../../../examples/follow_events.rs"]
#[expect(dead_code, reason = "its main is for a terminal")]
mod follow_events;

use std::path::Path;
use std::process::Command;

use serde_json::json;
use signaltty_server::config::{Overrides, Paths};

use super::support::{Home, PATIENCE, Server, programs};
use follow_events::{Follower, Next};

fn paths(home: &Home) -> Paths {
    let overrides = Overrides { socket: Some(home.socket()), state_dir: Some(home.state()) };
    Paths::resolve(&overrides, Path::new("/"), |_| None).unwrap()
}

/// Takes what comes until a renaming to `title` was seen, by an event or in the
/// state as a whole; how often the whole state came, and how often the event.
async fn until_named(follower: &mut Follower, title: &str) -> (usize, usize) {
    let (mut everything, mut renamed) = (0, 0);
    let follow = async {
        loop {
            match follower.next().await.unwrap() {
                Next::Everything(state) => {
                    everything += 1;
                    if state.to_string().contains(title) {
                        return;
                    }
                }
                Next::Event(name) if name == "pane.updated" => {
                    renamed += 1;
                    return;
                }
                Next::Event(_) => {}
            }
        }
    };
    tokio::time::timeout(PATIENCE, follow).await.unwrap();
    (everything, renamed)
}

#[tokio::test]
async fn a_follower_goes_on_after_a_restart_and_recovers_from_lost_history() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let pane = server.sh(&home, "exec sleep 600");
    let mut follower = Follower::new(paths(&home));
    assert_eq!(until_named(&mut follower, "test").await, (1, 0));
    server.ask("pane.rename", json!({"pane": pane, "title": "first"}));
    assert_eq!(until_named(&mut follower, "first").await, (0, 1));

    // What happens while it is away comes from the journal, once.
    server.ask("pane.rename", json!({"pane": pane, "title": "second"}));
    server.wait_saved();
    server.term();
    let mut server = Server::start(&home);
    assert_eq!(until_named(&mut follower, "second").await, (0, 1));

    // Without its journal it can only read the state again.
    server.term();
    for entry in std::fs::read_dir(home.state()).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_string_lossy().starts_with("audit") {
            std::fs::remove_file(path).unwrap();
        }
    }
    let server = Server::start(&home);
    let (everything, _) = until_named(&mut follower, "second").await;
    assert_eq!(everything, 1);
    drop(server);
}

#[test]
fn a_shell_script_runs_commands_in_panes_and_says_how_they_ended() {
    if !programs::has("jq") {
        return;
    }
    let home = Home::new();
    let _server = Server::start(&home);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/run_in_panes.sh");
    let run = Command::new(script)
        .args(["true", "echo broken; exit 3", "kill -9 $$"])
        .env("SIGNALTTY", env!("CARGO_BIN_EXE_signaltty"))
        .env("SIGNALTTY_SOCKET", home.socket())
        .env("SIGNALTTY_STATE_DIR", home.state())
        .current_dir(home.work())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    let errors = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(1), "{said}{errors}");
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(lines[0], "ok      true");
    assert_eq!(lines[1], "failed  echo broken; exit 3 (code 3): broken");
    assert!(lines[2].starts_with("failed  kill -9 $$ (signal 9)"), "{said}");
}
