//! SIGKILL on the real server at every point of a start that K0 to K11 name,
//! with every way in which an agent may behave, for each setting of the
//! switches.
//!
//! The core walks through the same table with a clock of its own
//! (`recovery/matrix.rs`); here the processes, the files and the times are real.
//! A server ends itself at a point only where it was built with debug
//! assertions.
#![cfg(debug_assertions)]

use std::fs;

use serde_json::{Value, json};

use crate::support::Server;
use crate::support::stage::{PROMPT, Stage, kill, wait_empty};
use crate::support::talk::{AGENT, behave};

/// For agents that prove nothing: what is waited for in vain.
const SHORT: &str = "[resume]\ndeadline_s = { demo = 2 }\n";

/// Where the server is killed: the point, its number, and the row by which the
/// next start decides.
const POINTS: [(&str, &str, &str); 8] = [
    ("k02", "begun", "D16"),
    ("k03", "marked", "D10"),
    ("k04", "spawned", "D10"),
    ("k05", "proven", "D10"),
    ("k05", "promised", "D10"),
    ("k06", "sent", "D10"),
    ("k07", "accepted", "D10"),
    ("k09", "refused", "D10"),
];

/// One way in which an agent or its record behaves.
struct Mode {
    name: &'static str,
    /// The points that a start with both switches comes to.
    reaches: &'static [&'static str],
    /// `verified`, or why it is not reopened.
    ends: &'static [&'static str],
    /// Its turn goes on.
    goes_on: bool,
}

const MODES: [Mode; 11] = [
    Mode {
        name: "good",
        reaches: &["begun", "marked", "spawned", "proven", "promised", "sent", "accepted"],
        ends: &["verified"],
        goes_on: true,
    },
    // Another id, with the whole history.
    Mode {
        name: "forks",
        reaches: &["begun", "marked", "spawned", "proven", "promised", "sent", "accepted"],
        ends: &["verified"],
        goes_on: true,
    },
    // Another id, without it.
    Mode { name: "other", reaches: STARTED, ends: &["contradicted"], goes_on: false },
    // The saved id and nothing in it; the record is gone with that.
    Mode { name: "fresh", reaches: STARTED, ends: &["contradicted", "damaged"], goes_on: false },
    // It says the saved id and has another conversation.
    Mode { name: "echo", reaches: STARTED, ends: &["contradicted"], goes_on: false },
    Mode { name: "silent", reaches: STARTED, ends: &["unconfirmed"], goes_on: false },
    Mode { name: "exit", reaches: STARTED, ends: &["spawn_failed"], goes_on: false },
    Mode { name: "gone", reaches: REFUSED, ends: &["gone"], goes_on: false },
    Mode { name: "rewritten", reaches: REFUSED, ends: &["rewritten"], goes_on: false },
    // A tool call whose result nobody knows.
    Mode { name: "open tool", reaches: REFUSED, ends: &["verified"], goes_on: false },
    // The turn had come to its end when the server was killed.
    Mode { name: "finished", reaches: &["begun", "marked"], ends: &["verified"], goes_on: false },
];

const STARTED: &[&str] = &["begun", "marked", "spawned", "refused"];
const REFUSED: &[&str] = &["begun", "marked", "refused"];

fn mode(name: &str) -> &'static Mode {
    MODES.iter().find(|mode| mode.name == name).unwrap()
}

impl Mode {
    fn config(&self) -> &'static str {
        if self.ends == ["verified"] { "" } else { SHORT }
    }

    /// Makes the agent and its record so.
    fn prepare(&self, stage: &Stage) {
        stage.reset();
        let record = stage.record();
        let said = fs::read_to_string(&record).unwrap();
        let add = |by: &str, text: &str| {
            let uuid = "00000000-0000-4000-8000-000000000000";
            let line = json!({"by": by, "uuid": uuid, "parent": null, "text": text});
            fs::write(&record, format!("{said}{line}\n")).unwrap();
        };
        match self.name {
            "gone" => fs::remove_file(&record).unwrap(),
            "rewritten" => fs::write(&record, said.replacen("blue", "grey", 1)).unwrap(),
            "open tool" => add("person", "run deploy"),
            "finished" => add("agent", "it is done"),
            behaviour => behave(&stage.home, behaviour),
        }
    }
}

