//! An interrupted turn on the disk, which can be put back as it was.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::home::files_below;
use super::process::{wait_gone, with_socket};
use super::talk::Talk;
use super::{Home, Server, cli, wait_until};

pub const PROMPT: &str = "Continue where you left off.";

/// The state of a server that was killed in a turn, and the agent's record.
pub struct Stage {
    pub home: Home,
    pub talk: Talk,
}

/// One message of the agent's records.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Message {
    uuid: String,
    by: String,
    pub text: String,
}

impl Stage {
    /// A turn is being worked on when the server is killed.
    pub fn interrupted(resume: bool, go_on: bool) -> Self {
        Self::interrupted_with("", resume, go_on)
    }

    /// As [`interrupted`](Self::interrupted), with this in `config.toml`.
    pub fn interrupted_with(config: &str, resume: bool, go_on: bool) -> Self {
        let home = Home::new();
        let path = home.path(".config/signaltty/config.toml");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, config).unwrap();
        let mut server = Server::start(&home);
        let talk = Talk::hold(&server, &home);
        switch(&server, &talk.pane, resume, go_on);
        work(&server, &talk.pane);
        server.wait_saved();
        kill(&mut server);
        let stage = Self { home, talk };
        for name in ["state", "demo"] {
            copy(stage.home.path(name), stage.home.path(&format!("kept-{name}")));
        }
        stage
    }

    /// Puts state and record back as they were when the server was killed.
    pub fn reset(&self) {
        for name in ["state", "demo"] {
            fs::remove_dir_all(self.home.path(name)).unwrap();
            copy(self.home.path(&format!("kept-{name}")), self.home.path(name));
        }
    }

    pub fn record(&self) -> PathBuf {
        let records = files_below(&self.home.path("demo/conversations")).into_keys();
        let name = format!("{}.jsonl", self.talk.id);
        records.into_iter().find(|path| path.ends_with(&name)).unwrap()
    }

    /// What a start would do with the pane, asked without a server.
    pub fn plan(&self) -> Value {
        let (code, told) = cli::json(&self.home, &["restore", "--plan"]);
        assert_eq!(code, 0, "{told}");
        let panes = told["panes"].as_array().unwrap();
        assert_eq!(panes.len(), 1, "{told}");
        panes[0].clone()
    }

    /// Every message of the agent, once each, whichever record has it; those of
    /// one record in their order.
    pub fn messages(&self) -> Vec<Message> {
        let mut messages: Vec<Message> = Vec::new();
        for bytes in files_below(&self.home.path("demo/conversations")).into_values() {
            for line in String::from_utf8(bytes).unwrap().lines() {
                let line: Value = serde_json::from_str(line).unwrap_or_default();
                let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
                let message = Message { uuid: text("uuid"), by: text("by"), text: text("text") };
                if !messages.contains(&message) {
                    messages.push(message);
                }
            }
        }
        messages
    }

    /// How often an agent took our prompt.
    pub fn prompts(&self) -> usize {
        let ours = |message: &&Message| message.by == "person" && message.text == PROMPT;
        self.messages().iter().filter(ours).count()
    }

    /// The saved conversation ends with our prompt, without an answer.
    pub fn unanswered(&self) -> bool {
        let id = self.saved()["conversation"]["id"].as_str().unwrap().to_owned();
        let records = files_below(&self.home.path("demo/conversations"));
        let record = records.iter().find(|(path, _)| path.ends_with(format!("{id}.jsonl")));
        let lines = record.map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned());
        let last = lines.as_deref().unwrap_or_default().lines().last();
        last.is_some_and(|line| line.contains(&format!("\"text\":\"{PROMPT}\"")))
    }

    /// What is on the disk of the pane's agent.
    pub fn saved(&self) -> Value {
        self.home.snapshot()["panes"][0]["agent"].clone()
    }

    /// Starts a server and waits until the pane has come to rest.
    pub fn start(&self) -> (Server, Value) {
        let server = Server::start(&self.home);
        let until = Instant::now() + Duration::from_secs(120);
        loop {
            let pane = server.pane(&self.talk.pane);
            if pane["state"] != "resuming" {
                return (server, pane);
            }
            assert!(Instant::now() < until, "it never ends: {pane}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Turns both switches of the pane's workspace on or off.
pub fn switch(server: &Server, pane: &str, resume: bool, go_on: bool) {
    let workspace = server.pane(pane)["workspace_id"].clone();
    server.ask(
        "workspace.set",
        json!({"workspace": workspace, "auto_resume": resume, "auto_continue": go_on}),
    );
}

/// Begins a turn that ends only when its person says so.
pub fn work(server: &Server, pane: &str) {
    server.type_line(pane, "work");
    server.wait_text(pane, "press Enter to let me finish");
    wait_until("the turn", || server.pane(pane)["lifecycle"] == "working");
}

/// SIGKILL; back when the server and all that ran in its panes is gone.
pub fn kill(server: &mut Server) {
    let children = server.children();
    server.kill9();
    wait_gone(&children);
}

/// Waits until nothing runs any more in the panes of a killed server.
pub fn wait_empty(home: &Home) {
    wait_until("the end of its panes", || with_socket(&home.socket()).is_empty());
}

fn copy(from: PathBuf, to: PathBuf) {
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap();
    assert!(copied.success());
}
