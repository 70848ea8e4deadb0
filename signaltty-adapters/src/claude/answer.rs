//! Whether Claude has answered in a conversation.
//!
//! Its start report says how much it loaded only where the model has answered:
//! measured with 2.1.332, a first turn that was cut off and a conversation that
//! was compacted and not gone on with are loaded whole, and nothing is said of
//! how much that is.

use std::path::Path;

use serde::Deserialize;

use crate::records::Record;

/// Whether nobody has answered in a transcript, or not since it was compacted.
/// What cannot be read says nothing, and then an answer is assumed.
pub(super) fn is_unanswered(path: &Path) -> bool {
    let Ok(record) = Record::open(path) else {
        return false;
    };
    let Ok(lines) = record.last_lines(path, LAST_BYTES) else {
        return false;
    };
    let said = lines.rsplit(|byte| *byte == b'\n').find_map(read);
    said.unwrap_or(record.bytes() <= LAST_BYTES)
}

/// What a line says of it, if anything.
fn read(line: &[u8]) -> Option<bool> {
    let entry: Entry = serde_json::from_slice(line).ok()?;
    match (entry.kind.as_deref(), entry.subtype.as_deref()) {
        (Some("system"), Some("compact_boundary")) => Some(true),
        // One that Claude writes itself when it finds a turn without an answer.
        (Some("assistant"), _) if entry.is_of_model() => Some(false),
        _ => None,
    }
}

#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "type")]
    kind: Option<String>,
    subtype: Option<String>,
    #[serde(default, rename = "isSidechain")]
    is_sidechain: bool,
    message: Option<Message>,
}

#[derive(Deserialize)]
struct Message {
    model: Option<String>,
}

impl Entry {
    fn is_of_model(&self) -> bool {
        let model = self.message.as_ref().and_then(|message| message.model.as_deref());
        !self.is_sidechain && model != Some("<synthetic>")
    }
}

/// How much of the end of a transcript is looked at.
const LAST_BYTES: u64 = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s1_01_a_first_turn_that_was_cut_off_and_a_compaction_have_no_answer() {
        const SAID: &str = r#"{"type":"user","uuid":"1","message":{"content":"x"}}"#;
        const ANSWER: &str = r#"{"type":"assistant","uuid":"2","message":{"model":"claude-x"}}"#;
        const OWN: &str = r#"{"type":"assistant","uuid":"3","message":{"model":"<synthetic>"}}"#;
        const SUBAGENT: &str =
            r#"{"type":"assistant","isSidechain":true,"message":{"model":"claude-x"}}"#;
        const COMPACTED: &str = r#"{"type":"system","subtype":"compact_boundary","uuid":"4"}"#;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("record.jsonl");
        for (lines, unanswered) in [
            (&[SAID][..], true),
            (&[SAID, OWN, SUBAGENT], true),
            (&[SAID, ANSWER], false),
            (&[SAID, ANSWER, SAID, OWN], false),
            (&[SAID, ANSWER, COMPACTED, SAID], true),
            (&[SAID, COMPACTED, SAID, ANSWER, SAID], false),
        ] {
            std::fs::write(&path, lines.join("\n") + "\n").unwrap();
            assert_eq!(is_unanswered(&path), unanswered, "{lines:?}");
        }
        // What lies before the part that is looked at may hold an answer.
        let long = format!("{SAID}\n").repeat(100_000);
        std::fs::write(&path, long).unwrap();
        assert!(std::fs::metadata(&path).unwrap().len() > LAST_BYTES);
        assert!(!is_unanswered(&path));
        assert!(!is_unanswered(&dir.path().join("none")));
    }
}
