//! A scripted Codex.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use signaltty_adapters::conformance::{Stage, Start};
use signaltty_adapters::testing::FakeHost;
use signaltty_adapters::{AgentAdapter, CodexAdapter, HookReport, InstanceView, OpenFile};
use signaltty_core::agent::{AgentReport, AgentSessionId, Conversation};
use signaltty_core::env::ConfigEnv;
use signaltty_core::id::InstanceId;
use tempfile::TempDir;

use super::{A, PID, TICKS, Z, id};

/// 2026-11-30T10:00:00Z: when the scripted records begin.
pub(crate) const TEN: u64 = 1_796_032_800;

pub(crate) struct CodexStage {
    pub(crate) dir: TempDir,
    pub(crate) adapter: CodexAdapter,
    /// Seconds after ten o'clock.
    pub(crate) clock: u64,
    held: Vec<(u32, u64, AgentSessionId)>,
}

impl CodexStage {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for made in ["home/thread-writer-locks", "work", "elsewhere"] {
            fs::create_dir_all(dir.path().join(made)).unwrap();
        }
        Self { dir, adapter: CodexAdapter::new(), clock: 0, held: Vec::new() }
    }

    pub(crate) fn cwd(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub(crate) fn config_env(&self) -> ConfigEnv {
        ConfigEnv::filter([("CODEX_HOME", self.home())], &["CODEX_HOME"], "/".as_ref())
    }

    pub(crate) fn record(&self, id: &AgentSessionId) -> PathBuf {
        let name = format!("sessions/2026/11/30/rollout-2026-11-30T10-00-00-{id}.jsonl");
        self.home().join(name)
    }

    pub(crate) fn lock(&self, id: &AgentSessionId) -> PathBuf {
        self.home().join(format!("thread-writer-locks/{id}.lock"))
    }

    pub(crate) fn conversation(&self, id: AgentSessionId) -> Conversation {
        let (cwd, config_env) = (self.cwd(), self.config_env());
        Conversation { id, cwd, config_env, anchor: None, previous: None }
    }

    /// Writes the first line, for a fork with the parent's record so far.
    pub(crate) fn begin(&mut self, id: &AgentSessionId, parent: Option<&AgentSessionId>) {
        let mut payload = json!({
            "id": id.as_str(), "session_id": id.as_str(), "cwd": self.cwd(), "source": "cli",
            "timestamp": self.now(), "history_mode": "paginated",
        });
        let mut ordinal = 0;
        if let Some(parent) = parent {
            ordinal = self.next_ordinal(parent);
            payload["forked_from_id"] = parent.as_str().into();
            payload["history_base"] = json!({
                "thread_id": parent.as_str(), "end_ordinal_exclusive": ordinal,
                "end_byte_offset": fs::metadata(self.record(parent)).unwrap().len(),
            });
        }
        let line = json!({"ordinal": ordinal, "type": "session_meta", "payload": payload});
        self.write(id, &line);
    }

    /// Writes one more line.
    pub(crate) fn line(&mut self, id: &AgentSessionId, kind: &str, payload: &Value) {
        self.clock += 1;
        let ordinal = self.next_ordinal(id);
        let line = json!({
            "timestamp": self.now(), "ordinal": ordinal, "type": kind, "payload": payload,
        });
        self.write(id, &line);
    }

    pub(crate) fn event(&mut self, id: &AgentSessionId, kind: &str) {
        self.line(id, "event_msg", &json!({"type": kind, "turn_id": "t"}));
    }

    /// A message of a person, without an answer.
    pub(crate) fn ask(&mut self, id: &AgentSessionId, text: &str) {
        self.event(id, "task_started");
        let message = |role, n| {
            json!({
                "type": "message", "role": role, "id": format!("msg_{id}_{n}"),
                "content": [{"type": "input_text", "text": text}],
            })
        };
        let n = self.clock;
        self.line(id, "response_item", &message("user", n));
        let item = json!({"type": "UserMessage", "id": format!("item_{id}_{n}")});
        self.line(id, "event_msg", &json!({"type": "item_completed", "item": item}));
        self.line(id, "response_item", &message("assistant", n + 1));
    }

    fn next_ordinal(&self, id: &AgentSessionId) -> u64 {
        let text = fs::read_to_string(self.record(id)).unwrap_or_default();
        let last: Option<Value> = text.lines().rev().find_map(|l| serde_json::from_str(l).ok());
        last.map_or(0, |line| line["ordinal"].as_u64().unwrap() + 1)
    }

    fn now(&self) -> String {
        format!("2026-11-30T10:{:02}:{:02}.000Z", self.clock / 60, self.clock % 60)
    }

    fn write(&self, id: &AgentSessionId, line: &Value) {
        let path = self.record(id);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = fs::File::options().create(true).append(true).open(path).unwrap();
        writeln!(file, "{line}").unwrap();
    }

    /// A process has a conversation open: its lock, and its rollout if there is
    /// one.
    pub(crate) fn hold(&self, host: &mut FakeHost, pid: u32, id: &AgentSessionId) {
        fs::write(self.lock(id), "").unwrap();
        host.open(pid, OpenFile { path: self.lock(id), locked: true });
        if self.record(id).exists() {
            host.open(pid, OpenFile { path: self.record(id), locked: false });
        }
    }

    /// A machine on which a Codex runs in the pane, started so many seconds
    /// after ten o'clock.
    pub(crate) fn machine(&self, started: u64) -> FakeHost {
        let mut host = FakeHost::with_programs(&["codex"]);
        let ticks = Duration::from_millis(TICKS * 10);
        host.boot = Some(SystemTime::UNIX_EPOCH + Duration::from_secs(TEN + started) - ticks);
        host.start(PID, 1, TICKS, &["codex", "resume", "--no-daemon", A]);
        host
    }

    pub(crate) fn read(&self, payload: &[u8]) -> Result<AgentReport, String> {
        let view = self.view(InstanceId::fake(1));
        let report = HookReport { payload, view: &view };
        self.adapter.read_report(InstanceId::fake(1), &report).map_err(|error| error.to_string())
    }
}

