//! Results of the methods.

use serde::{Deserialize, Serialize};

use super::Answer;

/// `workspace.new`, `tab.new`, `pane.split`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Created {
    /// The workspace that the pane is in.
    pub workspace_id: String,
    /// The tab that it is in.
    pub tab_id: String,
    /// The new pane.
    pub pane_id: String,
}

/// `workspace.set`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Remarks {
    /// What a person should know of what was set, a line each.
    #[serde(default)]
    pub remarks: Vec<String>,
}

/// `pane.resume`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Resumed {
    /// The pane.
    pub pane_id: String,
    /// The conversation, as the agent shows it now; null where it has no name.
    pub agent_session_id: Option<String>,
    /// `verified` or `unconfirmed`.
    pub verdict: String,
    /// What it rests on.
    pub evidence: Vec<String>,
    /// Options of the first launch that went along: `--model x`.
    #[serde(default)]
    pub carried: Vec<String>,
    /// Names of those that did not.
    #[serde(default)]
    pub not_carried: Vec<String>,
}

/// `session.forget`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Forgotten {
    /// Panes of which something may have been there.
    pub panes: usize,
    /// Saved outputs that were removed.
    pub tails: usize,
    /// Recorded events whose payloads were removed.
    pub records: usize,
    /// Older snapshots from which something was taken out.
    pub snapshots: usize,
    /// Files that name such a pane and could not be changed.
    #[serde(default)]
    pub left: Vec<String>,
}

/// `pane.wait`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Waited {
    /// The pane.
    pub pane_id: String,
    /// Which of the awaited things happened; the first where several did.
    pub reached: String,
    /// To wait for what comes after; absent once the process ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
}

/// `pane.next`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Next {
    /// The pane that most needs a person; null where none does.
    pub pane_id: Option<String>,
}

/// `notification.new`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Notified {
    /// The notification.
    pub notification_id: String,
}

/// `notification.list`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Notifications {
    /// The newest 200, newest first.
    pub notifications: Vec<NotificationNode>,
}

/// One notification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotificationNode {
    /// Its id.
    pub id: String,
    /// The pane that it is about.
    pub pane_id: Option<String>,
    /// One line.
    pub title: String,
    /// More.
    pub body: String,
    /// `info`, `warning` or `error`.
    pub severity: String,
    /// When it came, in RFC 3339.
    pub created_at: String,
    /// When a person read it, in RFC 3339.
    pub read_at: Option<String>,
    /// A program in the pane printed it: its word, and nobody's report.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_program: bool,
}

/// `pane.continue`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Continued {
    /// The pane.
    pub pane_id: String,
    /// The conversation.
    pub agent_session_id: String,
    /// The last tool call before the interruption, in words, where the agent's
    /// record has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
}

/// `pane.continue`: continued, or only reopened, where the conversation was not
/// proven to be the saved one.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ContinueOutcome {
    /// The agent took up its turn.
    Continued(Continued),
    /// A process runs, and nothing was typed.
    Resumed(Resumed),
}

/// `restore.plan`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RestorePlan {
    /// Every pane, in the order in which people see them.
    pub panes: Vec<PlanNode>,
    /// What a start would do with the saved file itself, where that is not just
    /// to load it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// What a start would do with a pane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanNode {
    /// The pane.
    pub pane_id: String,
    /// `leave`, `settle`, `resume` or `continue`.
    pub decision: String,
    /// The row of the decision table, `D2` to `D19`, or the rule beside it.
    pub rule: String,
    /// Why, in one sentence.
    pub reason: String,
}

/// `pane.read`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PaneText {
    /// The pane.
    pub pane_id: String,
    /// `live`, or `saved` for the tail of a pane without a process, or `none`
    /// where no output was saved, which is not the same as an empty screen, or
    /// `damaged` where the file with it was.
    pub source: String,
    /// The lines, oldest first, each with a newline. Those after a cursor have
    /// all ended.
    pub text: String,
    /// To read on from here; means something while the server runs, until another
    /// process runs in the pane. Absent where that is not possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// After a cursor: the line that is being written, and what stands below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<String>,
    /// After a cursor: so many lines in between are not kept any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<u64>,
    /// After a cursor: lines that were read before were changed on the screen, and
    /// come again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changed: bool,
}

