//! The end of a server that is asked to end.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::process::{self, Process, wait_gone};
use crate::support::talk::{AGENT, Talk};
use crate::support::{Home, Server, wait_for, wait_until};

/// Minds neither a hangup nor the wish to terminate.
const STUBBORN: &str = "trap '' HUP TERM; echo ready; while :; do sleep 0.1; done";

#[test]
fn s0_4_signals_that_end_other_programs_save_first_or_mean_nothing() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let pane = server.spawn(&home, &["/bin/cat"]);
    for signal in [Signal::USR1, Signal::USR2, Signal::ALARM, Signal::XFSZ, Signal::XCPU] {
        server.signal(signal);
    }
    // After they came.
    server.type_line(&pane, "here");
    server.wait_text(&pane, "here");
    server.ask("pane.rename", json!({"pane": pane, "title": "kept"}));
    server.signal(Signal::QUIT);
    assert!(server.wait_exit().success());
    assert_eq!(home.snapshot()["panes"][0]["title"], "kept");
}

#[test]
fn s0_4_sigterm_saves_at_once_and_removes_the_socket() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let pane = server.spawn(&home, &["/bin/cat"]);
    for round in 0..4 {
        let title = format!("changed {round}");
        server.ask("pane.rename", json!({"pane": pane, "title": title}));
        let children = server.children();
        let signal = if round % 2 == 0 { Signal::TERM } else { Signal::INT };
        server.signal(signal);
        assert!(server.wait_exit().success());
        assert!(!home.socket().exists());
        assert!(!children.iter().any(Process::runs));
        server = Server::start(&home);
        assert_eq!(server.pane(&pane)["title"], title);
        assert_eq!(server.status()["problems"], json!([]));
    }
}

#[test]
fn c094_c103_children_that_mind_nothing_are_ended_in_time() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let script = format!("sh -c \"{STUBBORN}\" & {STUBBORN}");
    let panes: Vec<_> = (0..5).map(|_| server.sh(&home, &script)).collect();
    for pane in &panes {
        server.wait_text(pane, "ready\nready");
    }
    let mut all = server.children();
    for child in server.children() {
        all.extend(process::children(child.pid));
    }
    assert!(all.len() >= 10, "{all:?}");
    server.ask("pane.rename", json!({"pane": panes[0], "title": "last words"}));
    let asked = Instant::now();
    server.signal(Signal::TERM);
    wait_until("the save", || {
        home.snapshot_path().exists() && !home.files_with("last words").is_empty()
    });
    let saved = asked.elapsed();
    assert!(server.wait_exit().success());
    let took = asked.elapsed();
    assert!(saved < Duration::from_secs(3), "saved after {saved:?}");
    // A service manager's patience is longer; a loaded machine gets a second.
    assert!(took < Duration::from_secs(6), "ended after {took:?}");
    wait_gone(&all);
}

#[test]
fn c103_a_second_sigterm_ends_the_server_at_once() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let pane = server.sh(&home, STUBBORN);
    server.wait_text(&pane, "ready");
    let children = server.children();
    let mut events = server.events();
    server.signal(Signal::TERM);
    events.wait("server.stopping", |_| true);
    let asked = Instant::now();
    server.signal(Signal::TERM);
    assert_eq!(server.wait_exit().code(), Some(1));
    assert!(asked.elapsed() < Duration::from_secs(1), "{:?}", asked.elapsed());
    wait_gone(&children);
    let server = Server::start(&home);
    // Ended at once, it may have missed its last save; that is said, and no more.
    // What the child had started is named until it has ended by itself.
    wait_until("no other problem", || {
        let status = server.status();
        let mut problems = status["problems"].as_array().unwrap().iter().filter_map(Value::as_str);
        problems.all(|line| line.starts_with("the state was saved after event "))
    });
}

