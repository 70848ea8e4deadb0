//! Output that is kept: in memory after the end of a process, on the disk for
//! the next server.

use std::fs;

use serde_json::{Value, json};

use crate::support::process::wait_gone;
use crate::support::{Home, Server, wait_until};

fn tail_path(home: &Home, pane: &str) -> std::path::PathBuf {
    home.path(&format!("state/history/{pane}.tail"))
}

fn save_now(server: &Server, pane: &str, title: &str) {
    server.ask("pane.rename", json!({"pane": pane, "title": title}));
    server.wait_saved();
}

#[test]
fn s0_10_the_end_of_a_long_output_is_read_after_a_restart() {
    let home = Home::new();
    let mut server = Server::start(&home);
    // 1 MiB in lines of 64 bytes.
    let pane = server
        .sh(&home, "seq -f 'line %-57.0fx' 16384; echo; echo the very last line; exec sleep 1000");
    server.wait_text(&pane, "the very last line");
    let live = server.text(&pane);
    assert!(server.term().success());
    let file = fs::read(tail_path(&home, &pane)).unwrap();
    assert!(file.len() <= 65_536, "{} bytes", file.len());
    assert!(file.len() > 32_768, "{} bytes are most of the budget", file.len());

    let server = Server::start(&home);
    let read = server.ask("pane.read", json!({"pane": pane}));
    assert_eq!(read["source"], "saved");
    let text = read["text"].as_str().unwrap();
    assert_eq!(text.lines().rfind(|line| !line.is_empty()), Some("the very last line"));
    let first = text.lines().next().unwrap();
    assert!(first.starts_with("line ") && first.ends_with('x'), "{first:?} is a whole line");
    assert!(live.trim_end().ends_with(text.trim_end()), "what was on the screen is what is read");
    let two = server.ask("pane.read", json!({"pane": pane, "lines": 1}));
    assert_eq!(two["text"].as_str().unwrap().lines().count(), 1);
}

#[test]
fn output_of_a_process_that_ended_is_there_before_and_after_its_save() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let pane = server.sh(&home, "echo its words; exit 3");
    let info = server.wait_state(&pane, "exited");
    assert_eq!(info["exit"], json!({"code": 3, "signal": null}));
    assert!(server.text(&pane).contains("its words"));
    server.wait_saved();
    assert!(server.text(&pane).contains("its words"));
    server.kill9();
    let server = Server::start(&home);
    assert!(server.text(&pane).contains("its words"));
    let silent = server.spawn(&home, &["/bin/true"]);
    server.wait_state(&silent, "exited");
    assert!(server.text(&silent).trim().is_empty());
}

#[test]
fn a_pane_that_is_read_while_it_ends_shows_what_it_has() {
    let home = Home::new();
    let server = Server::start(&home);
    for _ in 0..30 {
        let pane = server.sh(&home, "echo its words");
        let mut client = server.connect();
        while server.pane(&pane)["state"] == "live" {
            for _ in 0..20 {
                client.call("pane.read", json!({"pane": pane})).unwrap();
            }
        }
        assert!(server.text(&pane).contains("its words"));
        server.ask("pane.close", json!({"pane": pane}));
    }
}

#[test]
fn output_after_a_restart_by_hand_is_not_replaced_by_older_output() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let script = "if [ -e again ]; then echo second; exec cat; fi; touch again; echo first";
    let pane = server.sh(&home, script);
    server.wait_state(&pane, "exited");
    // At once: the first output is not on the disk yet.
    server.ask("pane.restart", json!({"pane": pane}));
    let text = server.wait_text(&pane, "second");
    assert!(text.contains("first"), "{text}");
    // A save with the new output, and one after which nothing was printed.
    save_now(&server, &pane, "one");
    save_now(&server, &pane, "two");
    server.kill9();
    let server = Server::start(&home);
    let text = server.text(&pane);
    assert!(text.contains("first") && text.contains("second"), "{text:?}");
}