impl Stage for CodexStage {
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

    fn turn(&mut self, id: &AgentSessionId, text: &str) {
        if !self.record(id).exists() {
            self.begin(id, None);
        }
        self.ask(id, text);
        self.event(id, "task_complete");
    }

    fn copy(&mut self, from: &AgentSessionId, to: &AgentSessionId) {
        self.begin(to, Some(from));
    }

    fn remove(&mut self, id: &AgentSessionId) {
        fs::remove_file(self.record(id)).unwrap();
    }

    fn hollow(&mut self, id: &AgentSessionId) {
        self.begin(id, None);
    }

    fn elsewhere(&self) -> Vec<Conversation> {
        let cwd = self.dir.path().join("elsewhere");
        let config_env = ConfigEnv::filter([("CODEX_HOME", &cwd)], &["CODEX_HOME"], "/".as_ref());
        vec![Conversation { config_env, ..self.saved() }, Conversation { cwd, ..self.saved() }]
    }

    fn fork(&mut self, from: &AgentSessionId, to: &AgentSessionId) -> bool {
        self.begin(to, Some(from));
        true
    }

    fn shows_holder(&self) -> bool {
        true
    }

    fn list(&mut self, pid: u32, start_ticks: u64, id: &AgentSessionId, _loaded: u64) {
        self.held.push((pid, start_ticks, id.clone()));
    }

    /// Codex takes the lock with the conversation; what else shows an id, such
    /// as its command line, is not looked at.
    fn echo(&mut self, _pid: u32, _start_ticks: u64, _id: &AgentSessionId) {}

    fn show(&self, host: &mut FakeHost) {
        for (pid, ticks, id) in &self.held {
            if *pid != PID {
                host.start(*pid, 1, *ticks, &["codex"]);
            }
            // A lock goes with its process.
            if *pid != PID || *ticks == TICKS {
                self.hold(host, *pid, id);
            }
        }
    }

    fn reports(&mut self, start: &Start) -> Vec<Vec<u8>> {
        let source = if start.resumed { "resume" } else { "startup" };
        let payload = json!({
            "hook_event_name": "SessionStart", "session_id": start.id.as_str(), "source": source,
        });
        vec![payload.to_string().into_bytes()]
    }
}