/// What a cell must come to, at each start that nobody kills.
struct Cell<'a> {
    stage: &'a Stage,
    mode: &'a Mode,
    name: String,
    /// So often a prompt may have been taken at most.
    allowed: usize,
}

impl Cell<'_> {
    /// Starts the server, lets it come to rest, and kills it.
    fn start(&mut self, resume: bool) -> Value {
        // Where a prompt had arrived, its turn is the one that a kill cut off.
        self.allowed += usize::from(self.stage.unanswered());
        let (mut server, pane) = self.stage.start();
        let name = &self.name;
        let agent = &pane["agent"];
        if resume {
            let ended = match pane["state"].as_str().unwrap() {
                "live" => agent["verdict"].as_str().unwrap(),
                _ => agent["last_failure"]["code"].as_str().unwrap_or("none"),
            };
            assert!(self.mode.ends.contains(&ended), "{name}: {pane}");
            let open = self.mode.ends == ["verified"];
            assert_eq!(pane["state"], if open { "live" } else { "resumable" }, "{name}: {pane}");
        } else {
            assert_eq!(pane["state"], "resumable", "{name}: {pane}");
        }
        // Nothing is promised any more, and nothing that is not live works.
        assert_eq!(agent["marked"], false, "{name}: {pane}");
        let prompts = self.stage.prompts();
        assert!(prompts <= self.allowed, "{name}: {prompts} of {}", self.allowed);
        server.wait_saved();
        kill(&mut server);
        pane
    }
}

/// Kills servers with both switches on at every point that these modes reach.
fn both_on(modes: &[&str]) {
    std::thread::scope(|scope| {
        for name in modes {
            scope.spawn(move || {
                let mode = mode(name);
                let stage = Stage::interrupted_with(mode.config(), true, true);
                for (k, point, row) in POINTS {
                    if mode.reaches.contains(&point) {
                        one_kill(&stage, mode, k, point, row);
                    }
                }
                // And no later start begins it again.
                let allowed = stage.prompts();
                let name = format!("later, {}", mode.name);
                Cell { stage: &stage, mode, name, allowed }.start(true);
            });
        }
    });
}

fn one_kill(stage: &Stage, mode: &Mode, k: &str, point: &str, row: &str) {
    mode.prepare(stage);
    let name = format!("{k} {point}, {}", mode.name);
    assert_eq!(stage.plan()["rule"], "D16", "{name}");
    Server::killed_at(&stage.home, point);
    assert_eq!(stage.plan()["rule"], row, "{name}");
    let mut cell = Cell { stage, mode, name, allowed: usize::from(mode.goes_on) };
    let pane = cell.start(true);
    let (agent, name) = (&pane["agent"], &cell.name);
    if mode.goes_on {
        assert_eq!(stage.prompts(), 1, "{name}");
        // Taken up, or cut off a second time and said to be.
        let told = agent["last_failure"]["code"] == "not_continued";
        assert!(agent["interrupted"] == false || told, "{name}: {pane}");
    } else if mode.name == "finished" {
        assert_eq!(agent["interrupted"], false, "{name}: {pane}");
    } else {
        assert_ne!(agent["last_failure"], Value::Null, "{name}: nobody is told: {pane}");
        assert_eq!(agent["interrupted"], true, "{name}: {pane}");
    }
}

#[test]
fn s1_11_k02_k03_k04_k05_k06_k07_a_killed_server_continues_once() {
    both_on(&["good", "forks", "open tool", "finished"]);
}

#[test]
fn k02_k03_k04_k09_s1_11_s1_20_a_killed_server_opens_no_other_conversation() {
    both_on(&["other", "fresh", "echo", "silent"]);
}

#[test]
fn k02_k03_k09_s1_18_s1_31_a_killed_server_starts_nothing_on_an_unsound_record() {
    both_on(&["exit", "gone", "rewritten"]);
}

#[test]
fn k00_row_d16_row_d17_the_switches_decide_what_a_start_does_with_each_agent() {
    std::thread::scope(|scope| {
        for (resume, go_on) in [(false, false), (false, true), (true, false)] {
            for config in ["", SHORT] {
                scope.spawn(move || not_both_on(config, resume, go_on));
            }
        }
    });
}

