//! The records of version 1, as they are in the file.
//!
//! These types are the format. A field that was added later has a default, a
//! field that is not known is ignored, words are plain strings, and nothing
//! here can hold a process id, a descriptor or a launch secret (S0-12).

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

#[cfg(feature = "schema")]
use super::described;
use super::part::Part;
use super::salvage;
use crate::os_text::OsText;

/// A workspace.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct WorkspaceV1 {
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^ws_[a-z2-7]{16}$")))]
    pub(super) id: String,
    #[serde(default)]
    pub(super) handle: String,
    #[serde(default)]
    pub(super) name: String,
    /// Files from before it existed have names that people gave (S0-57).
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(schema_with = "described::naming"))]
    pub(super) naming: Option<String>,
    #[serde(default)]
    pub(super) cwd: Option<OsText>,
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^tab_[a-z2-7]{16}$")))]
    pub(super) active_tab: Option<String>,
    #[serde(default)]
    pub(super) switches: SwitchesV1,
    #[serde(default)]
    pub(super) archived: bool,
    #[serde(default)]
    pub(super) created_at: u64,
}

/// Switches; one that is missing has its usual value.
#[derive(Debug, Serialize, Deserialize, Default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct SwitchesV1 {
    #[serde(default, deserialize_with = "there")]
    pub(super) auto_resume: Option<Part<bool>>,
    #[serde(default, deserialize_with = "there")]
    pub(super) auto_continue: Option<Part<bool>>,
    #[serde(default, deserialize_with = "there")]
    pub(super) history: Option<Part<bool>>,
}

/// Something is there, if only `null`, which is not a switch that is missing.
fn there<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Part<bool>>, D::Error> {
    Part::deserialize(deserializer).map(Some)
}

/// A tab.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct TabV1 {
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^tab_[a-z2-7]{16}$")))]
    pub(super) id: String,
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^ws_[a-z2-7]{16}$")))]
    pub(super) workspace: String,
    #[serde(default)]
    pub(super) title: String,
    /// The text form of a layout, which carries a version of its own.
    #[serde(default)]
    pub(super) layout: String,
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^pane_[a-z2-7]{16}$")))]
    pub(super) active_pane: String,
    #[serde(default)]
    pub(super) area: Option<SizeV1>,
    #[serde(default)]
    pub(super) created_at: u64,
}

/// Columns and rows.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct SizeV1 {
    pub(super) cols: u16,
    pub(super) rows: u16,
}

/// A pane.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct PaneV1 {
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^pane_[a-z2-7]{16}$")))]
    pub(super) id: String,
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^tab_[a-z2-7]{16}$")))]
    pub(super) tab: String,
    #[serde(default)]
    pub(super) title: String,
    #[serde(default)]
    pub(super) titled_by_user: bool,
    #[serde(default)]
    pub(super) cwd: Option<OsText>,
    #[serde(default)]
    pub(super) argv: Vec<OsText>,
    #[serde(default)]
    pub(super) env: BTreeMap<String, OsText>,
    /// Absent where there are none, and in files from before they were kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) env_left_out: Vec<String>,
    #[serde(default)]
    pub(super) size: Option<SizeV1>,
    #[serde(default, deserialize_with = "salvage::maybe")]
    pub(super) agent: Option<Part<AgentV1>>,
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(schema_with = "described::lifecycle"))]
    pub(super) lifecycle: Option<String>,
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(schema_with = "described::attention"))]
    pub(super) attention: Option<String>,
    #[serde(default)]
    pub(super) last_message: Option<String>,
    #[serde(default)]
    pub(super) end: Option<Part<EndV1>>,
    #[serde(default)]
    pub(super) created_at: u64,
}

/// How a process ended.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct EndV1 {
    #[cfg_attr(feature = "schema", schemars(schema_with = "described::cause"))]
    pub(super) cause: String,
    #[serde(default)]
    pub(super) status: Option<StatusV1>,
    #[serde(default)]
    pub(super) at: u64,
}

/// With what status.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct StatusV1 {
    #[serde(default)]
    pub(super) code: Option<i32>,
    #[serde(default)]
    pub(super) signal: Option<i32>,
}

