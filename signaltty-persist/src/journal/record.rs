//! One record: a line of the journal.
//!
//! The layout is fixed to the byte, so a reader needs no JSON parser to check a
//! line, and `jq` and `tail` work on it all the same.

use std::io::Write;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use signaltty_core::time::UnixMillis;

use super::sealed::{seal, unseal};

/// An event to be recorded.
#[derive(Clone, PartialEq, Eq)]
pub struct Draft {
    at: UnixMillis,
    event: String,
    payload: String,
}

/// Why something cannot be a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DraftError {
    /// The name has other characters than `a-z 0-9 . _`, or too many, or is one
    /// of the journal's own.
    #[error("{0:?} is no name of an event")]
    Name(String),
    /// The payload is not one JSON value on one line.
    #[error("the payload is not JSON on one line")]
    Payload,
    /// The payload has more than [`MAX_PAYLOAD`] bytes.
    #[error("the payload has {0} bytes, more than {MAX_PAYLOAD}")]
    TooLarge(usize),
}

impl Draft {
    /// Checks what is to be recorded. `payload` is one JSON value.
    ///
    /// # Errors
    ///
    /// When it could not be read back.
    pub fn new(at: UnixMillis, event: &str, payload: &str) -> Result<Self, DraftError> {
        if !is_name(event) || event.starts_with(OWN) {
            return Err(DraftError::Name(event.chars().take(MAX_NAME).collect()));
        }
        if payload.len() > MAX_PAYLOAD {
            return Err(DraftError::TooLarge(payload.len()));
        }
        let sound = serde_json::from_str::<&RawValue>(payload);
        if payload.contains('\n') || sound.is_err() {
            return Err(DraftError::Payload);
        }
        Ok(Self { at, event: event.to_owned(), payload: payload.trim().to_owned() })
    }

    pub(super) fn own(at: UnixMillis, event: &str, payload: &impl Serialize) -> Self {
        // Plain records of numbers and short texts; they cannot fail.
        let payload = serde_json::to_string(payload).unwrap_or_else(|_| "{}".to_owned());
        Self { at, event: event.to_owned(), payload }
    }

    /// What takes the place of a record's payload. `payload` is JSON on one line.
    pub(super) fn rewritten(at: UnixMillis, event: &str, payload: &str) -> Self {
        Self { at, event: event.to_owned(), payload: payload.to_owned() }
    }

    /// About how many bytes its record has.
    pub(super) fn size_hint(&self) -> usize {
        self.event.len() + self.payload.len() + FRAME
    }

    pub(super) fn encode(&self, seq: u64, prev: u64, out: &mut Vec<u8>) {
        let from = out.len();
        let Self { at, event, payload } = self;
        // A vector takes all that is written.
        let _ = write!(
            out,
            "{{\"seq\":{seq},\"prev\":{prev},\"at\":{},\"event\":\"{event}\",\"payload\":",
            at.0
        );
        out.extend_from_slice(payload.as_bytes());
        seal(out, from);
    }
}

impl std::fmt::Debug for Draft {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A payload may hold what a person typed.
        f.debug_struct("Draft").field("at", &self.at).field("event", &self.event).finish()
    }
}

/// A record as it stands in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub(super) seq: u64,
    pub(super) prev: u64,
    pub(super) at: UnixMillis,
    pub(super) event: &'a str,
    pub(super) payload: &'a str,
}

impl<'a> Line<'a> {
    /// Reads a line without its newline; `None` for whatever is not exactly
    /// what was written.
    pub(super) fn parse(line: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(unseal(line)?).ok()?;
        let (seq, rest) = number(text.strip_prefix("{\"seq\":")?)?;
        let (prev, rest) = number(rest.strip_prefix(",\"prev\":")?)?;
        let (at, rest) = number(rest.strip_prefix(",\"at\":")?)?;
        let (event, rest) = rest.strip_prefix(",\"event\":\"")?.split_once('"')?;
        let payload = rest.strip_prefix(",\"payload\":")?;
        let sound = is_name(event) && prev < seq && seq <= MAX_NUMBER;
        sound.then_some(Self { seq, prev, at: UnixMillis(at), event, payload })
    }

