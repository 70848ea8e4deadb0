//! Parameters of the methods. `pane`, `tab` and `workspace` take an id, a
//! unique prefix of one, or a workspace's handle.

mod agents;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::WireOs;
pub use agents::*;

/// No parameters.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Empty {}

/// Something to run in a new pane.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PaneSpawn {
    /// Program and arguments; empty for the login shell.
    #[serde(default)]
    pub argv: Vec<WireOs>,
    /// Where; absolute. By default where the other pane is, or the workspace.
    #[serde(default)]
    pub cwd: Option<WireOs>,
    /// The client's environment. Used for this start, never stored (D-27).
    #[serde(default)]
    pub env: BTreeMap<String, WireOs>,
}

/// `workspace.new`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkspaceNew {
    /// Its name; by default the directory's.
    #[serde(default)]
    pub name: Option<String>,
    /// What runs in its first pane, and where; `cwd` is the workspace's too.
    #[serde(flatten)]
    pub spawn: PaneSpawn,
}

/// A workspace.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkspaceRef {
    /// Which.
    pub workspace: String,
}

/// `workspace.rename`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkspaceRename {
    /// Which.
    pub workspace: String,
    /// Its new name.
    pub name: String,
}

/// `workspace.set`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkspaceSet {
    /// Which.
    pub workspace: String,
    /// Resume conversations at a start.
    #[serde(default)]
    pub auto_resume: Option<bool>,
    /// Continue interrupted turns.
    #[serde(default)]
    pub auto_continue: Option<bool>,
    /// Keep output on disk.
    #[serde(default)]
    pub history: Option<bool>,
    /// Hide it.
    #[serde(default)]
    pub archived: Option<bool>,
}

/// `tab.new`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TabNew {
    /// In which workspace.
    pub workspace: String,
    /// Its title.
    #[serde(default)]
    pub title: Option<String>,
    /// What runs in its pane.
    #[serde(flatten)]
    pub spawn: PaneSpawn,
}

/// A tab.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TabRef {
    /// Which.
    pub tab: String,
}

/// `tab.rename`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TabRename {
    /// Which.
    pub tab: String,
    /// Its new title.
    pub title: String,
}

/// On which side of a pane the new one goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SplitDirection {
    /// To its left.
    Left,
    /// To its right.
    #[default]
    Right,
    /// Above it.
    Up,
    /// Below it.
    Down,
}

/// `pane.spawn`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PaneSpawnBy {
    /// A pane of the workspace that gets the new one, in a tab of its own.
    pub pane: String,
    /// What runs in the new one.
    #[serde(flatten)]
    pub spawn: PaneSpawn,
}

/// `pane.split`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PaneSplit {
    /// Which pane to split.
    pub pane: String,
    /// Where the new one goes.
    #[serde(default)]
    pub direction: SplitDirection,
    /// What runs in the new one.
    #[serde(flatten)]
    pub spawn: PaneSpawn,
}

/// `pane.move`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PaneMove {
    /// Which pane to move.
    pub pane: String,
    /// The pane that it goes beside; of the same workspace.
    pub beside: String,
    /// On which side of it.
    #[serde(default)]
    pub direction: SplitDirection,
}

/// `pane.swap`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PaneSwap {
    /// One pane.
    pub pane: String,
    /// The other one; of the same workspace.
    pub other: String,
}

/// A split whose share is to be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SplitAxis {
    /// Of panes side by side.
    Row,
    /// Of panes above each other.
    Column,
}

/// `pane.weight`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PaneWeight {
    /// Which.
    pub pane: String,
    /// Its share beside those of its neighbours, from 1 to 65535.
    pub weight: u16,
    /// In the innermost split of this kind around it; by default in the one
    /// that it is in.
    #[serde(default)]
    pub axis: Option<SplitAxis>,
}

/// `tab.area`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TabArea {
    /// Which.
    pub tab: String,
    /// The columns that its panes share; taken as 2 to 1,000.
    pub cols: u16,
    /// The rows; taken as 1 to 500.
    pub rows: u16,
    /// Only while one of its panes is shown alone: not kept over a restart.
    #[serde(default)]
    pub zoomed: bool,
}

