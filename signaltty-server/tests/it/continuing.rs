//! Interrupted turns after a killed server, with the real binary: continued
//! exactly once where the switches say so, and nowhere else.

use serde_json::{Value, json};

use crate::support::process::wait_gone;
use crate::support::talk::{Talk, record};
use crate::support::{Home, Server, wait_until};

const PROMPT: &str = "Continue where you left off.";

/// Turns both switches of the pane's workspace on or off.
fn switch(server: &Server, pane: &str, resume: bool, go_on: bool) {
    let workspace = server.pane(pane)["workspace_id"].clone();
    server.ask(
        "workspace.set",
        json!({"workspace": workspace, "auto_resume": resume, "auto_continue": go_on}),
    );
}

/// How often the agent took the carry-on prompt.
fn prompts(home: &Home) -> usize {
    // Its answer quotes the prompt.
    let taken = format!("\"text\":\"{PROMPT}\"");
    std::fs::read_to_string(record(home)).unwrap().matches(&taken).count()
}

/// A talk in whose turn the server is killed.
fn interrupted(resume: bool, go_on: bool) -> (Home, Talk) {
    let home = Home::new();
    let mut server = Server::start(&home);
    let talk = Talk::hold(&server, &home);
    switch(&server, &talk.pane, resume, go_on);
    server.type_line(&talk.pane, "work");
    server.wait_text(&talk.pane, "press Enter to let me finish");
    wait_until("the turn", || server.pane(&talk.pane)["lifecycle"] == "working");
    server.wait_saved();
    let children = server.children();
    server.kill9();
    wait_gone(&children);
    (home, talk)
}

fn agent(server: &Server, talk: &Talk) -> Value {
    server.pane(&talk.pane)["agent"].clone()
}

#[test]
fn s1_1_s1_30_an_interrupted_turn_goes_on_in_the_same_conversation_once() {
    let (home, talk) = interrupted(true, true);
    let mut server = Server::start(&home);
    wait_until("the turn goes on", || {
        let pane = server.pane(&talk.pane);
        pane["state"] == "live" && pane["agent"]["interrupted"] == false
    });
    let agent = agent(&server, &talk);
    assert_eq!(agent["verdict"], "verified");
    assert_eq!(agent["agent_session_id"], *talk.id);
    assert_eq!((&agent["marked"], &agent["resumed"]), (&json!(false), &json!(1)));
    server.wait_text(&talk.pane, "you said: Continue where you left off.");
    assert_eq!(prompts(&home), 1);
    server.wait_saved();

    // Killed again, after it was accepted: never a second time for that turn.
    let children = server.children();
    server.kill9();
    wait_gone(&children);
    let server = Server::start(&home);
    server.wait_state(&talk.pane, "live");
    assert_eq!(prompts(&home), 1);
    talk.check_memory(&server);
}

#[test]
fn s1_4_s1_21_without_the_switches_nothing_starts_until_a_person_says_so() {
    let (home, talk) = interrupted(false, false);
    let server = Server::start(&home);
    let pane = talk.check_tombstone(&server);
    assert_eq!(pane["agent"]["interrupted"], true);
    assert_eq!(pane["lifecycle"], "working", "D-28: as saved");
    let done = server.ask("pane.continue", json!({"pane": talk.pane}));
    assert_eq!(done["agent_session_id"], *talk.id);
    assert_eq!(prompts(&home), 1);
    assert_eq!(agent(&server, &talk)["interrupted"], false);
    // There is nothing more to continue.
    let failure = server.call("pane.continue", json!({"pane": talk.pane})).unwrap_err();
    assert_eq!(failure.code, "NOT_INTERRUPTED");
    assert_eq!(prompts(&home), 1);
}

#[test]
fn d1_auto_resume_alone_reopens_and_sends_nothing() {
    let (home, talk) = interrupted(true, false);
    let server = Server::start(&home);
    let pane = server.wait_state(&talk.pane, "live");
    assert_eq!(pane["agent"]["verdict"], "verified");
    assert_eq!(pane["agent"]["interrupted"], true);
    assert_eq!(prompts(&home), 0);
    // A second key continues it.
    server.ask("pane.continue", json!({"pane": talk.pane}));
    assert_eq!(prompts(&home), 1);
}
