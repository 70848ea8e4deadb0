//! OpenCode.
//!
//! It shows nowhere which conversation its screen has open. What proves a resume
//! is its own server: started with a port and a password of the launch, in the
//! process of the pane, it gives the record of any conversation and takes
//! prompts for exactly the one that is named. So the record that this process
//! has of the saved conversation is compared, and whatever is sent later is
//! addressed to it and never typed (`docs/adr/0004-addressed-channel.md`).
//!
//! One that a person typed into a shell has no server of ours. A plugin in the
//! person's own files, if it was installed, reports its turns instead.
//!
//! A turn, which the same server shows while it runs and tells of in its events,
//! says what a pane holds that nobody resumed.
//!
//! Measured with version 1.18.33.

mod channel;
mod events;
mod launch;
mod options;
mod plugin;
mod record;
mod report;
mod turn;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use signaltty_core::agent::{
    AgentPolicy, AgentReport, Anchor, Conversation, Fingerprint, LoadedRule, TurnRecord,
    WitnessSource,
};
use signaltty_core::id::InstanceId;
use signaltty_core::restore::{Continuation, Refusal};
use signaltty_core::session::{ContinueFailure, Delivery};

use self::events::Events;
use crate::spec::known_kind;
use crate::{
    AdapterError, AgentAdapter, AgentHost, AgentInput, AgentSpec, ByHand, HookForm, HookReport,
    IdForm, InstanceView, Launch, LaunchContext, LaunchFacts, OfficialCommand, PreparedLaunch,
    UserFile, UserHooks, preflight,
};

/// The adapter of OpenCode.
#[derive(Debug, Clone)]
pub struct OpenCodeAdapter {
    spec: AgentSpec,
    events: Arc<Events>,
}

impl OpenCodeAdapter {
    /// The adapter.
    pub fn new() -> Self {
        let policy =
            AgentPolicy::new(vec![WitnessSource::Channel], LoadedRule::NotReported, DEADLINE);
        let mut spec = AgentSpec::new(known_kind("opencode"), "opencode", ID_FORM, policy);
        spec.identity_vars = &IDENTITY;
        spec.scrubbed_vars = &SCRUBBED;
        spec.options = options::OPTIONS;
        spec.directory_word = Some(launch::directory);
        spec.look_every = LOOK_EVERY;
        Self { spec, events: Arc::default() }
    }
}

impl Default for OpenCodeAdapter {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl AgentAdapter for OpenCodeAdapter {
    fn spec(&self) -> &AgentSpec {
        &self.spec
    }

    fn unfollowable(&self, _argv: &[OsString]) -> Option<String> {
        Some(
            "an opencode that was typed into a shell does not show its conversation by itself; \
             have its plugin installed with `signaltty integration install opencode` and start it \
             again, or start it as the pane's own program with `signaltty pane split PANE -- \
             opencode`"
                .to_owned(),
        )
    }

    fn by_hand(&self) -> ByHand {
        ByHand {
            without: "found, but its conversation is not seen; one that is a pane's own program \
                      is followed without a plugin",
            hooks: Some(UserHooks {
                adds: "the conversation from the first prompt on, working, waiting for a \
                       permission, done",
                note: Some("read by opencode when it starts"),
                file: UserFile {
                    chosen: Some(("XDG_CONFIG_HOME", "opencode/plugin/signaltty.js")),
                    below_home: ".config/opencode/plugin/signaltty.js",
                },
                form: HookForm::Whole(plugin::source),
            }),
        }
    }

    fn displaced(&self, argv: &[OsString], facts: &LaunchFacts) -> Option<String> {
        launch::displaced(argv, facts)
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
        Ok(OfficialCommand::new(self.spec.program.as_str(), &["--session"], &id))
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
        let found = record::read(conversation, host)?;
        let found = found.rows.compare(anchor, found.path, Some(found.file))?;
        preflight::cwd_is_there(&conversation.cwd)?;
        Ok(found)
    }

    async fn read_record(
        &self,
        named: &Conversation,
        witness: WitnessSource,
        view: &InstanceView,
        host: &dyn AgentHost,
    ) -> Result<Fingerprint, Refusal> {
        match witness {
            WitnessSource::Channel => channel::read(named, view, host),
            _ => self.preflight(named, host).await,
        }
    }

    async fn holder(&self, conversation: &Conversation, host: &dyn AgentHost) -> Option<String> {
        launch::holder(self, conversation, host)
    }

    async fn anchor(
        &self,
        conversation: &Conversation,
        host: &dyn AgentHost,
    ) -> Result<Anchor, Refusal> {
        preflight::id_has_form(&self.spec, &conversation.id)?;
        let found = record::read(conversation, host)?;
        found.rows.anchor_anew(conversation.anchor.as_ref(), found.path, Some(found.file))
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
        turn::read(conversation, host)
    }

    /// Addressed to the conversation, never typed.
    async fn continue_turn(
        &self,
        continuation: &Continuation,
        view: &InstanceView,
        _input: &mut dyn AgentInput,
        host: &dyn AgentHost,
    ) -> Result<Delivery, ContinueFailure> {
        channel::prompt(continuation.verified().id(), view, host)
    }

    async fn inspect(&self, view: &InstanceView, host: &dyn AgentHost) -> Vec<AgentReport> {
        channel::inspect(&self.spec, &self.events, view, host)
    }
}

const ID_FORM: IdForm = IdForm::Prefixed { prefix: "ses_", chars: 26 };

/// Where its records live, and a directory of settings that adds to its own.
const IDENTITY: [&str; 2] = ["OPENCODE_CONFIG_DIR", "XDG_DATA_HOME"];

/// What it sets for its children.
const SCRUBBED: [&str; 2] = ["OPENCODE", "OPENCODE_PID"];

/// It needs between three and thirty seconds to start, as busy as the machine.
const DEADLINE: Duration = Duration::from_secs(60);

/// A look is two requests to the process itself.
const LOOK_EVERY: Duration = Duration::from_millis(500);
