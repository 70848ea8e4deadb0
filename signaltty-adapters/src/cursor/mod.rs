//! The Cursor CLI, `cursor-agent`.
//!
//! **Not run against the real program**: it needs a login. What is here follows
//! several independent public reports of builds of 2026.
//!
//! An id that Cursor does not know opens a new chat under that very id, so the
//! id proves nothing, in a report neither. Two things decide: the chat's own
//! store before the start, in the directory where Cursor would look for it; and
//! after a prompt, that this store has grown. Before a prompt Cursor shows
//! nothing.

mod options;
mod record;
mod report;

use std::ffi::OsString;
use std::time::Duration;

use async_trait::async_trait;
use signaltty_core::agent::{
    AgentPolicy, AgentReport, Anchor, Conversation, Fingerprint, LoadedRule, TurnRecord,
    WitnessSource,
};
use signaltty_core::id::InstanceId;
use signaltty_core::restore::{FailureCode, Refusal};

use crate::spec::known_kind;
use crate::{
    AdapterError, AgentAdapter, AgentHost, AgentSpec, ByHand, HookEntries, HookForm, HookReport,
    IdForm, InstanceView, OfficialCommand, UserFile, UserHooks, preflight,
};

/// The adapter of the Cursor CLI. Not run against the real program.
#[derive(Debug, Clone)]
pub struct CursorAdapter {
    spec: AgentSpec,
}

impl CursorAdapter {
    /// The adapter.
    pub fn new() -> Self {
        let policy =
            AgentPolicy::new(vec![WitnessSource::StartReport], LoadedRule::NotReported, DEADLINE)
                .silent_until_prompt();
        let mut spec = AgentSpec::new(known_kind("cursor"), "cursor-agent", IdForm::Uuid, policy);
        spec.identity_vars = &IDENTITY;
        spec.scrubbed_vars = &SCRUBBED;
        spec.options = options::OPTIONS;
        Self { spec }
    }
}

impl Default for CursorAdapter {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl AgentAdapter for CursorAdapter {
    fn spec(&self) -> &AgentSpec {
        &self.spec
    }

    fn unfollowable(&self, _argv: &[OsString]) -> Option<String> {
        Some(
            "cursor-agent shows its conversation only through hooks; `signaltty integration \
             install cursor` sets them"
                .to_owned(),
        )
    }

    fn by_hand(&self) -> ByHand {
        ByHand {
            without: "found, but its conversation is not seen",
            hooks: Some(UserHooks {
                adds: "the conversation, working and done",
                note: Some(
                    "follows public reports; it was not run against the real cursor-agent, which \
                     needs a login",
                ),
                file: UserFile { chosen: None, below_home: ".cursor/hooks.json" },
                form: HookForm::Entries(HookEntries {
                    agent: "cursor",
                    events: &EVENTS,
                    grouped: false,
                    off: None,
                    version: Some(1),
                }),
            }),
        }
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
        report::read(&self.spec, instance, report.payload)
    }

    async fn preflight(
        &self,
        conversation: &Conversation,
        host: &dyn AgentHost,
    ) -> Result<Fingerprint, Refusal> {
        let anchor = preflight::before_the_record(&self.spec, conversation, host)?;
        let found = record::find(conversation, host)?.compare(anchor)?;
        preflight::cwd_is_there(&conversation.cwd)?;
        record::is_where_cursor_looks(conversation, &found.now.record)?;
        Ok(found)
    }

    /// A report repeats the id that was asked for, also of a chat that was begun
    /// anew elsewhere. The store of the saved chat grows only if it is the one
    /// that was prompted.
    async fn read_record(
        &self,
        named: &Conversation,
        _witness: WitnessSource,
        _view: &InstanceView,
        host: &dyn AgentHost,
    ) -> Result<Fingerprint, Refusal> {
        let found = self.preflight(named, host).await?;
        if named.anchor.as_ref().is_some_and(|before| before.extent == found.now.extent) {
            return Err(Refusal::new(
                FailureCode::Unreadable,
                format!("cursor wrote nothing into the chat {} since it was started", named.id),
            ));
        }
        Ok(found)
    }

    async fn anchor(
        &self,
        conversation: &Conversation,
        host: &dyn AgentHost,
    ) -> Result<Anchor, Refusal> {
        preflight::id_has_form(&self.spec, &conversation.id)?;
        let store = record::find(conversation, host)?;
        match &conversation.anchor {
            Some(saved) => store.compare(saved).map(|found| found.now),
            None => store.first_anchor(),
        }
    }

    /// What the rows of a store mean is not known, so they say nothing of a turn:
    /// not whether it came to its end, nor whether a prompt arrived. The core
    /// then leaves the turn to a person.
    async fn read_turn(&self, _conversation: &Conversation, _host: &dyn AgentHost) -> TurnRecord {
        TurnRecord { unfinished: None, prompted: None, last_tool: None }
    }

    async fn inspect(&self, _view: &InstanceView, _host: &dyn AgentHost) -> Vec<AgentReport> {
        Vec::new()
    }
}

/// The reports that we take. One event that Cursor does not know voids the whole
/// file, so there is none that was not seen in use. It takes no time limit.
const EVENTS: [(&str, u32); 4] =
    [("sessionStart", 0), ("beforeSubmitPrompt", 0), ("stop", 0), ("sessionEnd", 0)];

/// Where its records live.
const IDENTITY: [&str; 2] = ["CURSOR_CONFIG_DIR", "XDG_CONFIG_HOME"];

/// What it sets for its hooks and its children.
const SCRUBBED: [&str; 2] = ["CURSOR_AGENT", "CURSOR_VERSION"];

/// It can prove nothing until a prompt; so long an early end is awaited.
const DEADLINE: Duration = Duration::from_secs(20);
