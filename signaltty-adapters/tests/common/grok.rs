//! A scripted Grok.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use serde_json::{Value, json};
use signaltty_adapters::conformance::{Stage, Start};
use signaltty_adapters::testing::FakeHost;
use signaltty_adapters::{AgentAdapter, GrokAdapter, HookReport, InstanceView, OpenFile};
use signaltty_core::agent::{AgentReport, AgentSessionId, Conversation};
use signaltty_core::env::ConfigEnv;
use signaltty_core::id::InstanceId;
use tempfile::TempDir;

use super::{A, PID, TICKS, Z, id};

pub(crate) struct GrokStage {
    pub(crate) dir: TempDir,
    pub(crate) adapter: GrokAdapter,
    prompts: u32,
    /// Process, start and conversation of each entry, and whether the process
    /// has the events open.
    listed: Vec<(u32, u64, AgentSessionId, bool)>,
}

impl GrokStage {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for made in ["home/sessions", "work", "elsewhere"] {
            fs::create_dir_all(dir.path().join(made)).unwrap();
        }
        Self { dir, adapter: GrokAdapter::new(), prompts: 0, listed: Vec::new() }
    }

    pub(crate) fn cwd(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub(crate) fn config_env(&self) -> ConfigEnv {
        ConfigEnv::filter([("GROK_HOME", self.home())], &["GROK_HOME"], "/".as_ref())
    }

    /// The directory of a conversation, below that of its project.
    pub(crate) fn place(&self, id: &AgentSessionId) -> PathBuf {
        let project = self.cwd().to_str().unwrap().replace('/', "%2F");
        self.home().join("sessions").join(project).join(id.as_str())
    }

    pub(crate) fn record(&self, id: &AgentSessionId) -> PathBuf {
        self.place(id).join("chat_history.jsonl")
    }

    pub(crate) fn conversation(&self, id: AgentSessionId) -> Conversation {
        let (cwd, config_env) = (self.cwd(), self.config_env());
        Conversation { id, cwd, config_env, anchor: None, previous: None }
    }

    pub(crate) fn append(&self, id: &AgentSessionId, file: &str, line: &Value) {
        let path = self.place(id).join(file);
        fs::create_dir_all(self.place(id)).unwrap();
        let mut file = fs::File::options().create(true).append(true).open(path).unwrap();
        writeln!(file, "{line}").unwrap();
    }

    /// Writes the summary of a conversation.
    pub(crate) fn summary(&self, id: &AgentSessionId, named: &str, cwd: &str) {
        fs::create_dir_all(self.place(id)).unwrap();
        let summary = json!({"info": {"id": named, "cwd": cwd}, "num_messages": 2});
        fs::write(self.place(id).join("summary.json"), summary.to_string()).unwrap();
    }

    /// One line of events at so many seconds after ten o'clock.
    pub(crate) fn event(&self, id: &AgentSessionId, second: u64, kind: &str, outcome: &str) {
        let ts = format!("2026-11-30T10:00:{second:02}.250Z");
        self.append(id, "events.jsonl", &json!({"ts": ts, "type": kind, "outcome": outcome}));
    }

    /// Writes the list of what runs.
    pub(crate) fn entries(&self, entries: &Value) {
        fs::write(self.home().join("active_sessions.json"), entries.to_string()).unwrap();
    }

    pub(crate) fn entry(&self, pid: u32, id: &str, second: u64) -> Value {
        let opened = format!("2026-11-30T10:00:{second:02}.123456789Z");
        json!({"session_id": id, "pid": pid, "cwd": self.cwd(), "opened_at": opened})
    }

    /// A process has a conversation's events open.
    pub(crate) fn write_events(&self, host: &mut FakeHost, pid: u32, id: &AgentSessionId) {
        let path = self.place(id).join("events.jsonl");
        host.open(pid, OpenFile { path, locked: false });
    }

    pub(crate) fn read(&self, payload: &[u8]) -> Result<AgentReport, String> {
        let view = self.view(InstanceId::fake(1));
        let report = HookReport { payload, view: &view };
        self.adapter.read_report(InstanceId::fake(1), &report).map_err(|error| error.to_string())
    }

    /// A payload as Grok writes it, with its fields in both spellings.
    pub(crate) fn payload(&self, id: &str, event: &str, rest: &Value) -> Vec<u8> {
        let mut payload = json!({
            "hookEventName": event, "hook_event_name": event, "sessionId": id, "session_id": id,
            "cwd": self.cwd(), "workspaceRoot": self.cwd(),
        });
        for (key, value) in rest.as_object().unwrap() {
            payload[key] = value.clone();
        }
        payload.to_string().into_bytes()
    }
}

