//! Conversations across a killed server: reopened only where they are proven to
//! be the same.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::support::process::wait_gone;
use crate::support::talk::{AGENT, Talk, behave, listed, record};
use crate::support::{Home, Server, cli};

/// A talk whose server was killed, and the next server.
fn tombstone() -> (Home, Server, Talk) {
    let home = Home::new();
    let mut server = Server::start(&home);
    let talk = Talk::hold(&server, &home);
    let children = server.children();
    server.kill9();
    wait_gone(&children);
    let server = Server::start(&home);
    talk.check_tombstone(&server);
    (home, server, talk)
}

#[test]
fn s0_14_s0_21_a_conversation_comes_back_proven_in_its_place() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let talk = Talk::hold(&server, &home);
    let mut attached = server.connect().attach(json!({"pane": talk.pane, "cols": 100, "rows": 30}));
    attached.resize(100, 30);
    crate::support::wait_until("the size", || server.pane(&talk.pane)["cols"] == 100);
    server.wait_saved();
    server.kill9();

    let server = Server::start(&home);
    let pane = talk.check_tombstone(&server);
    assert_eq!((&pane["cols"], &pane["rows"]), (&json!(100), &json!(30)));
    assert_eq!(pane["agent"]["verdict"], json!(null));
    assert_eq!(pane["exit"], json!({"code": null, "signal": null}));
    // S0-39: where its records are is known from the pane, not from who asks.
    let env = json!({"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"});
    let resumed = server.ask("pane.resume", json!({"pane": talk.pane, "env": env}));
    assert_eq!(resumed["verdict"], "verified");
    assert_eq!(resumed["agent_session_id"], *talk.id);
    let evidence = resumed["evidence"].to_string();
    assert!(evidence.contains(&talk.id) && evidence.contains("4 messages"), "{evidence}");
    let pane = server.wait_state(&talk.pane, "live");
    assert_eq!(pane["agent"]["verdict"], "verified");
    assert_eq!(pane["title"], "a talk");
    assert_eq!((&pane["cols"], &pane["rows"]), (&json!(100), &json!(30)));
    talk.check_memory(&server);
    // C044: what was there before is above a line that says so.
    let text = server.text(&talk.pane);
    let (before, after) = text.split_once("before this start").expect("a separator");
    assert!(before.contains("noted: the colour blue"), "{text}");
    assert!(after.contains("4 earlier messages"), "{text}");
}

#[test]
fn d27_who_resumes_does_not_choose_the_store() {
    let home = Home::new();
    let start = || {
        // Records are where the home is, as no variable says otherwise.
        Server::start_with(&home, |command| {
            command.env_remove("SIGNALTTY_DEMO_HOME");
        })
    };
    let mut server = start();
    let talk = Talk::hold(&server, &home);
    server.wait_saved();
    server.kill9();

    let server = start();
    // Somebody whose own conversations are elsewhere, with a copy of this one.
    let elsewhere = home.path("elsewhere");
    let copied =
        Command::new("cp").arg("-r").arg(home.path(".signaltty-demo")).arg(&elsewhere).status();
    assert!(copied.unwrap().success());
    let env = json!({
        "PATH": std::env::var("PATH").unwrap(),
        "HOME": home.path(""),
        "SIGNALTTY_DEMO_HOME": elsewhere,
    });
    let resumed = server.ask("pane.resume", json!({"pane": talk.pane, "env": env}));
    assert_eq!(resumed["verdict"], "verified", "{resumed}");
    let children = server.children();
    let environ = fs::read(format!("/proc/{}/environ", children[0].pid)).unwrap();
    assert!(!String::from_utf8_lossy(&environ).contains("elsewhere"));
    talk.check_memory(&server);
}

