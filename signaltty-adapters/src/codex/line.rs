//! What the lines of a rollout say.
//!
//! Each line has a number that rises by one. A line that was cut off keeps none:
//! Codex ends it and gives its number to the next one, so only a line that was
//! whole once can leave a gap. Rollouts of older versions have no numbers.

use std::borrow::Cow;

use serde::Deserialize;

use crate::anchor::Line;
use crate::stamp;
use crate::turns::{Newest, Step};

/// Reads one line for its anchor.
pub(crate) fn read(line: &[u8]) -> Line {
    let Ok(head) = serde_json::from_slice::<Head<'_>>(line) else {
        return Line::Broken;
    };
    let (message, by_person) = match head.kind.as_ref() {
        "response_item" | "event_msg" => message(line, &head),
        _ => (None, false),
    };
    match (head.ordinal, message) {
        (Some(number), message) => Line::Numbered { number, message, by_person },
        (None, Some(id)) => Line::Message { id, parent: None, by_person },
        (None, None) => Line::Other,
    }
}

/// Reads what a line says of a turn.
pub(super) fn step(line: &[u8]) -> Option<Newest> {
    let head: Head<'_> = serde_json::from_slice(line).ok()?;
    if head.kind != "event_msg" {
        return None;
    }
    let body: Body<'_> = serde_json::from_slice(line).ok()?;
    let step = match body.payload.kind? {
        kind if kind == "task_started" => Step::Began,
        kind if kind == "task_complete" => Step::Completed,
        kind if kind == "turn_aborted" => Step::BrokenOff,
        _ => return None,
    };
    let at = stamp::read(&head.timestamp?)?;
    Some(Newest { step, at })
}

/// The message that a line holds, and whether it is a person's. What a person
/// wrote stands in the rollout twice: as it goes to the model, among others that
/// the program adds under the same role, and as an event of its own.
fn message(line: &[u8], head: &Head<'_>) -> (Option<String>, bool) {
    let Ok(Body { payload }) = serde_json::from_slice(line) else {
        return (None, false);
    };
    let item = payload.item.unwrap_or_default();
    match payload.kind.as_deref() {
        Some("message") => (payload.id.map(Cow::into_owned), false),
        Some("item_completed") if item.kind.as_deref() == Some("UserMessage") => {
            (item.id.map(Cow::into_owned), true)
        }
        // Before there were numbers; these events have no id.
        Some("user_message") => (head.timestamp.as_deref().map(str::to_owned), true),
        _ => (None, false),
    }
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    ordinal: Option<u64>,
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    payload: Payload<'a>,
}

#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    item: Option<Item<'a>>,
}

#[derive(Deserialize, Default)]
struct Item<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(number: u64, message: Option<&str>, by_person: bool) -> Line {
        Line::Numbered { number, message: message.map(str::to_owned), by_person }
    }

    #[test]
    fn d3_only_a_persons_messages_count() {
        for (line, expected) in [
            (
                r#"{"ordinal":0,"type":"session_meta","payload":{"id":"t"}}"#,
                numbered(0, None, false),
            ),
            (
                r#"{"ordinal":3,"type":"response_item","payload":{"type":"message","role":"user","id":"m"}}"#,
                numbered(3, Some("m"), false),
            ),
            (
                r#"{"ordinal":8,"type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","id":"u"}}}"#,
                numbered(8, Some("u"), true),
            ),
            (
                r#"{"ordinal":9,"type":"event_msg","payload":{"type":"item_completed","item":{"type":"AgentMessage","id":"a"}}}"#,
                numbered(9, None, false),
            ),
            (r#"{"ordinal":9,"type":"event_msg","payload":"odd"}"#, numbered(9, None, false)),
            (r#"{"ordinal":9,"type":"compacted","payload":{"id":7}}"#, numbered(9, None, false)),
            (r#"{"type":"session_meta","payload":{"id":"t"}}"#, Line::Other),
            (
                r#"{"timestamp":"2025-01-01T00:00:00Z","type":"event_msg","payload":{"type":"user_message","message":"x"}}"#,
                Line::Message { id: "2025-01-01T00:00:00Z".into(), parent: None, by_person: true },
            ),
            (r#"{"ordinal":9,"type":"event_m"#, Line::Broken),
            (r#"{"ordinal":-1,"type":"event_msg"}"#, Line::Broken),
            ("", Line::Broken),
            ("\u{0}\u{0}", Line::Broken),
        ] {
            assert_eq!(read(line.as_bytes()), expected, "{line}");
        }
    }
}