impl Stage for GrokStage {
    fn adapter(&self) -> &dyn AgentAdapter {
        &self.adapter
    }

    fn saved(&self) -> Conversation {
        self.conversation(id(A))
    }

    fn other_id(&self) -> AgentSessionId {
        id(Z)
    }

    fn view(&self, instance: InstanceId) -> InstanceView {
        let (cwd, config_env) = (self.cwd(), self.config_env());
        InstanceView {
            instance,
            pid: PID,
            start_ticks: TICKS,
            cwd,
            config_env,
            facts: Default::default(),
        }
    }

    fn hollow(&mut self, id: &AgentSessionId) {
        self.summary(id, id.as_str(), self.cwd().to_str().unwrap());
        let system = json!({"type": "system", "content": "be kind"});
        self.append(id, "chat_history.jsonl", &system);
        let rules = json!({"type": "user", "content": [{"type": "text", "text": "rules"}]});
        self.append(id, "chat_history.jsonl", &rules);
    }

    fn elsewhere(&self) -> Vec<Conversation> {
        let cwd = self.dir.path().join("elsewhere");
        let config_env = ConfigEnv::filter([("GROK_HOME", &cwd)], &["GROK_HOME"], "/".as_ref());
        vec![Conversation { config_env, ..self.saved() }, Conversation { cwd, ..self.saved() }]
    }

    fn shows_holder(&self) -> bool {
        true
    }

    fn turn(&mut self, id: &AgentSessionId, text: &str) {
        if !self.place(id).exists() {
            self.hollow(id);
        }
        let said = json!([{"type": "text", "text": text}]);
        let prompt = json!({"type": "user", "content": said, "prompt_index": self.prompts});
        self.append(id, "chat_history.jsonl", &prompt);
        self.prompts += 1;
        let answer = json!({"type": "assistant", "content": "yes", "model_id": "m"});
        self.append(id, "chat_history.jsonl", &answer);
    }

    fn copy(&mut self, from: &AgentSessionId, to: &AgentSessionId) {
        self.summary(to, to.as_str(), self.cwd().to_str().unwrap());
        fs::copy(self.record(from), self.record(to)).unwrap();
    }

    fn remove(&mut self, id: &AgentSessionId) {
        fs::remove_dir_all(self.place(id)).unwrap();
    }

    fn list(&mut self, pid: u32, start_ticks: u64, id: &AgentSessionId, _loaded: u64) {
        self.listed.push((pid, start_ticks, id.clone(), true));
    }

    /// The entry of a process is replaced.
    fn switch(&mut self, pid: u32, start_ticks: u64, id: &AgentSessionId) {
        self.listed.retain(|(listed, ..)| *listed != pid);
        self.list(pid, start_ticks, id, 0);
    }

    /// Grok writes its list itself, so it could name what it was asked for.
    fn echo(&mut self, pid: u32, start_ticks: u64, id: &AgentSessionId) {
        self.listed.push((pid, start_ticks, id.clone(), false));
    }

    fn show(&self, host: &mut FakeHost) {
        let entries = self.listed.iter().map(|(pid, _, id, _)| self.entry(*pid, id.as_str(), 9));
        self.entries(&entries.collect());
        for (pid, ticks, id, open) in &self.listed {
            if *pid != PID {
                host.start(*pid, 1, *ticks, &["grok"]);
            }
            // Open files go with their process.
            if *open && (*pid != PID || *ticks == TICKS) {
                self.write_events(host, *pid, id);
            }
        }
    }

    fn reports(&mut self, start: &Start) -> Vec<Vec<u8>> {
        let source = if start.resumed { "load" } else { "new" };
        vec![self.payload(start.id.as_str(), "SessionStart", &json!({"source": source}))]
    }
}