    /// The payload of the first record of a file.
    pub(super) fn opened(&self) -> Option<OpenedV1> {
        if self.event != OPENED {
            return None;
        }
        let opened: OpenedV1 = serde_json::from_str(self.payload).ok()?;
        (opened.reserved.max(opened.prev_file_last) <= MAX_NUMBER).then_some(opened)
    }

    /// Whether it is about the journal itself.
    pub(super) fn is_own(&self) -> bool {
        self.event.starts_with(OWN)
    }
}

/// What the first record of a file says, and one at each start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OpenedV1 {
    pub(super) journal_id: String,
    pub(super) format: u64,
    /// The last record before that anybody saw and that is in a file. Records
    /// after it in an older file were never published.
    pub(super) prev_file_last: u64,
    /// Numbers up to this one may have been used.
    pub(super) reserved: u64,
    /// Whether the journal was closed before.
    pub(super) clean: bool,
    pub(super) why: Why,
}

/// Why a file, or a part of it, begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Why {
    /// A server started.
    Start,
    /// The file before was full.
    Rotation,
    /// The file before could not be trusted any longer.
    Recovery,
}

#[derive(Debug, Serialize)]
pub(super) struct ClosedV1 {}

fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit())?;
    let (digits, rest) = text.split_at_checked(end)?;
    Some((digits.parse().ok()?, rest))
}

fn is_name(text: &str) -> bool {
    let allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_');
    !text.is_empty() && text.len() <= MAX_NAME && text.bytes().all(allowed)
}

/// The most bytes that a payload may have.
pub const MAX_PAYLOAD: usize = 256 * 1024;

/// The greatest number that is believed: no journal gets there, what says so is
/// damaged, and readers that take numbers for floats still tell them apart.
pub(super) const MAX_NUMBER: u64 = 1 << 53;

/// The format that is written, and the newest that can be read.
pub(super) const FORMAT: u64 = 1;

pub(super) const OPENED: &str = "journal.opened";
pub(super) const CLOSED: &str = "journal.closed";
const OWN: &str = "journal.";
const MAX_NAME: usize = 64;

/// What a record has around its event and payload, with long numbers.
const FRAME: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    fn written(payload: &str) -> Vec<u8> {
        let mut out = Vec::new();
        let draft = Draft::new(UnixMillis(1_700_000_000_000), "pane.created", payload);
        draft.unwrap().encode(812, 809, &mut out);
        out
    }

    #[test]
    fn golden_record() {
        assert_eq!(
            String::from_utf8(written("{\"pane_id\":\"pane_a\"}")).unwrap(),
            "{\"seq\":812,\"prev\":809,\"at\":1700000000000,\"event\":\"pane.created\",\
             \"payload\":{\"pane_id\":\"pane_a\"},\"crc\":\"0c32f3ad\"}\n"
        );
    }

    #[test]
    fn what_is_written_is_read_and_nothing_else_is() {
        let line = written("{\"pane_id\":\"pane_a\"}");
        let line = &line[..line.len() - 1];
        let read = Line::parse(line).unwrap();
        assert_eq!((read.seq, read.prev, read.event), (812, 809, "pane.created"));
        assert_eq!(read.payload, "{\"pane_id\":\"pane_a\"}");
        for cut in 0..line.len() {
            assert_eq!(Line::parse(&line[..cut]), None, "cut at {cut}");
        }
        for bit in 0..line.len() * 8 {
            let mut flipped = line.to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Line::parse(&flipped), None, "bit {bit}");
        }
    }

    #[test]
    fn what_could_not_be_read_back_is_refused() {
        let new = |event: &str, payload: &str| Draft::new(UnixMillis(0), event, payload);
        assert!(new("pane.created", "{}").is_ok());
        for event in ["", "Pane", "a b", "a\"", "journal.opened", &"a".repeat(65)] {
            assert!(matches!(new(event, "{}"), Err(DraftError::Name(_))), "{event}");
        }
        for payload in ["", "{", "{}{}", "{\n}"] {
            assert_eq!(new("a", payload), Err(DraftError::Payload), "{payload:?}");
        }
        let large = format!("\"{}\"", "x".repeat(MAX_PAYLOAD));
        assert!(matches!(new("a", &large), Err(DraftError::TooLarge(_))));
    }
}
