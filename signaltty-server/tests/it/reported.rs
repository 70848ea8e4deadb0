//! Commands to resume that agents report of themselves: taken from the agent in
//! the pane alone, run by hand alone.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::by_hand::Stage;
use crate::support::wait_until;

/// Notes how it was started, then does what it is told.
const AGENT: &str = "#!/bin/sh\necho \"$#:$*\" >>\"$HOME/ran\"\npwd >>\"$HOME/at\"\necho begun\n\
                     while read -r line; do eval \"$line\"; done\n";

const A: &str = "11111111-1111-4111-8111-111111111111";
const B: &str = "22222222-2222-4222-8222-222222222222";

fn stage() -> Stage {
    let stage = Stage::new();
    let program = stage.home.path("bin/my-agent");
    fs::write(&program, AGENT).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    stage
}

impl Stage {
    /// A pane in a workspace of its own with these switches.
    fn open(&self, argv: &[&str], fake: &str, begun: &str, switches: (bool, bool)) -> String {
        let mut env = self.env();
        env["FAKE_ID"] = fake.into();
        let ask = json!({"cwd": self.home.work(), "argv": argv, "env": env});
        let made = self.server.ask("workspace.new", ask);
        let pane = made["pane_id"].as_str().unwrap().to_owned();
        self.server.wait_text(&pane, begun);
        let (resume, go_on) = switches;
        let workspace = &made["workspace_id"];
        self.server.ask(
            "workspace.set",
            json!({"workspace": workspace, "auto_resume": resume, "auto_continue": go_on}),
        );
        pane
    }

    fn my_agent(&self) -> String {
        self.open(&["my-agent"], "", "begun", (false, false))
    }

    /// A `claude` to which something was said in this conversation.
    fn claude(&self, id: &str, switches: (bool, bool)) -> String {
        let pane = self.open(&["claude"], id, "claude startup", switches);
        self.say(&pane, "hello", "heard hello");
        self.wait_agent(&pane, "its conversation", |a| a["agent_session_id"] == id);
        pane
    }

    /// What `report-session` came to inside of a pane.
    fn report(&self, pane: &str, prefix: &str, words: &str) -> Value {
        self.ask_inside(pane, prefix, &format!("report-session {words}"))
    }

    /// How `my-agent` was started, each time.
    fn ran(&self) -> Vec<String> {
        let ran = fs::read_to_string(self.home.path("ran")).unwrap_or_default();
        ran.lines().map(str::to_owned).collect()
    }

    /// Where it was started last.
    fn at(&self) -> PathBuf {
        let at = fs::read_to_string(self.home.path("at")).unwrap_or_default();
        at.lines().last().unwrap_or_default().into()
    }

    /// Resumes a pane, which must run `my-agent` with these arguments.
    fn resume_reported(&self, pane: &str, args: &str) {
        let before = self.ran().len();
        let resumed = self.resume(pane);
        assert_eq!(resumed["verdict"], "unconfirmed", "{resumed}");
        wait_until("the start", || self.ran().len() > before);
        assert_eq!(self.ran()[before..], [args]);
        assert_eq!(self.server.wait_state(pane, "live")["agent"]["verdict"], "unconfirmed");
    }

    fn crash_reported(&mut self) {
        self.crash(&[]);
        assert!(self.server.children().is_empty());
    }
}

#[test]
fn s0_18_a_reported_command_never_runs_at_a_start_and_runs_when_a_person_resumes() {
    let mut stage = stage();
    let mut cells = Vec::new();
    for switches in [(false, false), (true, false), (true, true)] {
        for (end, state) in [("", "resumable"), ("exit 0", "exited"), ("exit 3", "resumable")] {
            let n = cells.len();
            let pane = stage.open(&["my-agent"], "", "begun", switches);
            let said = stage.report(&pane, "", &format!("--id s{n} --argv my-agent --id 's {n}'"));
            assert_eq!(said, json!({}));
            if !end.is_empty() {
                stage.server.type_line(&pane, end);
                stage.server.wait_state(&pane, state);
            }
            cells.push((pane, state, format!("2:--id s {n}")));
        }
        for (end, state) in [("", "resumable"), ("quit", "exited"), ("die", "resumable")] {
            let n = cells.len();
            let pane = stage.claude(&format!("{n:08}-1111-4111-8111-111111111111"), switches);
            let said = stage.report(&pane, "run ", &format!("--argv my-agent {n}"));
            assert_eq!(said, json!({}));
            if !end.is_empty() {
                stage.server.type_line(&pane, end);
                stage.server.wait_state(&pane, state);
            }
            cells.push((pane, state, format!("1:{n}")));
        }
    }
    let before = stage.ran().len();
    stage.crash_reported();
    for (pane, state, _) in &cells {
        assert_eq!(stage.server.pane(pane)["state"], *state);
    }
    for (pane, _, args) in &cells {
        stage.resume_reported(pane, args);
    }
    // Nothing began but what was asked for.
    assert_eq!(stage.ran().len(), before + cells.len());
    assert_eq!(stage.server.children().len(), cells.len());
}

