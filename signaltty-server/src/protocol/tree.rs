//! `session.list`: the tree of workspaces, tabs and panes, and one pane's
//! details. The shape of `ls --json` is part of the command line's contract.

use serde::{Deserialize, Serialize};

use super::WireOs;

/// All workspaces.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tree {
    /// In the order in which people see them.
    pub workspaces: Vec<WorkspaceNode>,
}

/// A workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "field names are those of the core's records")]
pub struct WorkspaceNode {
    pub id: String,
    pub handle: String,
    pub name: String,
    pub cwd: WireOs,
    pub auto_resume: bool,
    pub auto_continue: bool,
    pub history: bool,
    pub archived: bool,
    pub tabs: Vec<TabNode>,
}

/// A tab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "field names are those of the core's records")]
pub struct TabNode {
    pub id: String,
    pub title: String,
    pub active_pane_id: String,
    /// The layout in its text form.
    pub layout: String,
    /// Columns of the area that the panes share.
    #[serde(default)]
    pub cols: u16,
    /// Its rows.
    #[serde(default)]
    pub rows: u16,
    pub panes: Vec<PaneNode>,
}

/// A pane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "field names are those of the core's records")]
pub struct PaneNode {
    pub id: String,
    pub title: String,
    pub cwd: WireOs,
    pub argv: Vec<WireOs>,
    pub cols: u16,
    pub rows: u16,
    /// `live`, `restored`, `resumable`, `resuming` or `exited`.
    pub state: String,
    /// How far a resume has come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// How the last process ended; both fields are null where nobody saw it,
    /// as after a crash of the server.
    pub exit: Option<ExitNode>,
    pub lifecycle: String,
    pub attention: String,
    pub last_message: Option<String>,
    pub agent: Option<AgentNode>,
    /// Names of environment variables that its first launch had and its last
    /// process has not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_env: Vec<String>,
    /// The permission that its agent waits for, which `pane.answer` answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// Which question that is; `pane.answer` names it, so that no newer one gets
    /// an answer that was meant for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_id: Option<String>,
    /// When it was made, in RFC 3339.
    pub created_at: String,
}

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "field names are those of the core's records")]
pub struct ExitNode {
    pub code: Option<i32>,
    pub signal: Option<i32>,
}

/// The agent in a pane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "field names are those of the core's records")]
pub struct AgentNode {
    pub kind: String,
    pub agent_session_id: Option<String>,
    /// The conversation that was to be reopened when nothing proved that it was
    /// and the agent went on with the present one; `pane.resume` with `previous`
    /// reopens it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_session_id: Option<String>,
    /// `verified`, `unconfirmed`, `contradicted`, or null where nothing is
    /// known of a running process.
    pub verdict: Option<String>,
    pub evidence: Vec<String>,
    /// When the verdict was made, in RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict_at: Option<String>,
    /// How often the conversation was reopened and proven, over all starts.
    #[serde(default)]
    pub resumed: u32,
    /// When it was proven last, in RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proven_at: Option<String>,
    /// When its agent rewrote its record while it was open here, in RFC 3339: what
    /// was before that is not proven any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewritten_at: Option<String>,
    /// Another pane that has the same conversation open: what one of the two
    /// writes is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_with: Option<String>,
    pub interrupted: bool,
    /// It waited for an answer when its process went away; nobody can give one
    /// any more.
    #[serde(default)]
    pub question_expired: bool,
    /// Its turn is promised to be continued.
    #[serde(default)]
    pub marked: bool,
    /// How often the interrupted turn was tried by itself, over all starts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub attempts: u8,
    /// The command with which the agent itself said that it is reopened; it runs
    /// by hand only, and proves nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_argv: Option<Vec<WireOs>>,
    /// The last tool call before the interruption, in words, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
    pub last_failure: Option<FailureNode>,
    /// `own`: the pane's own program. `shell`: a person started it in the
    /// pane's shell. `left`: so, and it ended; the shell went on.
    #[serde(default = "own_place")]
    pub place: String,
    /// What to do so that the agent can report to us.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integration: Option<String>,
}

fn own_place() -> String {
    "own".to_owned()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &u8) -> bool {
    *count == 0
}

/// Why the last resume did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "field names are those of the core's records")]
pub struct FailureNode {
    pub code: String,
    pub message: String,
    /// In RFC 3339.
    pub at: String,
}

/// `pane.info`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PaneInfo {
    /// The pane, as in the tree.
    #[serde(flatten)]
    pub pane: PaneNode,
    /// Its workspace.
    pub workspace_id: String,
    /// Its tab.
    pub tab_id: String,
    /// Names the running process; never the same after a restart.
    pub instance: Option<String>,
    /// To wait for what comes after now (`pane.wait`). Names the running process
    /// and dies with it and with the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// The process id of the running process.
    pub pid: Option<u32>,
    /// What may still run of a process that an earlier server started in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leftover: Option<String>,
}
