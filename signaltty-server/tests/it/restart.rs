//! Servers that are killed or told to end, and what the next one finds.

use std::fs;

use serde_json::{Value, json};

use crate::support::process::wait_gone;
use crate::support::{Home, Server, wait_until};

#[test]
fn s0_1_nothing_that_ran_under_a_killed_server_is_said_to_run() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let pane = server.sh(&home, "echo ready; exec sleep 1000");
    server.wait_text(&pane, "ready");
    server.wait_saved();
    let children = server.children();
    assert_eq!(children.len(), 1);
    server.kill9();
    // D-15: the child ends with the server, whatever the server was doing.
    wait_gone(&children);

    let server = Server::start(&home);
    let pane = server.pane(&pane);
    assert_eq!(pane["state"], "restored");
    assert_eq!(pane["exit"], json!({"code": null, "signal": null}));
    assert_eq!(pane["pid"], Value::Null);
    assert!(server.children().is_empty());
    let status = server.status();
    assert_eq!(status["load"], "loaded");
    assert_eq!(status["problems"], json!([]));
    assert_eq!((&status["counts"]["panes"], &status["counts"]["live"]), (&json!(1), &json!(0)));
}

#[test]
fn s0_15_no_number_of_restarts_runs_a_saved_command() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let marker = home.path("work/marker");
    let script = format!("touch {}; exec sleep 1000", marker.display());
    let pane = server.sh(&home, &script);
    wait_until("the marker", || marker.exists());
    let workspace = server.pane(&pane)["workspace_id"].clone();
    let all = json!({"workspace": workspace, "auto_resume": true, "auto_continue": true});
    let remarks = server.ask("workspace.set", all)["remarks"].clone();
    assert_eq!(remarks, json!([]));
    // One that does nothing without the other says so.
    let alone = json!({"workspace": workspace, "auto_resume": false, "auto_continue": true});
    let remarks = server.ask("workspace.set", alone)["remarks"].clone();
    assert!(remarks[0].as_str().unwrap().starts_with("auto-continue does nothing"), "{remarks}");
    let both = json!({"workspace": workspace, "auto_resume": true});
    assert_eq!(server.ask("workspace.set", both)["remarks"], json!([]));
    server.wait_saved();
    fs::remove_file(&marker).unwrap();
    for round in 0..10 {
        if round % 2 == 0 {
            server.kill9();
        } else {
            assert!(server.term().success());
        }
        server = Server::start(&home);
        // Another command's round trip: whatever a start does, it has begun.
        server.ask("pane.rename", json!({"pane": pane, "title": format!("round {round}")}));
        assert!(server.children().is_empty(), "round {round}");
        assert_eq!(server.pane(&pane)["state"], "restored");
    }
    assert!(!marker.exists());
    server.ask("pane.restart", json!({"pane": pane}));
    wait_until("the marker after a restart by hand", || marker.exists());
}
