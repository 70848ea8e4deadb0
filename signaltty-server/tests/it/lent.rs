//! Terminals that clients lend to the server.

use std::path::PathBuf;

use rustix::process::Signal;

use crate::support::terminal::Terminal;
use crate::support::{Home, Server, process, wait_until};

const DETACH: &str = "\x1d";

fn attach(home: &Home, pane: &str) -> Terminal {
    Terminal::start_with(home, |command| {
        command.args(["attach", pane]);
    })
}

fn has_open(server: &Server, terminal: &PathBuf) -> bool {
    process::open_files(server.pid()).contains(terminal)
}

/// Prints numbered lines without an end.
fn floods(server: &Server, home: &Home) -> String {
    let pane = server.sh(home, "n=0; while :; do n=$((n+1)); echo \"line $n.\"; done");
    server.wait_text(&pane, "line 1");
    pane
}

#[test]
fn t4_a_terminal_on_loan_is_given_back_before_its_person_goes_on() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = floods(&server, &home);
    for how in [None, Some(Signal::TERM), Some(Signal::HUP)] {
        let mut terminal = attach(&home, &pane);
        let name = terminal.name();
        wait_until("the server to have the terminal", || has_open(&server, &name));
        let before = terminal.bytes().len();
        wait_until("output", || terminal.bytes().len() > before + 100_000);
        match how {
            Some(signal) => terminal.signal(signal),
            None => terminal.press(DETACH),
        }
        terminal.wait_exit();
        wait_until("the server to close the terminal", || !has_open(&server, &name));
        terminal.wait_restored();
        let end = terminal.wait_bytes(b"\n");
        let end = String::from_utf8_lossy(&end).into_owned();
        // From the reset on there is what the client says, and nothing of the pane.
        let last = &end[end.rfind("\x1b[?2026l").expect("it was set back")..];
        assert!(!last.contains("line "), "{how:?}: {last:?}");
    }
}

#[test]
fn c088_what_is_typed_with_the_key_that_detaches_arrives() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.sh(&home, "echo ready; exec cat");
    for round in 0..5 {
        let mut terminal = attach(&home, &pane);
        terminal.wait_text("ready");
        // In one piece, as a script or a slow link sends it.
        terminal.press(&format!("typed-{round}\r{DETACH}"));
        assert!(terminal.wait_exit().success());
        server.wait_text(&pane, &format!("typed-{round}\ntyped-{round}"));
        let said = terminal.wait_text("[detached from");
        assert!(!said.contains("did not get"), "{said}");
    }
}

#[test]
fn c088_a_terminal_on_loan_goes_with_its_client_and_with_the_server() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let pane = floods(&server, &home);
    let mut terminal = attach(&home, &pane);
    let name = terminal.name();
    wait_until("the server to have the terminal", || has_open(&server, &name));
    terminal.signal(Signal::KILL);
    terminal.wait_exit();
    wait_until("the server to close the terminal", || !has_open(&server, &name));
    assert_eq!(server.pane(&pane)["state"], "live");

    let mut terminal = attach(&home, &pane);
    let name = terminal.name();
    wait_until("the server to have the terminal", || has_open(&server, &name));
    server.kill9();
    assert!(!terminal.wait_exit().success());
    terminal.wait_restored();
}

#[test]
fn c095_a_terminal_on_loan_that_takes_nothing_holds_up_nobody() {
    let home = Home::new();
    let server = Server::start(&home);
    let script = "read go; yes 'a line of output' | head -n 500000; echo the end; exec cat";
    let pane = server.sh(&home, script);
    let mut terminal = attach(&home, &pane);
    let name = terminal.name();
    wait_until("the server to have the terminal", || has_open(&server, &name));
    terminal.press("go\r");
    terminal.stalled(|| {
        server.wait_text(&pane, "the end");
    });
    // What it missed it gets as the screen that there is now.
    terminal.wait_text("the end");
    assert!(terminal.bytes().len() < 4_000_000, "its backlog was dropped");
    terminal.press("typed\r");
    terminal.wait_text("typed");
}
