//! Clients of a server that stops, or is gone all at once.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixListener;
use std::process::{Child, Output, Stdio};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Home, Server, cli, wait_until};

/// Ends the server that a client started.
struct Started<'a>(&'a Home);

impl Drop for Started<'_> {
    fn drop(&mut self) {
        cli::run(self.0, &["shutdown", "--force"]);
    }
}

fn begin(home: &Home, words: &[&str]) -> Child {
    let mut command = cli::command(home);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn ended(child: Child) -> (i32, String) {
    let output = child.wait_with_output().unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    (output.status.code().unwrap(), said)
}

/// A server that is ending and takes a while, since what it runs minds nothing.
fn stopping(home: &Home) -> Server {
    let server = Server::start(home);
    let pane = server.sh(home, "trap '' HUP TERM; echo ready; while :; do sleep 0.1; done");
    server.wait_text(&pane, "ready");
    let mut held = server.connect();
    server.signal(Signal::TERM);
    wait_until("the server to stop", || {
        held.call("server.status", json!({})).is_err_and(|error| error.code == "STOPPING")
    });
    server
}

#[test]
fn clients_that_come_while_a_server_stops_are_served_by_the_next_one() {
    let home = Home::new();
    let _started = Started(&home);
    let mut old = stopping(&home);
    let verbs = [&["ls"][..], &["new", "--cwd", "/", "--", "/bin/cat"], &["notify", "x"]];
    let clients = verbs.map(|words| (words, begin(&home, words)));
    for (words, client) in clients {
        let (code, said) = ended(client);
        assert_eq!(code, 0, "{words:?}: {said}");
    }
    assert!(old.wait_exit().success());
    let (_, status) = cli::json(&home, &["status"]);
    assert_ne!(status["pid"], old.pid(), "{status}");
    assert_eq!(status["counts"]["panes"], 2, "{status}");
}

#[test]
fn a_server_that_stops_is_waited_for_by_who_starts_none() {
    let home = Home::new();
    let mut old = stopping(&home);
    let clients = [
        (&["--no-start", "ls"][..], 3, "no server listens"),
        (&["shutdown", "--force"], 0, ""),
        (&["restore", "--plan"], 0, "leave"),
    ];
    let clients = clients.map(|(words, code, says)| (words, begin(&home, words), code, says));
    for (words, client, wanted, says) in clients {
        let (code, said) = ended(client);
        assert_eq!(code, wanted, "{words:?}: {said}");
        assert!(said.contains(says), "{words:?}: {said}");
    }
    assert!(old.wait_exit().success());
    assert!(!home.socket().exists(), "nobody started one");
}

#[test]
fn a_verb_right_after_a_shutdown_finds_the_next_server() {
    let home = Home::new();
    let _started = Started(&home);
    for round in 0..5 {
        let clients: Vec<_> = (0..3).map(|_| begin(&home, &["ls"])).collect();
        for client in clients {
            let (code, said) = ended(client);
            assert_eq!(code, 0, "round {round}: {said}");
        }
        let (code, said) = ended(begin(&home, &["shutdown", "--force"]));
        assert_eq!(code, 0, "round {round}: {said}");
    }
}

/// What a verb says where its server goes away instead of an answer to it; with
/// something unread the connection ends as a reset.
fn left_alone(home: &Home, words: &[&str], unread: bool) -> (Output, String) {
    let _ = fs::remove_file(home.socket());
    let listener = UnixListener::bind(home.socket()).unwrap();
    let mut command = cli::command(home);
    command.arg("--no-start").args(words).stdout(Stdio::piped()).stderr(Stdio::piped());
    let client = command.spawn().unwrap();
    let (stream, _) = listener.accept().unwrap();
    let mut lines = BufReader::new(&stream);
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    let request: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(request["method"], "server.ping");
    (&stream).write_all(format!("{}\n", json!({"id": "1", "result": {}})).as_bytes()).unwrap();
    if unread {
        let mut first = [0];
        rustix::net::recv(&stream, &mut first[..], rustix::net::RecvFlags::PEEK).unwrap();
    } else {
        line.clear();
        lines.read_line(&mut line).unwrap();
        if words.contains(&"events") {
            let reply = json!({"subscribed": true, "epoch": "e", "seq": 0});
            let reply = json!({"id": "2", "result": reply});
            (&stream).write_all(format!("{reply}\n{{\"event\":").as_bytes()).unwrap();
        }
    }
    drop(listener);
    drop(stream);
    let output = client.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    (output, said)
}

#[test]
fn whoever_waits_for_something_is_told_that_the_server_went_away() {
    let home = Home::new();
    for unread in [false, true] {
        for (words, says) in [
            (&["wait", "pane_x", "--until", "idle"][..], "while pane_x was waited for"),
            (&["events"], "went away"),
            (&["new", "--cwd", "/"], "whether that was done is not known"),
            (&["shutdown", "--force"], "went away before it answered server.shutdown"),
        ] {
            let (output, said) = left_alone(&home, words, unread);
            assert_eq!(output.status.code(), Some(3), "{words:?} {unread}: {said}");
            assert!(said.contains(says) && said.contains("went away"), "{words:?}: {said}");
            assert!(!said.contains("reset"), "{words:?}: {said}");
        }
    }
}

#[test]
fn a_killed_server_ends_who_waits_and_who_listens_with_3() {
    for signal in [Signal::KILL, Signal::TERM] {
        let home = Home::new();
        let mut server = Server::start(&home);
        let pane = server.spawn(&home, &["/bin/cat"]);
        let mut listens = begin(&home, &["--no-start", "events", "--from", "0"]);
        let mut out = BufReader::new(listens.stdout.take().unwrap());
        out.read_line(&mut String::new()).unwrap();
        let waits = begin(&home, &["--no-start", "wait", &pane, "--until", "exited"]);
        // Two descriptors of the server's are theirs.
        wait_until("both to be connected", || {
            let connected = fs::read_to_string("/proc/net/unix").unwrap();
            let ours = home.socket().display().to_string();
            connected.lines().filter(|l| l.ends_with(&ours) && l.contains(" 0001 03 ")).count() >= 2
        });
        server.signal(signal);
        server.wait_exit();
        for client in [listens, waits] {
            let (code, said) = ended(client);
            assert_eq!(code, 3, "{signal:?}: {said}");
            assert!(!said.contains("reset"), "{signal:?}: {said}");
        }
    }
}
