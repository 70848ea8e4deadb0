//! An adapter for an agent that signaltty does not ship, and a server that
//! knows it. No other crate changes.
//!
//! `scribe` is a pretended agent: it appends what is said to `.scribe-ID` in its
//! working directory, a line each, and lists what it has open in
//! `.scribe-live-PID`.
//!
//! Run it with `cargo run -p signaltty-server --example foreign_adapter -- DIR`;
//! it serves in DIR until Ctrl-C. Then, in another terminal:
//! `SIGNALTTY_STATE_DIR=DIR signaltty new -- scribe`.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use signaltty_adapters::anchor::{Line, Scan};
use signaltty_adapters::{
    AdapterError, AgentAdapter, AgentHost, AgentSpec, HookReport, IdForm, InstanceView,
    OfficialCommand,
};
use signaltty_core::agent::{
    AgentPolicy, AgentReport, Anchor, Conversation, Fingerprint, LoadedRule, RecordRead, Witness,
    WitnessSource,
};
use signaltty_core::id::InstanceId;
use signaltty_core::restore::{FailureCode, Refusal};
use signaltty_server::config::{Overrides, Paths};
use signaltty_server::daemon::Server;

struct Scribe {
    spec: AgentSpec,
}

impl Scribe {
    fn new() -> Result<Self, Box<dyn Error>> {
        // What it can show, and until when. The core judges by this alone.
        let sources = vec![WitnessSource::LiveRegistry];
        let policy = AgentPolicy::new(sources, LoadedRule::NotReported, Duration::from_secs(10));
        Ok(Self { spec: AgentSpec::new("scribe".parse()?, "scribe", IdForm::Plain, policy) })
    }

    /// Reads the record and compares it with the anchor on the way.
    fn read(conversation: &Conversation) -> Result<Scan, Refusal> {
        let record = conversation.cwd.join(format!(".scribe-{}", conversation.id));
        let line = |line: &[u8]| Line::Message {
            id: String::from_utf8_lossy(line).into_owned(),
            parent: None,
            by_person: true,
        };
        Scan::read(&record, conversation.anchor.as_ref(), line).map_err(|error| error.refusal())
    }
}

#[async_trait::async_trait]
impl AgentAdapter for Scribe {
    fn spec(&self) -> &AgentSpec {
        &self.spec
    }

    fn resume_command(&self, saved: &Conversation) -> Result<OfficialCommand, AdapterError> {
        Ok(OfficialCommand::new("scribe", &["--open"], &saved.id))
    }

    fn read_report(&self, _: InstanceId, _: &HookReport<'_>) -> Result<AgentReport, AdapterError> {
        Err(AdapterError::Report("scribe has no hooks".to_owned()))
    }

    async fn preflight(
        &self,
        saved: &Conversation,
        _: &dyn AgentHost,
    ) -> Result<Fingerprint, Refusal> {
        match &saved.anchor {
            Some(anchor) => Self::read(saved)?.compare(anchor),
            None => Err(Refusal::new(FailureCode::Gone, "nothing was said in it yet")),
        }
    }

    async fn anchor(&self, of: &Conversation, _: &dyn AgentHost) -> Result<Anchor, Refusal> {
        Self::read(of)?.anchor_anew(of.anchor.as_ref())
    }

    /// What the process shows. Nothing here knows which one is expected.
    async fn inspect(&self, view: &InstanceView, host: &dyn AgentHost) -> Vec<AgentReport> {
        let alive = host.process(view.pid).is_some_and(|p| p.start_ticks == view.start_ticks);
        let list = view.cwd.join(format!(".scribe-live-{}", view.pid));
        let shown = std::fs::read_to_string(list).unwrap_or_default();
        let sessions: BTreeSet<_> = shown.lines().filter_map(|line| line.parse().ok()).collect();
        if !alive || sessions.is_empty() {
            return Vec::new();
        }
        let witness = Witness {
            instance: view.instance,
            source: WitnessSource::LiveRegistry,
            detail: format!("process {} lists {} conversations", view.pid, sessions.len()).into(),
            sessions,
            loaded: None,
            record: RecordRead::Pending,
        };
        vec![AgentReport { witness: Some(witness), ..AgentReport::default() }]
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let dir = PathBuf::from(std::env::args_os().nth(1).ok_or("say in which directory")?);
    let overrides = Overrides { state_dir: Some(dir), socket: None };
    let paths = Paths::resolve(&overrides, &std::env::current_dir()?, |_| None)?;
    // On the main thread: it starts all children, which end with it.
    Server::builder(paths).adapter(Arc::new(Scribe::new()?)).signals().build()?.run()?;
    Ok(())
}