/// `pane.attach`, before the frames
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Attaching {
    /// The pane.
    pub pane_id: String,
    /// Columns of its terminal; null where it was closed meanwhile.
    pub cols: Option<u16>,
    /// Its rows.
    pub rows: Option<u16>,
}

/// `pane.send`, `pane.keys`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Written {
    /// The pane.
    pub pane_id: String,
    /// So many bytes were taken by its terminal: all of them.
    pub written_bytes: usize,
}

/// `agent.hook`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookAnswer {
    /// Whether the report was taken.
    pub accepted: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// It asks for a decision; `agent.ask` waits for that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks: bool,
}

/// `agent.ask`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Decided {
    /// What the person decided.
    pub answer: Answer,
    /// What the agent's hook must print.
    pub output: String,
}

/// `events.subscribe`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Subscribed {
    /// Whether events follow. If not, the connection is closed.
    pub subscribed: bool,
    /// What the replay that was asked for came to: `complete`, `history_lost`,
    /// `truncated`, `unavailable` or `cursor_ahead`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
    /// The journal; with a number of an event it makes a cursor. Absent while
    /// there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal_id: Option<String>,
    /// The last number that was given out.
    pub seq: u64,
    /// Which run of the server this is.
    pub epoch: String,
    /// How many events of the past follow.
    #[serde(default)]
    pub replayed: usize,
    /// The first and the last number that may be missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<(u64, u64)>,
    /// What happened and what to do, where nothing follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// `server.status`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Status {
    /// The server's process.
    pub pid: u32,
    /// Its version.
    pub version: String,
    /// The protocol's version.
    pub protocol: String,
    /// Its socket.
    pub socket: String,
    /// Its state directory.
    pub state_dir: String,
    /// When it started, in RFC 3339.
    pub started_at: String,
    /// What is there.
    pub counts: StatusCounts,
    /// The state on disk.
    pub persist: Health,
    /// The journal of events.
    pub journal: Health,
    /// Notices of a host shutdown.
    pub logind: Health,
    /// The socket: `ok`, `restored` where its file was removed and made again,
    /// `taken` where something else is there, `missing`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listening: Option<Health>,
    /// What a logout of the user does to the server: `survives`, `ends`,
    /// `may_end` or `unknown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logout: Option<Health>,
    /// The configuration: `ok`, `rejected` where the file was not understood when
    /// it was read again, `restart_needed` where it says what counts only then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<Health>,
    /// When the state was last saved, in RFC 3339.
    pub last_save_at: Option<String>,
    /// Whether every change is saved.
    pub saved: bool,
    /// How the state was found at the start.
    pub load: String,
    /// What was repaired at the start, a line each.
    pub problems: Vec<String>,
}

/// What is there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatusCounts {
    /// Workspaces.
    pub workspaces: usize,
    /// Tabs.
    pub tabs: usize,
    /// Panes.
    pub panes: usize,
    /// Panes with a process.
    pub live: usize,
    /// Panes whose conversation can be reopened.
    pub resumable: usize,
}

/// How a part of the server is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Health {
    /// One word: `ok`, `degraded`, `disabled`, …
    pub state: String,
    /// Since when, why, and what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

impl Health {
    /// Nothing to report.
    pub fn ok() -> Self {
        Self { state: "ok".to_owned(), detail: None }
    }

    /// A state with its reason.
    pub fn with(state: &str, detail: impl Into<String>) -> Self {
        Self { state: state.to_owned(), detail: Some(detail.into()) }
    }
}

/// How a tab is arranged.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayoutText {
    /// The tab.
    pub tab_id: String,
    /// How its panes share its area, in the compact text form.
    pub layout: String,
}

/// `tab.layout`: how the panes are arranged, or nothing where they were
/// arranged anew.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Arranged {
    /// They are so.
    Present(LayoutText),
    /// They were arranged as the request said.
    Done(super::Empty),
}
