//! What is planned: the plan of a start, every resume at once, and a restart
//! that somebody asked for.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use crate::support::stage::{Stage, kill, switch, work};
use crate::support::talk::Talk;
use crate::support::{Home, Server, cli, wait_until};

/// Decision and rule of each pane.
fn plan(home: &Home) -> BTreeMap<String, (String, String)> {
    let (code, told) = cli::json(home, &["restore", "--plan"]);
    assert_eq!(code, 0, "{told}");
    let word = |one: &Value, name: &str| one[name].as_str().unwrap().to_owned();
    let panes = told["panes"].as_array().unwrap().iter();
    let each = panes.map(|one| {
        let reason = word(one, "reason");
        assert!(reason.ends_with('.') && reason.starts_with(char::is_uppercase), "{reason}");
        (word(one, "pane_id"), (word(one, "decision"), word(one, "rule")))
    });
    each.collect()
}

fn decided(decision: &str, rule: &str) -> (String, String) {
    (decision.to_owned(), rule.to_owned())
}

#[test]
fn d1_s1_3_a_plan_says_what_the_start_then_does() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let shell = server.spawn(&home, &["/bin/sleep", "1000"]);
    let quiet = Talk::hold(&server, &home);
    let reopened = Talk::hold(&server, &home);
    switch(&server, &reopened.pane, true, false);
    let goes_on = Talk::hold(&server, &home);
    switch(&server, &goes_on.pane, true, true);
    let given_up = Talk::hold(&server, &home);
    work(&server, &goes_on.pane);
    work(&server, &given_up.pane);
    server.wait_saved();
    let expected = BTreeMap::from([
        (shell.clone(), decided("leave", "D6")),
        (quiet.pane.clone(), decided("leave", "S0-16")),
        (reopened.pane.clone(), decided("resume", "D3")),
        (goes_on.pane.clone(), decided("continue", "D16")),
        (given_up.pane.clone(), decided("settle", "D17")),
    ]);
    // Asked of a running server: what if it went away now.
    assert_eq!(plan(&home), expected);
    kill(&mut server);
    let files = home.files();
    assert_eq!(plan(&home), expected, "without one");
    assert_eq!(home.files(), files, "a plan changes nothing");
    let people = cli::text(&home, &["restore", "--plan"]);
    assert!(people.lines().any(|line| line.starts_with(&goes_on.pane) && line.contains("D16")));

    let server = Server::start(&home);
    for (pane, (decision, _)) in &expected {
        let state = match decision.as_str() {
            "resume" | "continue" => "live",
            "settle" => "resumable",
            _ if *pane == shell => "restored",
            _ => "resumable",
        };
        server.wait_state(pane, state);
    }
    server.wait_text(&goes_on.pane, "you said: Continue where you left off.");
    wait_until("the end of the promise", || server.pane(&goes_on.pane)["agent"]["marked"] == false);
    assert_eq!(server.children().len(), 2);
    // What was given up is not given up again.
    let now = plan(&home);
    assert_eq!(now[&given_up.pane], decided("leave", "S0-16"));
}

#[test]
fn inv_r11_a_plan_without_a_server_follows_the_configuration() {
    let stage = Stage::interrupted_with("[resume]\nmax_attempts = 0\n", true, true);
    let found = stage.plan();
    assert_eq!((&found["decision"], &found["rule"]), (&json!("resume"), &json!("K11")));
    let (mut server, pane) = stage.start();
    assert_eq!((&pane["state"], stage.prompts()), (&json!("live"), 0));
    kill(&mut server);
    // With one no server would start, so there is no plan either.
    fs::write(stage.home.path(".config/signaltty/config.toml"), "[resume]\nno = 1\n").unwrap();
    let (code, told) = cli::json(&stage.home, &["restore", "--plan"]);
    assert_eq!((code, &told["error"]["code"]), (2, &json!("USAGE")));
    let message = told["error"]["message"].as_str().unwrap();
    assert!(message.contains("resume.no") && message.contains("config.toml"), "{message}");
    assert_eq!(Server::refused(&stage.home, |_| {}).code, Some(2));
}

#[test]
fn s0_34_s0_35_a_plan_says_what_a_start_does_with_a_file_that_cannot_be_loaded() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let pane = server.spawn(&home, &["/bin/cat"]);
    for title in ["old", "new"] {
        server.ask("pane.rename", json!({"pane": pane, "title": title}));
        server.wait_saved();
    }
    assert!(server.term().success());
    let good = fs::read(home.snapshot_path()).unwrap();
    let plan = || cli::json(&home, &["restore", "--plan"]);
    let (code, told) = plan();
    assert_eq!((code, told["panes"].as_array().unwrap().len()), (0, 1));
    assert_eq!(told.get("remarks"), None);

    // A start begins empty, and says the same way back.
    for bytes in [&good[..good.len() / 2], b"garbage", b""] {
        fs::write(home.snapshot_path(), bytes).unwrap();
        let files = home.files();
        let (code, told) = plan();
        assert_eq!((code, &told["panes"]), (0, &json!([])), "{told}");
        let remark = told["remarks"][0].as_str().unwrap();
        assert!(remark.contains("would set it aside and begin empty"), "{remark}");
        assert!(remark.contains("history restore "), "{remark}");
        let people = cli::text(&home, &["restore", "--plan"]);
        assert_eq!(people, format!("{remark}\nno panes\n"));
        assert!(home.files() == files, "a plan changes nothing");
    }
    let mut server = Server::start(&home);
    assert_eq!(server.panes(), Vec::<Value>::new());
    assert!(server.term().success());

    // No server starts.
    let (newer, foreign) = (r#"{"snapshot_version":999,"generation":1}"#, r#"{"version":3}"#);
    for text in [newer, foreign] {
        fs::write(home.snapshot_path(), text).unwrap();
        let (code, told) = plan();
        assert_eq!((code, &told["error"]["code"]), (6, &json!("STATE_REFUSED")), "{told}");
        let message = told["error"]["message"].as_str().unwrap();
        assert!(message.contains("no server would start"), "{message}");
        assert_eq!(Server::refused(&home, |_| {}).code, Some(6));
    }

    // Nor where another one has the directory, on a socket elsewhere.
    fs::write(home.snapshot_path(), good).unwrap();
    let server = Server::start_at(&home, &home.path("elsewhere"), |command| {
        command.arg("--state-dir").arg(home.state());
    });
    let (code, told) = plan();
    assert_eq!((code, &told["error"]["code"]), (6, &json!("STATE_REFUSED")), "{told}");
    let message = told["error"]["message"].as_str().unwrap();
    assert!(message.contains(&server.pid().to_string()), "{message}");
}

