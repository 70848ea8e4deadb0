//! A journal on a disk that fails on command, and what was published of it.

use signaltty_core::time::UnixMillis;
use signaltty_persist::fault::FaultFs;
use signaltty_persist::journal::{
    Cursor, Draft, Entry, Journal, JournalError, Limits, OpenedJournal, Recorded, Replay, Start,
};
use signaltty_persist::{Owner, StateDir};

pub(crate) const ID: &str = "0707070707070707";

/// Small files, so that a few events rotate and prune.
pub(crate) fn start() -> Start {
    let mut limits = Limits::default();
    limits.segment_bytes = 900;
    Start { fresh_id: [7; 8], floor: 0, at: UnixMillis(1), limits }
}

pub(crate) fn lock(fs: &FaultFs) -> StateDir<FaultFs> {
    let owner = Owner { pid: 1, started_at: UnixMillis(1), socket: None };
    StateDir::lock(fs.clone(), "/state".into(), &owner).unwrap()
}

pub(crate) fn try_open(fs: &FaultFs) -> Result<OpenedJournal<FaultFs>, JournalError> {
    let owner = Owner { pid: 1, started_at: UnixMillis(1), socket: None };
    let dir = StateDir::lock(fs.clone(), "/state".into(), &owner).map_err(|error| {
        // The process is over; which error it is does not matter.
        drop(error);
        JournalError::Unavailable
    })?;
    Journal::open(&dir, start())
}

pub(crate) fn open(fs: &FaultFs) -> Journal<FaultFs> {
    try_open(fs).unwrap().journal
}

pub(crate) fn event(n: u64) -> Entry {
    let payload = format!("{{\"n\":{n},\"pane_id\":\"pane_aaaaaaaaaaaaaaaa\"}}");
    Entry::State(Draft::new(UnixMillis(1_000 + n), "pane.updated", &payload).unwrap())
}

pub(crate) fn n_of(recorded: &Recorded) -> u64 {
    let rest = recorded.payload.strip_prefix("{\"n\":").unwrap();
    rest.split(',').next().unwrap().parse().unwrap()
}

/// What somebody outside saw.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// Numbers of recorded events and which event each was.
    pub(crate) events: Vec<(u64, u64)>,
    /// Numbers of events that are not recorded.
    pub(crate) passing: Vec<u64>,
    /// Cursors behind which something was published without a number.
    pub(crate) missed_after: Vec<u64>,
    /// What was tried and failed, or was under way at the end.
    pub(crate) tried: Vec<u64>,
    next: u64,
}

impl Seen {
    pub(crate) fn last(&self) -> u64 {
        self.events.last().map_or(0, |(seq, _)| *seq)
    }

    pub(crate) fn highest(&self) -> u64 {
        self.passing.iter().copied().chain([self.last()]).max().unwrap_or(0)
    }

    /// Publishes so many events and as many passing ones between them as asked.
    pub(crate) fn publish(
        &mut self,
        journal: &mut Journal<FaultFs>,
        events: u64,
        passing: usize,
    ) -> Result<(), JournalError> {
        let mut entries = vec![Entry::Passing; passing];
        let new: Vec<_> = (self.next..self.next + events).collect();
        self.next += events;
        self.tried.extend(&new);
        entries.extend(new.iter().map(|n| event(*n)));
        match journal.append(&entries, UnixMillis(5)) {
            Ok(numbers) => {
                let (passed, recorded) = numbers.split_at(passing);
                assert!(numbers.first().is_none_or(|first| *first > self.highest()), "J1");
                assert!(numbers.windows(2).all(|two| two[0] < two[1]), "J1");
                self.passing.extend(passed);
                self.events.extend(recorded.iter().copied().zip(new));
                Ok(())
            }
            Err(error) => {
                // The server publishes all the same, without a number.
                self.missed_after.push(self.last());
                Err(error)
            }
        }
    }

    /// Checks every replay against what was seen (J1, J3). `whole` says that
    /// nothing may be lost but what was pruned.
    pub(crate) fn check(&self, journal: &Journal<FaultFs>, whole: bool, context: &str) {
        assert!(journal.head() > self.highest(), "{context}: J1, {} again", journal.head());
        let mut cursors: Vec<_> = self.events.iter().map(|(seq, _)| *seq).collect();
        cursors.push(0);
        for seq in cursors {
            self.check_cursor(journal, seq, whole, context);
        }
    }

    fn check_cursor(&self, journal: &Journal<FaultFs>, seq: u64, whole: bool, context: &str) {
        let view = journal.view().unwrap_or_else(|error| panic!("{context}: {error}"));
        let retained_after = view.retained_after();
        let cursor = Cursor { journal_id: journal.id().to_owned(), seq };
        let missed = self.missed_after.iter().any(|after| *after >= seq);
        match view.replay(&cursor, |_| true) {
            Replay::Complete(events) => {
                assert!(!missed, "{context}: complete after {seq}, though events have no record");
                let found: Vec<_> = events.iter().map(|event| (event.seq, n_of(event))).collect();
                let seen: Vec<_> =
                    self.events.iter().copied().filter(|(number, _)| *number > seq).collect();
                // What was tried and not confirmed may be there.
                let (confirmed, more): (Vec<_>, Vec<_>) =
                    found.iter().copied().partition(|event| seen.contains(event));
                assert_eq!(confirmed, seen, "{context}: after {seq}");
                let tried = |n| self.tried.contains(n) && !self.events.iter().any(|e| e.1 == *n);
                assert!(more.iter().all(|(_, n)| tried(n)), "{context}: {more:?}");
            }
            Replay::HistoryLost { from, to } => {
                assert!(from > seq && to >= from, "{context}: after {seq}, {from}..{to}");
                assert!(
                    !whole || missed || seq < retained_after,
                    "{context}: lost {from}..{to} after {seq}, kept after {retained_after}"
                );
            }
            other => panic!("{context}: after {seq} {other:?}"),
        }
    }
}

pub(crate) fn replay(journal: &Journal<FaultFs>, seq: u64) -> Replay {
    let cursor = Cursor { journal_id: journal.id().to_owned(), seq };
    journal.view().unwrap().replay(&cursor, |_| true)
}
