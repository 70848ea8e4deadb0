//! The newest turn in a rollout: its events, messages and tool calls.

use serde::Deserialize;
use serde_json::Value;

use crate::account::{Account, is_prompt, list, text};

/// What one line says.
pub(super) fn read(line: &[u8], account: &mut Account) {
    let Ok(Entry { kind, payload }) = serde_json::from_slice(line) else {
        return;
    };
    let id = || text(&payload, "call_id");
    match (kind.as_str(), text(&payload, "type")) {
        ("event_msg", "task_started") => account.began(),
        ("event_msg", "task_complete") => account.ended(),
        ("event_msg", "turn_aborted") => account.unclear(),
        ("response_item", "function_call" | "custom_tool_call") => {
            let tool = text(&payload, "name");
            account.called(id(), tool, READS.contains(&tool));
        }
        ("response_item", "local_shell_call") => account.called(id(), "local_shell", false),
        (
            "response_item",
            "function_call_output" | "custom_tool_call_output" | "local_shell_call_output",
        ) => account.returned(id()),
        _ => {}
    }
}

/// Whether a line is a message of the user's with exactly our prompt.
pub(super) fn is_ours(line: &[u8]) -> bool {
    let Ok(Entry { kind, payload }) = serde_json::from_slice(line) else {
        return false;
    };
    kind == "response_item"
        && text(&payload, "type") == "message"
        && text(&payload, "role") == "user"
        && list(&payload, "content").any(|block| is_prompt(text(block, "text")))
}

#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    payload: Value,
}

/// The tools that only read. Files are mostly read through its shell, of which
/// nobody can say that.
const READS: [&str; 4] = ["grep_files", "list_dir", "read_file", "view_image"];