#[test]
fn c001_c002_children_that_a_shutdown_ends_first_are_not_lost() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let talk = Talk::hold(&server, &home);
    let signals = ["kill -9 $$", "trap - TERM; kill -TERM $$", "trap - HUP; kill -HUP $$"];
    let traps = [&["exit 0", "exit 1", "exit 129", "exit 143"][..], &signals].concat();
    let mut panes = vec![server.spawn(&home, &["/bin/sleep", "1000"])];
    for trap in &traps {
        let script = format!("trap '{trap}' HUP TERM; echo ready; while :; do sleep 0.05; done");
        let pane = server.sh(&home, &script);
        server.wait_text(&pane, "ready");
        panes.push(pane);
    }
    let control = server.sh(&home, "exec sleep 1000");
    server.ask("pane.terminate", json!({"pane": control}));
    server.wait_state(&control, "exited");
    let before = server.panes().len();
    for child in server.children() {
        process::signal(child.pid, Signal::HUP);
    }
    wait_until("their ends", || server.status()["counts"]["live"] == 0);
    assert!(server.term().success());

    let server = Server::start(&home);
    assert_eq!(server.panes().len(), before);
    for (pane, trap) in panes.iter().zip(["none"].iter().chain(&traps)) {
        assert_eq!(server.pane(pane)["state"], "restored", "{trap}");
    }
    talk.check_tombstone(&server);
    // Who was ended by a person stays so.
    assert_eq!(server.pane(&control)["state"], "exited");
    assert_eq!(talk.resume(&server).unwrap()["verdict"], "verified");
}

#[test]
fn c038_agents_that_a_logout_ends_first_stay_resumable() {
    let home = Home::new();
    let mut server = Server::start(&home);
    // An agent's wrapper that ends in its own way, and takes the agent along.
    let ends = ["exit 0", "exit 1", "exit 129", "exit 143", "kill -TERM $$", "kill -9 $$"];
    let talks: Vec<_> = ends
        .iter()
        .enumerate()
        .map(|(at, end)| {
            let program = home.path(&format!("work/{at}/signaltty"));
            fs::create_dir(program.parent().unwrap()).unwrap();
            let script = format!(
                "#!/bin/sh\n{} \"$@\" </dev/tty &\n\
                 trap 'trap - TERM; kill -9 $!; wait $!; {end}' HUP TERM\nwait $!\n",
                AGENT[0]
            );
            fs::write(&program, script).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
            fs::set_permissions(&program, mode).unwrap();
            Talk::hold_with(&server, &home, &[program.to_str().unwrap(), AGENT[1]])
        })
        .collect();
    let control = Talk::hold(&server, &home);
    server.ask("pane.terminate", json!({"pane": control.pane}));
    let ended = |pane: &str| server.pane(pane)["pid"].is_null();
    wait_until("the control's end", || ended(&control.pane));
    for child in server.children() {
        process::signal(child.pid, Signal::TERM);
    }
    wait_until("their ends", || talks.iter().all(|talk| ended(&talk.pane)));
    assert!(server.term().success());

    let server = Server::start(&home);
    for (talk, end) in talks.iter().zip(ends) {
        let pane = talk.check_tombstone(&server);
        assert_eq!(pane["agent"]["agent_session_id"], *talk.id, "{end}");
    }
    // Ended by a person: not taken for part of the shutdown, and still there.
    let pane = server.pane(&control.pane);
    assert_eq!(pane["agent"]["interrupted"], false);
    assert_eq!(control.resume(&server).unwrap()["verdict"], "verified");
    assert_eq!(talks[3].resume(&server).unwrap()["verdict"], "verified");
}

#[test]
fn c038_an_agent_that_works_is_interrupted_by_a_shutdown() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let talk = Talk::hold(&server, &home);
    server.type_line(&talk.pane, "work");
    wait_for("its work", || (server.pane(&talk.pane)["lifecycle"] == "working").then_some(()));
    assert!(server.term().success());
    let server = Server::start(&home);
    let pane = server.pane(&talk.pane);
    assert_eq!(pane["state"], "resumable");
    assert_eq!(pane["agent"]["interrupted"], true);
    assert_eq!(pane["lifecycle"], "working");
    assert_eq!(pane["pid"], Value::Null);
}

