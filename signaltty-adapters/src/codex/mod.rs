//! Codex.
//!
//! It proves a resume without a prompt and without a hook: whoever has a
//! conversation open for writing holds a lock named after it, and nobody else
//! gets that lock. An interactive Codex otherwise works through a server that
//! all panes share, where a lock belongs to no pane; so it is started with an
//! option that keeps it in the pane.
//!
//! A version that does not know the option ends at once and says so on the
//! screen, at a launch and at a resume alike; the saved conversation is kept.
//! Nothing is probed to find out: such a Codex can be typed into a shell, where
//! nothing is added to it.
//!
//! Measured with version 0.171.0.

mod evidence;
mod launch;
pub(crate) mod line;
mod lineage;
mod options;
mod record;
mod report;
mod rollout;
mod turn;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use signaltty_core::agent::{
    AgentPolicy, AgentReport, Anchor, Conversation, Fingerprint, LoadedRule, TurnRecord,
    WitnessSource,
};
use signaltty_core::id::InstanceId;
use signaltty_core::restore::Refusal;

use self::lineage::Lineage;
use self::rollout::Meta;
use crate::spec::known_kind;
use crate::{
    AdapterError, AgentAdapter, AgentHost, AgentSpec, ByHand, HookReport, IdForm, InstanceView,
    Launch, LaunchContext, LaunchFacts, OfficialCommand, PreparedLaunch, Question, account,
    permission, preflight,
};

/// The adapter of Codex.
#[derive(Debug, Clone)]
pub struct CodexAdapter {
    spec: AgentSpec,
}

impl CodexAdapter {
    /// The adapter.
    pub fn new() -> Self {
        let required = vec![WitnessSource::HeldLock];
        let policy = AgentPolicy::new(required, LoadedRule::NotReported, DEADLINE);
        let mut spec = AgentSpec::new(known_kind("codex"), "codex", IdForm::Uuid, policy);
        spec.identity_vars = &[HOME_VAR];
        spec.scrubbed_vars = &SCRUBBED;
        spec.options = options::OPTIONS;
        spec.resume_directory = Some("-C");
        Self { spec }
    }
}

impl Default for CodexAdapter {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl AgentAdapter for CodexAdapter {
    fn spec(&self) -> &AgentSpec {
        &self.spec
    }

    fn unfollowable(&self, argv: &[OsString]) -> Option<String> {
        launch::unfollowable(argv)
    }

    fn displaced(&self, argv: &[OsString], _facts: &LaunchFacts) -> Option<String> {
        launch::unfollowable(argv)
    }

    fn by_hand(&self) -> ByHand {
        ByHand {
            without: "`codex --no-daemon` is found and followed by its lock and its record; a \
                      plain `codex` works in a server that all terminals share, and cannot be \
                      attributed to a pane: type `codex --no-daemon`. Its hooks would need a trust \
                      that only you can give, so none are installed",
            hooks: None,
        }
    }

    fn prepare_launch(
        &self,
        launch: Launch,
        context: &LaunchContext<'_>,
    ) -> Result<PreparedLaunch, AdapterError> {
        Ok(launch::prepare(launch, context))
    }

    fn resume_command(&self, conversation: &Conversation) -> Result<OfficialCommand, AdapterError> {
        let id = self.parse_id(conversation.id.as_str())?;
        let program = self.spec.program.as_str();
        Ok(OfficialCommand::new(program, &["resume", launch::IN_PROCESS], &id))
    }

    fn read_report(
        &self,
        instance: InstanceId,
        report: &HookReport<'_>,
    ) -> Result<AgentReport, AdapterError> {
        report::read(&self.spec, instance, report)
    }

    fn question(&self, report: &HookReport<'_>) -> Option<Question> {
        permission::read(report)
    }

    async fn preflight(
        &self,
        conversation: &Conversation,
        host: &dyn AgentHost,
    ) -> Result<Fingerprint, Refusal> {
        let anchor = preflight::before_the_record(&self.spec, conversation, host)?;
        let found = Lineage::read(&self.spec, conversation, host)?.compare(anchor)?;
        preflight::cwd_is_there(&conversation.cwd)?;
        Ok(found)
    }

    async fn holder(&self, conversation: &Conversation, host: &dyn AgentHost) -> Option<String> {
        evidence::holder(&self.spec, conversation, host)
    }

    async fn anchor(
        &self,
        conversation: &Conversation,
        host: &dyn AgentHost,
    ) -> Result<Anchor, Refusal> {
        preflight::id_has_form(&self.spec, &conversation.id)?;
        let lineage = Lineage::read(&self.spec, conversation, host)?;
        lineage.anchor_anew(conversation.anchor.as_ref())
    }

    async fn directory(
        &self,
        conversation: &Conversation,
        host: &dyn AgentHost,
    ) -> Option<PathBuf> {
        // It never moves.
        if conversation.anchor.is_some() {
            return None;
        }
        let home = record::home(&conversation.config_env, host)?;
        let path = record::find(&home, &conversation.id).ok()?;
        Some(Meta::read(&path, &conversation.id).ok()?.cwd)
    }

    async fn read_turn(&self, conversation: &Conversation, host: &dyn AgentHost) -> TurnRecord {
        let Some(home) = record::home(&conversation.config_env, host) else {
            return TurnRecord::default();
        };
        let Ok(path) = record::find(&home, &conversation.id) else {
            return TurnRecord::default();
        };
        // After a fork, what was saved is in another file.
        let saved = conversation.anchor.as_ref().filter(|anchor| anchor.record == path);
        let prompted = account::prompted(&path, saved, turn::is_ours);
        account::newest(&path, turn::read).record(prompted)
    }

    async fn inspect(&self, view: &InstanceView, host: &dyn AgentHost) -> Vec<AgentReport> {
        evidence::inspect(&self.spec, view, host).into_iter().collect()
    }
}

/// Moves everything that Codex keeps.
const HOME_VAR: &str = "CODEX_HOME";

/// What Codex and its launcher set for their children.
const SCRUBBED: [&str; 7] = [
    "CODEX_CI",
    "CODEX_MANAGED_BY_NPM",
    "CODEX_MANAGED_PACKAGE_ROOT",
    "CODEX_SESSION_ID",
    "CODEX_THREAD_ID",
    "CODEX_TOOL_CALL_ID",
    "CODEX_VERSION",
];

/// How long its evidence may take; measured: under a second on an idle machine.
const DEADLINE: Duration = Duration::from_secs(10);
