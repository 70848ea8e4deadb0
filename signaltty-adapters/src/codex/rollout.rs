//! The first line of a rollout: whose it is.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use signaltty_core::agent::AgentSessionId;
use signaltty_core::restore::{FailureCode, Refusal};

use super::record;
use crate::records::Record;
use crate::stamp::{self, Millis};

/// What the first line says.
#[derive(Debug, Deserialize)]
pub(super) struct Meta {
    id: String,
    pub(super) cwd: PathBuf,
    timestamp: Option<String>,
    source: Option<Value>,
    thread_source: Option<Value>,
    attached_thread: Option<bool>,
    history_base: Option<Base>,
    #[serde(skip)]
    first: Option<u64>,
}

/// Where a fork's beginning is: in another conversation's rollout, up to there.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Base {
    pub(super) thread_id: String,
    end_ordinal_exclusive: u64,
    pub(super) end_byte_offset: u64,
}

impl Meta {
    /// Reads it, and checks that the rollout is the named conversation's.
    pub(super) fn read(path: &Path, id: &AgentSessionId) -> Result<Self, Refusal> {
        let record = record::open(path).map_err(|error| error.refusal())?;
        let line = record.first_line(path, MAX_FIRST).map_err(|error| error.refusal())?;
        let damaged = |what: String| {
            let message = format!("the rollout {} {what}", path.display());
            Refusal::new(FailureCode::Damaged, message)
        };
        let Some(meta) = line.as_deref().and_then(parse) else {
            return Err(damaged("does not begin with the data of a conversation".to_owned()));
        };
        if meta.id != id.as_str() {
            let shown: String = meta.id.chars().filter(|c| !c.is_control()).take(40).collect();
            return Err(damaged(format!("belongs to the conversation {shown} and not to {id}")));
        }
        let begins = meta.history_base.as_ref().map_or(0, |base| base.end_ordinal_exclusive);
        if meta.first.is_some_and(|first| first != begins) {
            return Err(damaged("does not begin where its history ends".to_owned()));
        }
        Ok(meta)
    }

    /// The part of another rollout that comes before this one.
    pub(super) fn base(&self) -> Option<&Base> {
        self.history_base.as_ref()
    }

    /// Whether it stands beside another one and never in its place: the agent made
    /// it for one of its subagents, or a person for a question on the side.
    pub(super) fn is_beside(&self) -> bool {
        let made_for = self.thread_source.as_ref().and_then(Value::as_str);
        let marked = matches!(made_for, Some("subagent" | "tui_side_chat"));
        marked
            || self.attached_thread == Some(true)
            || self.source.as_ref().is_some_and(Value::is_object)
    }

    /// When it was made.
    pub(super) fn made(&self) -> Option<Millis> {
        stamp::read(self.timestamp.as_deref()?)
    }
}

/// The directory of its newest turn, where that is among its last lines.
pub(super) fn newest_directory(path: &Path) -> Option<PathBuf> {
    #[derive(Deserialize)]
    struct Turn {
        #[serde(rename = "type")]
        kind: String,
        payload: Place,
    }
    #[derive(Deserialize)]
    struct Place {
        cwd: PathBuf,
    }
    let lines = Record::open(path).ok()?.last_lines(path, MAX_LAST).ok()?;
    lines.rsplit(|byte| *byte == b'\n').find_map(|line| {
        let turn: Turn = serde_json::from_slice(line).ok()?;
        (turn.kind == "turn_context").then_some(turn.payload.cwd)
    })
}

fn parse(line: &[u8]) -> Option<Meta> {
    #[derive(Deserialize)]
    struct First {
        ordinal: Option<u64>,
        #[serde(rename = "type")]
        kind: String,
        payload: Meta,
    }
    let first: First = serde_json::from_slice(line).ok()?;
    (first.kind == "session_meta").then_some(Meta { first: first.ordinal, ..first.payload })
}

/// The longest first line, which holds the program's instructions too.
const MAX_FIRST: u64 = 8 << 20;

/// How much of a rollout's end is looked through for the newest turn.
const MAX_LAST: u64 = 16 << 20;