#[test]
fn a_shutdown_request_minds_what_runs_unless_it_is_forced() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let pane = server.spawn(&home, &["/bin/cat"]);
    let failure = server.call("server.shutdown", json!({})).unwrap_err();
    assert_eq!(failure.code, "PANES_ALIVE");
    assert!(failure.message.contains("force"), "{}", failure.message);
    assert_eq!(server.pane(&pane)["state"], "live");
    server.ask("pane.rename", json!({"pane": pane, "title": "forced"}));
    let children = server.children();
    server.ask("server.shutdown", json!({"force": true}));
    assert!(server.wait_exit().success());
    wait_gone(&children);
    assert!(!home.socket().exists());

    let mut server = Server::start(&home);
    assert_eq!(server.pane(&pane)["title"], "forced");
    server.ask("server.shutdown", json!({}));
    assert!(server.wait_exit().success());
}

#[test]
fn s0_4_the_last_save_finds_room_among_many_readers() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let pane = server.sh(&home, "seq 20000; exec cat");
    server.wait_text(&pane, "20000");
    for round in 0..3 {
        assert!(server.term().success());
        server = Server::start(&home);
        let title = format!("among readers {round}");
        std::thread::scope(|scope| {
            for _ in 0..150 {
                let mut client = server.connect();
                let ask = json!({"pane": pane, "lines": 1});
                scope.spawn(move || {
                    // Until the server is gone.
                    loop {
                        client.send("pane.read", ask.clone());
                        if client.line().is_none() {
                            return;
                        }
                    }
                });
            }
            server.ask("pane.rename", json!({"pane": pane, "title": title}));
            assert!(server.term().success());
        });
        server = Server::start(&home);
        assert_eq!(server.pane(&pane)["title"], title);
    }
}

#[test]
fn a_shutdown_request_is_always_answered() {
    let home = Home::new();
    for _ in 0..25 {
        let mut server = Server::start(&home);
        server.ask("server.shutdown", json!({}));
        assert!(server.wait_exit().success());
    }
}

#[test]
fn c094_what_left_its_pane_is_reported_and_not_waited_for() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let file = home.path("work/escaped");
    let script = format!(
        "sleep 900 & setsid sh -c 'echo $$ > {0}.new; mv {0}.new {0}; exec sleep 901' & wait",
        file.display()
    );
    server.sh(&home, &script);
    wait_until("the process that leaves", || file.exists());
    let escaped: u32 = fs::read_to_string(&file).unwrap().trim().parse().unwrap();
    let children = server.children();
    let mut inside = children.clone();
    inside.extend(process::children(children[0].pid));
    inside.retain(|process| process.pid != escaped);
    assert_eq!(inside.len(), 2);
    assert!(server.term().success());
    wait_gone(&inside);
    let said = server.stderr();
    process::signal(escaped, Signal::KILL);
    assert!(said.contains(&escaped.to_string()), "{said}");
}

#[test]
fn c005_s0_4_a_snapshot_that_was_removed_under_a_server_is_back_when_it_stops() {
    let home = Home::new();
    for damage in
        [|path: &Path| fs::remove_file(path).unwrap(), |path: &Path| fs::write(path, "").unwrap()]
    {
        let mut server = Server::start(&home);
        let panes = server.panes().len();
        server.spawn(&home, &["sleep", "1000"]);
        server.wait_saved();
        damage(&home.snapshot_path());
        if !home.snapshot_path().exists() {
            let status = server.status();
            assert_eq!(status["persist"]["state"], "degraded", "{status}");
            assert!(status["persist"].to_string().contains("written again"), "{status}");
        }
        assert!(server.term().success());
        let mut server = Server::start(&home);
        assert_eq!(server.panes().len(), panes + 1);
        assert!(server.term().success());
    }
}
