//! Takes over what is there and goes on above it.
//!
//! The order is numbers, evidence, record: a stop in between leaves what the
//! next start finds the same way again.

use std::io::ErrorKind;

use signaltty_core::time::UnixMillis;

use super::error::JournalError;
use super::file::{ACTIVE, retire};
use super::record::MAX_NUMBER;
use super::retention::{EvidenceV1, FileV1, MARK, RETENTION};
use super::segment::Segment;
use super::sequence::{SEQUENCE, Sequence};
use super::small::Small;
use super::survey::{Found, Survey, Verdict};
use super::writer::{Journal, Limits, State};
use crate::dir::StateDir;
use crate::error::PathError;
use crate::fs::{Fs, OsFs};
use crate::replace::Temporaries;

/// What a start brings.
#[derive(Debug, Clone, Copy, Default)]
pub struct Start {
    /// Random bytes: the id of a new journal, if one begins.
    pub fresh_id: [u8; 8],
    /// The last published event that the snapshot knows, or 0.
    pub floor: u64,
    /// The time.
    pub at: UnixMillis,
    /// How much is kept.
    pub limits: Limits,
}

/// A journal and what it found.
#[derive(Debug)]
#[non_exhaustive]
pub struct OpenedJournal<F: Fs = OsFs> {
    /// The journal.
    pub journal: Journal<F>,
    /// What was not as it should be, a line each. Empty after a clean stop, and
    /// after a stop without warning.
    pub remarks: Vec<String>,
    /// The journal was closed before.
    pub clean: bool,
    /// The last event that was recorded before this start, or 0.
    pub last: u64,
}

impl<F: Fs> Journal<F> {
    /// Opens the journal of a state directory, or begins one. Must come after
    /// the snapshot is loaded, which sweeps temporaries.
    ///
    /// # Errors
    ///
    /// Nothing is lost then: a later try finds what this one found.
    pub fn open(dir: &StateDir<F>, start: Start) -> Result<OpenedJournal<F>, JournalError> {
        dir.settle()?;
        let fs = dir.fs();
        let survey = Survey::of(fs).map_err(dir.error("read the journal in", ""))?;
        if let Some((found, name)) = survey.future() {
            return Err(JournalError::FutureFormat { found, path: dir.path().join(name) });
        }
        let verdict = survey.judge(start.floor.min(MAX_NUMBER));
        let id = verdict.id.clone().unwrap_or_else(|| hexadecimal(&start.fresh_id));
        clear(dir, &survey)?;
        let mut temporaries = Temporaries::new();
        let mut sequence = Sequence::after(id.clone(), verdict.used);
        sequence.ensure(dir, &mut temporaries, 1)?;

        let mut evidence = evidence(&survey, &verdict, id);
        let resumed = survey.active().filter(|active| goes_on(active, &verdict, start.limits));
        arrange(dir, &survey, &verdict, resumed.is_some(), &mut evidence)?;
        evidence.write(dir, &mut temporaries)?;

        let mut remarks = verdict.remarks.clone();
        let segment = match resumed.map(|active| Segment::resume(fs, &active.scan)) {
            Some(Ok(segment)) => Some(segment),
            Some(Err(error)) if error.kind() == ErrorKind::InvalidInput => None,
            Some(Err(error)) => return Err(dir.error("go on in", ACTIVE)(error).into()),
            None => None,
        };
        let last = verdict.last.max(verdict.retained_after);
        let state = State {
            dir: dir.clone(),
            limits: start.limits,
            temporaries,
            sequence,
            evidence,
            segment,
            // What a start adds after a loss breaks the chain by itself, also
            // where the evidence is lost later.
            prev: last.max(verdict.known),
            present: verdict.last,
            holes: verdict.holes.clone(),
        };
        let journal = Self::begin(state, verdict.clean, start.at)?;
        if let Some(failure) = journal.mark_failure() {
            remarks.push(format!("the last published event is not noted: {failure}"));
        }
        Ok(OpenedJournal { journal, remarks, clean: verdict.clean, last: verdict.last })
    }
}

/// Keeps small files that cannot be read under another name, as whatever is in
/// their place may not be replaceable by a file.
fn clear<F: Fs>(dir: &StateDir<F>, survey: &Survey) -> Result<(), PathError> {
    if survey.sequence == Small::Damaged {
        set_aside(dir, SEQUENCE)?;
    }
    if survey.evidence == Small::Damaged {
        set_aside(dir, RETENTION)?;
    }
    // A torn mark is what a loss of power leaves, and nothing to keep.
    let mark = dir.fs().open(MARK);
    if mark.is_err_and(|error| error.kind() == ErrorKind::InvalidInput) {
        set_aside(dir, MARK)?;
    }
    Ok(())
}

fn evidence(survey: &Survey, verdict: &Verdict, id: String) -> EvidenceV1 {
    let mut evidence = EvidenceV1::new(id, verdict.retained_after);
    let before = survey.evidence.value();
    if verdict.id.is_some() {
        for lost in before.into_iter().flat_map(|before| &before.lost) {
            evidence.lose(lost.from, lost.to, &lost.why);
        }
        for (from, to, why) in &verdict.lost {
            evidence.lose(*from, *to, why);
        }
    }
    evidence
}

/// Whether more records can be added to the newest file.
fn goes_on(active: &Found, verdict: &Verdict, limits: Limits) -> bool {
    verdict.id.is_some()
        && !active.foreign
        && !active.scan.damaged
        && active.scan.head.is_some()
        && verdict.known.max(verdict.retained_after) <= verdict.last
        && active.scan.last() == Some(verdict.last)
        && active.scan.good < limits.segment_bytes
}

/// Gives each file the place that it has from now on.
fn arrange<F: Fs>(
    dir: &StateDir<F>,
    survey: &Survey,
    verdict: &Verdict,
    resumed: bool,
    evidence: &mut EvidenceV1,
) -> Result<(), PathError> {
    let fs = dir.fs();
    for file in &survey.files {
        let is_active = file.name == ACTIVE;
        if is_active && resumed {
            continue;
        }
        let records = file.scan.first().zip(file.scan.last());
        let name = match records {
            _ if verdict.id.is_none() || file.foreign => {
                set_aside(dir, &file.name)?;
                continue;
            }
            None if file.unpublished || file.scan.len == 0 => {
                fs.remove(&file.name).map_err(dir.error("remove", &file.name))?;
                continue;
            }
            None => {
                set_aside(dir, &file.name)?;
                continue;
            }
            Some((first, _)) if is_active => {
                retire(fs, first).map_err(dir.error("rename", ACTIVE))?
            }
            Some(_) => file.name.clone(),
        };
        if let Some((first, last)) = records {
            let whole = file.scan.damaged || file.scan.torn();
            evidence.files.push(FileV1 {
                name,
                first,
                last,
                bytes: if whole { file.scan.len } else { file.scan.good },
                crc: format!("{:08x}", file.scan.crc.clone().finalize()),
            });
        }
    }
    Ok(())
}

/// Takes a file out of the journal and keeps it under a name of its own.
fn set_aside<F: Fs>(dir: &StateDir<F>, name: &str) -> Result<(), PathError> {
    let names = dir.fs().names().map_err(dir.error("list", ""))?;
    let free = (1u32..).map(|n| format!("{name}.kept-{n}")).find(|free| !names.contains(free));
    let free = free.unwrap_or_else(|| format!("{name}.kept"));
    dir.fs().rename(name, &free).map_err(dir.error("set aside", name))?;
    dir.fs().sync().map_err(dir.error("sync", ""))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
