//! What the lines of a transcript say.
//!
//! Only some lines are messages: those with a `uuid`, chained by `parentUuid`.
//! A transcript can lose all of them and keep its other lines.

use std::borrow::Cow;
use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::anchor::Line;

/// Reads one line of a transcript.
pub(crate) fn read(line: &[u8]) -> Line {
    let Ok(head) = serde_json::from_slice::<Head<'_>>(line) else {
        return Line::Broken;
    };
    let Some(id) = head.uuid else {
        return Line::Other;
    };
    let by_person = head.kind.as_deref() == Some("user")
        && !head.is_meta.unwrap_or(false)
        && !head.is_sidechain.unwrap_or(false)
        && !head.is_compact_summary.unwrap_or(false)
        && serde_json::from_slice::<UserLine>(line)
            .is_ok_and(|user| user.message.content.by_person);
    Line::Message { id: id.into_owned(), parent: head.parent.map(Cow::into_owned), by_person }
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    uuid: Option<Cow<'a, str>>,
    #[serde(rename = "parentUuid", borrow)]
    parent: Option<Cow<'a, str>>,
    #[serde(rename = "isMeta")]
    is_meta: Option<bool>,
    #[serde(rename = "isSidechain")]
    is_sidechain: Option<bool>,
    #[serde(rename = "isCompactSummary")]
    is_compact_summary: Option<bool>,
}

#[derive(Deserialize)]
struct UserLine {
    message: UserMessage,
}

#[derive(Deserialize)]
struct UserMessage {
    content: Content,
}

/// Whether a person wrote it: tool results, the program's own commands and its
/// note about an interruption look like user messages too.
struct Content {
    by_person: bool,
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

/// Reads a text or a list of blocks, one at a time, so that a long list takes
/// no memory.
struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of blocks")
    }

    fn visit_str<E>(self, text: &str) -> Result<Content, E> {
        Ok(Content { by_person: !is_the_programs(text) })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut blocks: A) -> Result<Content, A::Error> {
        let (mut says, mut is_result) = (false, false);
        while let Some(block) = blocks.next_element::<Block>()? {
            is_result |= block.kind == "tool_result";
            says |= !block.text.as_deref().is_some_and(is_the_programs);
        }
        Ok(Content { by_person: says && !is_result })
    }
}

fn is_the_programs(text: &str) -> bool {
    PROGRAM_TEXTS.iter().any(|start| text.starts_with(start))
}

const PROGRAM_TEXTS: [&str; 3] =
    ["<command-name>", "<local-command-", "[Request interrupted by user"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d3_only_a_persons_messages_count() {
        let user = |rest: &str| format!(r#"{{"type":"user","uuid":"u","parentUuid":null,{rest}}}"#);
        let text = |text: &str| user(&format!(r#""message":{{"content":"{text}"}}"#));
        let cases = [
            (text("hello"), true),
            (text("<command-message>review</command-message>"), true),
            (text("<command-name>/clear</command-name>"), false),
            (text("<local-command-stdout>x</local-command-stdout>"), false),
            (text("[Request interrupted by user]"), false),
            (user(r#""isMeta":true,"message":{"content":"hello"}"#), false),
            (user(r#""isSidechain":true,"message":{"content":"hello"}"#), false),
            (user(r#""isCompactSummary":true,"message":{"content":"hello"}"#), false),
            (user(r#""message":{"content":[{"type":"text","text":"hi"}]}"#), true),
            (user(r#""message":{"content":[{"type":"image","source":{}}]}"#), true),
            (user(r#""message":{"content":[{"type":"tool_result","content":[]}]}"#), false),
            (user(r#""message":{"content":[]}"#), false),
            (user(r#""message":"odd""#), false),
        ];
        for (line, expected) in cases {
            let Line::Message { by_person, .. } = read(line.as_bytes()) else {
                panic!("{line}");
            };
            assert_eq!(by_person, expected, "{line}");
        }
    }

    #[test]
    fn d3_lines_without_a_uuid_are_no_messages() {
        for (line, expected) in [
            (r#"{"type":"mode","mode":"normal","sessionId":"x"}"#, Line::Other),
            (r#"{"type":"last-prompt","leafUuid":"x"}"#, Line::Other),
            (r#"{"parentUuid":"a","isSidechain":false,"type":"assi"#, Line::Broken),
            ("", Line::Broken),
            ("\u{0}\u{0}", Line::Broken),
        ] {
            assert_eq!(read(line.as_bytes()), expected, "{line:?}");
        }
        let deep = format!("{}1", r#"{"a":"#.repeat(100_000));
        assert_eq!(read(deep.as_bytes()), Line::Broken);
    }
}