#[test]
fn s1_19_d2_s1_28_an_impostor_is_refused_and_the_tombstone_kept() {
    let (home, server, talk) = tombstone();
    let record = record(&home);
    let saved = fs::read(&record).unwrap();
    let refused = |anyway: bool, reason: &str| {
        let failure = server
            .call("pane.resume", json!({"pane": talk.pane, "anyway": anyway}))
            .expect_err(reason);
        assert_eq!(failure.code, "RESUME_REFUSED", "{}", failure.message);
        assert_eq!(failure.reason(), reason, "{}", failure.message);
        let pane = talk.check_tombstone(&server);
        let last = &pane["agent"]["last_failure"];
        assert_eq!(last["code"], reason);
        // What can be done about the pane stands beside it there.
        let (found, way) = failure.message.split_once(", or ").unwrap_or((&failure.message, ""));
        assert_eq!((&last["message"], way.is_empty()), (&json!(found), reason != "damaged"));
        failure
    };

    // S1-31: what is not there is not started.
    let before = listed(&home);
    for (content, reason) in
        [(Some(&b""[..]), "damaged"), (Some(&saved[..saved.len() / 2]), "damaged"), (None, "gone")]
    {
        match content {
            Some(content) => fs::write(&record, content).unwrap(),
            None => fs::remove_file(&record).unwrap(),
        }
        refused(false, reason);
        assert_eq!(listed(&home), before, "{reason}: no process began");
    }

    // These begin, and show that they are not it.
    for (how, anyway, reason) in [
        ("fresh", false, "contradicted"),
        ("other", false, "contradicted"),
        ("echo", false, "contradicted"),
        ("other", true, "contradicted"),
        ("exit", false, "spawn_failed"),
    ] {
        fs::write(&record, &saved).unwrap();
        behave(&home, how);
        let failure = refused(anyway, reason);
        let says = if how == "exit" { "not found" } else { &talk.id };
        assert!(failure.message.contains(says), "{how}: {}", failure.message);
    }

    // None of it did harm.
    fs::write(&record, &saved).unwrap();
    behave(&home, "good");
    assert_eq!(talk.resume(&server).unwrap()["verdict"], "verified");
    talk.check_memory(&server);
}

#[test]
fn d2_an_agent_that_shows_nothing_stays_unconfirmed() {
    let (home, server, talk) = tombstone();
    behave(&home, "silent");
    let resumed = talk.resume(&server).unwrap();
    assert_eq!(resumed["verdict"], "unconfirmed");
    assert_eq!(server.pane(&talk.pane)["agent"]["verdict"], "unconfirmed");
    talk.check_memory(&server);
}

#[test]
fn d3_a_damaged_conversation_is_opened_on_demand_and_stays_unconfirmed() {
    let (home, mut server, talk) = tombstone();
    let record = record(&home);
    let saved = fs::read(&record).unwrap();
    let lines: Vec<_> = saved.split_inclusive(|byte| *byte == b'\n').collect();
    fs::write(&record, lines[..2].concat()).unwrap();
    let failure = talk.resume(&server).unwrap_err();
    assert_eq!(failure.reason(), "damaged", "{}", failure.message);
    assert_eq!(failure.details["can_be_overridden"], true);
    let resumed = server.ask("pane.resume", json!({"pane": talk.pane, "anyway": true}));
    assert_eq!(resumed["verdict"], "unconfirmed");
    // As long as nothing was said in it, what was saved before is what the next
    // server goes by.
    server.wait_saved();
    server.kill9();
    let mut server = Server::start(&home);
    assert_eq!(talk.resume(&server).unwrap_err().reason(), "damaged");
    let resumed = server.ask("pane.resume", json!({"pane": talk.pane, "anyway": true}));
    assert_eq!(resumed["verdict"], "unconfirmed");
    server.type_line(&talk.pane, "what did I say?");
    server.wait_text(&talk.pane, "1. remember the colour blue");
    // How much had been said is read once the verdict is there: what is typed
    // faster than that counts as said before, and the next message as more.
    server.type_line(&talk.pane, "and what else?");
    // What its person accepted and works in is the conversation from then on.
    crate::support::wait_until("the new anchor", || {
        server.pane(&talk.pane)["agent"]["evidence"].to_string().contains("accepted as it is")
    });
    assert_eq!(server.pane(&talk.pane)["agent"]["verdict"], "unconfirmed");
    server.wait_saved();
    server.kill9();
    let server = Server::start(&home);
    assert_eq!(talk.resume(&server).unwrap()["verdict"], "verified");
}

