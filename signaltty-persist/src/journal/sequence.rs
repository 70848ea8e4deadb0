//! `event-sequence.json`: numbers are reserved durably before they are used.
//!
//! A number is never given twice, whatever becomes of the records: a start goes
//! on above all that may have been used.

use serde::{Deserialize, Serialize};

use super::error::JournalError;
use super::record::MAX_NUMBER;
use super::small::{Small, read};
use crate::dir::StateDir;
use crate::fs::Fs;
use crate::replace::{Sync, Temporaries};

/// The numbers of a journal.
#[derive(Debug)]
pub(super) struct Sequence {
    id: String,
    /// The last number that was used or skipped.
    used: u64,
    /// Numbers up to this one may be used without asking the disk.
    reserved: u64,
    /// How many are reserved at once.
    block: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SequenceV1 {
    format: u64,
    pub(super) reserved_until: u64,
    pub(super) journal_id: String,
}

impl Sequence {
    /// Starts above `used`, with nothing reserved.
    pub(super) fn after(id: String, used: u64) -> Self {
        Self { id, used, reserved: used, block: BLOCK }
    }

    /// Makes sure that so many numbers can be taken.
    pub(super) fn ensure<F: Fs>(
        &mut self,
        dir: &StateDir<F>,
        temporaries: &mut Temporaries,
        count: u64,
    ) -> Result<(), JournalError> {
        if self.left() >= count {
            return Ok(());
        }
        let file = SequenceV1 {
            format: 1,
            reserved_until: (self.reserved.max(self.used) + self.block).max(self.used + count),
            journal_id: self.id.clone(),
        };
        super::small::write(dir, temporaries, SEQUENCE, &file, Sync::Data)?;
        self.reserved = file.reserved_until;
        Ok(())
    }

    /// Whether the next block should be reserved before it is needed.
    pub(super) fn runs_low(&self) -> bool {
        self.left() < self.block / 2
    }

    /// Takes numbers that were ensured, and gives the first of them.
    pub(super) fn take(&mut self, count: u64) -> u64 {
        let first = self.used + 1;
        self.used += count;
        // A reservation costs two syncs: under load it is to come with few of
        // the batches.
        self.block = count.saturating_mul(BATCHES).clamp(BLOCK, MAX_BLOCK);
        first
    }

    /// The last number that was used.
    pub(super) fn used(&self) -> u64 {
        self.used
    }

    pub(super) fn reserved(&self) -> u64 {
        self.reserved
    }

    fn left(&self) -> u64 {
        self.reserved.saturating_sub(self.used)
    }
}

pub(super) fn load<F: Fs>(fs: &F) -> std::io::Result<Small<SequenceV1>> {
    let small = read(fs, SEQUENCE)?;
    Ok(small.believed(|file: &SequenceV1| file.reserved_until <= MAX_NUMBER))
}

/// How many numbers are reserved at once, while batches are small.
const BLOCK: u64 = 4_096;

/// For how many batches like the last one they are reserved.
const BATCHES: u64 = 512;

/// The most numbers that are reserved at once. A start after a kill skips no
/// more than one and a half times as many.
pub(super) const MAX_BLOCK: u64 = 65_536;

pub(super) const SEQUENCE: &str = "event-sequence.json";