fn not_both_on(config: &str, resume: bool, go_on: bool) {
    let stage = Stage::interrupted_with(config, resume, go_on);
    for mode in MODES.iter().filter(|mode| mode.config() == config) {
        mode.prepare(&stage);
        let plan = stage.plan();
        let name = format!("k00, {}, resume {resume}, continue {go_on}", mode.name);
        assert_eq!(plan["rule"], "D17", "{name}: {plan}");
        let decision = if resume { "resume" } else { "settle" };
        assert_eq!(plan["decision"], decision, "{name}");
        let mut cell = Cell { stage: &stage, mode, name, allowed: 0 };
        let pane = cell.start(resume);
        // Nobody looked into the record for a turn that was not to go on.
        assert_eq!(pane["agent"]["interrupted"], true, "{}", cell.name);
        // The next start does the same, and settles nothing again.
        let rule = stage.plan()["rule"].clone();
        assert_eq!(rule, if resume { "D3" } else { "S0-16" }, "{}", cell.name);
    }
    if (resume, config) != (true, "") {
        return;
    }
    for (k, point) in [("k02", "begun"), ("k03", "marked"), ("k04", "spawned"), ("k05", "judged")] {
        let good = mode("good");
        good.prepare(&stage);
        Server::killed_at(&stage.home, point);
        let name = format!("{k} {point}, resume alone");
        Cell { stage: &stage, mode: good, name, allowed: 0 }.start(true);
    }
}

#[test]
fn k08_k10_a_cleared_marker_and_one_that_a_loss_of_power_brought_back() {
    let stage = Stage::interrupted(true, true);
    let good = mode("good");
    good.prepare(&stage);
    Server::killed_at(&stage.home, "promised");
    let promised = fs::read(stage.home.snapshot_path()).unwrap();
    Server::killed_at(&stage.home, "cleared");
    assert_eq!(stage.prompts(), 1);
    assert_eq!(stage.saved()["turns"]["marker"], Value::Null);
    let mut cell = Cell { stage: &stage, mode: good, name: "k08".to_owned(), allowed: 1 };
    // What the agent worked on then was another turn, which was cut off or not.
    let row = stage.plan()["rule"].clone();
    assert!(row == "D16" || row == "D3", "{row}");
    cell.start(true);

    // The promise is back; that it was kept is in the agent's record.
    fs::write(stage.home.snapshot_path(), promised).unwrap();
    assert_eq!(stage.plan()["rule"], "D10");
    cell.name = "k10".to_owned();
    cell.start(true);
    cell.start(true);
}

#[test]
fn k11_d14_a_recovery_that_takes_the_server_down_ends() {
    let stage = Stage::interrupted(true, true);
    let good = mode("good");
    good.prepare(&stage);
    for start in 1..=3 {
        Server::killed_at(&stage.home, "spawned");
        assert_eq!(stage.saved()["turns"]["attempts"], start);
    }
    let plan = stage.plan();
    assert_eq!((&plan["rule"], &plan["decision"]), (&json!("K11"), &json!("settle")));
    let (mut server, pane) = stage.start();
    assert_eq!((&pane["state"], &pane["agent"]["marked"]), (&json!("resumable"), &json!(false)));
    let failure = pane["agent"]["last_failure"]["message"].as_str().unwrap();
    assert!(failure.contains("it was tried as often as"), "{failure}");
    assert_eq!(stage.prompts(), 0);
    // A person's own is not bounded.
    server.ask("pane.continue", json!({"pane": stage.talk.pane}));
    assert_eq!(stage.prompts(), 1);
    kill(&mut server);
}