#[test]
fn c047_a_conversation_is_open_in_one_pane_only() {
    let (home, server, talk) = tombstone();
    // Somebody opens it by hand in another pane.
    let second = server.spawn(&home, &[AGENT[0], AGENT[1], "--resume", &talk.id]);
    server.wait_text(&second, "4 earlier messages");
    crate::support::wait_until("the second pane's id", || {
        server.pane(&second)["agent"]["agent_session_id"] == *talk.id
    });
    let failure = talk.resume(&server).unwrap_err();
    assert_eq!(failure.code, "RESUME_REFUSED");
    assert_eq!(failure.reason(), "duplicate", "{}", failure.message);
    assert!(failure.message.contains(&second), "{}", failure.message);
    assert_eq!(server.children().len(), 1);

    server.ask("pane.terminate", json!({"pane": second}));
    server.wait_state(&second, "exited");
    assert_eq!(talk.resume(&server).unwrap()["verdict"], "verified");
    let failure =
        server.call("pane.resume", json!({"pane": second})).expect_err("it is open in the first");
    assert_eq!(failure.reason(), "duplicate", "{}", failure.message);
    assert!(failure.message.contains(&talk.pane), "{}", failure.message);
    talk.check_memory(&server);
}

#[test]
fn c047_a_conversation_that_is_open_elsewhere_is_busy() {
    let (home, server, talk) = tombstone();
    let mut other = Command::new(AGENT[0])
        .args([AGENT[1], "--resume", &talk.id])
        .current_dir(home.work())
        .env_clear()
        .env("SIGNALTTY_DEMO_HOME", home.demo())
        .env("PWD", home.work())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let pid = other.id().to_string();
    let entry = home.path(&format!("demo/live/{pid}.json"));
    crate::support::wait_until("the other's entry", || entry.exists());
    let failure = talk.resume(&server).unwrap_err();
    // Its input ends, and so does it.
    drop(other.stdin.take());
    other.wait().unwrap();
    assert_eq!(failure.reason(), "busy", "{}", failure.message);
    assert!(failure.message.contains(&pid), "{}", failure.message);
    assert_eq!(talk.resume(&server).unwrap()["verdict"], "verified");
}

#[test]
fn c059_a_directory_that_is_gone_is_said_and_nothing_starts_elsewhere() {
    let (home, server, talk) = tombstone();
    let away = home.path("away");
    fs::rename(home.work(), &away).unwrap();
    let before = listed(&home);
    let failure = talk.resume(&server).unwrap_err();
    assert_eq!(failure.reason(), "cwd_missing", "{}", failure.message);
    let work = home.work().display().to_string();
    assert!(failure.message.contains(&work), "{}", failure.message);
    assert_eq!(server.pane(&talk.pane)["cwd"], *work);
    assert_eq!(listed(&home), before);
    fs::rename(&away, home.work()).unwrap();
    assert_eq!(talk.resume(&server).unwrap()["verdict"], "verified");
}

#[test]
fn d29_c050_options_of_the_launch_go_along_by_hand_and_are_named() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let argv = [AGENT[0], AGENT[1], "--model", "x", "--skip-permissions"];
    let talk = Talk::hold_with(&server, &home, &argv);
    let children = server.children();
    server.kill9();
    wait_gone(&children);
    let server = Server::start(&home);
    let resumed = talk.resume(&server).unwrap();
    assert_eq!(resumed["verdict"], "verified");
    assert_eq!(resumed["carried"], json!(["--model x", "--skip-permissions"]));
    assert_eq!(resumed["not_carried"], json!([]));
    server.wait_text(&talk.pane, "started with --model=x --skip-permissions");
    talk.check_memory(&server);
}

#[test]
fn c008_inv_r4_a_lost_anchor_is_named_and_nothing_is_reopened() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let talk = Talk::hold(&server, &home);
    server.wait_saved();
    let children = server.children();
    server.kill9();
    wait_gone(&children);
    let whole = home.snapshot();
    for (part, value) in [("anchor", json!({"record": 5})), ("config_env", json!({"PATH": "/x"}))] {
        let mut snapshot = whole.clone();
        snapshot["panes"][0]["agent"]["conversation"][part] = value;
        fs::write(home.snapshot_path(), snapshot.to_string()).unwrap();
        let mut server = Server::start(&home);
        for anyway in [false, true] {
            let ask = json!({"pane": talk.pane, "anyway": anyway});
            let refused = server.call("pane.resume", ask).unwrap_err();
            assert_eq!(refused.code, "RESUME_REFUSED", "{part}: {refused:?}");
            let named = refused.message.contains(&talk.id) && refused.message.contains("corrupt/");
            assert!(named, "{part}: {refused:?}");
        }
        let ended = cli::run(&home, &["resume", &talk.pane]);
        assert_eq!(ended.status.code(), Some(5), "{part}");
        assert_eq!(server.children().len(), 0);
        server.kill9();
    }
}
