//! Claude Code.
//!
//! It proves a resume twice without a prompt: its list of what runs names the
//! process and the conversation, and its hook reports that a history was
//! loaded. Either alone is too weak, since both also appear with an empty
//! history (D-3) and the hook also reports ids that were merely requested.
//!
//! Measured with version 2.1.332.

mod answer;
mod evidence;
mod hooks;
pub(crate) mod line;
mod options;
mod record;
mod report;
mod settings;
mod turn;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use signaltty_core::agent::{
    AgentPolicy, AgentReport, Anchor, Conversation, Fingerprint, LoadedRule, TurnRecord,
    WitnessSource,
};
use signaltty_core::id::InstanceId;
use signaltty_core::restore::Refusal;

use crate::anchor::Scan;
use crate::spec::known_kind;
use crate::{
    AdapterError, AgentAdapter, AgentHost, AgentSpec, ByHand, HookEntries, HookForm, HookReport,
    IdForm, InstanceView, Launch, LaunchContext, OfficialCommand, PreparedLaunch, Question,
    UserFile, UserHooks,
};
use crate::{account, permission, preflight};

/// The adapter of Claude Code.
#[derive(Debug, Clone)]
pub struct ClaudeAdapter {
    spec: AgentSpec,
}

impl ClaudeAdapter {
    /// The adapter.
    pub fn new() -> Self {
        let policy = AgentPolicy::new(
            vec![WitnessSource::LiveRegistry, WitnessSource::StartReport],
            LoadedRule::Required,
            DEADLINE,
        );
        let mut spec = AgentSpec::new(known_kind("claude"), "claude", IdForm::Uuid, policy);
        spec.identity_vars = &[CONFIG_VAR];
        spec.scrubbed_vars = &SCRUBBED;
        spec.options = options::OPTIONS;
        Self { spec }
    }

    fn scan(conversation: &Conversation, host: &dyn AgentHost) -> Result<Scan, Refusal> {
        let path = record::find(conversation, host)?;
        Scan::read(&path, conversation.anchor.as_ref(), line::read).map_err(|error| error.refusal())
    }
}

impl Default for ClaudeAdapter {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl AgentAdapter for ClaudeAdapter {
    fn spec(&self) -> &AgentSpec {
        &self.spec
    }

    /// Its launcher may be a script that starts the program by its own path: npm's
    /// is `bin/claude.exe` of its package, that of the vendor's installer is named
    /// after the version.
    fn recognises(&self, argv: &[OsString]) -> bool {
        let Some(program) = argv.first().map(Path::new) else {
            return false;
        };
        let name = program.file_name();
        let mut above = program.ancestors().skip(1).filter_map(Path::file_name);
        name.is_some_and(|name| name == "claude" || name == "claude.exe")
            || (above.next().is_some_and(|dir| dir == "versions")
                && above.next().is_some_and(|dir| dir == "claude"))
    }

    fn by_hand(&self) -> ByHand {
        ByHand {
            without: "found and followed by its own list of what runs: conversation, working, \
                      waiting for you, idle",
            hooks: Some(UserHooks {
                adds: "permissions that `signaltty answer` can give, messages, and `done` at the \
                       moment of the end of a turn",
                note: None,
                file: UserFile {
                    chosen: Some((CONFIG_VAR, "settings.json")),
                    below_home: ".claude/settings.json",
                },
                form: HookForm::Entries(HookEntries {
                    agent: "claude",
                    events: &hooks::EVENTS,
                    grouped: true,
                    off: Some(settings::SWITCH),
                    version: None,
                }),
            }),
        }
    }

    fn prepare_launch(
        &self,
        launch: Launch,
        context: &LaunchContext<'_>,
    ) -> Result<PreparedLaunch, AdapterError> {
        hooks::prepare(launch, context)
    }

    fn resume_command(&self, conversation: &Conversation) -> Result<OfficialCommand, AdapterError> {
        let id = self.parse_id(conversation.id.as_str())?;
        Ok(OfficialCommand::new(self.spec.program.as_str(), &["--resume"], &id))
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
        let found = Self::scan(conversation, host)?.compare(anchor)?;
        preflight::cwd_is_there(&conversation.cwd)?;
        let unanswered = answer::is_unanswered(&found.now.record);
        Ok(Fingerprint { unanswered, ..found })
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
        Self::scan(conversation, host)?.anchor_anew(conversation.anchor.as_ref())
    }

    async fn directory(
        &self,
        conversation: &Conversation,
        host: &dyn AgentHost,
    ) -> Option<PathBuf> {
        evidence::directory(conversation, host).or_else(|| record::directory(conversation, host))
    }

    async fn read_turn(&self, conversation: &Conversation, host: &dyn AgentHost) -> TurnRecord {
        let Ok(path) = record::find(conversation, host) else {
            return TurnRecord::default();
        };
        let anchor = conversation.anchor.as_ref();
        let prompted = account::prompted(&path, anchor, turn::is_ours);
        account::newest(&path, turn::read).record(prompted)
    }

    async fn inspect(&self, view: &InstanceView, host: &dyn AgentHost) -> Vec<AgentReport> {
        evidence::inspect(&self.spec, view, host).into_iter().collect()
    }
}

/// Moves everything that Claude keeps.
const CONFIG_VAR: &str = "CLAUDE_CONFIG_DIR";

/// What Claude sets for its children.
const SCRUBBED: [&str; 6] = [
    "CLAUDECODE",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_PID",
    "CLAUDE_PROJECT_DIR",
];

/// How long its evidence may take; measured: half a second on an idle machine.
const DEADLINE: Duration = Duration::from_secs(10);
