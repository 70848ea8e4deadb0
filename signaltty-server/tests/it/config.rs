//! `config.toml`: what is refused, what acts, what a SIGHUP changes.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use crate::support::{Client, Home, Server, wait_for, wait_until};

fn write(home: &Home, text: &str) -> PathBuf {
    let path = home.path("config.toml");
    fs::write(&path, text).unwrap();
    path
}

fn start(home: &Home, text: &str) -> Server {
    let path = write(home, text);
    Server::start_with(home, |command| {
        command.arg("--config").arg(path);
    })
}

/// Writes the file, has it read, and waits until that is done; what `status`
/// says of it.
fn reload(home: &Home, server: &Server, text: &str, state: &str) -> String {
    write(home, text);
    server.signal(Signal::HUP);
    wait_for(&format!("a configuration that is {state}"), || {
        let configuration = server.status()["configuration"].clone();
        let detail = configuration["detail"].as_str().unwrap_or_default().to_owned();
        (configuration["state"] == state).then_some(detail)
    })
}

#[test]
fn an_unknown_key_stops_a_start_before_anything_is_touched() {
    let home = Home::new();
    let path = write(&home, "[save]\ndebounce = 100\n");
    let refused = Server::refused(&home, |command| {
        command.arg("--config").arg(&path);
    });
    assert_eq!(refused.code, Some(2));
    for part in ["config.toml", "save.debounce;", "save.debounce_ms"] {
        assert!(refused.stderr.contains(part), "{part}: {}", refused.stderr);
    }
    assert!(!home.state().join("lock").exists() && !home.socket().exists());
    let missing = Server::refused(&home, |command| {
        command.arg("--config").arg(home.path("none.toml"));
    });
    assert_eq!(missing.code, Some(2), "{}", missing.stderr);
}

#[test]
fn the_standard_file_is_read_and_named_in_errors() {
    let home = Home::new();
    let path = home.path(".config/signaltty/config.toml");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "[resume]\ndeadline_s = { cluade = 3 }\n").unwrap();
    let refused = Server::refused(&home, |_| {});
    assert!(refused.stderr.contains("resume.deadline_s.claude"), "{}", refused.stderr);
    assert!(refused.stderr.contains(".config/signaltty/config.toml"), "{}", refused.stderr);
}

#[test]
fn defaults_and_limits_act() {
    let home = Home::new();
    let server = start(
        &home,
        "[defaults]\nauto_resume = true\n[limits]\npanes = 2\nrequest_bytes = 4096\n\
         connections = 4\n",
    );
    let pane = server.sh(&home, "exec sleep 600");
    let tree = server.ask("session.list", json!({}));
    assert_eq!(tree["workspaces"][0]["auto_resume"], true);
    assert_eq!(tree["workspaces"][0]["auto_continue"], false);
    server.ask("pane.split", json!({"pane": pane, "direction": "right", "argv": ["sleep", "600"]}));
    let third = server
        .call("pane.split", json!({"pane": pane, "direction": "right", "argv": ["sleep", "600"]}))
        .unwrap_err();
    assert!(third.message.contains('2'), "{third:?}");
    let long = server.call("pane.rename", json!({"pane": pane, "title": "x".repeat(5_000)}));
    assert_eq!(long.unwrap_err().code, "TOO_LARGE");
    // Five at once are one too many. Those before may still be closing.
    let open = || {
        let mut client = server.connect();
        client.send("server.status", json!({}));
        matches!(client.try_reply(), Some(Ok(_))).then_some(client)
    };
    let _open: Vec<Client> = (0..4).map(|_| wait_for("room for a client", open)).collect();
    let refused = server.connect().reply().unwrap_err();
    assert_eq!(refused.code, "RATE_LIMITED");
    assert!(refused.message.contains("limits.connections"), "{refused:?}");
}

#[test]
fn sighup_takes_over_what_can_be_and_says_what_cannot() {
    let home = Home::new();
    let server = start(&home, "[limits]\npanes = 1\n");
    let pane = server.sh(&home, "exec sleep 600");
    let split = json!({"pane": pane, "direction": "right", "argv": ["sleep", "600"]});
    server.call("pane.split", split.clone()).unwrap_err();
    // A mistake changes nothing, and is said.
    let detail = reload(&home, &server, "[limits]\npnes = 9\n", "rejected");
    assert!(detail.contains("limits.pnes") && detail.contains("limits.panes?"), "{detail}");
    server.call("pane.split", split.clone()).unwrap_err();
    let detail = reload(&home, &server, "[limits]\npanes = 2\nconnections = 9\n", "restart_needed");
    assert!(detail.contains("limits.connections"), "{detail}");
    server.ask("pane.split", split);
    reload(&home, &server, "[limits]\npanes = 2\n", "ok");
    assert_eq!(server.panes().len(), 2);
}

#[test]
fn history_and_tails_are_as_long_as_configured() {
    let home = Home::new();
    let mut server = start(&home, "[history]\nlines = 50\ntail_bytes = 1024\n");
    let script = "i=0; while [ $i -lt 500 ]; do i=$((i+1)); echo line $i; done; echo done; \
                  exec sleep 600";
    let pane = server.sh(&home, script);
    server.wait_text(&pane, "done");
    let read = server.ask("pane.read", json!({"pane": pane, "lines": 10_000}));
    let lines = read["text"].as_str().unwrap().lines().count();
    assert!((50..150).contains(&lines), "{lines} lines");
    server.term();
    let tails: Vec<_> = fs::read_dir(home.state().join("history")).unwrap().collect();
    assert_eq!(tails.len(), 1);
    let size = tails[0].as_ref().unwrap().metadata().unwrap().len();
    assert!((200..=1024).contains(&size), "{size} bytes");
}

#[test]
fn the_grace_of_a_stop_is_the_configured_one() {
    let home = Home::new();
    let server = start(&home, "[shutdown]\ngrace_s = 3\n");
    let stubborn = "trap '' HUP TERM; echo ready; while :; do sleep 1; done";
    let took = |server: &Server| {
        let pane = server.sh(&home, stubborn);
        server.wait_text(&pane, "ready");
        let since = Instant::now();
        server.ask("pane.terminate", json!({"pane": pane}));
        server.wait_state(&pane, "exited");
        since.elapsed()
    };
    let patient = took(&server);
    reload(&home, &server, "[shutdown]\ngrace_s = 0\nlogind = false\n", "restart_needed");
    let hasty = took(&server);
    assert!(patient >= Duration::from_secs(3), "{patient:?}");
    assert!(hasty < patient, "{hasty:?} {patient:?}");
}

#[test]
fn s0_36_a_periodic_save_writes_regardless_where_it_is_told_to() {
    let home = Home::new();
    let server =
        start(&home, "[save]\ndebounce_ms = 100\nperiodic_s = 1\nperiodic_unchanged = \"write\"\n");
    server.sh(&home, "exec sleep 600");
    server.wait_saved();
    let first = server.status()["last_save_at"].clone();
    wait_until("another save of the same state", || {
        let status = server.status();
        status["saved"] == true && status["last_save_at"] != first
    });
}
