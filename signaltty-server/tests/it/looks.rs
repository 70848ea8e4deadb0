//! When agents are looked at: whatever became of one look, what the record says
//! in the end is shown, though the agent prints nothing more.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
use signaltty_adapters::{
    AdapterError, AgentAdapter, AgentHost, AgentSpec, HookReport, IdForm, InstanceView,
    OfficialCommand,
};
use signaltty_core::agent::{
    AgentPolicy, AgentReport, Anchor, Conversation, Fingerprint, LoadedRule,
};
use signaltty_core::id::InstanceId;
use signaltty_core::pane::Lifecycle;
use signaltty_core::restore::{FailureCode, Refusal};
use signaltty_server::config::Paths;
use signaltty_server::daemon;

use crate::support::{Client, Home, PATIENCE, wait_for, wait_until};

#[test]
fn d22_what_ended_during_a_look_is_seen_without_more_output() {
    let stage = Stage::new();
    // The look that comes with this output sees the turn at work, and takes long.
    let (release, held) = channel();
    stage.says(Lifecycle::Working, None, Some(held));
    stage.prints();
    stage.looked();
    // Meanwhile the turn ends, and so does the output.
    stage.says(Lifecycle::Done, Some("1"), None);
    stage.falls_silent();
    release.send(()).unwrap();
    stage.shows("done");
}

#[test]
fn d22_a_record_that_is_written_after_the_last_output_is_seen() {
    let stage = Stage::new();
    stage.says(Lifecycle::Working, None, None);
    stage.falls_silent();
    stage.shows("working");
    stage.says(Lifecycle::Done, Some("1"), None);
    stage.shows("done");
}

#[test]
fn d22_a_look_that_came_to_nothing_is_made_again() {
    let stage = Stage::new();
    stage.says_nothing();
    stage.falls_silent();
    stage.looked();
    stage.says(Lifecycle::Done, Some("1"), None);
    stage.shows("done");
}

#[test]
fn s0_53_a_short_turn_that_is_written_after_the_last_output_is_seen() {
    let stage = Stage::new();
    stage.says(Lifecycle::Done, Some("1"), None);
    stage.prints();
    stage.shows("done");
    stage.ask("pane.focus", json!({"pane": stage.pane}));
    let since = stage.info()["baseline"].clone();
    stage.says(Lifecycle::Done, Some("1"), None);
    stage.falls_silent();
    stage.looked();
    stage.says(Lifecycle::Done, Some("2"), None);
    let ask = json!({"pane": stage.pane, "until": ["done"], "after": since});
    assert_eq!(stage.ask("pane.wait", ask)["reached"], "done");
    assert_eq!(stage.info()["attention"], "unread");
}

/// A server with an agent in a pane, which prints what is typed and shows what
/// the test says.
struct Stage {
    home: Home,
    client: Mutex<Client>,
    pane: Value,
    said: Arc<Mutex<Said>>,
    looks: Receiver<()>,
    running: Option<JoinHandle<()>>,
}

impl Stage {
    fn new() -> Self {
        let home = Home::new();
        let paths =
            Paths { state_dir: home.state(), runtime_dir: home.path("run"), socket: home.socket() };
        let (looking, looks) = channel();
        let said = Arc::new(Mutex::new(Said::default()));
        let adapter = Scripted::new(Arc::clone(&said), looking);
        let server = daemon::Server::builder(paths).adapter(Arc::new(adapter)).build().unwrap();
        // Its children die with that thread.
        let running = std::thread::spawn(move || server.run().unwrap());
        let mut client = wait_for("the server", || {
            home.socket().exists().then(|| Client::connect(&home.socket()))
        });
        let program = home.path("scripted");
        let script = "#!/bin/sh\necho ready\nwhile read -r at; do cd \"$at\"; pwd; done\n";
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let ask = json!({"cwd": home.work(), "argv": [program]});
        let pane = client.call("workspace.new", ask).unwrap()["pane_id"].clone();
        let client = Mutex::new(client);
        let stage = Self { home, client, pane, said, looks, running: Some(running) };
        wait_until("the agent", || stage.text().contains("ready"));
        stage
    }

