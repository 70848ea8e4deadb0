//! Several terminals on one pane: which of them speaks to the program.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use crate::support::frames::{Attached, DETACH, HISTORY, HISTORY_REQUEST};
use crate::support::{Home, Server, wait_until};

fn attach(server: &Server, pane: &str) -> Attached {
    server.connect().attach(json!({"pane": pane, "cols": 80, "rows": 24}))
}

/// Shows every byte that it gets.
fn shows_bytes(server: &Server, home: &Home) -> String {
    let pane = server.sh(home, "stty raw -echo; echo ready; exec cat -v");
    server.wait_text(&pane, "ready");
    pane
}

#[test]
fn only_the_terminal_that_drives_answers_the_program() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = shows_bytes(&server, &home);
    let mut first = attach(&server, &pane);
    first.wait_text("ready");
    let mut second = attach(&server, &pane);
    second.wait_text("ready");

    // The second came last and drives. All kinds of replies, one of them cut.
    for reply in ["\u{1b}[5;5R", "\u{1b}[?62c\u{1b}[0n", "\u{1b}]11;rgb:1/", "2/3\u{1b}\\"] {
        first.input(reply);
    }
    first.input("\u{1b}[I\u{1b}[<0;1;1M");
    first.input("typed");
    let seen = first.wait_text("typed");
    assert!(!seen.contains('^') && !seen.contains("rgb"), "{seen:?}");

    // Who types drives from then on.
    second.wait_text("typed");
    second.input("\u{1b}[7;7R");
    first.input("\u{1b}[6;6R");
    first.wait_text("^[[6;6R");
    second.input("more");
    let seen = second.wait_text("more");
    assert!(seen.contains("^[[6;6R") && !seen.contains("7;7"), "{seen:?}");

    // Once it went, the one before it drives again.
    second.send(DETACH, b"");
    while second.next().is_some() {}
    first.input("\u{1b}[8;8R");
    first.wait_text("^[[8;8R");
}

/// Asks its terminal for its state after each byte, and shows the answer.
const ASKS: &str = "stty raw -echo; echo ready; while head -c 1 >/dev/null; do \
    printf 'asks\\033[5n'; head -c 4 | cat -v; done";

#[test]
fn a_program_is_answered_while_its_clients_only_look() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.sh(&home, ASKS);
    server.wait_text(&pane, "ready");
    let ask = json!({"pane": pane, "cols": 80, "rows": 24, "read_only": true});
    let mut watcher = server.connect().attach(ask);
    watcher.wait_text("ready");
    server.ask("pane.send", json!({"pane": pane, "text": "g"}));
    watcher.wait_text("^[[0n");

    // The terminal of one that drives answers, however many look on.
    let mut driver = attach(&server, &pane);
    driver.wait_text("ready");
    server.ask("pane.send", json!({"pane": pane, "text": "g"}));
    driver.wait_text("asks");
    driver.input("\u{1b}[3n");
    let seen = driver.wait_text("^[[3n");
    assert!(!seen.contains("^[[0n"), "{seen:?}");

    // After it went, the server answers again.
    driver.send(DETACH, b"");
    while driver.next().is_some() {}
    watcher.wait_text("^[[3n");
    server.ask("pane.send", json!({"pane": pane, "text": "g"}));
    watcher.wait_text("^[[0n");
}

#[test]
fn a_client_that_draws_the_pane_itself_answers_nothing() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.sh(&home, ASKS);
    server.wait_text(&pane, "ready");
    let among = json!({"pane": pane, "cols": 80, "rows": 24, "background": true});
    let mut among = server.connect().attach(among);
    among.wait_text("ready");
    server.ask("pane.send", json!({"pane": pane, "text": "g"}));
    among.wait_text("^[[0n");

    // Beside a terminal that answers, the program is answered once, whoever of
    // the two typed last.
    let mut terminal = attach(&server, &pane);
    terminal.wait_text("^[[0n");
    for typist in ["terminal", "among"] {
        match typist {
            "terminal" => terminal.input("g"),
            _ => among.input("g"),
        }
        terminal.wait_text("asks");
        terminal.input("\u{1b}[3n");
        let seen = terminal.wait_text("^[[3n");
        assert!(!seen.contains("^[[0n"), "{typist}: {seen:?}");
    }
    terminal.send(DETACH, b"");
    while terminal.next().is_some() {}
    among.input("g");
    let seen = among.wait_text("^[[0n");
    assert_eq!(seen.matches("^[[3n").count(), 2, "{seen:?}");
}

#[test]
fn nothing_typed_is_lost_while_a_program_does_not_read() {
    const PIECE: usize = 64 * 1024;
    const PIECES: usize = 64;
    let home = Home::new();
    let server = Server::start(&home);
    let script = format!(
        "mkfifo go; stty raw -echo; echo ready; read line <go; head -c {} | wc -c; exec cat",
        PIECE * PIECES
    );
    let pane = server.sh(&home, &script);
    server.wait_text(&pane, "ready");
    let mut typist = attach(&server, &pane);
    let mut other = attach(&server, &pane);
    other.wait_text("ready");
    let sent = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..PIECES {
                typist.input(&"x".repeat(PIECE));
                sent.fetch_add(1, Ordering::SeqCst);
            }
        });
        // More than the server keeps waiting.
        wait_until("typing", || sent.load(Ordering::SeqCst) * PIECE > 1024 * 1024);
        // The pane and its other client go on; a script is told.
        other.resize(70, 20);
        wait_until("the size", || server.pane(&pane)["cols"] == 70);
        other.send(HISTORY_REQUEST, &100_u32.to_le_bytes());
        other.wait_kind(HISTORY);
        let failure =
            server.call("pane.send", json!({"pane": pane, "text": "script"})).unwrap_err();
        assert!(["TIMEOUT", "RATE_LIMITED"].contains(&failure.code.as_str()), "{}", failure.code);
        std::fs::write(home.work().join("go"), "\n").unwrap();
    });
    other.wait_text(&(PIECE * PIECES).to_string());
}