#[test]
fn s0_19_the_command_of_another_session_is_dropped_also_across_a_restart() {
    let mut stage = stage();
    let pane = stage.my_agent();
    // The same session keeps its command.
    stage.report(&pane, "", "--id one --argv my-agent one");
    assert_eq!(stage.report(&pane, "", "--id one"), json!({}));
    stage.crash_reported();
    stage.resume_reported(&pane, "1:one");
    assert_eq!(stage.agent(&pane)["agent_session_id"], "one");
    // What was resumed reports as well, and another session replaces it.
    assert_eq!(stage.report(&pane, "", "--id two --argv my-agent two"), json!({}));
    stage.crash_reported();
    stage.resume_reported(&pane, "1:two");
    // Another agent without a command leaves none.
    assert_eq!(stage.report(&pane, "", "--agent other --id two"), json!({}));
    stage.crash_reported();
    assert_eq!(stage.server.pane(&pane)["state"], "restored");
    let failure = stage.server.call("pane.resume", json!({"pane": pane})).unwrap_err();
    assert_eq!(failure.code, "NOT_RESUMABLE", "{}", failure.message);
}

#[test]
fn s0_19_another_conversation_of_a_known_agent_brings_back_its_own_command() {
    let mut stage = stage();
    let kept = stage.claude(A, (false, false));
    stage.report(&kept, "run ", "--argv my-agent kept");
    stage.say(&kept, "more", "heard more");
    let dropped = stage.claude(B, (false, false));
    stage.report(&dropped, "run ", "--argv my-agent dropped");
    let next = "33333333-3333-4333-8333-333333333333";
    stage.say(&dropped, &format!("clear {next}"), "cleared");
    stage.say(&dropped, "anew", "heard anew");
    stage.wait_agent(&dropped, "the next one", |agent| agent["agent_session_id"] == next);
    // One that was reported before anything was said in it.
    let early = stage.claude("44444444-4444-4444-8444-444444444444", (false, false));
    let id = "55555555-5555-4555-8555-555555555555";
    stage.report(&early, "run ", &format!("--id {id} --argv my-agent early"));
    stage.say(&early, &format!("clear {id}"), "cleared");
    stage.say(&early, "anew", "heard anew");
    stage.wait_agent(&early, "the reported one", |agent| agent["agent_session_id"] == id);
    for _ in 0..2 {
        stage.crash_reported();
        stage.resume_reported(&kept, "1:kept");
        stage.resume_reported(&early, "1:early");
        let resumed = stage.resume(&dropped);
        assert_eq!(resumed["verdict"], "verified", "{resumed}");
        assert_eq!(resumed["agent_session_id"], next);
    }
}

#[test]
fn c049_c118_only_the_panes_agent_reports_and_only_what_can_be_run() {
    let stage = stage();
    let pane = stage.my_agent();
    let claude = stage.claude(A, (false, false));
    let before = (stage.agent(&pane), stage.agent(&claude));
    let refused = |pane: &str, prefix: &str, words: &str, code: &str| {
        let said = stage.report(pane, prefix, words);
        assert_eq!(said["error"]["code"], code, "{words}: {said}");
    };
    for words in ["--argv /bin/sh", "--argv ./x", "--argv -- -x", "--argv 'a b'", "--id '../x'"] {
        refused(&pane, "", words, "BAD_PARAMS");
    }
    // An id that its adapter could not reopen, and agents that do not run there.
    refused(&claude, "run ", "--id planb --argv my-agent", "BAD_PARAMS");
    refused(&claude, "run ", "--agent generic --argv my-agent", "FORBIDDEN");
    refused(&claude, "run ", "--agent codex --argv my-agent", "FORBIDDEN");
    refused(&pane, "", "--agent claude --argv my-agent", "FORBIDDEN");
    // With the right secret, from outside.
    let to = stage.home.path("secret");
    stage.server.type_line(&pane, &format!("echo $SIGNALTTY_LAUNCH >{}", to.display()));
    let secret = |text: &String| text.ends_with('\n');
    let launch =
        crate::support::wait_for("the secret", || fs::read_to_string(&to).ok().filter(secret));
    let ask = json!({"launch": launch.trim(), "argv": ["my-agent"]});
    let failure = stage.server.call("agent.report_session", ask).unwrap_err();
    assert_eq!(failure.code, "FORBIDDEN", "{}", failure.message);
    assert_eq!((stage.agent(&pane), stage.agent(&claude)), before);
}

