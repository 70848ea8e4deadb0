//! What is there at a start, and what it proves. Changes nothing.
//!
//! Every source is believed only as far as it goes: the records by their
//! checksums and their chain, the evidence for what should be there, the mark
//! and the snapshot for what was published at least. Where two disagree, the
//! one that says that more is lost is right.

use std::io;
use std::io::ErrorKind;

use super::file::{ACTIVE, Scan, names, scan};
use super::retention::{self, CleanV1, EvidenceV1, MarkV1};
use super::sequence::{self, MAX_BLOCK, SequenceV1};
use super::small::Small;
use crate::fs::Fs;

/// All that is known of a journal before it is opened.
#[derive(Debug)]
pub(super) struct Survey {
    pub(super) sequence: Small<SequenceV1>,
    pub(super) evidence: Small<EvidenceV1>,
    pub(super) mark: Small<MarkV1>,
    /// The files, the oldest first.
    pub(super) files: Vec<Found>,
}

#[derive(Debug)]
pub(super) struct Found {
    pub(super) name: String,
    pub(super) scan: Scan,
    /// It is no regular file.
    pub(super) foreign: bool,
    /// All its records were left out because nobody saw them.
    pub(super) unpublished: bool,
}

/// What a survey comes to.
#[derive(Debug)]
pub(super) struct Verdict {
    /// Which journal it is; `None` if a new one begins.
    pub(super) id: Option<String>,
    /// What the evidence is from now on, as far as this start knows.
    pub(super) lost: Vec<(u64, u64, &'static str)>,
    pub(super) retained_after: u64,
    /// The last record that is there.
    pub(super) last: u64,
    /// The last number that is known to have been published.
    pub(super) known: u64,
    /// The last number that may have been used.
    pub(super) used: u64,
    /// Numbers that a start skipped.
    pub(super) holes: Vec<(u64, u64)>,
    /// The journal was closed and nothing changed since.
    pub(super) clean: bool,
    /// What was found that should not be, a line each.
    pub(super) remarks: Vec<String>,
}

impl Survey {
    pub(super) fn of<F: Fs>(fs: &F) -> io::Result<Self> {
        let mut files = Vec::new();
        for name in names(fs)? {
            let (scan, foreign) = match scan(fs, &name) {
                Ok(scan) => (scan, false),
                Err(error) if error.kind() == ErrorKind::InvalidInput => (Scan::default(), true),
                Err(error) => return Err(error),
            };
            files.push(Found { name, scan, foreign, unpublished: false });
        }
        let mut survey = Self {
            sequence: sequence::load(fs)?,
            evidence: retention::load(fs)?,
            mark: retention::load_mark(fs)?,
            files,
        };
        survey.trim();
        Ok(survey)
    }

    /// The first file or format that this program does not know.
    pub(super) fn future(&self) -> Option<(u64, &str)> {
        let small = [
            (future(&self.sequence), sequence::SEQUENCE),
            (future(&self.evidence), retention::RETENTION),
            (future(&self.mark), retention::MARK),
        ];
        let files = self.files.iter().map(|file| (file.scan.future, file.name.as_str()));
        small.into_iter().chain(files).find_map(|(found, name)| Some((found?, name)))
    }

    pub(super) fn active(&self) -> Option<&Found> {
        self.files.last().filter(|file| file.name == ACTIVE)
    }

    /// Leaves out what a later file says was never published.
    fn trim(&mut self) {
        for at in 1..self.files.len() {
            let (before, rest) = self.files.split_at_mut(at);
            let Some(head) = rest.first().and_then(|file| file.scan.head.as_ref()) else {
                continue;
            };
            for file in before {
                let had = !file.scan.records.is_empty();
                file.scan.trim(head.prev_file_last);
                file.unpublished |= had && file.scan.records.is_empty();
            }
        }
    }

    /// What it proves. `floor` is the last event that the snapshot knows.
    pub(super) fn judge(&self, floor: u64) -> Verdict {
        let mut verdict = self.empty(floor);
        self.identify(&mut verdict);
        if verdict.id.is_some() {
            self.walk(&mut verdict);
            self.compare(floor, &mut verdict);
        } else if verdict.used > 0 {
            verdict.retained_after = verdict.used;
        }
        verdict
    }

