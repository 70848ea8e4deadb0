//! The programs in `examples/`, run.

#[path = "../../../examples/follow_events.rs"]
#[expect(dead_code, reason = "its main is for a terminal")]
mod follow_events;

#[path = "../../../examples/foreign_adapter.rs"]
#[expect(dead_code, reason = "its main is for a terminal")]
mod foreign_adapter;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use signaltty_server::config::{Overrides, Paths};

use super::support::{Home, PATIENCE, Server, programs, wait_until};
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
    for entry in fs::read_dir(home.state()).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_string_lossy().starts_with("audit") {
            fs::remove_file(path).unwrap();
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

/// Not a test: the server with an adapter of its own, as a process.
#[test]
#[ignore = "a part of the test below"]
fn serves_scribes() {
    let dir = |name| std::env::var_os(name).unwrap().into();
    foreign_adapter::serve(dir("SERVE_STATE"), Some(dir("SERVE_SOCKET"))).unwrap();
}

/// Starts that process.
fn server_of_scribes(home: &Home) -> Server {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "examples::serves_scribes", "--ignored", "--nocapture"])
        .current_dir("/")
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", home.path(""))
        .env("SHELL", "/bin/sh")
        .env("SERVE_STATE", home.state())
        .env("SERVE_SOCKET", home.socket())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    Server::run(command, home.socket())
}

/// The environment of a client, by whose search path `scribe` is found and the
/// `signaltty` that passes its reports on.
fn of_a_client() -> Value {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
    let programs = Path::new(env!("CARGO_BIN_EXE_signaltty")).parent().unwrap();
    json!({"PATH": format!("{examples}:{}:/usr/bin:/bin", programs.display())})
}

/// A pane with scribe, who waits to be spoken to.
fn scribe(server: &Server, home: &Home, env: &Value) -> String {
    let scribe = json!({"cwd": home.work(), "argv": ["scribe"], "name": "test", "env": env});
    let made = server.ask("workspace.new", scribe);
    let pane = made["pane_id"].as_str().unwrap().to_owned();
    server.wait_text(&pane, "scribe>");
    pane
}

/// Says something to scribe, and kills the server once it is anchored.
fn say_and_kill(mut server: Server, home: &Home, pane: &str, number: u64, text: &str) {
    server.type_line(pane, text);
    server.wait_text(pane, &format!("line {number} is written"));
    wait_until("the anchor", || {
        fs::read_to_string(home.snapshot_path())
            .is_ok_and(|text| text.contains(&format!("\"user_messages\":{number}")))
    });
    server.kill9();
}

#[test]
fn d16_s1_28_an_embedders_agent_is_proven_and_its_spoilt_record_refused() {
    let home = Home::new();
    let server = server_of_scribes(&home);
    let env = of_a_client();
    let pane = scribe(&server, &home, &env);
    say_and_kill(server, &home, &pane, 1, "the door is blue");

    let server = server_of_scribes(&home);
    let resumed = server.ask("pane.resume", json!({"pane": pane, "env": env}));
    assert_eq!(resumed["verdict"], "verified", "{resumed}");
    let evidence = resumed["evidence"].to_string();
    assert!(evidence.contains("live_registry: process"), "{evidence}");
    assert!(evidence.contains("start_report: scribe reported a start, resumed"), "{evidence}");
    say_and_kill(server, &home, &pane, 2, "the key is under the mat");

    let id = resumed["agent_session_id"].as_str().unwrap();
    let record = home.work().join(format!(".scribe-{id}"));
    let whole = fs::read_to_string(&record).unwrap();
    fs::write(&record, "1 the door is blue\n").unwrap();
    let server = server_of_scribes(&home);
    let failure = server.call("pane.resume", json!({"pane": pane, "env": env})).unwrap_err();
    assert_eq!(failure.reason(), "damaged", "{}", failure.message);
    assert!(server.children().is_empty());

    fs::write(&record, whole).unwrap();
    let resumed = server.ask("pane.resume", json!({"pane": pane, "env": env}));
    assert_eq!(resumed["verdict"], "verified", "{resumed}");
    drop(server);
}

/// The hooks of a resumed agent find no `signaltty`: what it shows is not enough,
/// and the pane says what is missing while it runs and after it.
#[test]
fn d12_d2_a_resume_without_the_hooks_program_is_unconfirmed_and_the_pane_says_why() {
    let home = Home::new();
    let server = server_of_scribes(&home);
    let env = of_a_client();
    let pane = scribe(&server, &home, &env);
    assert_eq!(server.pane(&pane)["agent"]["integration"], Value::Null);
    say_and_kill(server, &home, &pane, 1, "the door is blue");

    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
    let without = json!({"PATH": format!("{examples}:/usr/bin:/bin")});
    let server = server_of_scribes(&home);
    let resumed = server.ask("pane.resume", json!({"pane": pane, "env": without}));
    assert_eq!(resumed["verdict"], "unconfirmed", "{resumed}");
    let evidence = resumed["evidence"].to_string();
    assert!(evidence.contains("live_registry: process"), "{evidence}");
    assert!(evidence.contains("no start_report came in time"), "{evidence}");
    let shown = server.pane(&pane)["agent"].clone();
    let note = shown["integration"].as_str().expect("a note");
    for words in ["scribe cannot report", "signaltty, is not there", "stays unconfirmed"] {
        assert!(note.contains(words), "{note}");
    }
    assert_eq!(shown["last_failure"]["code"], "unconfirmed");
    // A person reads both, also once it ended.
    let listed = |state: &str| {
        server.wait_state(&pane, state);
        let ls = Command::new(env!("CARGO_BIN_EXE_signaltty"))
            .args(["ls", "--no-start", "--socket"])
            .arg(home.socket())
            .output()
            .unwrap();
        let text = String::from_utf8(ls.stdout).unwrap();
        assert!(text.contains("(unconfirmed): ") && text.contains(note), "{state}: {text}");
    };
    listed("live");
    server.ask("pane.send", json!({"pane": pane, "text": "\u{4}"}));
    listed("exited");

    // With the program it is proven, and there is nothing to say.
    let resumed = server.ask("pane.resume", json!({"pane": pane, "env": env}));
    assert_eq!(resumed["verdict"], "verified", "{resumed}");
    let shown = server.pane(&pane)["agent"].clone();
    assert_eq!((&shown["integration"], &shown["last_failure"]), (&Value::Null, &Value::Null));
}
