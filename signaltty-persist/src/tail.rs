//! The saved end of a pane's output: `history/<pane>.tail`.
//!
//! One header line, then the bytes as they go to a terminal. The header names
//! the pane and carries lengths and a checksum, so a tail is never shown in
//! another pane and never shown if it is torn. Tails are best effort: a missing
//! or damaged one costs output, never structure.
//!
//! File names come from parsed ids only, so none can lead out of the directory
//! and no two panes share one.

use std::io::ErrorKind;

use serde::{Deserialize, Serialize};
use signaltty_core::id::PaneId;

use crate::dir::StateDir;
use crate::error::PathError;
use crate::fs::{Content, Fs, read_bounded};

/// The most bytes of a tail file, with its header.
pub const MAX_FILE: usize = 64 * 1024;

/// The most bytes of output that a tail holds; the rest is for the header.
pub const CAPACITY: usize = MAX_FILE - 192;

/// What was saved of a pane's output.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tail {
    /// The output.
    Saved(Vec<u8>),
    /// Nothing was saved.
    NoSavedOutput,
    /// Something is there, but it is not what was written. It is left as it is.
    Damaged,
}

/// Reads the saved output of a pane.
///
/// # Errors
///
/// If the system refused to give what is there.
pub fn read<F: Fs>(dir: &StateDir<F>, pane: PaneId) -> Result<Tail, PathError> {
    let name = file_name(pane);
    let history = match dir.fs().dir(HISTORY) {
        Ok(history) => history,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Tail::NoSavedOutput),
        Err(error) => return Err(dir.error("open", HISTORY)(error)),
    };
    let path = format!("{HISTORY}/{name}");
    let mut file = match history.open(&name) {
        Ok(file) => file,
        Err(error) => match error.kind() {
            ErrorKind::NotFound => return Ok(Tail::NoSavedOutput),
            ErrorKind::InvalidInput => return Ok(Tail::Damaged),
            _ => return Err(dir.error("open", path)(error)),
        },
    };
    match read_bounded(&mut file, MAX_FILE).map_err(dir.error("read", path))? {
        Content::Whole(bytes) => Ok(decode(pane, &bytes).map_or(Tail::Damaged, Tail::Saved)),
        Content::Beginning(_) => Ok(Tail::Damaged),
    }
}

/// The name of the file that holds the tail of a pane.
pub(crate) fn file_name(pane: PaneId) -> String {
    format!("{pane}.tail")
}

/// The header for these bytes.
pub(crate) fn header(pane: PaneId, generation: u64, bytes: &[u8]) -> String {
    let mut header =
        format!("{{\"tail\":1,\"pane\":\"{pane}\",\"gen\":{generation},\"len\":{}", bytes.len());
    let seal = seal(header.as_bytes(), bytes);
    header.push_str(&seal);
    header
}

/// The end of the output that fits, from the start of a line where there is
/// one, and never from inside a character.
pub(crate) fn fitting(bytes: &[u8]) -> &[u8] {
    let Some(cut) = bytes.len().checked_sub(CAPACITY).filter(|cut| *cut > 0) else {
        return bytes;
    };
    let rest = bytes.get(cut..).unwrap_or_default();
    let starts_line = bytes.get(cut - 1) == Some(&b'\n');
    let line = rest.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
    let from = match line {
        _ if starts_line => 0,
        Some(line) if line < rest.len() => line,
        _ => rest.iter().position(|byte| byte & 0xc0 != 0x80).unwrap_or(0),
    };
    rest.get(from..).unwrap_or_default()
}

#[derive(Serialize, Deserialize)]
struct HeaderV1 {
    tail: u32,
    pane: String,
    len: usize,
}

fn decode(pane: PaneId, file: &[u8]) -> Option<Vec<u8>> {
    let end = file.iter().position(|byte| *byte == b'\n')? + 1;
    let (line, bytes) = file.split_at_checked(end)?;
    let (covered, end) = line.split_at_checked(line.len().checked_sub(SEAL)?)?;
    let header: HeaderV1 = serde_json::from_slice(line).ok()?;
    let sound = header.tail == 1
        && header.pane.parse() == Ok(pane)
        && header.len == bytes.len()
        && seal(covered, bytes).as_bytes() == end;
    sound.then(|| bytes.to_vec())
}

/// The end of a header, which covers the rest of it as well as the bytes.
fn seal(header: &[u8], bytes: &[u8]) -> String {
    let mut crc = crc32fast::Hasher::new();
    crc.update(header);
    crc.update(bytes);
    format!(",\"crc\":\"{:08x}\"}}\n", crc.finalize())
}

const SEAL: usize = ",\"crc\":\"00000000\"}\n".len();

pub(crate) const HISTORY: &str = "history";

#[cfg(test)]
mod tests {
    use super::*;

    fn pane(n: u8) -> PaneId {
        PaneId::from_random([n; 10])
    }

    fn file(pane: PaneId, bytes: &[u8]) -> Vec<u8> {
        [header(pane, 7, bytes).as_bytes(), bytes].concat()
    }

    #[test]
    fn s0_10_header_and_bytes_are_within_the_bound() {
        let bytes = vec![b'x'; CAPACITY];
        let file = [header(pane(255), u64::MAX, &bytes).as_bytes(), &bytes].concat();
        assert!(file.len() <= MAX_FILE);
        assert_eq!(decode(pane(255), &file), Some(bytes));
    }

    #[test]
    fn golden_header() {
        assert_eq!(
            String::from_utf8(file(pane(0), b"hello\n")).unwrap(),
            "{\"tail\":1,\"pane\":\"pane_aaaaaaaaaaaaaaaa\",\"gen\":7,\"len\":6,\
             \"crc\":\"7887fa13\"}\nhello\n"
        );
    }

    #[test]
    fn every_cut_and_every_flipped_bit_is_noticed() {
        let whole = file(pane(1), b"one\ntwo\n");
        for cut in 0..whole.len() {
            assert_eq!(decode(pane(1), &whole[..cut]), None, "cut at {cut}");
        }
        for at in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[at / 8] ^= 1 << (at % 8);
            assert_eq!(decode(pane(1), &bytes), None, "bit {at}");
        }
    }

    #[test]
    fn c014_a_tail_is_never_shown_in_another_pane() {
        assert_eq!(decode(pane(2), &file(pane(1), b"AAA")), None);
    }

    #[test]
    fn c020_the_last_lines_remain() {
        let lines: Vec<u8> = (0..20_000).flat_map(|n| format!("line {n}\n").into_bytes()).collect();
        let kept = fitting(&lines);
        assert!(kept.starts_with(b"line ") && kept.ends_with(b"line 19999\n"));
        assert!(kept.len() <= CAPACITY && kept.len() > CAPACITY - 20);

        let one_line = "é".repeat(1 << 20);
        let kept = fitting(one_line.as_bytes());
        assert!(std::str::from_utf8(kept).is_ok());
        assert!(kept.len() > CAPACITY - 4);
        assert_eq!(fitting(b"short"), b"short");
    }
}
