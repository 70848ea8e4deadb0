//! Gives back what was recorded, and says when it cannot.
//!
//! A replay that is complete is a proof: every record from the first one after
//! the cursor to the newest one was read, its checksum is right, and each names
//! the one before it.

use std::io::ErrorKind;

use signaltty_core::time::UnixMillis;

use super::error::JournalError;
use super::file::{ACTIVE, MAX_FILE};
use super::record::Line;
use super::retention::Lost;
use super::writer::Journal;
use crate::fs::{Content, Fs, FsFile, OsFile, read_bounded};

/// Where a client is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// The journal that the number is of.
    pub journal_id: String,
    /// The last recorded event that the client saw.
    pub seq: u64,
}

/// What a replay comes to. With all but the first the client has to read the
/// state again.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Replay {
    /// Every event after the cursor that the filter lets pass.
    Complete(Vec<Recorded>),
    /// Some of them are gone.
    HistoryLost {
        /// The first number that may be missing.
        from: u64,
        /// The last one.
        to: u64,
    },
    /// There are more than [`MAX_REPLAY`].
    Truncated,
    /// The cursor is of another journal, or the files cannot be read.
    Unavailable {
        /// Why, for people.
        why: String,
    },
    /// The cursor is of an event that did not happen yet.
    CursorAhead {
        /// The last number that was given out.
        head: u64,
    },
}

/// An event as it was recorded.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recorded {
    /// Its number.
    pub seq: u64,
    /// When it happened.
    pub at: UnixMillis,
    /// Its name.
    pub event: String,
    /// What it says, as JSON.
    pub payload: String,
}

impl std::fmt::Debug for Recorded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorded").field("seq", &self.seq).field("event", &self.event).finish()
    }
}

/// The journal as it is at one moment, to be read on any thread.
#[derive(Debug)]
pub struct View<F: FsFile = OsFile> {
    id: String,
    head: u64,
    last: u64,
    retained_after: u64,
    lost: Vec<Lost>,
    holes: Vec<(u64, u64)>,
    files: Vec<Part<F>>,
}

#[derive(Debug)]
struct Part<F> {
    file: F,
    first: u64,
    last: u64,
    bytes: u64,
}

impl<F: Fs> Journal<F> {
    /// The journal as it is now. Its files stay readable although they are
    /// renamed or removed later.
    ///
    /// # Errors
    ///
    /// When it is not available, or a file cannot be opened.
    pub fn view(&self) -> Result<View<F::File>, JournalError> {
        if !self.is_available() {
            return Err(JournalError::Unavailable);
        }
        let state = &self.state;
        let closed = state.evidence.files.iter();
        let mut parts: Vec<_> =
            closed.map(|file| (file.name.as_str(), file.first, file.last, file.bytes)).collect();
        if let Some(active) = &state.segment {
            parts.push((ACTIVE, active.first, active.last, active.bytes));
        }
        let mut files = Vec::with_capacity(parts.len());
        for (name, first, last, bytes) in parts {
            match state.dir.fs().open(name) {
                Ok(file) => files.push(Part { file, first, last, bytes }),
                // The chain shows what is missing without it.
                Err(error)
                    if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidInput) => {}
                Err(error) => return Err(state.dir.error("open", name)(error).into()),
            }
        }
        Ok(View {
            id: self.id().to_owned(),
            head: self.head(),
            last: state.prev,
            retained_after: state.evidence.retained_after,
            lost: state.evidence.lost.clone(),
            holes: state.holes.clone(),
            files,
        })
    }
}

impl<F: FsFile> View<F> {
    /// Which journal it is.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The last number that had been given out.
    pub fn head(&self) -> u64 {
        self.head
    }

    /// The oldest number from which a replay may be complete.
    pub fn retained_after(&self) -> u64 {
        self.retained_after
    }

    /// The ranges that are known to be lost.
    pub fn lost(&self) -> &[Lost] {
        &self.lost
    }

    /// Reads what happened after a cursor, as far as `wanted` lets it pass by
    /// its name. The journal's own records are left out.
    pub fn replay(mut self, cursor: &Cursor, wanted: impl Fn(&str) -> bool) -> Replay {
        let seq = cursor.seq;
        if cursor.journal_id != self.id {
            let why = format!("the journal is {}, not {}", self.id, cursor.journal_id);
            return Replay::Unavailable { why };
        }
        if seq > self.head {
            return Replay::CursorAhead { head: self.head };
        }
        if let Some((from, to)) = self.known_gap(seq) {
            return Replay::HistoryLost { from, to };
        }
        let mut chain = Chain { after: seq, last: None, events: Vec::new() };
        for part in &mut self.files {
            if part.last <= seq {
                continue;
            }
            match part.read(&mut chain, &wanted) {
                Ok(()) => {}
                Err(Stop::Gap(from, to)) => return Replay::HistoryLost { from, to },
                Err(Stop::Full) => return Replay::Truncated,
                Err(Stop::Io(error)) => {
                    let why = format!("the journal cannot be read: {error}");
                    return Replay::Unavailable { why };
                }
            }
        }
        let reached = chain.last.unwrap_or(seq);
        if reached < self.last {
            return Replay::HistoryLost { from: reached + 1, to: self.last };
        }
        Replay::Complete(chain.events)
    }

    fn known_gap(&self, seq: u64) -> Option<(u64, u64)> {
        if seq < self.retained_after {
            return Some((seq + 1, self.retained_after));
        }
        let lost = self.lost.iter().find(|lost| lost.to > seq && lost.from <= self.head);
        if let Some(lost) = lost {
            return Some((lost.from.max(seq + 1), lost.to));
        }
        // The client saw something that was never recorded, or is not any more.
        let hole = self.holes.iter().find(|(prev, start)| *prev < seq && seq < *start);
        hole.map(|(prev, start)| (prev + 1, start - 1))
    }
}

struct Chain {
    after: u64,
    last: Option<u64>,
    events: Vec<Recorded>,
}

enum Stop {
    Gap(u64, u64),
    Full,
    Io(std::io::Error),
}

impl<F: FsFile> Part<F> {
    fn read(&mut self, chain: &mut Chain, wanted: &impl Fn(&str) -> bool) -> Result<(), Stop> {
        let limit = usize::try_from(self.bytes).unwrap_or(MAX_FILE).min(MAX_FILE);
        let content = read_bounded(&mut self.file, limit).map_err(Stop::Io)?;
        let (Content::Whole(bytes) | Content::Beginning(bytes)) = content;
        for line in bytes.split(|byte| *byte == b'\n') {
            let Some(record) = Line::parse(line) else {
                // Whether that was a record is seen by the next one.
                continue;
            };
            let reached = chain.last.unwrap_or(chain.after);
            if record.seq <= reached || record.seq < self.first || record.seq > self.last {
                continue;
            }
            let chained = match chain.last {
                Some(last) => record.prev == last,
                None => record.prev <= chain.after,
            };
            if !chained {
                return Err(Stop::Gap(reached + 1, record.seq - 1));
            }
            chain.last = Some(record.seq);
            if record.is_own() || !wanted(record.event) {
                continue;
            }
            if chain.events.len() == MAX_REPLAY {
                return Err(Stop::Full);
            }
            chain.events.push(Recorded {
                seq: record.seq,
                at: record.at,
                event: record.event.to_owned(),
                payload: record.payload.to_owned(),
            });
        }
        Ok(())
    }
}

/// The most events that a replay gives.
pub const MAX_REPLAY: usize = 4_096;
