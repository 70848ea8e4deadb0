//! Requests that cannot be done: each answer says what, where and what next, and
//! nothing has changed.

use std::fs;

use serde_json::json;

use crate::support::refusal::{Case, check};
use crate::support::{Home, Server};

#[test]
fn names_that_name_nothing_or_too_much_are_refused() {
    let home = Home::new();
    let server = Server::start(&home);
    let shared = server.ambiguous(&home);
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
    let cases: [Case<'_>; 11] = [
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
    check(&home, &server, &[("pane.split", split, "NO_ROOM", "", &["would get less"])]);
    assert_eq!(server.children().len(), made);
    assert_eq!(server.panes().len(), made);
}