#[test]
fn d23_a_reported_session_is_reopened_where_its_agent_was_started() {
    let mut stage = stage();
    let pane = stage.shell();
    stage.say(&pane, "mkdir sub && cd sub && (exec -a my-agent bash ../../bin/my-agent)", "begun");
    // As the hook of an agent does it: by a shell that went somewhere else.
    let report = "report-session --agent my-agent --id one --argv my-agent one";
    stage.server.type_line(&pane, &format!("sh -c 'cd / && \"$SIGNALTTY\" {report}; true'"));
    stage.wait_conversation(&pane, "my-agent", "one");
    let sub = stage.home.work().join("sub");
    stage.crash_reported();
    stage.resume_reported(&pane, "1:one");
    assert_eq!(stage.at(), sub, "not where the shell was started");
    // What was opened somewhere else by itself is reopened there.
    let other = stage.home.work().join("other");
    fs::create_dir(&other).unwrap();
    stage.say(&pane, &format!("cd {}; echo gone there", other.display()), "gone there");
    assert_eq!(stage.report(&pane, "", "--agent my-agent --id one"), json!({}));
    stage.crash_reported();
    stage.resume_reported(&pane, "1:one");
    assert_eq!(stage.at(), other);
}

#[test]
fn d13_d22_an_agent_that_reported_itself_and_ended_has_left_its_shell() {
    let mut stage = stage();
    let begin = |stage: &Stage| {
        let pane = stage.shell();
        stage.say(&pane, "my-agent", "begun");
        let said = stage.report(&pane, "", "--agent my-agent --id one --argv my-agent one");
        assert_eq!(said, json!({}));
        stage.wait_conversation(&pane, "my-agent", "one");
        pane
    };
    let left = begin(&stage);
    stage.server.type_line(&left, "exit 0");
    stage.wait_agent(&left, "its end", |agent| agent["place"] == "left");
    // Nothing of it is open there, so it is nobody's second.
    let open = begin(&stage);
    assert_eq!(stage.agent(&open)["shared_with"], Value::Null);
    // The one who types it again has it open again.
    stage.say(&left, "clear; my-agent", "begun");
    assert_eq!(stage.report(&left, "", "--agent my-agent --id one"), json!({}));
    stage.wait_conversation(&left, "my-agent", "one");
    assert_eq!(stage.agent(&open)["shared_with"], *left);
    stage.server.type_line(&left, "exit 0");
    stage.wait_agent(&left, "its end", |agent| agent["place"] == "left");
    stage.crash_reported();
    assert_eq!(stage.server.pane(&left)["state"], "restored");
    assert_eq!(stage.server.pane(&open)["state"], "resumable");
    stage.resume_reported(&left, "1:one");
}

#[test]
fn s0_55_what_was_asked_first_is_not_kept_with_a_name() {
    let mut stage = stage();
    let pane = stage.claude(A, (false, false));
    let fresh = stage.open(&["claude"], B, "claude startup", (false, false));
    stage.say(&fresh, "canary-prompt", "heard canary-prompt");
    stage.wait_agent(&fresh, "its conversation", |a| a["agent_session_id"] == B);
    stage.crash(&[&pane, &fresh]);
    let found = stage.home.files_with("canary-prompt");
    // What a pane showed is kept in its tail, and nowhere else.
    let tail = |path: &PathBuf| path.starts_with(stage.home.path("state/history"));
    let elsewhere: Vec<_> = found.iter().filter(|path| !tail(path)).collect();
    assert_eq!(elsewhere, Vec::<&PathBuf>::new());
    assert!(!stage.home.files_with(B).is_empty(), "the conversation itself is saved");
}
