//! What the end of a record says of the newest turn.
//!
//! Agents that were killed leave a turn without an end, some of them for ever.
//! So a turn counts as being worked on only where the running process began it.

use std::path::Path;

use signaltty_core::agent::AgentReport;
use signaltty_core::pane::{Attention, Lifecycle};

use crate::records::Record;
use crate::stamp::Millis;

/// What a line of a record says of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// A turn began.
    Began,
    /// It came to its end.
    Completed,
    /// It was broken off.
    BrokenOff,
}

/// The newest turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Newest {
    pub(crate) step: Step,
    pub(crate) at: Millis,
}

/// Finds the newest turn in the last part of a record. `None` where that part
/// says nothing of turns.
pub(crate) fn newest(path: &Path, read: fn(&[u8]) -> Option<Newest>) -> Option<Newest> {
    let record = Record::open(path).ok()?;
    let lines = record.last_lines(path, LAST_BYTES).ok()?;
    lines.rsplit(|byte| *byte == b'\n').find_map(read)
}

impl Newest {
    /// What the agent is doing, for a process that opened the conversation at
    /// `since`.
    pub(crate) fn report(self, since: Option<Millis>) -> AgentReport {
        let ours = since.is_some_and(|since| self.at >= since);
        let lifecycle = match (self.step, ours) {
            (Step::Began, true) => Some(Lifecycle::Working),
            // Left behind by a kill, or nobody can say.
            (Step::Began, false) => since.map(|_| Lifecycle::Idle),
            (Step::Completed, true) => Some(Lifecycle::Done),
            (Step::Completed, false) | (Step::BrokenOff, _) => Some(Lifecycle::Idle),
        };
        // A look says the same again and again, so attention is only ever taken
        // back here; that a turn ended is said by its name.
        let working = lifecycle == Some(Lifecycle::Working);
        // A short turn is over before anybody looks; its prompt was taken too.
        let taken = working || lifecycle == Some(Lifecycle::Done);
        // One more that ended is news also where the one before had ended too.
        let ended = self.step == Step::Completed && ours;
        AgentReport {
            lifecycle,
            finished: ended.then(|| self.at.to_string().into()),
            attention: working.then_some(Attention::None),
            accepted_prompt: taken,
            ..AgentReport::default()
        }
    }
}

/// How much of the end of a record is looked at.
const LAST_BYTES: u64 = 256 << 10;
