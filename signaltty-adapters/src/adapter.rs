//! The trait that every agent's adapter implements.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use signaltty_core::agent::{
    AgentReport, AgentSessionId, Anchor, Conversation, Fingerprint, TurnRecord, WitnessSource,
};
use signaltty_core::env::ConfigEnv;
use signaltty_core::id::InstanceId;
use signaltty_core::restore::{Continuation, Refusal};
use signaltty_core::session::{ContinueFailure, Delivery};

use crate::{
    AdapterError, AgentHost, AgentSpec, ByHand, Launch, LaunchContext, LaunchFacts,
    OfficialCommand, PreparedLaunch, Question,
};

/// One agent: its records, its resume command, and the evidence that it shows.
///
/// The futures may read files and block while they do; the server runs them
/// where that hurts nobody. They must end: every read is bounded, and nothing
/// waits for an agent.
#[async_trait]
pub trait AgentAdapter: Send + Sync {
    /// The agent as data.
    fn spec(&self) -> &AgentSpec;

    /// Whether this command starts the agent: one that a pane is opened with, or
    /// the command line of a process below a pane's shell. By default: the base
    /// name of the program is the one in the spec. The process of a script shows
    /// its interpreter first, so an agent that is one needs its own rule to be
    /// found in a shell.
    fn recognises(&self, argv: &[OsString]) -> bool {
        argv.first()
            .and_then(|program| Path::new(program).file_name())
            .is_some_and(|name| name == self.spec().program.as_str())
    }

    /// Why an agent that a person started with this command in a shell does not
    /// show by itself which conversation it has open, and what to do about it.
    /// Shown for as long as it shows none (D-22). By default it is expected to.
    fn unfollowable(&self, _argv: &[OsString]) -> Option<String> {
        None
    }

    /// What keeps a pane's own agent, running with this command line, from being
    /// followed, and what to do about it: a wrapper may have changed or doubled what
    /// [`prepare_launch`](Self::prepare_launch) added. By default nothing is seen.
    fn displaced(&self, _argv: &[OsString], _facts: &LaunchFacts) -> Option<String> {
        None
    }

    /// What is seen of the agent in a shell, and the hooks that a person can have
    /// installed for more. By default nothing is known and nothing is to be
    /// installed.
    fn by_hand(&self) -> ByHand {
        ByHand { without: "not known", hooks: None }
    }

    /// Adds what the agent needs to report to us, without touching a file of
    /// the user (D-12). Pure. By default nothing is added. Called for every
    /// launch, new ones and resumes; the environment is what the process will
    /// have, without [`scrubbed_vars`](AgentSpec::scrubbed_vars).
    ///
    /// # Errors
    ///
    /// When the launch cannot be prepared; the agent is then started as it is.
    fn prepare_launch(
        &self,
        launch: Launch,
        _context: &LaunchContext<'_>,
    ) -> Result<PreparedLaunch, AdapterError> {
        Ok(PreparedLaunch::unchanged(launch))
    }

    /// The agent's official command to reopen a conversation, without hooks and
    /// without a prompt (S0-20).
    ///
    /// # Errors
    ///
    /// When the id does not have the form of this agent's ids.
    fn resume_command(&self, conversation: &Conversation) -> Result<OfficialCommand, AdapterError>;

    /// Reads one report that reached us through the agent's hook. Pure, and not
    /// told which conversation is expected.
    ///
    /// # Errors
    ///
    /// When the payload is not one of this agent's; it is then dropped and the
    /// reporter is told why.
    fn read_report(
        &self,
        instance: InstanceId,
        report: &HookReport<'_>,
    ) -> Result<AgentReport, AdapterError>;

    /// What a report asks a person for, where the agent's hook can wait for the
    /// answer. Pure. By default nothing: the agent asks in its own terminal.
    fn question(&self, _report: &HookReport<'_>) -> Option<Question> {
        None
    }

    /// Looks for the saved conversation's own record before anything starts,
    /// and compares it with the anchor.
    ///
    /// # Errors
    ///
    /// Refuses whatever does not extend the anchor, with what the person can
    /// do.
    async fn preflight(
        &self,
        conversation: &Conversation,
        host: &dyn AgentHost,
    ) -> Result<Fingerprint, Refusal>;

    /// Reads a record again after a witness named it, with what preflight found
    /// as its anchor. By default as before a start.
    ///
    /// An adapter with a channel reads it through the channel of the instance
    /// where the witness is one: what counts is the record that the process has.
    ///
    /// # Errors
    ///
    /// Those of [`preflight`](Self::preflight).
    /// [`Unreadable`](signaltty_core::restore::FailureCode::Unreadable) where
    /// the instance did not answer, which speaks for and against nothing.
    async fn read_record(
        &self,
        named: &Conversation,
        _witness: WitnessSource,
        _view: &InstanceView,
        host: &dyn AgentHost,
    ) -> Result<Fingerprint, Refusal> {
        self.preflight(named, host).await
    }

