//! `audit-retention.json`: what the history should hold, and what is lost.
//!
//! It may say less than there is, never more. It is replaced at an open, a
//! rotation, a prune and when damage is found, not with each batch: within a
//! file the chain of records is the evidence.
//!
//! `audit-mark.json` says which event was published last. It is changed in place
//! and not synced, so it costs nothing; it tells a journal whose end was cut
//! after the process was killed from one that ends where it should. A loss of
//! power may take it back, which only makes it say less.

use std::io;

use serde::{Deserialize, Serialize};

use super::error::JournalError;
use super::record::MAX_NUMBER;
use super::small::{self, Small, encode, read};
use crate::dir::StateDir;
use crate::fs::{Fs, FsFile};
use crate::replace::{Sync, Temporaries};

/// A part of the history that is gone: both ends are part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Lost {
    /// The first number that may be missing.
    pub from: u64,
    /// The last one.
    pub to: u64,
    /// Why, in one word.
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct EvidenceV1 {
    format: u64,
    pub(super) journal_id: String,
    /// All records after this one should be there, but for `lost`.
    pub(super) retained_after: u64,
    pub(super) lost: Vec<Lost>,
    /// The files that are complete.
    pub(super) files: Vec<FileV1>,
    /// Set while no server runs.
    pub(super) clean: Option<CleanV1>,
}

/// A file to which nothing is added any longer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileV1 {
    pub(super) name: String,
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) bytes: u64,
    pub(super) crc: String,
}

/// The end of the newest file after a clean stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CleanV1 {
    pub(super) last: u64,
    pub(super) bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MarkV1 {
    format: u64,
    pub(super) journal_id: String,
    pub(super) published: u64,
}

impl EvidenceV1 {
    pub(super) fn new(journal_id: String, retained_after: u64) -> Self {
        Self {
            format: 1,
            journal_id,
            retained_after,
            lost: Vec::new(),
            files: Vec::new(),
            clean: None,
        }
    }

    pub(super) fn write<F: Fs>(
        &self,
        dir: &StateDir<F>,
        temporaries: &mut Temporaries,
    ) -> Result<(), JournalError> {
        small::write(dir, temporaries, RETENTION, self, Sync::Data)
    }

    /// Adds a range of numbers of which records may be missing.
    pub(super) fn lose(&mut self, from: u64, to: u64, why: &str) {
        let from = from.max(self.retained_after + 1);
        if from > to || self.lost.iter().any(|lost| lost.from <= from && to <= lost.to) {
            return;
        }
        self.lost.push(Lost { from, to, why: why.to_owned() });
        self.tidy();
    }

    /// Gives up everything up to this number.
    pub(super) fn retain_after(&mut self, seq: u64) {
        self.retained_after = self.retained_after.max(seq);
        self.tidy();
    }

    /// Keeps the list short. Two ranges become one that covers both, which says
    /// less than there is, never more.
    fn tidy(&mut self) {
        let retained = self.retained_after;
        self.lost.retain(|lost| lost.to > retained);
        self.lost.sort_by_key(|lost| (lost.from, lost.to));
        while self.lost.len() > MAX_LOST {
            let first = self.lost.remove(0);
            if let Some(next) = self.lost.first_mut() {
                next.from = next.from.min(first.from);
                next.to = next.to.max(first.to);
            }
        }
    }
}

/// The file that says what was published last.
#[derive(Debug)]
pub(super) struct Mark<F: FsFile> {
    file: F,
    id: String,
}

impl<F: FsFile> Mark<F> {
    pub(super) fn open<S: Fs<File = F>>(fs: &S, id: &str, published: u64) -> io::Result<Self> {
        let mut mark = Self { file: fs.update(MARK)?, id: id.to_owned() };
        let len = mark.note(published)?;
        // Numbers only grow, so from now on each line covers the one before.
        mark.file.cut(len)?;
        Ok(mark)
    }

    /// Notes a number and says how long the line is.
    pub(super) fn note(&mut self, published: u64) -> io::Result<u64> {
        let mark = MarkV1 { format: 1, journal_id: self.id.clone(), published };
        let line = encode(&mark);
        if self.file.write_start(&line)? < line.len() {
            return Err(io::ErrorKind::WriteZero.into());
        }
        Ok(u64::try_from(line.len()).unwrap_or(u64::MAX))
    }
}

pub(super) fn load<F: Fs>(fs: &F) -> io::Result<Small<EvidenceV1>> {
    let small = read(fs, RETENTION)?;
    Ok(small.believed(|evidence: &EvidenceV1| {
        let lost = evidence.lost.iter().flat_map(|lost| [lost.from, lost.to]);
        let clean = evidence.clean.map_or(0, |clean| clean.last);
        lost.chain([evidence.retained_after, clean]).all(|number| number <= MAX_NUMBER)
    }))
}

pub(super) fn load_mark<F: Fs>(fs: &F) -> io::Result<Small<MarkV1>> {
    let small = read(fs, MARK)?;
    Ok(small.believed(|mark: &MarkV1| mark.published <= MAX_NUMBER))
}

pub(super) const RETENTION: &str = "audit-retention.json";
pub(super) const MARK: &str = "audit-mark.json";
const MAX_LOST: usize = 64;