/// An agent.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct AgentV1 {
    pub(super) kind: String,
    #[serde(default)]
    pub(super) conversation: Option<Part<ConversationV1>>,
    /// Absent unless a resume proved nothing and its agent went on with another
    /// conversation: the one that was to be reopened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) previous: Option<Part<ConversationV1>>,
    /// That one was taken up where a resume had proven nothing, as `in_doubt` of
    /// `continuity` says of the present one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) previous_in_doubt: bool,
    #[serde(default)]
    pub(super) reported_argv: Option<Vec<OsText>>,
    #[serde(default)]
    pub(super) last_failure: Option<FailureV1>,
    #[serde(default)]
    pub(super) interrupted: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) question_expired: bool,
    /// Absent until the first turn, and in files from before turns were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) turns: Option<Part<TurnsV1>>,
    /// Absent where the agent is the pane's own program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "described::place"))]
    pub(super) place: Option<String>,
    /// Absent until the conversation was reopened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) continuity: Option<Part<ContinuityV1>>,
    /// Absent where the agent was launched without options, and in files from
    /// before they were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) options: Option<Part<OptionsV1>>,
}

/// How a conversation came through restarts.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct ContinuityV1 {
    #[serde(default)]
    pub(super) resumed: u32,
    #[serde(default)]
    pub(super) proven_at: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rewritten_at: Option<u64>,
    #[serde(default)]
    pub(super) starts: u8,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) in_doubt: bool,
}

/// The options of an agent's launch.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct OptionsV1 {
    #[serde(default)]
    pub(super) carried: Vec<OptionV1>,
    #[serde(default)]
    pub(super) dropped: Vec<String>,
}

/// One of them.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct OptionV1 {
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) value: Option<OsText>,
}

/// The turns of an agent.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct TurnsV1 {
    #[serde(default)]
    pub(super) newest: u64,
    #[serde(default)]
    pub(super) active: Option<u64>,
    #[serde(default)]
    pub(super) marker: Option<Part<MarkerV1>>,
    #[serde(default)]
    pub(super) attempts: u8,
}

/// The promise to continue a turn.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct MarkerV1 {
    pub(super) turn: u64,
    #[cfg_attr(feature = "schema", schemars(schema_with = "described::origin"))]
    pub(super) origin: String,
    #[serde(default)]
    pub(super) prepared: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) sent: bool,
}

/// A conversation.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct ConversationV1 {
    pub(super) id: String,
    pub(super) cwd: OsText,
    #[serde(default)]
    pub(super) config_env: Part<BTreeMap<String, OsText>>,
    #[serde(default)]
    pub(super) anchor: Option<Part<AnchorV1>>,
    #[serde(default)]
    pub(super) previous: Option<String>,
}

/// An anchor.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct AnchorV1 {
    pub(super) record: OsText,
    #[serde(default)]
    pub(super) file: Option<FileV1>,
    #[serde(default)]
    pub(super) extent: Option<ExtentV1>,
    #[serde(default)]
    pub(super) last_message: Option<String>,
    pub(super) user_messages: u64,
    #[serde(default)]
    pub(super) base: Option<Box<Self>>,
}

/// Device and inode.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct FileV1 {
    pub(super) device: u64,
    pub(super) inode: u64,
}

/// How much of an agent's record there was.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(super) enum ExtentV1 {
    /// Lines.
    Lines {
        bytes: u64,
        #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^[0-9a-f]{64}$")))]
        sha256: String,
    },
    /// Rows of a database.
    Rows { messages: u64 },
}

/// Why the last resume did not succeed.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct FailureV1 {
    #[cfg_attr(feature = "schema", schemars(schema_with = "described::code"))]
    pub(super) code: String,
    #[serde(default)]
    pub(super) message: String,
    #[serde(default)]
    pub(super) at: u64,
}

/// A notification.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct NotificationV1 {
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^notif_[a-z2-7]{16}$")))]
    pub(super) id: String,
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^pane_[a-z2-7]{16}$")))]
    pub(super) pane: Option<String>,
    #[serde(default)]
    pub(super) title: String,
    #[serde(default)]
    pub(super) body: String,
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(schema_with = "described::severity"))]
    pub(super) severity: Option<String>,
    #[serde(default)]
    pub(super) created_at: u64,
    #[serde(default)]
    pub(super) read_at: Option<u64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) from_program: bool,
}