    /// Says who else holds the conversation open right now, where the agent
    /// shows it, in a phrase with the process id: `process 4711 (claude) has it
    /// open`. Asked before a start, after [`preflight`](Self::preflight). By
    /// default it never does.
    async fn holder(&self, _conversation: &Conversation, _host: &dyn AgentHost) -> Option<String> {
        None
    }

    /// Anchors a conversation that has no anchor yet, or anew after a turn.
    /// Never shrinks: a record that no longer extends an anchor is refused.
    ///
    /// # Errors
    ///
    /// [`Gone`](signaltty_core::restore::FailureCode::Gone) while the agent has
    /// written no message of a person yet.
    async fn anchor(
        &self,
        conversation: &Conversation,
        host: &dyn AgentHost,
    ) -> Result<Anchor, Refusal>;

    /// Says in which directory a conversation goes on that an instance has open:
    /// agents open conversations of other directories, make checkouts for them
    /// and move them (D-23). It is then anchored and resumed there. Of one that has
    /// an anchor, that is only said where the agent moves such. By default nothing
    /// is said, and it is the directory in which the agent was started.
    async fn directory(
        &self,
        _conversation: &Conversation,
        _host: &dyn AgentHost,
    ) -> Option<PathBuf> {
        None
    }

    /// Reads what the record says of the newest turn: whether it came to its
    /// end, its last tool call, and whether a prompt of ours stands after the
    /// saved anchor (K6). By default, and where the record does not tell,
    /// nothing is known.
    async fn read_turn(&self, _conversation: &Conversation, _host: &dyn AgentHost) -> TurnRecord {
        TurnRecord::default()
    }

    /// Lets the interrupted turn go on, once, in the process that was proven to
    /// hold the conversation. Never repeats.
    ///
    /// By default the carry-on [`PROMPT`] is typed, and the agent's own report
    /// that it took a prompt is awaited. An adapter with an addressed channel
    /// sends it there.
    ///
    /// # Errors
    ///
    /// Nothing was sent, and why.
    async fn continue_turn(
        &self,
        _continuation: &Continuation,
        _view: &InstanceView,
        input: &mut dyn AgentInput,
        _host: &dyn AgentHost,
    ) -> Result<Delivery, ContinueFailure> {
        input.type_prompt(PROMPT).await.map(|()| Delivery::Sent)
    }

    /// Says what an instance visibly has open right now. Not told which
    /// conversation is expected.
    async fn inspect(&self, view: &InstanceView, host: &dyn AgentHost) -> Vec<AgentReport>;

    /// Parses an id in this agent's exact form.
    ///
    /// # Errors
    ///
    /// When it does not have that form.
    fn parse_id(&self, text: &str) -> Result<AgentSessionId, AdapterError> {
        self.spec().id_form.parse(text)
    }
}

/// The only text that is ever typed for a person (D-4).
pub const PROMPT: &str = "Continue where you left off.";

/// The terminal of an instance, for one prompt.
#[async_trait]
pub trait AgentInput: Send {
    /// Types a prompt as a paste, and sends it. Only while the agent is in the
    /// foreground, has asked its terminal for pastes in brackets (`CSI ? 2004 h`)
    /// and its screen is at rest, and not where a person typed since it was
    /// started. An agent that never asks for pastes is never typed to.
    ///
    /// # Errors
    ///
    /// Nothing was typed, and why.
    async fn type_prompt(&mut self, text: &str) -> Result<(), ContinueFailure>;
}

/// An instance as an adapter may look at it.
///
/// Whoever gathers evidence is not told which conversation is expected, so a
/// request cannot be compared with itself (S1-28): there is no place for it.
///
/// ```compile_fail,E0560
/// use signaltty_adapters::InstanceView;
/// use signaltty_core::agent::AgentSessionId;
///
/// fn told(view: InstanceView, expected: AgentSessionId) -> InstanceView {
///     InstanceView { expected, ..view }
/// }
/// ```
#[derive(Debug, Clone)]
pub struct InstanceView {
    /// Which instance.
    pub instance: InstanceId,
    /// Its first process, which the server started; of an agent that a person
    /// started in a pane's shell, the agent's own.
    pub pid: u32,
    /// Start time of that process in clock ticks since boot (field 22 of
    /// `/proc/PID/stat`).
    pub start_ticks: u64,
    /// The directory in which it was started.
    pub cwd: PathBuf,
    /// Where it keeps its records, as set at launch.
    pub config_env: ConfigEnv,
    /// What its launch was given of its own.
    pub facts: LaunchFacts,
}

/// A report as it came in through the hook.
#[derive(Debug, Clone, Copy)]
pub struct HookReport<'a> {
    /// What the agent wrote to the hook: at most 1 MiB.
    pub payload: &'a [u8],
    /// The instance that it came from, as the server established it.
    pub view: &'a InstanceView,
}
