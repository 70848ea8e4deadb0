//! Requests that cannot be done: each answer says what, where and what next, and
//! nothing has changed.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Failure, Home, Server};

/// A request, the code of its error, the reason in its details, and what its
/// message says.
type Case<'a> = (&'a str, Value, &'a str, &'a str, &'a [&'a str]);

/// Asks and compares; the session and the state directory must stay as they are.
fn check(home: &Home, server: &Server, cases: &[Case<'_>]) {
    server.wait_saved();
    let tree = server.ask("session.list", json!({}));
    let files = home.files();
    for (method, params, code, reason, says) in cases {
        let shown = format!("{method} {params}").chars().take(200).collect::<String>();
        let failure = server.call(method, params.clone()).expect_err(&shown);
        assert_eq!(failure.code, *code, "{shown}: {}", failure.message);
        assert_eq!(failure.reason(), *reason, "{shown}: {}", failure.message);
        for text in *says {
            let message = &failure.message;
            assert!(message.contains(text), "{shown}: no {text:?} in {message:?}");
        }
        let short = failure.message.len() < 1_000;
        assert!(short, "{shown}: {} bytes", failure.message.len());
        assert_eq!(server.ask("session.list", json!({})), tree, "{shown}");
        assert_eq!(server.status()["saved"], true, "{shown}");
    }
    assert_eq!(home.files(), files);
}

#[test]
fn names_that_name_nothing_or_too_much_are_refused() {
    let home = Home::new();
    let server = Server::start(&home);
    let mut panes = vec![server.spawn(&home, &["/bin/cat"])];
    // Ids are random: sooner or later two begin with the same letter.
    let shared = loop {
        let last = panes.last().unwrap().clone();
        let letter = |pane: &String| pane["pane_".len()..].chars().next().unwrap();
        let same = |pane: &&String| letter(pane) == letter(&last);
        if panes.iter().filter(same).count() > 1 {
            break letter(&last).to_string();
        }
        panes.push(server.spawn(&home, &["/bin/cat"]));
    };
    let ls = "signaltty ls";
    let unknown = "pane_aaaaaaaaaaaaaaaa";
    let cases: [Case<'_>; 8] = [
        ("pane.read", json!({"pane": unknown}), "NO_SUCH_PANE", "", &[unknown, ls]),
        ("pane.close", json!({"pane": ""}), "NO_SUCH_PANE", "", &["\"\"", ls]),
        ("pane.close", json!({"pane": shared}), "AMBIGUOUS", "", &["pane_", "give more of the id"]),
        (
            "pane.close",
            json!({"pane": "../../etc/passwd"}),
            "NO_SUCH_PANE",
            "",
            &["../../etc/passwd", ls],
        ),
        ("pane.read", json!({"pane": "pane_../x"}), "NO_SUCH_PANE", "", &["pane_../x", ls]),
        ("pane.read", json!({"pane": "x".repeat(100_000)}), "NO_SUCH_PANE", "", &[ls]),
        ("tab.close", json!({"tab": "tab_zzz"}), "NO_SUCH_TAB", "", &["tab_zzz", ls]),
        (
            "workspace.close",
            json!({"workspace": "nowhere"}),
            "NO_SUCH_WORKSPACE",
            "",
            &["nowhere", ls],
        ),
    ];
    check(&home, &server, &cases);
}

#[test]
fn commands_that_cannot_start_leave_no_pane() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.spawn(&home, &["/bin/cat"]);
    let plain = home.path("work/plain");
    fs::write(&plain, "#!/bin/sh\n").unwrap();
    let (gone, plain) = (home.path("gone"), plain.display().to_string());
    let (work, gone) = (home.work().display().to_string(), gone.display().to_string());
    let at = |cwd: &str, argv: &[&str]| json!({"cwd": cwd, "argv": argv});
    let split = json!({"pane": pane, "cwd": &gone, "argv": ["/bin/cat"]});
    let cases: [Case<'_>; 12] = [
        (
            "workspace.new",
            at(&gone, &["/bin/cat"]),
            "SPAWN_FAILED",
            "cwd_missing",
            &[&gone, "--cwd"],
        ),
        ("pane.split", split, "SPAWN_FAILED", "cwd_missing", &[&gone, "--cwd"]),
        (
            "workspace.new",
            at(&plain, &["/bin/cat"]),
            "SPAWN_FAILED",
            "cwd_missing",
            &[&plain, "not a directory", "--cwd"],
        ),
        ("workspace.new", at("rel/dir", &["/bin/cat"]), "BAD_PARAMS", "", &["rel/dir", "absolute"]),
        ("workspace.new", at("", &["/bin/cat"]), "BAD_PARAMS", "", &["`cwd`", "absolute"]),
        ("workspace.new", json!({"argv": ["/bin/cat"]}), "BAD_PARAMS", "", &["`cwd` is missing"]),
        (
            "workspace.new",
            at(&work, &["no-such-program"]),
            "SPAWN_FAILED",
            "binary_missing",
            &["no-such-program", "PATH", "install"],
        ),
        (
            "workspace.new",
            at(&work, &["./missing"]),
            "SPAWN_FAILED",
            "binary_missing",
            &["missing", "check the path"],
        ),
        (
            "workspace.new",
            at(&work, &[&plain]),
            "SPAWN_FAILED",
            "spawn_failed",
            &[&plain, "not executable", "chmod +x"],
        ),
        ("workspace.new", at(&work, &[&work]), "SPAWN_FAILED", "spawn_failed", &[&work]),
        ("workspace.new", at(&work, &[""]), "SPAWN_FAILED", "spawn_failed", &["empty"]),
        ("workspace.new", at(&work, &["a\0b"]), "BAD_PARAMS", "", &["NUL"]),
    ];
    check(&home, &server, &cases);
    assert_eq!(server.children().len(), 1);
}

