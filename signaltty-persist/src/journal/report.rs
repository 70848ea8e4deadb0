//! What a journal looks like from outside, without opening it.

use super::retention::Lost;
use super::survey::Survey;
use crate::dir::StateDir;
use crate::error::PathError;
use crate::fs::Fs;

/// What is there, and what a start would make of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct JournalReport {
    /// Which journal it is, if there is one.
    pub id: Option<String>,
    /// The last record, or 0.
    pub last: u64,
    /// The oldest number from which a replay may be complete.
    pub retained_after: u64,
    /// Numbers up to this one may have been used.
    pub reserved_until: u64,
    /// Ranges in which records are missing.
    pub lost: Vec<Lost>,
    /// Its files, the oldest first.
    pub files: Vec<String>,
    /// How many records they have.
    pub records: usize,
    /// How many bytes they have.
    pub bytes: u64,
    /// It was closed, and nothing changed since.
    pub closed: bool,
    /// What is not as it should be, a line each.
    pub remarks: Vec<String>,
    /// The format of a file that this program does not know.
    pub future_format: Option<u64>,
}

/// Looks at the journal and changes nothing. `floor` is the last event that the
/// snapshot knows.
pub(crate) fn report<F: Fs>(dir: &StateDir<F>, floor: u64) -> Result<JournalReport, PathError> {
    let survey = Survey::of(dir.fs()).map_err(dir.error("read the journal in", ""))?;
    let future_format = survey.future().map(|(found, _)| found);
    let verdict = survey.judge(floor);
    let lost = verdict.lost.iter().filter(|(_, to, _)| *to > verdict.retained_after);
    let lost = lost.map(|(from, to, why)| Lost { from: *from, to: *to, why: (*why).to_owned() });
    Ok(JournalReport {
        id: verdict.id,
        last: verdict.last,
        retained_after: verdict.retained_after,
        reserved_until: survey.sequence.value().map_or(0, |file| file.reserved_until),
        lost: lost.collect(),
        files: survey.files.iter().map(|file| file.name.clone()).collect(),
        records: survey.files.iter().map(|file| file.scan.records.len()).sum(),
        bytes: survey.files.iter().map(|file| file.scan.len).sum(),
        closed: verdict.clean,
        remarks: verdict.remarks,
        future_format,
    })
}
