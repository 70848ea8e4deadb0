//! A conversation with the demonstration agent.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::home::files_below;
use super::{Failure, Home, Server, wait_for, wait_until};

/// The agent as a command.
pub const AGENT: [&str; 2] = [env!("CARGO_BIN_EXE_signaltty"), "__demo-agent"];

/// A conversation in a pane.
pub struct Talk {
    pub pane: String,
    pub id: String,
}

impl Talk {
    /// Talks to the agent until everything said is on the disk.
    pub fn hold(server: &Server, home: &Home) -> Self {
        Self::hold_with(server, home, &AGENT)
    }

    /// As [`hold`](Self::hold), with an agent that is started by this command.
    pub fn hold_with(server: &Server, home: &Home, argv: &[&str]) -> Self {
        let pane = server.spawn(home, argv);
        server.type_line(&pane, "remember the colour blue");
        server.wait_text(&pane, "noted: the colour blue");
        server.type_line(&pane, "hello");
        server.wait_text(&pane, "you said: hello");
        let id = wait_for("the conversation's id", || {
            let info = server.pane(&pane);
            let idle = info["lifecycle"] == "idle";
            let id = info["agent"]["agent_session_id"].as_str()?.to_owned();
            idle.then_some(id)
        });
        // The output so far goes with the next save.
        server.ask("pane.rename", json!({"pane": pane, "title": "a talk"}));
        wait_until("the saved conversation", || {
            server.status()["saved"] == true && !home.files_with(&id).is_empty()
        });
        Self { pane, id }
    }

    pub fn resume(&self, server: &Server) -> Result<Value, Failure> {
        server.call("pane.resume", json!({"pane": self.pane}))
    }

    /// Asks the agent what it remembers; it must be everything.
    pub fn check_memory(&self, server: &Server) {
        server.type_line(&self.pane, "what did I say?");
        server.wait_text(&self.pane, "1. remember the colour blue");
        server.wait_text(&self.pane, "2. hello");
    }

    /// The pane must be a tombstone that can be resumed, with everything kept,
    /// and nothing may run.
    pub fn check_tombstone(&self, server: &Server) -> Value {
        let pane = server.pane(&self.pane);
        assert_eq!(pane["state"], "resumable");
        assert_eq!(pane["title"], "a talk");
        assert_eq!(pane["agent"]["kind"], "demo");
        assert_eq!(pane["agent"]["agent_session_id"], *self.id);
        assert_eq!(pane["pid"], Value::Null);
        assert!(server.children().is_empty());
        let read = server.ask("pane.read", json!({"pane": self.pane}));
        assert_eq!(read["source"], "saved");
        let text = read["text"].as_str().unwrap();
        assert!(text.contains("noted: the colour blue"), "{text}");
        assert!(text.contains("you said: hello"), "{text}");
        pane
    }
}

/// The agent's record of its one conversation.
pub fn record(home: &Home) -> PathBuf {
    let records = files_below(&home.path("demo/conversations"));
    assert_eq!(records.len(), 1, "{:?}", records.keys());
    records.into_keys().next().unwrap()
}

/// What the agents list themselves as; each start adds an entry.
pub fn listed(home: &Home) -> Vec<PathBuf> {
    files_below(&home.path("demo/live")).into_keys().collect()
}

pub fn behave(home: &Home, how: &str) {
    fs::write(home.path("demo/behaviour"), how).unwrap();
}
