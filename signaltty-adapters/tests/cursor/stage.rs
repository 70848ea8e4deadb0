//! A scripted Cursor: its stores and its reports.

use std::fs;
use std::path::{Path, PathBuf};

use md5::{Digest, Md5};
use rusqlite::Connection;
use serde_json::{Value, json};
use signaltty_adapters::conformance::{Stage, Start, check};
use signaltty_adapters::{AgentAdapter, CursorAdapter, HookReport, InstanceView, LaunchFacts};
use signaltty_core::agent::{AgentReport, AgentSessionId, Conversation};
use signaltty_core::env::ConfigEnv;
use signaltty_core::id::InstanceId;
use tempfile::TempDir;

pub(crate) const A: &str = "aaaaaaaa-0000-4000-8000-000000000001";
pub(crate) const Z: &str = "ffffffff-0000-4000-8000-00000000000f";
const PID: u32 = 4711;
const TICKS: u64 = 123_456;

pub(crate) struct CursorStage {
    pub(crate) dir: TempDir,
    pub(crate) adapter: CursorAdapter,
    /// What the process has open, and whether with its history.
    open: Option<(AgentSessionId, bool)>,
    clock: u64,
}

pub(crate) fn id(text: &str) -> AgentSessionId {
    text.parse().unwrap()
}

impl CursorStage {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for made in ["config/chats", "work", "elsewhere"] {
            fs::create_dir_all(dir.path().join(made)).unwrap();
        }
        Self { dir, adapter: CursorAdapter::new(), open: None, clock: 1_700_000_000_000 }
    }

    pub(crate) fn cwd(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    pub(crate) fn chat(&self, id: &AgentSessionId) -> PathBuf {
        let digest = Md5::digest(self.cwd().to_str().unwrap());
        let place: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        self.dir.path().join("config/chats").join(place).join(id.as_str())
    }

    pub(crate) fn payload(&self, id: &AgentSessionId, event: &str) -> Value {
        json!({
            "conversation_id": id.as_str(), "generation_id": "g", "hook_event_name": event,
            "model": "m", "cursor_version": "2026.09", "workspace_roots": [self.cwd()],
        })
    }

    pub(crate) fn read(&self, payload: &Value) -> Result<AgentReport, String> {
        let view = self.view(InstanceId::fake(1));
        let payload = payload.to_string().into_bytes();
        let report = HookReport { payload: &payload, view: &view };
        let read = self.adapter.read_report(view.instance, &report);
        read.map_err(|error| error.to_string())
    }

    pub(crate) fn says(&self, id: &AgentSessionId, event: &str) -> AgentReport {
        self.read(&self.payload(id, event)).unwrap()
    }

    /// Makes a chat in which nothing was said.
    fn begin(&mut self, id: &AgentSessionId) {
        let chat = self.chat(id);
        fs::create_dir_all(&chat).unwrap();
        self.clock += 1;
        let meta = json!({"createdAtMs": self.clock}).to_string();
        fs::write(chat.join("meta.json"), meta).unwrap();
        self.sql(
            id,
            "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB);
             CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);",
        );
    }

    pub(crate) fn sql(&self, id: &AgentSessionId, statements: &str) {
        let database = Connection::open(self.chat(id).join("store.db")).unwrap();
        database.pragma_update(None, "synchronous", "off").unwrap();
        database.execute_batch(statements).unwrap();
    }
}

impl Stage for CursorStage {
    fn adapter(&self) -> &dyn AgentAdapter {
        &self.adapter
    }

    fn saved(&self) -> Conversation {
        let vars = [("CURSOR_CONFIG_DIR", self.dir.path().join("config"))];
        Conversation {
            id: id(A),
            cwd: self.cwd(),
            config_env: ConfigEnv::filter(vars, &["CURSOR_CONFIG_DIR"], Path::new("/")),
            anchor: None,
            previous: None,
        }
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
            config_env: self.saved().config_env,
            facts: LaunchFacts::default(),
        }
    }

    fn turn(&mut self, id: &AgentSessionId, text: &str) {
        if !self.chat(id).exists() {
            self.begin(id);
        }
        self.sql(
            id,
            &format!(
                "INSERT OR REPLACE INTO meta VALUES ('0', 'x');
                 INSERT INTO blobs VALUES (hex(randomblob(16)), '{text}');"
            ),
        );
    }

    fn copy(&mut self, from: &AgentSessionId, to: &AgentSessionId) {
        fs::create_dir_all(self.chat(to)).unwrap();
        for file in ["store.db", "meta.json"] {
            fs::copy(self.chat(from).join(file), self.chat(to).join(file)).unwrap();
        }
    }

    fn remove(&mut self, id: &AgentSessionId) {
        fs::remove_dir_all(self.chat(id)).unwrap();
    }

    fn hollow(&mut self, id: &AgentSessionId) {
        self.begin(id);
    }

    fn elsewhere(&self) -> Vec<Conversation> {
        let cwd = self.dir.path().join("elsewhere");
        let vars = [("CURSOR_CONFIG_DIR", &cwd)];
        let config_env = ConfigEnv::filter(vars, &["CURSOR_CONFIG_DIR"], Path::new("/"));
        vec![Conversation { config_env, ..self.saved() }, Conversation { cwd, ..self.saved() }]
    }

    fn list(&mut self, pid: u32, start_ticks: u64, id: &AgentSessionId, loaded: u64) {
        if (pid, start_ticks) == (PID, TICKS) {
            self.open = Some((id.clone(), loaded > 0));
        }
    }

    /// Its first prompt. Only a chat that was really loaded is written on.
    fn reports(&mut self, start: &Start) -> Vec<Vec<u8>> {
        let says = |stage: &Self, id: &AgentSessionId, event: &str| {
            stage.payload(id, event).to_string().into_bytes()
        };
        let mut reports = vec![says(self, &start.id, "sessionStart")];
        if let Some((id, loaded)) = self.open.clone()
            && id == start.id
        {
            if loaded {
                self.turn(&id, "prompted");
            }
            reports.push(says(self, &id, "beforeSubmitPrompt"));
        }
        reports
    }
}

#[test]
fn s1_27_s1_28_cursor_is_verified_only_with_its_history() {
    check(CursorStage::new).unwrap();
}