#[test]
fn last_words_during_a_save_are_saved_with_the_next_one() {
    let home = Home::new();
    let mut server = Server::start(&home);
    // The first save begins some 1.5 s after the first change; these end around
    // that time, each a little later than the one before.
    let panes: Vec<_> = (0..48)
        .map(|at| {
            let wait = 1_300 + at * 10;
            let script =
                format!("seq 2000; sleep {}.{:03}; echo last words", wait / 1_000, wait % 1_000);
            server.sh(&home, &script)
        })
        .collect();
    wait_until("their ends", || server.status()["counts"]["live"] == 0);
    server.wait_saved();
    server.kill9();
    let server = Server::start(&home);
    for (at, pane) in panes.iter().enumerate() {
        let text = server.text(pane);
        assert!(text.contains("last words"), "pane {at} lost its end: {text:?}");
    }
}

#[test]
fn c016_output_that_could_not_be_saved_is_saved_with_the_next_save() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let pane = server.sh(&home, "read go; echo its words; exec cat");
    // Something that no file can replace.
    let path = tail_path(&home, &pane);
    fs::create_dir_all(path.join("in the way")).unwrap();
    server.type_line(&pane, "go");
    server.wait_text(&pane, "its words");
    save_now(&server, &pane, "one");
    let persist = server.status()["persist"].clone();
    assert_eq!(persist["state"], "degraded");
    assert!(persist["detail"].as_str().unwrap().contains(&pane), "{persist}");
    fs::remove_dir_all(&path).unwrap();
    // Nothing was printed since.
    save_now(&server, &pane, "two");
    assert_eq!(server.status()["persist"], json!({"state": "ok"}));
    server.kill9();
    let server = Server::start(&home);
    assert!(server.text(&pane).contains("its words"));
}

#[test]
fn d30_a_workspace_without_history_keeps_its_output_off_the_disk() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let script = |word: &str| format!("read go; echo canary-{word}; exec cat");
    let kept = server.sh(&home, &script("kept"));
    let live = server.sh(&home, &script("live"));
    let workspace = server.pane(&live)["workspace_id"].clone();
    server.ask("workspace.set", json!({"workspace": workspace, "history": false}));
    let ended = server.ask(
        "tab.new",
        json!({"workspace": workspace, "argv": ["/bin/sh", "-c", "read go; echo canary-ended"]}),
    );
    let ended = ended["pane_id"].as_str().unwrap().to_owned();
    for pane in [&kept, &live, &ended] {
        server.type_line(pane, "go");
        server.wait_text(pane, "canary-");
    }
    server.wait_state(&ended, "exited");
    assert!(server.text(&ended).contains("canary-ended"), "while the server runs");
    server.wait_saved();
    let children = server.children();
    assert!(server.term().success());
    wait_gone(&children);
    // The command is saved with the pane; what it printed is not.
    for pane in [&live, &ended] {
        assert!(!tail_path(&home, pane).exists());
    }
    assert!(tail_path(&home, &kept).exists());
    let server = Server::start(&home);
    for pane in [&live, &ended] {
        let read = server.ask("pane.read", json!({"pane": pane}));
        assert_eq!((&read["source"], &read["text"]), (&json!("none"), &json!("")));
    }
    assert!(server.text(&kept).contains("canary-kept"));
}

#[test]
fn inv_p5_a_tail_goes_only_with_its_pane() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let panes: Vec<_> =
        (0..2).map(|at| server.sh(&home, &format!("echo pane {at}; exec cat"))).collect();
    for (at, pane) in panes.iter().enumerate() {
        server.wait_text(pane, &format!("pane {at}"));
    }
    server.wait_saved();
    assert!(panes.iter().all(|pane| tail_path(&home, pane).exists()));
    server.ask("pane.close", json!({"pane": panes[0]}));
    server.wait_saved();
    wait_until("the end of its tail", || !tail_path(&home, &panes[0]).exists());
    assert!(tail_path(&home, &panes[1]).exists());
    server.kill9();
    let server = Server::start(&home);
    assert_eq!(server.panes().len(), 1);
    assert!(server.text(&panes[1]).contains("pane 1"));
    assert_eq!(server.status()["problems"], Value::Array(Vec::new()));
}