    fn ask(&self, method: &str, params: Value) -> Value {
        self.client.lock().unwrap().call(method, params).unwrap()
    }

    fn info(&self) -> Value {
        self.ask("pane.info", json!({"pane": self.pane}))
    }

    fn text(&self) -> String {
        self.ask("pane.read", json!({"pane": self.pane})).to_string()
    }

    /// What every look shows from now on, the next one only once it is let go.
    fn says(&self, lifecycle: Lifecycle, finished: Option<&str>, held: Option<Receiver<()>>) {
        let report = AgentReport {
            lifecycle: Some(lifecycle),
            finished: finished.map(Into::into),
            ..AgentReport::default()
        };
        *self.said.lock().unwrap() = Said { reports: vec![report], held };
        while self.looks.try_recv().is_ok() {}
    }

    fn says_nothing(&self) {
        *self.said.lock().unwrap() = Said::default();
        while self.looks.try_recv().is_ok() {}
    }

    /// A look has begun since it was said what it shows.
    fn looked(&self) {
        self.looks.recv_timeout(PATIENCE).unwrap();
    }

    fn prints(&self) {
        self.ask("pane.send", json!({"pane": self.pane, "text": ".\r"}));
    }

    /// Prints for the last time, and the server knows that it is over: only then
    /// does it learn where the program went.
    fn falls_silent(&self) {
        let place = self.home.path("silent");
        std::fs::create_dir(&place).unwrap();
        let text = format!("{}\r", place.display());
        self.ask("pane.send", json!({"pane": self.pane, "text": text}));
        wait_until("silence", || self.info()["cwd"] == json!(place));
    }

    fn shows(&self, lifecycle: &str) {
        wait_until(lifecycle, || self.info()["lifecycle"] == lifecycle);
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        self.ask("server.shutdown", json!({"force": true}));
        self.running.take().map(JoinHandle::join).unwrap().unwrap();
    }
}

#[derive(Default)]
struct Said {
    reports: Vec<AgentReport>,
    held: Option<Receiver<()>>,
}

/// An agent that shows what a test says.
struct Scripted {
    spec: AgentSpec,
    said: Arc<Mutex<Said>>,
    looking: Mutex<Sender<()>>,
}

impl Scripted {
    fn new(said: Arc<Mutex<Said>>, looking: Sender<()>) -> Self {
        // Nothing is looked at by the clock after a start.
        let policy = AgentPolicy::new(Vec::new(), LoadedRule::NotReported, Duration::ZERO);
        let kind = "scripted".parse().unwrap();
        let spec = AgentSpec::new(kind, "scripted", IdForm::Plain, policy);
        Self { spec, said, looking: Mutex::new(looking) }
    }
}

#[async_trait::async_trait]
impl AgentAdapter for Scripted {
    fn spec(&self) -> &AgentSpec {
        &self.spec
    }

    fn recognises(&self, argv: &[std::ffi::OsString]) -> bool {
        argv.iter().any(|word| word.to_string_lossy().ends_with("/scripted"))
    }

    fn resume_command(&self, saved: &Conversation) -> Result<OfficialCommand, AdapterError> {
        Ok(OfficialCommand::new("scripted", &["open"], &saved.id))
    }

    fn read_report(&self, _: InstanceId, _: &HookReport<'_>) -> Result<AgentReport, AdapterError> {
        Err(AdapterError::Report("no hooks".to_owned()))
    }

    async fn preflight(&self, _: &Conversation, _: &dyn AgentHost) -> Result<Fingerprint, Refusal> {
        Err(Refusal::new(FailureCode::Gone, "nothing is there"))
    }

    async fn anchor(&self, _: &Conversation, _: &dyn AgentHost) -> Result<Anchor, Refusal> {
        Err(Refusal::new(FailureCode::Gone, "nothing is there"))
    }

    async fn inspect(&self, _: &InstanceView, _: &dyn AgentHost) -> Vec<AgentReport> {
        let (reports, held) = {
            let mut said = self.said.lock().unwrap();
            (said.reports.clone(), said.held.take())
        };
        let _ = self.looking.lock().unwrap().send(());
        if let Some(held) = held {
            let _ = held.recv_timeout(PATIENCE);
        }
        reports
    }
}
