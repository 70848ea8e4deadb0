//! Scripted agents: their files, what they show of themselves, their hook
//! payloads.
#![allow(dead_code, clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

pub(crate) mod codex;
pub(crate) mod grok;
pub(crate) mod record;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use signaltty_adapters::conformance::{Stage, Start};
use signaltty_adapters::{AgentAdapter, ClaudeAdapter, HookReport, InstanceView, LaunchFacts};
use signaltty_core::agent::{AgentReport, AgentSessionId, Conversation};
use signaltty_core::env::ConfigEnv;
use signaltty_core::id::InstanceId;
use tempfile::TempDir;

pub(crate) const A: &str = "aaaaaaaa-0000-4000-8000-000000000001";
pub(crate) const Z: &str = "ffffffff-0000-4000-8000-00000000000f";
pub(crate) const PID: u32 = 4711;
pub(crate) const TICKS: u64 = 123_456;

pub(crate) fn id(text: &str) -> AgentSessionId {
    text.parse().unwrap()
}

pub(crate) struct ClaudeStage {
    pub(crate) dir: TempDir,
    pub(crate) adapter: ClaudeAdapter,
    messages: u32,
}

impl ClaudeStage {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for made in ["config/sessions", "work", "elsewhere"] {
            fs::create_dir_all(dir.path().join(made)).unwrap();
        }
        Self { dir, adapter: ClaudeAdapter::new(), messages: 0 }
    }

    pub(crate) fn cwd(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.dir.path().join("config")
    }

    pub(crate) fn config_env(&self) -> ConfigEnv {
        let vars = [("CLAUDE_CONFIG_DIR", self.config())];
        ConfigEnv::filter(vars, &["CLAUDE_CONFIG_DIR"], Path::new("/"))
    }

    pub(crate) fn record_in(&self, cwd: &Path, id: &AgentSessionId) -> PathBuf {
        let name: String = cwd
            .to_str()
            .unwrap()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        self.config().join("projects").join(name).join(format!("{id}.jsonl"))
    }

    pub(crate) fn record(&self, id: &AgentSessionId) -> PathBuf {
        self.record_in(&self.cwd(), id)
    }

    pub(crate) fn conversation(&self, id: AgentSessionId) -> Conversation {
        Conversation {
            id,
            cwd: self.cwd(),
            config_env: self.config_env(),
            anchor: None,
            previous: None,
        }
    }

    fn append(&mut self, id: &AgentSessionId, line: &Value) {
        let path = self.record(id);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = fs::File::options().create(true).append(true).open(path).unwrap();
        writeln!(file, "{line}").unwrap();
    }

    fn message(&mut self, id: &AgentSessionId, mut line: Value) {
        let uuid = |n: u32| format!("00000000-0000-4000-8000-{n:012}");
        let existing = fs::read_to_string(self.record(id)).unwrap_or_default();
        let parent = existing.lines().rev().find_map(|line| {
            let line: Value = serde_json::from_str(line).ok()?;
            Some(line.get("uuid")?.clone())
        });
        self.messages += 1;
        line["uuid"] = uuid(self.messages).into();
        line["parentUuid"] = parent.unwrap_or(Value::Null);
        line["sessionId"] = id.as_str().into();
        line["cwd"] = self.cwd().to_str().unwrap().into();
        self.append(id, &line);
    }

    /// One entry of the list of what runs, as it stands there.
    pub(crate) fn entry(&self, file_pid: u32, entry: &Value) {
        let path = self.config().join(format!("sessions/{file_pid}.json"));
        fs::write(path, entry.to_string()).unwrap();
    }

    /// A payload as Claude writes it.
    pub(crate) fn payload(&self, id: &AgentSessionId, event: &str, rest: &Value) -> Vec<u8> {
        let mut payload = json!({
            "session_id": id.as_str(),
            "transcript_path": self.record(id),
            "cwd": self.cwd(),
            "hook_event_name": event,
        });
        for (key, value) in rest.as_object().unwrap() {
            payload[key] = value.clone();
        }
        payload.to_string().into_bytes()
    }

    pub(crate) fn read(&self, instance: InstanceId, payload: &[u8]) -> Result<AgentReport, String> {
        let view = self.view(instance);
        let report = HookReport { payload, view: &view };
        self.adapter.read_report(instance, &report).map_err(|error| error.to_string())
    }
}

impl Stage for ClaudeStage {
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
        InstanceView {
            instance,
            pid: PID,
            start_ticks: TICKS,
            cwd: self.cwd(),
            config_env: self.config_env(),
            facts: LaunchFacts::default(),
        }
    }

    fn turn(&mut self, id: &AgentSessionId, text: &str) {
        self.append(id, &json!({"type": "mode", "mode": "normal", "sessionId": id.as_str()}));
        self.message(id, json!({"type": "user", "message": {"role": "user", "content": text}}));
        let answer = json!([{"type": "text", "text": "yes"}]);
        self.message(id, json!({"type": "assistant", "message": {"content": answer}}));
    }

    fn copy(&mut self, from: &AgentSessionId, to: &AgentSessionId) {
        fs::copy(self.record(from), self.record(to)).unwrap();
    }

    fn remove(&mut self, id: &AgentSessionId) {
        fs::remove_file(self.record(id)).unwrap();
    }

    fn hollow(&mut self, id: &AgentSessionId) {
        self.append(id, &json!({"type": "mode", "mode": "normal", "sessionId": id.as_str()}));
    }

    fn elsewhere(&self) -> Vec<Conversation> {
        let vars = [("CLAUDE_CONFIG_DIR", self.dir.path().join("elsewhere"))];
        let config_env = ConfigEnv::filter(vars, &["CLAUDE_CONFIG_DIR"], Path::new("/"));
        // Claude opens a conversation of any project from any directory.
        vec![Conversation { config_env, ..self.saved() }]
    }

    fn shows_holder(&self) -> bool {
        true
    }

    fn list(&mut self, pid: u32, start_ticks: u64, id: &AgentSessionId, _loaded: u64) {
        let entry = json!({
            "pid": pid, "sessionId": id.as_str(), "cwd": self.cwd(), "kind": "interactive",
            "procStart": start_ticks.to_string(), "entrypoint": "cli", "status": "idle",
        });
        self.entry(pid, &entry);
    }

    fn reports(&mut self, start: &Start) -> Vec<Vec<u8>> {
        let rest = match start {
            Start { resumed: false, .. } => json!({"source": "startup"}),
            Start { loaded: 0, .. } => json!({"source": "resume"}),
            Start { loaded, .. } => json!({"source": "resume", "context_tokens": loaded}),
        };
        vec![self.payload(&start.id, "SessionStart", &rest)]
    }

    fn failure_reports(&mut self, id: &AgentSessionId) -> Vec<Vec<u8>> {
        vec![self.payload(id, "SessionEnd", &json!({"reason": "other"}))]
    }
}
