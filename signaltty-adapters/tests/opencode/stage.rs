//! A scripted OpenCode: its database and its server.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::MutexGuard;

use rusqlite::{Connection, params};
use serde_json::json;
use signaltty_adapters::conformance::{Mode, Stage, check, play};
use signaltty_adapters::testing::FakeHost;
use signaltty_adapters::{AgentAdapter, InstanceView, LaunchFacts, OpenCodeAdapter};
use signaltty_core::agent::{AgentSessionId, Contradiction, Conversation, Verdict};
use signaltty_core::env::ConfigEnv;
use signaltty_core::id::InstanceId;
use signaltty_core::restore::FailureCode;
use tempfile::TempDir;

use crate::server::{Has, Server};

pub(crate) const A: &str = "ses_aaaaaaaaaaaaaaaaaaaaaaaaaa";
pub(crate) const Z: &str = "ses_ZZZZZZZZZZZZZZZZZZZZZZZZZZ";
pub(crate) const PID: u32 = 4711;
pub(crate) const TICKS: u64 = 123_456;

pub(crate) fn id(text: &str) -> AgentSessionId {
    text.parse().unwrap()
}

pub(crate) struct OpenCodeStage {
    pub(crate) dir: TempDir,
    pub(crate) adapter: OpenCodeAdapter,
    pub(crate) server: Server,
    /// Which process listens.
    pub(crate) listens: Option<(u32, u64)>,
    messages: u32,
}

impl OpenCodeStage {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for made in ["data/opencode", "work", "elsewhere"] {
            fs::create_dir_all(dir.path().join(made)).unwrap();
        }
        let path = dir.path().join("data/opencode/opencode.db");
        let database = unsynced(&path);
        database.pragma_update(None, "journal_mode", "wal").unwrap();
        database.execute_batch(SCHEMA).unwrap();
        let server = Server::start(path);
        Self { dir, adapter: OpenCodeAdapter::new(), server, listens: None, messages: 0 }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("data/opencode/opencode.db")
    }

    pub(crate) fn cwd(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    pub(crate) fn has(&self) -> MutexGuard<'_, Has> {
        self.server.has.lock().unwrap()
    }

    pub(crate) fn sql(&self, statements: &str) {
        unsynced(&self.path()).execute_batch(statements).unwrap();
    }

    /// A row without messages.
    pub(crate) fn row(&self, id: &AgentSessionId) {
        let cwd = fs::canonicalize(self.cwd()).unwrap();
        let database = unsynced(&self.path());
        database
            .execute(
                "INSERT OR IGNORE INTO session (id, directory) VALUES (?1, ?2)",
                params![id.as_str(), cwd.to_str().unwrap()],
            )
            .unwrap();
    }

    fn message(&mut self, id: &AgentSessionId, role: &str) {
        self.messages += 1;
        let (n, data) = (self.messages, json!({"role": role}).to_string());
        let database = unsynced(&self.path());
        database
            .execute(
                "INSERT INTO message VALUES (?1, ?2, ?3, ?4)",
                params![format!("msg_{n:026}"), id.as_str(), n, data],
            )
            .unwrap();
    }

    /// The machine on which the scripted process runs.
    pub(crate) fn host(&self) -> FakeHost {
        let mut host = FakeHost::with_programs(&["opencode"]);
        host.start(PID, 1, TICKS, &["opencode"]);
        self.show(&mut host);
        host
    }
}

impl Stage for OpenCodeStage {
    fn adapter(&self) -> &dyn AgentAdapter {
        &self.adapter
    }

    fn saved(&self) -> Conversation {
        let vars = [("XDG_DATA_HOME", self.dir.path().join("data"))];
        Conversation {
            id: id(A),
            cwd: self.cwd(),
            config_env: ConfigEnv::filter(vars, &["XDG_DATA_HOME"], Path::new("/")),
            anchor: None,
            previous: None,
        }
    }

    fn other_id(&self) -> AgentSessionId {
        id(Z)
    }

