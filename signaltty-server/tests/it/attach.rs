//! Terminals of clients on a pane.

use serde_json::json;

use crate::support::frames::{Attached, DETACH, EXIT, HISTORY, OUTPUT, REPAINT};
use crate::support::{Home, Server, process, wait_until};

fn attach(server: &Server, pane: &str) -> Attached {
    server.connect().attach(json!({"pane": pane, "cols": 80, "rows": 24}))
}

fn size(server: &Server, pane: &str) -> (u64, u64) {
    let pane = server.pane(pane);
    (pane["cols"].as_u64().unwrap(), pane["rows"].as_u64().unwrap())
}

#[test]
fn a_client_gets_the_screen_then_what_happens_and_leaves_without_harm() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.sh(&home, "echo hello; exec cat");
    server.wait_text(&pane, "hello");
    let mut first = attach(&server, &pane);
    let (kind, screen) = first.next().unwrap();
    assert_eq!(kind, REPAINT);
    assert!(String::from_utf8(screen).unwrap().contains("hello"));
    let mut second = attach(&server, &pane);
    assert_eq!(second.next().unwrap().0, REPAINT);

    first.input("from the first\r");
    // The terminal's echo, and what `cat` says.
    for client in [&mut first, &mut second] {
        let seen = client.wait_text("from the first\r\nfrom the first");
        assert!(!seen.contains("hello"), "nothing comes twice: {seen:?}");
    }
    second.input("and the second\r");
    first.wait_text("and the second\r\nand the second");

    first.send(DETACH, b"");
    while first.next().is_some() {}
    assert_eq!(server.pane(&pane)["state"], "live");
    // One that goes away without a word does no harm either.
    drop(attach(&server, &pane));
    second.input("alone\r");
    second.wait_text("alone\r\nalone");
    // End of input.
    second.input("\u{4}");
    let exit: serde_json::Value = serde_json::from_slice(&second.wait_kind(EXIT)).unwrap();
    assert_eq!(exit, json!({"code": 0, "signal": null}));
    assert!(second.next().is_none());
    let failure =
        server.call("pane.attach", json!({"pane": pane, "cols": 80, "rows": 24})).unwrap_err();
    assert_eq!(failure.code, "PANE_NOT_LIVE");
    assert_eq!(failure.details["state"], "exited");
}

#[test]
fn a_tombstone_takes_no_client() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let pane = server.spawn(&home, &["/bin/cat"]);
    server.wait_saved();
    server.kill9();
    let server = Server::start(&home);
    let failure =
        server.call("pane.attach", json!({"pane": pane, "cols": 80, "rows": 24})).unwrap_err();
    assert_eq!(failure.code, "PANE_NOT_LIVE");
    assert_eq!(failure.details["state"], "restored");
    assert!(failure.message.contains("pane restart"), "{}", failure.message);
}

#[test]
fn d10_a_client_that_drives_a_lone_pane_sizes_it() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.sh(&home, "while read line; do stty size; done");
    let mut client = server.connect().attach(json!({"pane": pane, "cols": 91, "rows": 33}));
    wait_until("its size", || size(&server, &pane) == (91, 33));
    client.input("\r");
    client.wait_text("33 91");
    client.resize(70, 20);
    wait_until("its new size", || size(&server, &pane) == (70, 20));
    client.input("\r");
    client.wait_text("20 70");
    // A terminal has room for a wide character, and is no larger than one can be;
    // what the server says is what the program sees.
    client.resize(0, 0);
    wait_until("its least size", || size(&server, &pane) == (2, 1));
    client.input("\r");
    client.wait_text("1 2\r\n");
    client.resize(u16::MAX, u16::MAX);
    wait_until("its largest size", || size(&server, &pane) == (1000, 500));
    client.input("\r");
    client.wait_text("500 1000");
    client.resize(70, 20);
    wait_until("its size of before", || size(&server, &pane) == (70, 20));

    // Who only looks changes nothing.
    let mut watcher =
        server.connect().attach(json!({"pane": pane, "cols": 40, "rows": 10, "read_only": true}));
    assert_eq!(watcher.next().unwrap().0, REPAINT);
    watcher.resize(41, 11);
    watcher.input("not this\r");
    client.input("done\r");
    let seen = watcher.wait_text("20 70");
    assert!(!seen.contains("not this"), "{seen:?}");
    assert_eq!(size(&server, &pane), (70, 20));

    // A pane beside another keeps the size of the layout.
    server.ask("pane.split", json!({"pane": pane, "argv": ["/bin/cat"], "cwd": home.work()}));
    let before = size(&server, &pane);
    assert!(before.0 < 70, "{before:?}");
    client.resize(100, 50);
    client.input("\r");
    client.wait_text(&format!("{} {}", before.1, before.0));
    assert_eq!(size(&server, &pane), before);
}

