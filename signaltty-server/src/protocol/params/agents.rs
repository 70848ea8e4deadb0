//! Parameters of what is asked about agents.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::protocol::WireOs;

/// `pane.resume`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PaneResume {
    /// Which.
    pub pane: String,
    /// Although something differs, which the person was shown.
    #[serde(default)]
    pub anyway: bool,
    /// Not the conversation that it holds but the previous one, which it kept
    /// when nothing proved that it was reopened.
    #[serde(default)]
    pub previous: bool,
    /// Start there instead.
    #[serde(default)]
    pub cwd: Option<WireOs>,
    /// The client's environment. Used for this start, never stored.
    #[serde(default)]
    pub env: BTreeMap<String, WireOs>,
}

/// `pane.continue`, `pane.restart`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PaneAgain {
    /// Which.
    pub pane: String,
    /// The client's environment. Used for this start, never stored.
    #[serde(default)]
    pub env: BTreeMap<String, WireOs>,
}

/// `agent.hook`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentHook {
    /// Which agent's hook.
    pub agent: String,
    /// The secret of the launch, from the pane's environment.
    pub launch: String,
    /// What the agent wrote to the hook.
    pub payload: String,
    /// The agent's process, where it says so itself.
    #[serde(default)]
    pub agent_pid: Option<u32>,
    /// Whether the hook stands in a file of the person, by `integration
    /// install`. It is not heard where the launch has hooks of its own.
    #[serde(default)]
    pub installed: bool,
}

/// `agent.report_session`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentSession {
    /// The secret of the launch, from the pane's environment.
    pub launch: String,
    /// Which agent; by default the one that the pane runs, else `generic`.
    #[serde(default)]
    pub agent: Option<String>,
    /// Its session; by default the one that is known of it.
    #[serde(default)]
    pub id: Option<String>,
    /// The command that reopens it, by hand only.
    #[serde(default)]
    pub argv: Option<Vec<WireOs>>,
    /// The agent's process, where it says so itself.
    #[serde(default)]
    pub agent_pid: Option<u32>,
}

/// `pane.answer`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PaneAnswer {
    /// The pane whose agent asks.
    pub pane: String,
    /// The question that was seen, `decision_id` of the pane. Where it asks
    /// something else by now, nothing is decided.
    pub decision_id: String,
    /// The decision.
    pub answer: Answer,
}

/// A person's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Yes, this once.
    Allow,
    /// No.
    Deny,
}
