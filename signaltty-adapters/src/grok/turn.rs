//! The newest turn, in Grok's events; what was said, in its chat history.

use serde::Deserialize;
use serde_json::Value;

use super::line;
use crate::account::{Account, is_prompt, list, text};
use crate::anchor::Line;

/// What one line of the events says. A tool that starts has no id there, so its
/// name stands for one.
pub(super) fn read(line: &[u8], account: &mut Account) {
    let Ok(event) = serde_json::from_slice::<Event>(line) else {
        return;
    };
    let tool = event.tool_name.as_deref().unwrap_or_default();
    match (event.kind.as_str(), event.outcome.as_deref()) {
        ("turn_started", _) => account.began(),
        ("turn_ended", Some("completed")) => account.ended(),
        ("turn_ended", _) => account.unclear(),
        ("tool_started", _) => account.called(tool, tool, READS.contains(&tool)),
        ("tool_completed", _) => account.returned(tool),
        _ => {}
    }
}

/// Whether a line of the chat history is a person's with exactly our prompt,
/// which Grok puts into a tag.
pub(super) fn is_ours(line: &[u8]) -> bool {
    if !matches!(line::read(line), Line::Message { by_person: true, .. }) {
        return false;
    }
    let message: Value = serde_json::from_slice(line).unwrap_or_default();
    let blocks = list(&message, "content").map(|block| text(block, "text"));
    blocks.chain([text(&message, "content")]).any(|said| {
        let query = said.trim().strip_prefix("<user_query>");
        let query = query.and_then(|said| said.strip_suffix("</user_query>"));
        is_prompt(query.unwrap_or(said))
    })
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    outcome: Option<String>,
    tool_name: Option<String>,
}

/// The tools that only read, by the names that Grok gives them.
const READS: [&str; 3] = ["grep", "list_dir", "read_file"];
