//! Adds records: one write and one sync for all that are waiting.

use std::io::{self, ErrorKind};

use signaltty_core::time::UnixMillis;

use super::batch::{Batch, size};
use super::error::JournalError;
use super::record::{CLOSED, ClosedV1, Draft, Why};
use super::retention::{CleanV1, EvidenceV1, Mark};
use super::segment::{Broken, Segment};
use super::sequence::Sequence;
use crate::dir::StateDir;
use crate::fs::{Fs, OsFs};
use crate::replace::Temporaries;

/// The one writer of a journal.
#[derive(Debug)]
pub struct Journal<F: Fs = OsFs> {
    pub(super) state: State<F>,
    mark: Option<Mark<F::File>>,
    mark_failure: Option<io::Error>,
    /// The last number that was given out.
    head: u64,
    available: bool,
    /// Somebody saw events that no record has.
    pub(super) missed: bool,
    pub(super) evidence_stale: bool,
    /// Files that the evidence does not name any longer.
    doomed: Vec<String>,
    /// Why the last file was given up, until somebody asks.
    pub(super) incident: Option<String>,
}

/// What a journal is made of.
#[derive(Debug)]
pub(super) struct State<F: Fs> {
    pub(super) dir: StateDir<F>,
    pub(super) limits: Limits,
    pub(super) temporaries: Temporaries,
    pub(super) sequence: Sequence,
    pub(super) evidence: EvidenceV1,
    pub(super) segment: Option<Segment<F::File>>,
    /// The last number that was published, of a record or of a lost one.
    pub(super) prev: u64,
    /// The last record that is in a file and was published.
    pub(super) present: u64,
    /// Numbers that a start skipped.
    pub(super) holes: Vec<(u64, u64)>,
}

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// A file gets no more records once it would be longer than this.
    pub segment_bytes: u64,
    /// How many older files are kept.
    pub older_files: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { segment_bytes: 8 * 1024 * 1024, older_files: 1 }
    }
}

/// Something that gets a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// An event that is recorded.
    State(Draft),
    /// An event that is not; it takes a number all the same.
    Passing,
}

impl<F: Fs> Journal<F> {
    /// Writes the record of a start.
    pub(super) fn begin(
        state: State<F>,
        clean: bool,
        at: UnixMillis,
    ) -> Result<Self, JournalError> {
        let mut journal = Self {
            head: state.prev,
            state,
            mark: None,
            mark_failure: None,
            available: true,
            missed: false,
            evidence_stale: false,
            doomed: Vec::new(),
            incident: None,
        };
        if journal.state.segment.is_some() {
            let seq = journal.state.sequence.take(1);
            let mut bytes = Vec::new();
            journal.opened(at, Why::Start, clean).encode(seq, journal.state.prev, &mut bytes);
            match journal.add(&bytes, seq) {
                Ok(()) => {
                    let prev = journal.state.prev;
                    journal.state.holes.push((prev, seq));
                    journal.published(seq, seq);
                }
                Err(broken) => {
                    journal.abandon(&broken);
                    journal.new_segment(&[], at, Why::Start, clean)?;
                }
            }
        } else {
            journal.new_segment(&[], at, Why::Start, clean)?;
        }
        let fs = journal.state.dir.fs();
        match Mark::open(fs, &journal.state.evidence.journal_id, journal.head) {
            Ok(mark) => journal.mark = Some(mark),
            Err(error) => journal.mark_failure = Some(error),
        }
        Ok(journal)
    }

    /// Which journal it is. Clients give this back with a number.
    pub fn id(&self) -> &str {
        &self.state.evidence.journal_id
    }

    /// The last number that was given out.
    pub fn head(&self) -> u64 {
        self.head
    }

    /// The last number that a record has, as the snapshot keeps it.
    pub fn last_recorded(&self) -> u64 {
        self.state.prev
    }

    /// Whether records can be added.
    pub fn is_available(&self) -> bool {
        self.available
    }

    /// Why the last published event is not noted, if it is not. Then a file
    /// that loses its end after a kill is not noticed.
    pub fn mark_failure(&self) -> Option<&io::Error> {
        self.mark_failure.as_ref()
    }

    /// Why a file was given up since the last call, if one was. Records went on
    /// in another one.
    pub fn take_incident(&mut self) -> Option<String> {
        self.incident.take()
    }

    /// Records events and gives their numbers. When this returns they are
    /// synced, and may be published.
    ///
    /// # Errors
    ///
    /// Nothing is recorded then, no number may be published, and nothing more
    /// is recorded before [`recover`](Self::recover) succeeds. If the events
    /// are published all the same, without numbers, no replay over this place
    /// is complete.
    pub fn append(&mut self, entries: &[Entry], at: UnixMillis) -> Result<Vec<u64>, JournalError> {
        if !self.available {
            self.missed = true;
            return Err(JournalError::Unavailable);
        }
        self.try_append(entries, at).inspect_err(|_| {
            self.available = false;
            self.missed = true;
        })
    }