/// `tab.layout`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TabLayout {
    /// Which.
    pub tab: String,
    /// How to arrange its panes, in the form of the answer; nothing changes
    /// without it.
    #[serde(default)]
    pub layout: Option<String>,
}

/// `tab.move`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TabMove {
    /// Which.
    pub tab: String,
    /// Its new place in the workspace, from 0.
    pub position: usize,
}

/// `workspace.move`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkspaceMove {
    /// Which.
    pub workspace: String,
    /// Its new place in the list, from 0.
    pub position: usize,
}

/// A pane.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PaneRef {
    /// Which.
    pub pane: String,
}

/// `pane.signal`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PaneSignal {
    /// Which.
    pub pane: String,
    /// `HUP`, `INT`, `QUIT`, `KILL`, `TERM`, `USR1`, `USR2`, `WINCH` or `CONT`,
    /// with `SIG` before it or not.
    pub signal: String,
}

/// `pane.wait`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PaneWait {
    /// Which.
    pub pane: String,
    /// Any of these: what an agent does (`idle`, `working`, …), how much the pane
    /// wants a person (`unread`, … or more), `exited`, `seen`.
    pub until: Vec<String>,
    /// Only what happens after this baseline, as `pane.info` gave it. Without
    /// one what is so already counts as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// How long to wait, in milliseconds; by default an hour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// `notification.new`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotificationNew {
    /// The pane that it is about; its attention is raised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pane: Option<String>,
    /// One line, at most 200 characters.
    pub title: String,
    /// More, at most 2,000 characters.
    #[serde(default)]
    pub body: String,
    /// `info` (as without it), `warning` or `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
}

/// `notification.list`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotificationList {
    /// Only those that nobody read.
    #[serde(default)]
    pub unread: bool,
}

/// `notification.read`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotificationRead {
    /// Which, or the start of its id; all of them without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notification: Option<String>,
}

/// `pane.rename`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PaneRename {
    /// Which.
    pub pane: String,
    /// Its new title; empty gives it back to the program.
    pub title: String,
}

/// `pane.read`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PaneRead {
    /// Which.
    pub pane: String,
    /// The last so many lines; by default all that there are.
    #[serde(default)]
    pub lines: Option<usize>,
    /// With colours and styles, as escape sequences.
    #[serde(default)]
    pub ansi: bool,
    /// Only what came after this cursor, which an earlier answer had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// `pane.send`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PaneSend {
    /// Which.
    pub pane: String,
    /// The bytes, as they are; nothing is added.
    pub text: WireOs,
}

/// `pane.keys`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PaneKeys {
    /// Which.
    pub pane: String,
    /// Names of keys: `Enter`, `C-c`, `Up`, or text.
    pub keys: Vec<String>,
}

/// `pane.attach`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PaneAttach {
    /// Which.
    pub pane: String,
    /// Columns of the client's terminal.
    pub cols: u16,
    /// Its rows.
    pub rows: u16,
    /// Only look.
    #[serde(default)]
    pub read_only: bool,
    /// So many lines of history first.
    #[serde(default)]
    pub history: usize,
    /// Whether what the program sends to the clipboard (OSC 52) comes along.
    #[serde(default)]
    pub clipboard: bool,
    /// Whether the pane is shown among others. Then this is not a person who
    /// looks at it; the client says that with `pane.seen`. Nor does a terminal
    /// answer what the program asks: the server does.
    #[serde(default)]
    pub background: bool,
}

/// `session.forget`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionForget {
    /// A pane or a workspace.
    pub target: String,
}

/// `events.subscribe`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventsSubscribe {
    /// First what happened after this event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<EventCursor>,
    /// Only events whose name fits one of these; `*` stands for anything. All,
    /// where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filter: Vec<String>,
}

/// The last event that a client saw.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventCursor {
    /// The journal, as the reply to an earlier subscription named it. Without
    /// it the number is taken to be of the journal that there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal_id: Option<String>,
    /// Its number.
    pub seq: u64,
}

/// `server.shutdown`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shutdown {
    /// Also while something runs.
    #[serde(default)]
    pub force: bool,
    /// Mark every running turn first, so that the next start continues it.
    #[serde(default, rename = "continue")]
    pub continue_turns: bool,
}
