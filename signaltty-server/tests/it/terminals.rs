//! What programs can do to their terminals.
//!
//! `SIGNALTTY_TEST_SCALE=full` runs these at the sizes that the issues name.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::frames::REPAINT;
use crate::support::{Home, Server, full_scale};

#[test]
fn c079_a_long_history_does_not_hold_up_an_attach() {
    let home = Home::new();
    let server = Server::start(&home);
    let lines = if full_scale() { 200_000 } else { 20_000 };
    let script = format!("yes $(seq -s ' ' 1 77) | head -n {lines}; echo the end; exec cat");
    let pane = server.sh(&home, &script);
    server.wait_text(&pane, "the end");
    for _ in 0..10 {
        let attach = json!({"pane": pane, "cols": 80, "rows": 24, "history": 100});
        let began = Instant::now();
        let mut client = server.connect().attach(attach);
        client.wait_text("the end");
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    }
}

#[test]
fn c080_a_pane_without_saved_output_says_so_and_harms_no_other() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let panes: Vec<_> =
        (0..4).map(|n| server.sh(&home, &format!("echo words {n}; exec cat"))).collect();
    for (n, pane) in panes.iter().enumerate() {
        server.wait_text(pane, &format!("words {n}"));
    }
    assert!(server.term().success());
    let tail = |n: usize| home.path(&format!("state/history/{}.tail", panes[n]));
    fs::remove_file(tail(0)).unwrap();
    fs::write(tail(1), b"").unwrap();
    // Not even the superuser reads a directory as a file.
    fs::remove_file(tail(2)).unwrap();
    fs::create_dir(tail(2)).unwrap();

    let server = Server::start(&home);
    for pane in &panes[..2] {
        let read = server.ask("pane.read", json!({"pane": pane}));
        assert_eq!(read["text"], "", "{read}");
    }
    if let Ok(read) = server.call("pane.read", json!({"pane": panes[2]})) {
        assert_eq!(read["text"], "", "{read}");
    }
    assert!(server.text(&panes[3]).contains("words 3"));
    assert_eq!(server.panes().len(), 4);
}

#[test]
fn c085_what_one_client_shows_large_is_not_the_layout() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let a = server.spawn(&home, &["/bin/cat"]);
    let split = |of: &str, direction: &str| {
        let ask = json!({"pane": of, "direction": direction, "argv": ["/bin/cat"]});
        server.ask("pane.split", ask)["pane_id"].as_str().unwrap().to_owned()
    };
    let b = split(&a, "right");
    let c = split(&b, "down");
    let d = split(&c, "right");
    let tab = server.pane(&a)["tab_id"].clone();
    let layout = json!(format!("v1:[{a}|[{b}/[{c}|{d}]]]"));
    let now = |server: &Server| server.ask("tab.layout", json!({"tab": tab}))["layout"].clone();
    assert_eq!(now(&server), layout);
    // One pane alone on a large terminal, as a client that zooms shows it.
    let mut client = server.connect().attach(json!({"pane": c, "cols": 200, "rows": 60}));
    client.wait_kind(REPAINT);
    server.ask("pane.rename", json!({"pane": c, "title": "saved while it is shown"}));
    server.wait_saved();
    server.kill9();
    let server = Server::start(&home);
    assert_eq!(now(&server), layout);
}

#[test]
fn programs_have_the_limit_of_open_files_that_the_server_was_started_with() {
    let home = Home::new();
    let server = Server::start_with(&home, |command| {
        let mut wrapped = Command::new("/bin/sh");
        wrapped.args(["-c", "ulimit -S -n 300; exec \"$0\" \"$@\""]);
        wrapped.arg(command.get_program()).args(command.get_args()).env_clear();
        for (name, value) in command.get_envs() {
            wrapped.env(name, value.unwrap());
        }
        wrapped.stderr(std::process::Stdio::piped());
        *command = wrapped;
    });
    let pane = server.sh(&home, "ulimit -S -n; exec cat");
    server.wait_text(&pane, "300");
    let limits = fs::read_to_string(format!("/proc/{}/limits", server.pid())).unwrap();
    let files = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    let values: Vec<_> = files.split_whitespace().skip(3).take(2).collect();
    assert_eq!(values[0], values[1], "{files}");
}