    /// Says that events were published that have no record. Nothing is recorded
    /// before [`recover`](Self::recover) succeeds, and no replay over this place
    /// is complete.
    ///
    /// To be called as well after [`append`](Self::append) failed and its events
    /// were published all the same: then the next start knows it, even if this
    /// process ends before it can record anything more.
    pub fn break_off(&mut self) {
        self.available = false;
        self.missed = true;
        // A number that no record will have. It is changed in place, so it needs
        // no room; where even that fails, nothing can be kept on this disk.
        let skipped = self.state.sequence.used() + 1;
        if let Some(mark) = &mut self.mark {
            self.mark_failure = mark.note(skipped).err();
        }
    }

    /// Tries to record again after an error, in a new file.
    ///
    /// # Errors
    ///
    /// As before; it can be tried again.
    pub fn recover(&mut self, at: UnixMillis) -> Result<(), JournalError> {
        if self.available {
            return Ok(());
        }
        self.new_segment(&[], at, Why::Recovery, false)?;
        self.available = true;
        Ok(())
    }

    /// Does what need not keep anybody waiting: the next block of numbers, the
    /// evidence, and what is too old. To be called after each batch was
    /// published.
    ///
    /// # Errors
    ///
    /// The next call tries again.
    pub fn upkeep(&mut self) -> Result<(), JournalError> {
        let State { dir, temporaries, sequence, .. } = &mut self.state;
        if self.available && sequence.runs_low() {
            let more = sequence.reserved() - sequence.used() + 1;
            sequence.ensure(dir, temporaries, more)?;
        }
        let State { limits, evidence, holes, .. } = &mut self.state;
        let extra = evidence.files.len().saturating_sub(limits.older_files);
        if extra > 0 {
            let old: Vec<_> = evidence.files.drain(..extra).collect();
            let last = old.iter().map(|file| file.last).max().unwrap_or(0);
            evidence.retain_after(last);
            holes.retain(|(_, to)| *to > last);
            self.doomed.extend(old.into_iter().map(|file| file.name));
            self.evidence_stale = true;
        }
        self.write_evidence()?;
        let dir = &self.state.dir;
        while let Some(name) = self.doomed.last() {
            match dir.fs().remove(name) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(dir.error("remove", name)(error).into()),
            }
            self.doomed.pop();
        }
        Ok(())
    }

    /// Ends the journal, so that the next start knows that nothing is missing.
    ///
    /// # Errors
    ///
    /// Everything that was recorded is there all the same.
    pub fn close(mut self, at: UnixMillis) -> Result<(), JournalError> {
        let closed = Draft::own(at, CLOSED, &ClosedV1 {});
        self.append(&[Entry::State(closed)], at)?;
        if let Some(segment) = &self.state.segment {
            self.state.evidence.clean = Some(CleanV1 { last: segment.last, bytes: segment.bytes });
        }
        self.evidence_stale = true;
        self.write_evidence()
    }

    fn try_append(&mut self, entries: &[Entry], at: UnixMillis) -> Result<Vec<u64>, JournalError> {
        let count = size(entries);
        let State { dir, temporaries, sequence, .. } = &mut self.state;
        sequence.ensure(dir, temporaries, count)?;
        let first = sequence.take(count);
        let batch = Batch::new(entries, first, self.state.prev);
        if batch.bytes.is_empty() {
            self.head = self.head.max(batch.head);
            return Ok(batch.numbers);
        }
        let bytes = self.state.segment.as_ref().map_or(0, |segment| segment.bytes);
        if bytes + size(&batch.bytes) > self.state.limits.segment_bytes && bytes > 0 {
            return self.new_segment(entries, at, Why::Rotation, false);
        }
        match self.add(&batch.bytes, batch.last) {
            Ok(()) => {
                self.published(batch.last, batch.head);
                Ok(batch.numbers)
            }
            // The batch was published to nobody, so it is written anew.
            Err(broken) => {
                self.abandon(&broken);
                self.new_segment(entries, at, Why::Recovery, false)
            }
        }
    }

    fn add(&mut self, bytes: &[u8], last: u64) -> Result<(), Broken> {
        let State { dir, segment, .. } = &mut self.state;
        match segment {
            Some(segment) => segment.add(dir.fs(), bytes, last),
            None => Err(Broken::Changed),
        }
    }

    pub(super) fn published(&mut self, last: u64, head: u64) {
        self.state.prev = last;
        self.state.present = last;
        self.head = self.head.max(head);
        if let Some(mark) = &mut self.mark {
            self.mark_failure = mark.note(last).err();
        }
    }

    fn write_evidence(&mut self) -> Result<(), JournalError> {
        if self.evidence_stale {
            let State { dir, temporaries, evidence, .. } = &mut self.state;
            evidence.write(dir, temporaries)?;
            self.evidence_stale = false;
        }
        Ok(())
    }
}