#[test]
fn a_client_that_asks_gets_the_history_before_the_screen() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane =
        server.sh(&home, "i=0; while [ $i -lt 200 ]; do i=$((i+1)); echo line $i.; done; exec cat");
    server.wait_text(&pane, "line 200.");
    let mut client =
        server.connect().attach(json!({"pane": pane, "cols": 80, "rows": 24, "history": 1000}));
    let (kind, history) = client.next().unwrap();
    assert_eq!(kind, HISTORY);
    assert!(String::from_utf8(history).unwrap().contains("line 1."));
    assert_eq!(client.next().unwrap().0, REPAINT);
}

/// Far more than sockets and queues hold. An emulator without optimization
/// would take most of a minute for all of it on a loaded machine.
const FLOOD: u32 = if cfg!(debug_assertions) { 6_000_000 } else { 20_000_000 };

/// Prints so many bytes once it is told to, then what `after` prints.
fn flood(bytes: u32, after: &str) -> String {
    format!("read go; head -c {bytes} /dev/zero | tr '\\0' x | fold -w 79; {after}")
}

#[test]
fn inv_t4_a_client_that_reads_nothing_holds_up_nobody_and_is_repainted() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.sh(&home, &flood(FLOOD, "echo; echo END OF IT; exec cat"));
    let mut slow = attach(&server, &pane);
    let mut quick = attach(&server, &pane);
    assert_eq!(quick.next().unwrap().0, REPAINT);
    quick.input("go\r");
    while !String::from_utf8_lossy(&quick.next().unwrap().1).contains("END OF IT") {}
    quick.input("still here\r");
    quick.wait_text("still here\r\nstill here");

    // The slow one missed most of it, and is told what there is now.
    assert_eq!(slow.next().unwrap().0, REPAINT);
    let mut behind = 0;
    let repainted = loop {
        let (kind, payload) = slow.next().unwrap();
        if kind == REPAINT {
            break String::from_utf8(payload).unwrap();
        }
        assert_eq!(kind, OUTPUT);
        behind += payload.len();
    };
    assert!(behind < 3_000_000, "{behind} bytes waited for a client that reads nothing");
    assert!(repainted.contains("END OF IT"), "{repainted:?}");
    quick.input("for both\r");
    slow.wait_text("for both\r\nfor both");
    quick.wait_text("for both\r\nfor both");
}

#[test]
fn inv_t4_a_client_that_reads_nothing_still_learns_of_the_end() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.sh(&home, &flood(4_000_000, "echo; echo END OF IT; exit 7"));
    let mut slow = attach(&server, &pane);
    server.type_line(&pane, "go");
    server.wait_state(&pane, "exited");
    let mut screen = String::new();
    let exit = loop {
        let (kind, payload) = slow.next().expect("the end is said before the connection ends");
        match kind {
            EXIT => break payload,
            REPAINT => screen = String::from_utf8(payload).unwrap(),
            _ => screen.push_str(&String::from_utf8_lossy(&payload)),
        }
    };
    let exit: serde_json::Value = serde_json::from_slice(&exit).unwrap();
    assert_eq!(exit, json!({"code": 7, "signal": null}));
    assert!(screen.contains("END OF IT"), "the last screen came before");
}