    fn empty(&self, floor: u64) -> Verdict {
        let sequence = self.sequence.value();
        let evidence = self.evidence.value();
        let records = self.files.iter().filter_map(|file| file.scan.last());
        let stated = self.files.iter().filter_map(|file| Some(file.scan.newest.as_ref()?.reserved));
        let last = records.max().unwrap_or(0);
        let mut used = sequence.map_or(0, |file| file.reserved_until);
        used = used.max(last).max(stated.max().unwrap_or(0)).max(floor);
        used = used.max(self.mark.value().map_or(0, |mark| mark.published));
        let clean = evidence.and_then(|evidence| evidence.clean);
        used = used.max(clean.map_or(0, |clean| clean.last));
        let lost = evidence.into_iter().flat_map(|evidence| &evidence.lost);
        used = used.max(lost.map(|lost| lost.to).max().unwrap_or(0));
        used = used.max(evidence.map_or(0, |evidence| evidence.retained_after));
        let mut remarks = Vec::new();
        if sequence.is_none() && (used > 0 || self.sequence != Small::Missing) {
            // Later blocks than the ones that the records name may be used.
            used += 2 * MAX_BLOCK;
            remarks.push(format!(
                "{} is {}; numbers go on above all that may have been used",
                sequence::SEQUENCE,
                self.sequence.word()
            ));
        }
        Verdict {
            id: None,
            lost: Vec::new(),
            retained_after: 0,
            last: 0,
            known: 0,
            used,
            holes: Vec::new(),
            clean: false,
            remarks,
        }
    }

    /// Finds out whether all that is there is of one journal.
    fn identify(&self, verdict: &mut Verdict) {
        let mut ids: Vec<&str> = self
            .files
            .iter()
            .filter_map(|file| Some(file.scan.newest.as_ref()?.journal_id.as_str()))
            .chain(self.evidence.value().map(|evidence| evidence.journal_id.as_str()))
            .chain(self.sequence.value().map(|sequence| sequence.journal_id.as_str()))
            .collect();
        ids.sort_unstable();
        ids.dedup();
        match ids.as_slice() {
            [] => {}
            [id] => verdict.id = Some((*id).to_owned()),
            _ => verdict.remarks.push(
                "the files are of more than one journal; a new one begins and their events are \
                 not replayed"
                    .to_owned(),
            ),
        }
    }

    /// Follows the chain through all files.
    fn walk(&self, verdict: &mut Verdict) {
        let Small::Read(evidence) = &self.evidence else {
            verdict.retained_after = verdict.used;
            let last = self.files.iter().filter_map(|file| file.scan.last()).max();
            verdict.last = last.unwrap_or(0);
            if last.is_none() && self.evidence == Small::Missing {
                // The first start was cut short.
                return;
            }
            verdict.remarks.push(format!(
                "{} is {}; what was recorded before cannot be proven",
                retention::RETENTION,
                self.evidence.word()
            ));
            return;
        };
        verdict.retained_after = evidence.retained_after;
        verdict.last = evidence.retained_after;
        for lost in &evidence.lost {
            verdict.lost.push((lost.from, lost.to, "known"));
        }
        for file in self.files.iter().filter(|file| !file.scan.records.is_empty()) {
            if let Some(prev) = file.scan.first_prev
                && prev > verdict.last
            {
                verdict.lost.push((verdict.last + 1, prev, "missing"));
            }
            for (after, to) in &file.scan.gaps {
                verdict.lost.push((after + 1, *to, "damaged"));
            }
            verdict.holes.extend(&file.scan.holes);
            verdict.last = verdict.last.max(file.scan.last().unwrap_or(0));
        }
        for file in &self.files {
            if file.foreign {
                verdict.remarks.push(format!("{} is not a regular file", file.name));
            } else if file.scan.damaged {
                verdict.remarks.push(format!("{} is damaged", file.name));
            }
        }
    }

    /// Compares the end of the chain with what must have been published.
    fn compare(&self, floor: u64, verdict: &mut Verdict) {
        let evidence = self.evidence.value();
        let id = verdict.id.as_deref();
        let clean = evidence.and_then(|evidence| evidence.clean);
        let mark = self.mark.value().filter(|mark| Some(mark.journal_id.as_str()) == id);
        verdict.known = verdict
            .last
            .max(clean.map_or(0, |clean: CleanV1| clean.last))
            .max(mark.map_or(0, |mark| mark.published))
            .max(floor);
        if verdict.known > verdict.last.max(verdict.retained_after) {
            verdict.lost.push((verdict.last + 1, verdict.known, "missing"));
            verdict.remarks.push(format!(
                "events up to {} were published and records end at {}",
                verdict.known, verdict.last
            ));
        }
        let end = self.active().map(|active| &active.scan);
        verdict.clean = clean.is_some_and(|clean| {
            end.is_some_and(|end| {
                end.closed && end.good == end.len && end.len == clean.bytes && !end.damaged
            })
        });
    }
}

fn future<T>(small: &Small<T>) -> Option<u64> {
    match small {
        Small::Future(found) => Some(*found),
        _ => None,
    }
}
