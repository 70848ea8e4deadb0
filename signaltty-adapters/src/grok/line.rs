//! What the lines of Grok's chat history and of its events say.
//!
//! Messages have no ids; the digest of a line stands for one.

use std::borrow::Cow;
use std::fmt::Write;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::anchor::Line;
use crate::stamp;
use crate::turns::{Newest, Step};

/// Reads one line of the chat history. What a person wrote is numbered as a
/// prompt, unlike what the program adds under the same role.
pub(crate) fn read(line: &[u8]) -> Line {
    let Ok(head) = serde_json::from_slice::<Head<'_>>(line) else {
        return Line::Broken;
    };
    let by_person =
        head.kind == "user" && head.prompt_index.is_some() && head.synthetic_reason.is_none();
    let digest = Sha256::digest(line);
    let mut id = String::with_capacity(2 * ID_BYTES);
    for byte in digest.iter().take(ID_BYTES) {
        // Writing to a string does not fail.
        let _ = write!(id, "{byte:02x}");
    }
    Line::Message { id, parent: None, by_person }
}

/// Reads what a line of events says of a turn.
pub(super) fn step(line: &[u8]) -> Option<Newest> {
    let event: Event<'_> = serde_json::from_slice(line).ok()?;
    let step = match (event.kind.as_ref(), event.outcome.as_deref()) {
        ("turn_started", _) => Step::Began,
        ("turn_ended", Some("completed")) => Step::Completed,
        ("turn_ended", _) => Step::BrokenOff,
        _ => return None,
    };
    Some(Newest { step, at: stamp::read(&event.ts)? })
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    prompt_index: Option<u64>,
    #[serde(borrow)]
    synthetic_reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow)]
    ts: Cow<'a, str>,
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    outcome: Option<Cow<'a, str>>,
}

/// Enough to tell the lines of one record apart.
const ID_BYTES: usize = 16;

#[cfg(test)]
mod tests {
    use super::step as read_step;
    use super::*;

    #[test]
    fn d3_only_a_persons_messages_count() {
        for (line, expected) in [
            (r#"{"type":"system","content":"x"}"#, Some(false)),
            (r#"{"type":"user","content":[]}"#, Some(false)),
            (r#"{"type":"user","content":[],"prompt_index":0}"#, Some(true)),
            (
                r#"{"type":"user","content":[],"prompt_index":0,"synthetic_reason":"reminder"}"#,
                Some(false),
            ),
            (r#"{"type":"assistant","content":"x","prompt_index":0}"#, Some(false)),
            (r#"{"type":"user","content":["#, None),
            ("[]", None),
            ("", None),
        ] {
            let found = match read(line.as_bytes()) {
                Line::Message { by_person, .. } => Some(by_person),
                _ => None,
            };
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn row_status_comes_from_the_events() {
        let at = 1_796_067_195_567;
        for (line, step) in [
            (r#""type":"turn_started","turn_number":1"#, Some(Step::Began)),
            (r#""type":"turn_ended","outcome":"completed""#, Some(Step::Completed)),
            (r#""type":"turn_ended","outcome":"interrupted""#, Some(Step::BrokenOff)),
            (r#""type":"turn_ended""#, Some(Step::BrokenOff)),
            (r#""type":"phase_changed","phase":"streaming_text""#, None),
        ] {
            let line = format!(r#"{{"ts":"2026-11-30T19:33:15.567Z",{line}}}"#);
            let expected = step.map(|step| Newest { step, at });
            assert_eq!(read_step(line.as_bytes()), expected, "{line}");
        }
        assert_eq!(read_step(br#"{"ts":"soon","type":"turn_started"}"#), None);
    }
}