#[test]
fn malformed_requests_are_refused_and_the_connection_goes_on() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.spawn(&home, &["/bin/cat"]);
    let typo = json!({"pane": pane, "keys": ["Enter", "Entr"]});
    let no_title = json!({"pane": pane});
    let cases: [Case<'_>; 9] = [
        ("pane.rename", json!({"pane": 3, "title": "x"}), "BAD_PARAMS", "", &["params", "string"]),
        ("pane.rename", no_title, "BAD_PARAMS", "", &["params", "`title`"]),
        ("pane.rename", json!([]), "BAD_PARAMS", "", &["params"]),
        ("pane.keys", typo, "BAD_PARAMS", "", &["\"Entr\"", "not a key", "Enter"]),
        ("workspace.rename", json!({}), "BAD_PARAMS", "", &["`workspace`"]),
        ("session.rename", json!({}), "UNKNOWN_METHOD", "", &["session.rename", "pane.rename"]),
        ("pane.spilt", json!({}), "UNKNOWN_METHOD", "", &["pane.spilt", "pane.split"]),
        ("", json!({}), "UNKNOWN_METHOD", "", &["\"\"", "server.status"]),
        (
            "workspace.new",
            json!({"cwd": "/", "argv": ["/bin/cat"], "env": {"A=B": "x"}}),
            "BAD_PARAMS",
            "",
            &["env", "A=B"],
        ),
    ];
    check(&home, &server, &cases);

    let mut client = server.connect();
    let newer = r#"{"v":"signaltty/2","id":"9","method":"server.status"}"#;
    let huge = format!(r#"{{"v":"signaltty/1","id":"1","x":"{}"}}"#, "x".repeat(2 << 20));
    let lines = [
        ("nonsense", "BAD_PARAMS", "not JSON"),
        (r#"{"id":"1","method":"server.status"}"#, "BAD_PARAMS", "`v` is missing"),
        (newer, "BAD_PROTOCOL", "the server is older"),
        (&huge, "TOO_LARGE", "1048576"),
        ("", "BAD_PARAMS", "not JSON"),
        ("\u{fffd}\0\u{1b}[2J", "BAD_PARAMS", "not JSON"),
    ];
    for (line, code, says) in lines {
        client.send_line(line);
        let failure: Failure = client.reply().unwrap_err();
        assert_eq!(failure.code, code, "{}", failure.message);
        assert!(failure.message.contains(says), "{}", failure.message);
        client.call("server.status", json!({})).unwrap();
    }
    assert_eq!(server.pane(&pane)["state"], "live");
}

#[test]
fn a_split_without_room_is_refused_and_starts_nothing() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.spawn(&home, &["/bin/cat"]);
    let split = json!({"pane": pane, "direction": "down", "argv": ["/bin/cat"]});
    let mut made = 1;
    while server.call("pane.split", split.clone()).is_ok() {
        made += 1;
        assert!(made < 24, "24 rows hold no {made} panes");
    }
    check(&home, &server, &[("pane.split", split, "NO_ROOM", "", &["room"])]);
    assert_eq!(server.children().len(), made);
    assert_eq!(server.panes().len(), made);
}

#[test]
fn what_needs_a_process_says_what_to_do_where_there_is_none() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.sh(&home, "exit 3");
    server.wait_state(&pane, "exited");
    let (again, at) = ("pane restart", pane.as_str());
    let ask = |extra: Value| {
        let mut ask = json!({"pane": pane});
        ask.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        ask
    };
    let cases: [Case<'_>; 5] = [
        ("pane.send", ask(json!({"text": "x"})), "PANE_NOT_LIVE", "", &[at, "exited", again]),
        ("pane.keys", ask(json!({"keys": ["x"]})), "PANE_NOT_LIVE", "", &[at, "exited", again]),
        (
            "pane.attach",
            ask(json!({"cols": 80, "rows": 24})),
            "PANE_NOT_LIVE",
            "",
            &[at, "exited", again],
        ),
        ("pane.terminate", ask(json!({})), "PANE_NOT_LIVE", "", &[at, "exited"]),
        ("pane.resume", ask(json!({})), "NOT_RESUMABLE", "", &[at, "cannot be resumed"]),
    ];
    check(&home, &server, &cases);
}
