//! Grok.
//!
//! Its list of what runs names the process and the conversation, without a
//! prompt and without a hook. Grok writes that list itself, so an entry counts
//! only while its process also has the conversation's own file of events open.
//! Its hooks live in a directory of the user's, which is left alone.
//!
//! Given an id without a whole record Grok opens a fork of it, or fetches
//! something from a server. So it is never started without one.
//!
//! Measured with version 1.0.41.

mod evidence;
pub(crate) mod line;
mod options;
mod record;
mod report;
mod turn;

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use signaltty_core::agent::{
    AgentPolicy, AgentReport, Anchor, Conversation, Fingerprint, LoadedRule, TurnRecord,
    WitnessSource,
};
use signaltty_core::id::InstanceId;
use signaltty_core::restore::Refusal;

use crate::spec::known_kind;
use crate::{
    AdapterError, AgentAdapter, AgentHost, AgentSpec, ByHand, HookReport, IdForm, InstanceView,
    OfficialCommand, account, preflight,
};

/// The adapter of Grok.
#[derive(Debug, Clone)]
pub struct GrokAdapter {
    spec: AgentSpec,
}

impl GrokAdapter {
    /// The adapter.
    pub fn new() -> Self {
        let required = vec![WitnessSource::LiveRegistry];
        let policy = AgentPolicy::new(required, LoadedRule::NotReported, DEADLINE);
        let mut spec = AgentSpec::new(known_kind("grok"), "grok", IdForm::Uuid, policy);
        spec.identity_vars = &[HOME_VAR];
        spec.scrubbed_vars = &SCRUBBED;
        spec.options = options::OPTIONS;
        Self { spec }
    }
}

impl Default for GrokAdapter {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl AgentAdapter for GrokAdapter {
    fn spec(&self) -> &AgentSpec {
        &self.spec
    }

    fn by_hand(&self) -> ByHand {
        ByHand {
            without: "found and followed by its own list of what runs and its record; it needs \
                      nothing",
            hooks: None,
        }
    }

    fn resume_command(&self, conversation: &Conversation) -> Result<OfficialCommand, AdapterError> {
        let id = self.parse_id(conversation.id.as_str())?;
        Ok(OfficialCommand::new(self.spec.program.as_str(), &["-r"], &id))
    }

    fn read_report(
        &self,
        instance: InstanceId,
        report: &HookReport<'_>,
    ) -> Result<AgentReport, AdapterError> {
        report::read(&self.spec, instance, report)
    }

    async fn preflight(
        &self,
        conversation: &Conversation,
        host: &dyn AgentHost,
    ) -> Result<Fingerprint, Refusal> {
        let anchor = preflight::before_the_record(&self.spec, conversation, host)?;
        let found = record::scan(conversation, host)?.compare(anchor)?;
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
        record::scan(conversation, host)?.anchor_anew(conversation.anchor.as_ref())
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
        record::directory(conversation, host)
    }

    async fn read_turn(&self, conversation: &Conversation, host: &dyn AgentHost) -> TurnRecord {
        let Some(dir) = record::dir(conversation, host) else {
            return TurnRecord::default();
        };
        let (history, events) = (dir.join("chat_history.jsonl"), dir.join("events.jsonl"));
        let anchor = conversation.anchor.as_ref();
        let prompted = account::prompted(&history, anchor, turn::is_ours);
        account::newest(&events, turn::read).record(prompted)
    }

    async fn inspect(&self, view: &InstanceView, host: &dyn AgentHost) -> Vec<AgentReport> {
        evidence::inspect(&self.spec, view, host).into_iter().collect()
    }
}

/// Moves everything that Grok keeps.
const HOME_VAR: &str = "GROK_HOME";

/// What Grok sets for its children.
const SCRUBBED: [&str; 6] = [
    "CLAUDE_PROJECT_DIR",
    "GROK_AGENT",
    "GROK_HOOK_EVENT",
    "GROK_HOOK_NAME",
    "GROK_SESSION_ID",
    "GROK_WORKSPACE_ROOT",
];

/// How long its evidence may take; measured: half a second on an idle machine.
const DEADLINE: Duration = Duration::from_secs(10);