#[test]
fn s0_17_resume_all_reopens_what_can_be_and_names_what_cannot() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let talks: Vec<_> = (0..4).map(|_| Talk::hold(&server, &home)).collect();
    let workspace = |server: &Server, at: usize| {
        let pane: &Talk = &talks[at];
        server.pane(&pane.pane)["workspace_id"].as_str().unwrap().to_owned()
    };
    let archived = workspace(&server, 3);
    server.ask("workspace.set", json!({"workspace": archived, "archived": true}));
    let shell = server.spawn(&home, &["/bin/sleep", "1000"]);
    server.wait_saved();
    kill(&mut server);
    let records = crate::support::home::files_below(&home.path("demo/conversations"));
    let lost = records.keys().find(|path| path.to_string_lossy().contains(&talks[1].id)).unwrap();
    fs::remove_file(lost).unwrap();

    let server = Server::start(&home);
    // One workspace alone.
    let first = workspace(&server, 0);
    let (code, told) = cli::json(&home, &["resume", "--all", &first]);
    assert_eq!((code, told["panes"].as_array().unwrap().len()), (0, 1), "{told}");
    assert_eq!(told["panes"][0]["verdict"], "verified");
    // The rest: one is gone, and that stops nobody else.
    let (code, told) = cli::json(&home, &["resume", "--all"]);
    assert_eq!(code, 5, "{told}");
    let of = |talk: &Talk| {
        let panes = told["panes"].as_array().unwrap();
        panes.iter().find(|one| one["pane_id"] == *talk.pane).cloned()
    };
    assert_eq!(of(&talks[0]), None, "open already");
    assert_eq!(of(&talks[1]).unwrap()["error"]["details"]["reason"], "gone");
    assert_eq!(of(&talks[2]).unwrap()["verdict"], "verified");
    assert_eq!(of(&talks[3]), None, "archived");
    for (pane, state) in [
        (&talks[0].pane, "live"),
        (&talks[1].pane, "resumable"),
        (&talks[2].pane, "live"),
        (&talks[3].pane, "resumable"),
        (&shell, "restored"),
    ] {
        assert_eq!(server.pane(pane)["state"], state);
    }
    talks[2].check_memory(&server);
    let ended = cli::run(&home, &["resume", "--all", "nowhere"]);
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(said.contains("there is no workspace nowhere"), "{said}");
}

#[test]
fn s1_24_a_planned_restart_marks_every_running_turn_or_none() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let running: Vec<_> = (0..2).map(|_| Talk::hold(&server, &home)).collect();
    let idle = Talk::hold(&server, &home);
    running.iter().for_each(|talk| work(&server, &talk.pane));
    server.wait_saved();
    let marked = |server: &Server, talk: &Talk| server.pane(&talk.pane)["agent"]["marked"].clone();

    // The disk takes no mark: the server goes on, and so do the turns.
    let (snapshot, aside) = (home.snapshot_path(), home.path("aside"));
    fs::rename(&snapshot, &aside).unwrap();
    fs::create_dir_all(snapshot.join("in the way")).unwrap();
    let (code, told) = cli::json(&home, &["shutdown", "--continue"]);
    assert_eq!((code, &told["error"]["code"]), (1, &json!("NOT_SAVED")), "{told}");
    for talk in running.iter().chain([&idle]) {
        assert_eq!(server.pane(&talk.pane)["state"], "live");
        assert_eq!(marked(&server, talk), false);
    }
    fs::remove_dir_all(&snapshot).unwrap();
    fs::rename(&aside, &snapshot).unwrap();

    let children = server.children();
    let (code, told) = cli::json(&home, &["shutdown", "--continue"]);
    assert_eq!(code, 0, "{told}");
    assert!(server.wait_exit().success());
    crate::support::process::wait_gone(&children);
    // The switches are off, and both go on all the same; the idle one does not.
    let found = plan(&home);
    for talk in &running {
        assert_eq!(found[&talk.pane], decided("continue", "D9"));
    }
    assert_eq!(found[&idle.pane], decided("leave", "S0-16"));
    let server = Server::start(&home);
    for talk in &running {
        server.wait_state(&talk.pane, "live");
        server.wait_text(&talk.pane, "you said: Continue where you left off.");
        wait_until("the end of the promise", || marked(&server, talk) == false);
    }
    assert_eq!(server.pane(&idle.pane)["state"], "resumable");
    assert_eq!(server.children().len(), 2);
}
