//! Begins a file, and gives one up.
//!
//! The new file is whole and synced before it gets its name, and the old one has
//! the name that it keeps before that. A stop in between leaves no file to write
//! to; the next start makes one.

use signaltty_core::time::UnixMillis;

use super::batch::{Batch, size};
use super::error::JournalError;
use super::file::{ACTIVE, retire};
use super::record::{Draft, FORMAT, OPENED, OpenedV1, Why};
use super::segment::{Broken, Segment};
use super::writer::{Entry, Journal, State};
use crate::fs::{Fs, FsFile, write_all};

impl<F: Fs> Journal<F> {
    /// Gives up the file that is written. What was synced in it is there, unless
    /// somebody else changed it.
    pub(super) fn abandon(&mut self, broken: &Broken) {
        let path = self.state.dir.path().join(ACTIVE);
        let path = path.display();
        if let Broken::Refused(error) = broken {
            self.incident = Some(format!("{path} was given up: {error}; a new file begins"));
            return;
        }
        self.incident =
            Some(format!("{path} was changed or removed by somebody else; a new file begins"));
        if let Some(segment) = self.state.segment.take() {
            let to = self.state.present;
            self.state.evidence.lose(segment.first, to, "changed");
            self.evidence_stale = true;
        }
    }

    /// Starts a file with these records. They are synced when this returns, as
    /// is the file's name. The old file keeps all that was published.
    pub(super) fn new_segment(
        &mut self,
        entries: &[Entry],
        at: UnixMillis,
        why: Why,
        clean: bool,
    ) -> Result<Vec<u64>, JournalError> {
        let skipped = u64::from(self.missed);
        let State { dir, temporaries, sequence, .. } = &mut self.state;
        let needed = size(entries) + 1 + skipped;
        sequence.ensure(dir, temporaries, needed)?;
        let opened_seq = sequence.take(needed) + skipped;
        let prev = if self.missed { opened_seq - 1 } else { self.state.prev };
        let mut content = Vec::new();
        self.opened(at, why, clean).encode(opened_seq, prev, &mut content);
        let batch = Batch::new(entries, opened_seq + 1, opened_seq);
        content.extend_from_slice(&batch.bytes);
        let last = if batch.bytes.is_empty() { opened_seq } else { batch.last };

        let State { dir, temporaries, evidence, segment, .. } = &mut self.state;
        let fs = dir.fs();
        let (temporary, mut file) =
            temporaries.create(fs).map_err(dir.error("make a file in", ""))?;
        let placed =
            write_all(&mut file, &content).and_then(|()| file.sync_data()).and_then(|()| {
                let name = retire(fs, segment.as_ref().map_or(opened_seq, |old| old.first))?;
                evidence.files.extend(segment.take().map(|old| old.closed(name)));
                fs.rename(&temporary, ACTIVE)?;
                fs.sync()?;
                Segment::new(file, opened_seq, last, &content)
            });
        match placed {
            Ok(new) => self.state.segment = Some(new),
            Err(error) => {
                // If this fails too, the next start sweeps it.
                let _ = fs.remove(&temporary);
                return Err(dir.error("begin", ACTIVE)(error).into());
            }
        }
        if self.missed {
            self.state.evidence.lose(self.state.prev + 1, prev, "unavailable");
        }
        if why != Why::Rotation {
            self.state.holes.push((prev, opened_seq));
        }
        self.missed = false;
        self.evidence_stale = true;
        self.published(last, batch.head.max(opened_seq));
        Ok(batch.numbers)
    }

    pub(super) fn opened(&self, at: UnixMillis, why: Why, clean: bool) -> Draft {
        let opened = OpenedV1 {
            journal_id: self.id().to_owned(),
            format: FORMAT,
            prev_file_last: self.state.present,
            reserved: self.state.sequence.reserved(),
            clean,
            why,
        };
        Draft::own(at, OPENED, &opened)
    }
}
