//! One file of the journal: what its bytes say.
//!
//! A line that is not exactly a record is a bad place. The longest beginning
//! without a bad place is what counts; whether the rest is a torn end or damage
//! is decided by what comes after it.

use std::io;

use super::record::{CLOSED, FORMAT, Line, OpenedV1, Why};
use crate::fs::{Content, Fs, read_bounded};

/// What was found in a file.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// The numbers of the records, and where each ends. Only rising.
    pub(super) records: Vec<(u64, u64)>,
    /// What the first record says the number before it was.
    pub(super) first_prev: Option<u64>,
    /// What the first record says, if it says what it should.
    pub(super) head: Option<OpenedV1>,
    /// The newest statement of a start in the file.
    pub(super) newest: Option<OpenedV1>,
    /// Records that are missing between two that are there: after, up to.
    pub(super) gaps: Vec<(u64, u64)>,
    /// Numbers that no record has because a start skipped them: both ends are
    /// records.
    pub(super) holes: Vec<(u64, u64)>,
    /// How long the beginning without a bad place is.
    pub(super) good: u64,
    /// How long the file is.
    pub(super) len: u64,
    /// The checksum of the good beginning.
    pub(super) crc: crc32fast::Hasher,
    /// There is a record after a bad place.
    pub(super) damaged: bool,
    /// The last record says that the journal was closed.
    pub(super) closed: bool,
    /// It is of a format that this program does not know.
    pub(super) future: Option<u64>,
}

impl Scan {
    pub(super) fn first(&self) -> Option<u64> {
        self.records.first().map(|(seq, _)| *seq)
    }

    pub(super) fn last(&self) -> Option<u64> {
        self.records.last().map(|(seq, _)| *seq)
    }

    /// There is something after the good beginning, and no record in it.
    pub(super) fn torn(&self) -> bool {
        !self.damaged && self.good < self.len
    }

    /// Forgets records after this one: they were never published.
    pub(super) fn trim(&mut self, last: u64) {
        self.records.retain(|(seq, _)| *seq <= last);
        self.gaps.retain(|(_, to)| *to <= last);
        self.holes.retain(|(_, to)| *to <= last);
    }

    fn line(&mut self, line: &[u8], end: u64) {
        let clean = self.good == end - line_len(line) && !self.damaged;
        let Some(record) = Line::parse(line) else {
            return;
        };
        let last = self.last();
        let chained = last.is_none_or(|last| record.prev == last);
        if clean && chained {
            self.good = end;
            self.crc.update(line);
            self.crc.update(b"\n");
        } else {
            self.damaged = true;
        }
        match last {
            // A record that is there twice, or out of order.
            Some(last) if record.seq <= last => return,
            Some(last) if record.prev > last => self.gaps.push((last, record.prev)),
            Some(last) if record.prev < last => self.gaps.push((record.prev, record.seq)),
            Some(_) => {}
            None => self.first_prev = Some(record.prev),
        }
        if let Some(opened) = record.opened() {
            if opened.format > FORMAT {
                self.future = Some(opened.format);
            }
            if opened.why != Why::Rotation {
                self.holes.push((record.prev, record.seq));
            }
            if last.is_none() {
                self.head = Some(opened.clone());
            }
            self.newest = Some(opened);
        }
        self.closed = record.event == CLOSED;
        self.records.push((record.seq, end));
    }
}

/// Reads a file whole and says what is in it.
///
/// # Errors
///
/// Those of the system; `InvalidInput` where it is no regular file.
pub(super) fn scan<F: Fs>(fs: &F, name: &str) -> io::Result<Scan> {
    let mut file = fs.open(name)?;
    let bytes = match read_bounded(&mut file, MAX_FILE)? {
        Content::Whole(bytes) => bytes,
        // Nothing of ours is so long; what is beyond counts as a torn end.
        Content::Beginning(bytes) => bytes,
    };
    Ok(scan_bytes(&bytes))
}

pub(super) fn scan_bytes(bytes: &[u8]) -> Scan {
    let mut scan = Scan { len: size(bytes.len()), ..Scan::default() };
    let mut end = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        end += size(line.len());
        if let Some(line) = line.strip_suffix(b"\n") {
            scan.line(line, end);
        }
    }
    scan
}

/// The files of the journal, the oldest first; the newest, if it is there, last.
pub(super) fn names<F: Fs>(fs: &F) -> io::Result<Vec<String>> {
    let names = fs.names()?;
    let mut found: Vec<_> =
        names.iter().filter_map(|name| Some((first_of(name)?, name.clone()))).collect();
    found.sort();
    let mut found: Vec<_> = found.into_iter().map(|(_, name)| name).collect();
    if names.iter().any(|name| name == ACTIVE) {
        found.push(ACTIVE.to_owned());
    }
    Ok(found)
}

/// The name of a file to which nothing is added any longer.
pub(super) fn closed_name(first: u64) -> String {
    format!("audit-{first}.jsonl")
}

/// Gives the newest file the name that it keeps, and makes sure that it does.
pub(super) fn retire<F: Fs>(fs: &F, first: u64) -> io::Result<String> {
    let names = fs.names()?;
    if !names.iter().any(|name| name == ACTIVE) {
        // It went, or an attempt before this one got so far.
        fs.sync()?;
        return Ok(closed_name(first));
    }
    let mut n = first;
    let name = loop {
        let name = closed_name(n);
        // Only after somebody copied files about.
        if !names.contains(&name) {
            break name;
        }
        n += 1;
    };
    fs.rename(ACTIVE, &name)?;
    // Before the next file gets the name: were the new name to be lost and the
    // next file to be there, this one would be gone.
    fs.sync()?;
    Ok(name)
}

fn first_of(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("audit-")?.strip_suffix(".jsonl")?;
    digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn line_len(line: &[u8]) -> u64 {
    size(line.len()) + 1
}

fn size(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

pub(super) const ACTIVE: &str = "audit.jsonl";

/// The most bytes of one file that are read.
pub(super) const MAX_FILE: usize = 64 * 1024 * 1024;
