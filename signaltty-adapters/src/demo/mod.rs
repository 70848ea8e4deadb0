//! A demonstration agent: a small program that holds a conversation, keeps a
//! record of it, and can reopen it.
//!
//! It makes the server usable and testable where no coding agent is installed.
//! Its adapter treats it like any other: nothing here knows the program from
//! the inside except through its files. It needs no hook.

mod agent;
mod record;
mod world;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use signaltty_core::agent::{
    AgentPolicy, AgentReport, Anchor, Conversation, Fingerprint, LoadedRule, RecordRead,
    TurnRecord, Witness, WitnessSource,
};
use signaltty_core::env::ConfigEnv;
use signaltty_core::id::InstanceId;
use signaltty_core::pane::Lifecycle;
use signaltty_core::restore::{FailureCode, Refusal};

pub use self::agent::{run, run_here};
use self::record::{Live, Status};
pub use self::world::{Behaviour, World};
use crate::anchor::Scan;
use crate::spec::known_kind;
use crate::{
    AdapterError, AgentAdapter, AgentHost, AgentSpec, AtResume, HookReport, IdForm, InstanceView,
    OfficialCommand, OptionRule, Takes, preflight,
};

/// The variable that says where the agent keeps its records.
pub const HOME_VAR: &str = "SIGNALTTY_DEMO_HOME";

/// The argument with which the program becomes the agent.
pub const VERB: &str = "__demo-agent";

/// What the agent takes. It only shows them: what they would do is up to a real
/// agent.
static OPTIONS: &[OptionRule] = &[
    OptionRule::new("--model", Takes::One, AtResume::Carried).alias(&["-m"]),
    OptionRule::new("--skip-permissions", Takes::Nothing, AtResume::Widens),
    OptionRule::new("--resume", Takes::One, AtResume::Implied),
];

/// The adapter of the demonstration agent.
#[derive(Debug, Clone)]
pub struct DemoAdapter {
    spec: AgentSpec,
    program: PathBuf,
    before: Vec<OsString>,
}

impl DemoAdapter {
    /// The adapter for an agent that is started as `program` with the
    /// arguments `before`, usually the running program with [`VERB`].
    pub fn new(program: PathBuf, before: Vec<OsString>) -> Self {
        let policy =
            AgentPolicy::new(vec![WitnessSource::LiveRegistry], LoadedRule::Required, DEADLINE);
        let name = program.to_string_lossy().into_owned();
        let mut spec = AgentSpec::new(known_kind("demo"), name, IdForm::Uuid, policy);
        spec.identity_vars = &[HOME_VAR];
        spec.options = OPTIONS;
        Self { spec, program, before }
    }

    fn scan(conversation: &Conversation, host: &dyn AgentHost) -> Result<Scan, Refusal> {
        let Some(home) = home_of(&conversation.config_env, host) else {
            return Err(Refusal::new(
                FailureCode::Unreadable,
                "nothing says where the demonstration agent keeps its records",
            ));
        };
        let path = record::path_of(&home, &conversation.cwd, conversation.id.as_str());
        Scan::read(&path, conversation.anchor.as_ref(), record::read_line)
            .map_err(|error| error.refusal())
    }
}

#[async_trait]
impl AgentAdapter for DemoAdapter {
    fn spec(&self) -> &AgentSpec {
        &self.spec
    }

    fn recognises(&self, argv: &[OsString]) -> bool {
        let Some((program, args)) = argv.split_first() else {
            return false;
        };
        let program = Path::new(program);
        let ours = program == self.program || program.file_name() == self.program.file_name();
        ours && !self.before.is_empty() && args.starts_with(&self.before)
    }

    fn resume_command(&self, conversation: &Conversation) -> Result<OfficialCommand, AdapterError> {
        let id = self.parse_id(conversation.id.as_str())?;
        let mut before = self.before.clone();
        before.push("--resume".into());
        Ok(OfficialCommand::new(&self.program, &before, &id))
    }

    fn read_report(
        &self,
        _instance: InstanceId,
        _report: &HookReport<'_>,
    ) -> Result<AgentReport, AdapterError> {
        Err(AdapterError::Report("the demonstration agent has no hooks".into()))
    }

    async fn preflight(
        &self,
        conversation: &Conversation,
        host: &dyn AgentHost,
    ) -> Result<Fingerprint, Refusal> {
        let anchor = preflight::before_the_record(&self.spec, conversation, host)?;
        let found = Self::scan(conversation, host)?.compare(anchor)?;
        preflight::cwd_is_there(&conversation.cwd)?;
        Ok(found)
    }

    async fn holder(&self, conversation: &Conversation, host: &dyn AgentHost) -> Option<String> {
        let home = home_of(&conversation.config_env, host)?;
        let files = fs::read_dir(record::live_dir(&home)).ok()?;
        files.take(MAX_ENTRIES).flatten().find_map(|file| {
            let name = file.file_name();
            let pid = name.to_str()?.strip_suffix(".json")?.parse().ok()?;
            let live = Live::of(&home, &host.process(pid)?)?;
            (live.session_id == conversation.id.as_str())
                .then(|| format!("process {pid} ({}) has it open", self.spec.kind))
        })
    }

    async fn anchor(
        &self,
        conversation: &Conversation,
        host: &dyn AgentHost,
    ) -> Result<Anchor, Refusal> {
        preflight::id_has_form(&self.spec, &conversation.id)?;
        Self::scan(conversation, host)?.anchor_anew(conversation.anchor.as_ref())
    }

    async fn read_turn(&self, conversation: &Conversation, host: &dyn AgentHost) -> TurnRecord {
        let Some(home) = home_of(&conversation.config_env, host) else {
            return TurnRecord::default();
        };
        let path = record::path_of(&home, &conversation.cwd, conversation.id.as_str());
        record::read_turn(&path, conversation.anchor.as_ref()).unwrap_or_default()
    }

    async fn inspect(&self, view: &InstanceView, host: &dyn AgentHost) -> Vec<AgentReport> {
        let Some(home) = home_of(&view.config_env, host) else {
            return Vec::new();
        };
        let tree = host.tree(view.pid);
        // The process is not the one that was started: its number came again.
        if tree.first().map(|root| root.start_ticks) != Some(view.start_ticks) {
            return Vec::new();
        }
        let shown = tree.iter().find_map(|process| Live::of(&home, process));
        shown.and_then(|live| self.report(&live, view.instance)).into_iter().collect()
    }
}

impl DemoAdapter {
    fn report(&self, live: &Live, instance: InstanceId) -> Option<AgentReport> {
        let id = self.parse_id(&live.session_id).ok()?;
        Some(AgentReport {
            witness: Some(Witness {
                instance,
                source: WitnessSource::LiveRegistry,
                detail: format!(
                    "process {} lists itself with {id} and {} messages loaded",
                    live.pid, live.loaded
                )
                .into(),
                sessions: [id].into(),
                loaded: Some(live.loaded),
                record: RecordRead::Pending,
            }),
            lifecycle: Some(match live.status {
                Status::Idle => Lifecycle::Idle,
                Status::Busy => Lifecycle::Working,
            }),
            // Said again and again, of a process that we started without one.
            accepted_prompt: live.prompts > 0,
            ..AgentReport::default()
        })
    }
}

fn home_of(env: &ConfigEnv, host: &dyn AgentHost) -> Option<PathBuf> {
    match env.var(HOME_VAR) {
        Some(home) => Some(PathBuf::from(home)),
        None => host.home().map(|home| home.join(record::DEFAULT_HOME)),
    }
}

const MAX_ENTRIES: usize = 4096;

const DEADLINE: Duration = Duration::from_secs(10);
