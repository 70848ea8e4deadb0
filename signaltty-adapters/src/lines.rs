//! The part of a record of lines that came after what was saved of it.

use std::io::Read as _;
use std::path::Path;

use signaltty_core::agent::{Anchor, Extent};

use crate::records::Record;

/// Everything after the anchor, whole lines or not. `None` where the record
/// cannot be read, is shorter than the anchor, or more came than is looked at:
/// nobody can say then what is in it.
pub(crate) fn after(path: &Path, anchor: Option<&Anchor>) -> Option<Vec<u8>> {
    let from = match anchor.map(|anchor| &anchor.extent) {
        Some(Extent::Lines { bytes, .. }) => *bytes,
        Some(_) => return None,
        None => 0,
    };
    let record = Record::open(path).ok()?;
    let more = record.bytes().checked_sub(from).filter(|more| *more <= MOST)?;
    let mut contents = record.contents();
    std::io::copy(&mut contents.by_ref().take(from), &mut std::io::sink()).ok()?;
    let mut bytes = Vec::new();
    let read = contents.read_to_end(&mut bytes).ok()?;
    (u64::try_from(read) == Ok(more)).then_some(bytes)
}

/// How much is looked at: a turn with the output of every tool in it.
const MOST: u64 = 64 << 20;
