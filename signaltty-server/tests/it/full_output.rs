//! What is printed to a disk without room.

use std::fs::File;
use std::process::{Command, Output, Stdio};

use crate::support::{Home, Server, cli};

/// Runs a command whose standard output takes nothing.
fn onto_full_disk(mut command: Command) -> Output {
    let full = File::options().write(true).open("/dev/full").unwrap();
    command.stdin(Stdio::null()).stdout(full).output().unwrap()
}

fn said(ended: &Output) -> (i32, String) {
    (ended.status.code().unwrap(), String::from_utf8(ended.stderr.clone()).unwrap())
}

const NO_ROOM: &str = "cannot write to standard output: No space left on device";

#[test]
fn no_verb_ends_with_0_where_its_output_was_not_written() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.sh(&home, "echo there; exec sleep 1000");
    server.wait_text(&pane, "there");
    let tab = server.pane(&pane)["tab_id"].as_str().unwrap().to_owned();
    for words in [
        &["--help"][..],
        &["--version"],
        &["help", "pane"],
        &["pane", "--help"],
        &["status"],
        &["ls"],
        &["ls", "--json"],
        &["pane", "read", &pane],
        &["pane", "info", &pane],
        &["wait", &pane, "--until", "unknown"],
        &["notify", "over"],
        &["notifications"],
        &["events", "--from", "0"],
        &["tab", "layout", &tab],
        &["restore", "--plan"],
        &["integration", "status"],
        &["completions", "bash"],
        &["new", "--cwd", "/", "--", "/bin/cat"],
        &["pane", "split", &pane, "--", "/bin/cat"],
        &["shutdown", "--force", "--json"],
    ] {
        let mut command = cli::command(&home);
        command.arg("--no-start").args(words);
        let (code, says) = said(&onto_full_disk(command));
        assert_eq!(code, 1, "{words:?}: {says}");
        assert!(says.contains(NO_ROOM), "{words:?}: {says}");
    }
}

#[test]
fn an_error_that_could_not_be_written_keeps_its_exit_code() {
    let home = Home::new();
    let server = Server::start(&home);
    for (words, wanted) in [
        (&["pane", "info", "nope", "--json"][..], 1),
        (&["pane", "--json", "fly"], 2),
        (&["wait", "nope", "--until", "idle", "--timeout", "soon", "--json"], 2),
    ] {
        let mut command = cli::command(&home);
        command.arg("--no-start").args(words);
        let (code, says) = said(&onto_full_disk(command));
        assert_eq!(code, wanted, "{words:?}: {says}");
        assert!(says.contains(NO_ROOM), "{words:?}: {says}");
    }
    drop(server);
}

#[test]
fn no_tool_of_the_server_ends_with_0_where_its_output_was_not_written() {
    let home = Home::new();
    let mut server = Server::start(&home);
    server.spawn(&home, &["/bin/cat"]);
    server.wait_saved();
    assert!(server.term().success());
    for words in [
        &["--help"][..],
        &["--version"],
        &["doctor"],
        &["doctor", "--json"],
        &["history", "list"],
        &["history", "list", "--json"],
        &["history", "show", "7", "--json"],
        &["schema"],
        &["schema", "snapshot"],
        &["service", "status"],
        &["service", "status", "--json"],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_signaltty-server"));
        command.env_clear().env("HOME", home.path("")).arg("--state-dir").arg(home.state());
        let (code, says) = said(&onto_full_disk({
            command.args(words);
            command
        }));
        assert_eq!(code, 1, "{words:?}: {says}");
        assert!(says.contains(NO_ROOM), "{words:?}: {says}");
    }
}