#[test]
fn a_resize_is_not_lost_in_a_flood_of_keys() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.sh(&home, "stty -echo; echo ready; while read line; do stty size; done");
    server.wait_text(&pane, "ready");
    let mut typist = attach(&server, &pane);
    let mut sizer = attach(&server, &pane);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..20_000 {
                typist.input("x\u{15}");
            }
        });
        for at in 0..200 {
            sizer.resize(40 + at % 60, 10 + at % 20);
        }
        sizer.resize(77, 22);
    });
    wait_until("the size", || size(&server, &pane) == (77, 22));
    // After the keys, all of which are discarded with the line.
    sizer.input("\r");
    sizer.wait_text("22 77");
}

#[test]
fn who_attaches_or_types_in_the_moment_of_the_end_is_told_it() {
    let home = Home::new();
    let server = Server::start(&home);
    for _ in 0..15 {
        let pane = server.sh(&home, "read go; exit 5");
        let mut typist = attach(&server, &pane);
        typist.input("\r");
        // Until there is no process to attach to any more.
        loop {
            typist.input("more");
            let mut client = server.connect();
            let ask = json!({"pane": pane, "cols": 80, "rows": 24});
            match client.call("pane.attach", ask) {
                Ok(_) => {
                    let exit = client.into_attached().wait_kind(EXIT);
                    assert!(String::from_utf8(exit).unwrap().contains('5'));
                }
                Err(failure) => {
                    assert_eq!(failure.code, "PANE_NOT_LIVE");
                    break;
                }
            }
        }
        typist.wait_kind(EXIT);
        server.ask("pane.close", json!({"pane": pane}));
    }
}

#[test]
fn keys_after_the_end_do_not_hide_it() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.sh(&home, &flood(1_000_000, "exit 5"));
    let mut slow = attach(&server, &pane);
    slow.input("go\r");
    server.wait_state(&pane, "exited");
    // Nothing was read so far, the end neither.
    slow.input("is anybody there?\r");
    slow.wait_kind(EXIT);
}

#[test]
fn the_clipboard_is_left_out_unless_a_client_asks_for_it() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.sh(&home, "read go; printf 'a\\033]52;c;QUJD\\007b'; echo; exec cat");
    let attach = |clipboard: bool| {
        let ask = json!({"pane": pane, "cols": 80, "rows": 24, "clipboard": clipboard});
        server.connect().attach(ask)
    };
    let (mut with, mut without) = (attach(true), attach(false));
    server.type_line(&pane, "go");
    let seen = with.wait_text("b\r\n");
    assert!(seen.contains("a\u{1b}]52;c;QUJD\u{7}b"), "{seen:?}");
    let seen = without.wait_text("ab\r\n");
    assert!(!seen.contains("]52"), "{seen:?}");
}

#[test]
fn s0_14_unread_stays_unread_until_a_person_looks() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.sh(&home, "exec cat");
    let attach = |background: bool| {
        let ask = json!({"pane": pane, "cols": 80, "rows": 24, "background": background});
        server.connect().attach(ask)
    };
    let tell = || {
        server.ask("notification.new", json!({"title": "news", "pane": pane}));
        wait_until("news", || server.pane(&pane)["attention"] != "none");
    };
    tell();
    // Shown among others, again and again.
    for _ in 0..3 {
        let mut shown = attach(true);
        assert!(shown.next().is_some());
        shown.send(DETACH, b"");
        while shown.next().is_some() {}
    }
    assert_ne!(server.pane(&pane)["attention"], "none");
    let mut looking = attach(false);
    wait_until("somebody to have looked", || server.pane(&pane)["attention"] == "none");
    // News in front of a person, who then leaves.
    tell();
    looking.send(DETACH, b"");
    wait_until("it to be seen", || server.pane(&pane)["attention"] == "none");
    // One whose link broke may have been away.
    let before = process::descriptors(server.pid());
    let gone = attach(false);
    wait_until("somebody to have looked", || server.pane(&pane)["attention"] == "none");
    tell();
    drop(gone);
    wait_until("the client to be gone", || process::descriptors(server.pid()) <= before);
    assert_ne!(server.pane(&pane)["attention"], "none");
}
