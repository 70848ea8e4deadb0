//! The newest turn in a transcript: its messages and tool calls.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::line;
use crate::account::{Account, is_prompt, text};
use crate::anchor::Line;
use crate::stamp::{self, Millis};
use crate::turns::{self, Newest, Step};

/// What one line says.
pub(super) fn read(line: &[u8], account: &mut Account) {
    let Ok(entry) = serde_json::from_slice::<Entry>(line) else {
        return;
    };
    // A subagent's messages are no part of the person's turn.
    if entry.is_sidechain {
        return;
    }
    let Some(message) = entry.message else {
        return;
    };
    match entry.kind.as_str() {
        "assistant" => {
            match message.stop_reason.as_deref() {
                Some("tool_use" | "pause_turn") => account.goes_on(),
                Some(_) => account.ended(),
                None => account.unclear(),
            }
            for block in message.blocks("tool_use") {
                let id = text(block, "id");
                let tool = text(block, "name");
                account.called(id, tool, READS.contains(&tool));
                account.goes_on();
            }
        }
        "user" => {
            let mut results = message.blocks("tool_result").peekable();
            if results.peek().is_some() {
                account.goes_on();
            }
            for block in results {
                account.returned(text(block, "tool_use_id"));
            }
            if message.texts().any(|text| text.starts_with("[Request interrupted by user")) {
                account.unclear();
            } else if matches!(line::read(line), Line::Message { by_person: true, .. }) {
                account.began();
            }
        }
        _ => {}
    }
}

/// Whether a person's message stands in a record since `since`: one that Claude
/// took. A prompt that a hook blocked is kept as a note of the system.
pub(super) fn taken(record: &Path, since: Millis) -> bool {
    turns::newest(record, prompt).is_some_and(|turn| turn.at >= since)
}

fn prompt(line: &[u8]) -> Option<Newest> {
    if !matches!(line::read(line), Line::Message { by_person: true, .. }) {
        return None;
    }
    let entry: Entry = serde_json::from_slice(line).ok()?;
    Some(Newest { step: Step::Began, at: stamp::read(&entry.timestamp?)? })
}

/// Whether a line is a person's message with exactly our prompt.
pub(super) fn is_ours(line: &[u8]) -> bool {
    let said = || serde_json::from_slice::<Entry>(line).ok()?.message;
    matches!(line::read(line), Line::Message { by_person: true, .. })
        && said().is_some_and(|message| message.texts().any(is_prompt))
}

#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "type")]
    kind: String,
    #[serde(rename = "isSidechain", default)]
    is_sidechain: bool,
    timestamp: Option<String>,
    message: Option<Message>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Value,
    stop_reason: Option<String>,
}

impl Message {
    fn blocks(&self, kind: &'static str) -> impl Iterator<Item = &Value> {
        let blocks = self.content.as_array().into_iter().flatten();
        blocks.filter(move |block| text(block, "type") == kind)
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        let blocks = self.blocks("text").map(|block| text(block, "text"));
        self.content.as_str().into_iter().chain(blocks)
    }
}

/// The tools that only read, by the names that Claude gives them.
const READS: [&str; 5] = ["Glob", "Grep", "LS", "NotebookRead", "Read"];