    fn view(&self, instance: InstanceId) -> InstanceView {
        let facts = [
            ("port", self.server.port().to_string()),
            ("password", "secret".to_owned()),
            ("user", "opencode".to_owned()),
        ];
        InstanceView {
            instance,
            pid: PID,
            start_ticks: TICKS,
            cwd: self.cwd(),
            config_env: self.saved().config_env,
            facts: LaunchFacts::from(facts),
        }
    }

    fn turn(&mut self, id: &AgentSessionId, _text: &str) {
        self.row(id);
        self.message(id, "user");
        self.message(id, "assistant");
    }

    fn copy(&mut self, from: &AgentSessionId, to: &AgentSessionId) {
        self.row(to);
        // As a fork does: other messages with the same contents.
        self.sql(&format!(
            "INSERT INTO message SELECT replace(id, 'msg_0', 'msg_f'), '{to}', time_created, data \
             FROM message WHERE session_id = '{from}'"
        ));
    }

    fn remove(&mut self, id: &AgentSessionId) {
        self.sql(&format!(
            "DELETE FROM message WHERE session_id = '{id}'; DELETE FROM session WHERE id = '{id}'"
        ));
    }

    fn hollow(&mut self, id: &AgentSessionId) {
        self.row(id);
    }

    fn elsewhere(&self) -> Vec<Conversation> {
        let cwd = self.dir.path().join("elsewhere");
        let vars = [("XDG_DATA_HOME", &cwd)];
        let config_env = ConfigEnv::filter(vars, &["XDG_DATA_HOME"], Path::new("/"));
        vec![Conversation { config_env, ..self.saved() }, Conversation { cwd, ..self.saved() }]
    }

    /// `/new`, and its first prompt.
    fn switch(&mut self, _pid: u32, _start_ticks: u64, id: &AgentSessionId) {
        self.has().sessions.insert(id.as_str().to_owned(), true);
        self.has().busy = vec![id.as_str().to_owned()];
    }

    fn list(&mut self, pid: u32, start_ticks: u64, id: &AgentSessionId, loaded: u64) {
        if self.listens.is_some_and(|(listens, _)| listens != pid) {
            // It has a server of its own, on another port.
            return;
        }
        self.listens = Some((pid, start_ticks));
        self.has().sessions.insert(id.as_str().to_owned(), loaded > 0);
    }

    fn show(&self, host: &mut FakeHost) {
        let Some((pid, ticks)) = self.listens else {
            return;
        };
        if pid != PID {
            host.start(pid, 1, ticks, &["opencode"]);
        } else if ticks != TICKS {
            // It is gone, and with it what it listened on.
            return;
        }
        host.listen(pid, self.server.port());
    }

    fn rotates(&self) -> bool {
        false
    }
}

#[test]
fn s1_27_s1_28_opencode_is_verified_only_with_its_history() {
    check(OpenCodeStage::new).unwrap();
}

#[test]
fn s1_28_a_server_that_has_another_conversation_only_is_contradicted() {
    for mode in [Mode::RotatesWithout, Mode::RotatesWithHistory, Mode::IgnoresId] {
        let verdict = play(&mut OpenCodeStage::new(), mode).unwrap();
        let Verdict::Contradicted(Contradiction::Record(refusal)) = verdict else {
            panic!("{mode:?}: {verdict:?}");
        };
        assert_eq!(refusal.code, FailureCode::Gone);
    }
}

/// Opens the database of a test, which need not survive the machine.
fn unsynced(path: &Path) -> Connection {
    let database = Connection::open(path).unwrap();
    database.pragma_update(None, "synchronous", "off").unwrap();
    database
}

/// The columns that are read, as version 1.18.33 has them.
const SCHEMA: &str = "
CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL);
CREATE TABLE message (
    id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, data text NOT NULL
);
CREATE TABLE part (
    id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
    time_created integer NOT NULL, data text NOT NULL
);";
