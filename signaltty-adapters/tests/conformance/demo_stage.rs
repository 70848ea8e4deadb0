//! The demonstration agent, scripted.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::json;
use signaltty_adapters::conformance::Stage;
use signaltty_adapters::demo::{DemoAdapter, HOME_VAR, VERB};
use signaltty_adapters::{AgentAdapter, InstanceView, LaunchFacts};
use signaltty_core::agent::{AgentSessionId, Conversation};
use signaltty_core::env::ConfigEnv;
use signaltty_core::id::InstanceId;
use tempfile::TempDir;

use crate::common::{A, PID, TICKS, Z, id};

pub(crate) struct DemoStage {
    pub(crate) dir: TempDir,
    pub(crate) adapter: DemoAdapter,
    messages: u32,
    /// It says that it never goes on under another id.
    pub(crate) keeps_its_id: bool,
    /// It lists nothing.
    pub(crate) silent: bool,
}

impl DemoStage {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for made in ["work", "elsewhere"] {
            fs::create_dir_all(dir.path().join(made)).unwrap();
        }
        Self {
            dir,
            adapter: DemoAdapter::new(PathBuf::from("signaltty"), vec![VERB.into()]),
            messages: 0,
            keeps_its_id: false,
            silent: false,
        }
    }

    pub(crate) fn with(change: impl FnOnce(&mut Self)) -> Self {
        let mut stage = Self::new();
        change(&mut stage);
        stage
    }

    fn config_env(&self) -> ConfigEnv {
        let vars = [(HOME_VAR, self.dir.path().join("home"))];
        ConfigEnv::filter(vars, &[HOME_VAR], Path::new("/"))
    }

    pub(crate) fn record(&self, id: &AgentSessionId) -> PathBuf {
        let cwd = self.dir.path().join("work");
        let project = cwd.to_str().unwrap().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let file = format!("home/conversations/{project}/{id}.jsonl");
        self.dir.path().join(file)
    }
}

impl Stage for DemoStage {
    fn adapter(&self) -> &dyn AgentAdapter {
        &self.adapter
    }

    fn saved(&self) -> Conversation {
        Conversation {
            id: id(A),
            cwd: self.dir.path().join("work"),
            config_env: self.config_env(),
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
            cwd: self.dir.path().join("work"),
            config_env: self.config_env(),
            facts: LaunchFacts::default(),
        }
    }

    fn turn(&mut self, id: &AgentSessionId, text: &str) {
        let path = self.record(id);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = fs::File::options().create(true).append(true).open(path).unwrap();
        self.messages += 1;
        let line = json!({"by": "person", "uuid": self.messages.to_string(), "text": text});
        writeln!(file, "{line}").unwrap();
    }

    fn copy(&mut self, from: &AgentSessionId, to: &AgentSessionId) {
        fs::copy(self.record(from), self.record(to)).unwrap();
    }

    fn remove(&mut self, id: &AgentSessionId) {
        fs::remove_file(self.record(id)).unwrap();
    }

    fn list(&mut self, pid: u32, start_ticks: u64, id: &AgentSessionId, loaded: u64) {
        if self.silent {
            return;
        }
        let live = self.dir.path().join("home/live");
        fs::create_dir_all(&live).unwrap();
        let entry = json!({
            "pid": pid, "start_ticks": start_ticks, "session_id": id.as_str(), "cwd": "",
            "status": "idle", "loaded": loaded,
        });
        fs::write(live.join(format!("{pid}.json")), entry.to_string()).unwrap();
    }

    fn hollow(&mut self, id: &AgentSessionId) {
        fs::create_dir_all(self.record(id).parent().unwrap()).unwrap();
        fs::write(self.record(id), "").unwrap();
    }

    fn elsewhere(&self) -> Vec<Conversation> {
        let cwd = self.dir.path().join("elsewhere");
        let config_env = ConfigEnv::filter([(HOME_VAR, &cwd)], &[HOME_VAR], Path::new("/"));
        vec![Conversation { config_env, ..self.saved() }, Conversation { cwd, ..self.saved() }]
    }

    fn rotates(&self) -> bool {
        !self.keeps_its_id
    }

    fn shows_holder(&self) -> bool {
        true
    }
}