#[test]
fn k01_row_d14_s1_24_a_turn_that_finished_after_it_was_marked_sends_nothing() {
    let stage = Stage::interrupted(false, false);
    let good = mode("good");
    good.prepare(&stage);
    // A turn that runs, and a server that dies when its mark is on the disk.
    let mut server = Server::start_with(&stage.home, |command| {
        command.env("SIGNALTTY_TEST_KILL_AT", "planned");
    });
    stage.talk.resume(&server).unwrap();
    crate::support::stage::work(&server, &stage.talk.pane);
    server.connect().send("server.shutdown", json!({"force": false, "continue": true}));
    server.wait_exit();
    wait_empty(&stage.home);
    let marked = fs::read(stage.home.snapshot_path()).unwrap();
    assert_eq!(stage.saved()["turns"]["marker"]["origin"], "planned");
    assert_eq!(stage.plan()["rule"], "D9");

    // The agent came to the end of it before it was killed.
    let said = fs::read_to_string(stage.record()).unwrap();
    let uuid = "00000000-0000-4000-8000-000000000000";
    let line = json!({"by": "agent", "uuid": uuid, "parent": null, "text": "done"});
    fs::write(stage.record(), format!("{said}{line}\n")).unwrap();
    let (mut next, pane) = stage.start();
    assert_eq!((&pane["agent"]["marked"], stage.prompts()), (&json!(false), 0));
    assert_eq!(pane["agent"]["interrupted"], false);
    kill(&mut next);

    // And where it did not, it goes on without the switches, once.
    fs::write(stage.record(), said).unwrap();
    fs::write(stage.home.snapshot_path(), marked).unwrap();
    let (mut next, pane) = stage.start();
    assert_eq!((&pane["state"], stage.prompts()), (&json!("live"), 1));
    kill(&mut next);
    let (_server, pane) = stage.start();
    assert_eq!((&pane["state"], stage.prompts()), (&json!("resumable"), 1));
}

#[test]
fn k06_d14_s1_12_an_agent_that_says_nothing_of_a_prompt_is_not_prompted_for_ever() {
    // It never gets it.
    let stage = Stage::interrupted(true, true);
    stage.reset();
    behave(&stage.home, "deaf");
    for tried in 1..=3 {
        Server::killed_at(&stage.home, "sent");
        assert_eq!(stage.saved()["turns"]["attempts"], tried);
        assert_eq!(stage.saved()["turns"]["marker"]["sent"], true);
    }
    assert_eq!(stage.plan()["rule"], "K11");
    let (mut server, pane) = stage.start();
    assert_eq!((&pane["agent"]["marked"], stage.prompts()), (&json!(false), 0));
    assert_eq!(pane["agent"]["last_failure"]["code"], "not_continued");
    kill(&mut server);

    // It takes it and works on it without a word: the promise stays.
    stage.reset();
    behave(&stage.home, "mute");
    let (mut server, pane) = stage.start();
    assert_eq!((&pane["agent"]["marked"], stage.prompts()), (&json!(true), 1));
    let failure = pane["agent"]["last_failure"]["message"].as_str().unwrap();
    assert!(failure.contains("did not say that it took the prompt"), "{failure}");
    server.wait_saved();
    kill(&mut server);
    // Only the record can say that it arrived.
    assert_eq!(stage.plan()["rule"], "D10");
    let mut cell = Cell { stage: &stage, mode: mode("good"), name: "mute".to_owned(), allowed: 0 };
    let pane = cell.start(true);
    assert_eq!(pane["agent"]["interrupted"], true);
    let failure = pane["agent"]["last_failure"]["message"].as_str().unwrap();
    assert!(failure.contains("an earlier attempt had reached the agent"), "{failure}");
    assert_eq!(stage.prompts(), 1);
}

#[test]
fn k03_d13_a_conversation_that_somebody_else_has_open_is_left_to_them() {
    let stage = Stage::interrupted(true, true);
    mode("good").prepare(&stage);
    let mut other = std::process::Command::new(AGENT[0])
        .args([AGENT[1], "--resume", &stage.talk.id])
        .current_dir(stage.home.work())
        .env("PWD", stage.home.work())
        .env("SIGNALTTY_DEMO_HOME", stage.home.demo())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let listed = stage.home.path(&format!("demo/live/{}.json", other.id()));
    crate::support::wait_until("the other agent", || listed.exists());
    let busy = Mode { name: "busy", reaches: REFUSED, ends: &["busy"], goes_on: false };
    for point in ["marked", "refused"] {
        Server::killed_at(&stage.home, point);
    }
    let mut cell = Cell { stage: &stage, mode: &busy, name: "busy".to_owned(), allowed: 0 };
    let pane = cell.start(true);
    assert!(pane["agent"]["last_failure"]["message"].as_str().unwrap().contains("open elsewhere"));
    drop(other.stdin.take());
    assert!(other.wait().unwrap().success());
    assert!(!fs::read_to_string(stage.record()).unwrap().contains(PROMPT));
}
