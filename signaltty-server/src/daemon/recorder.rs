//! The thread that owns the journal: it records, syncs, and only then publishes.
//!
//! Whatever waits is one batch with one sync, and the sync itself collects the
//! next batch, so no timer is needed. Where the journal cannot be written the
//! server goes on: events are published without numbers, replays are
//! unavailable, and a new file is tried again and again.

mod outage;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::RecvTimeoutError;
use std::thread;
use std::time::Instant;

use signaltty_core::id::ServerEpoch;
use signaltty_persist::StateDir;
use signaltty_persist::fs::{Fs, OsFile};
use signaltty_persist::journal::{Draft, Entry, Journal, Start, View};
use tokio::sync::{broadcast, mpsc};

use self::outage::Retry;
use super::bounded::{Receiver, bounded};
use super::clock::wall;
use super::event::Event;
use super::forget;
use super::publisher::{BEHIND, Job, Line, Pending, Publisher, Shared, Subscription, WAITING};
use crate::protocol::Health;

/// A file system whose files can be read by subscribers. Only the real one has
/// subscribers; tests look at what is sent.
pub(crate) trait Shown: Fs + Send + 'static {
    fn shown(view: View<Self::File>) -> Option<View>;
}

impl Shown for signaltty_persist::fs::OsFs {
    fn shown(view: View<OsFile>) -> Option<View> {
        Some(view)
    }
}

/// Starts the thread. `floor` is the number in the snapshot that was loaded.
pub(crate) fn start<F>(
    dir: StateDir<F>,
    floor: u64,
    fresh_id: [u8; 8],
    epoch: ServerEpoch,
    events: mpsc::Sender<Event>,
) -> std::io::Result<(Publisher, thread::JoinHandle<()>)>
where
    F: Shown + Sync,
    F::File: Send + Sync,
{
    let (send, receive) = bounded(WAITING);
    let shared = Arc::new(Shared::default());
    shared.published.store(floor, Ordering::Release);
    let mut recorder = Recorder {
        dir,
        start: Start { fresh_id, floor, at: wall(), ..Start::default() },
        journal: None,
        lines: broadcast::Sender::new(BEHIND),
        shared: Arc::clone(&shared),
        events,
        retry: None,
        unrecorded: false,
    };
    let thread = thread::Builder::new().name("journal".to_owned()).spawn(move || {
        let work = AssertUnwindSafe(|| {
            recorder.open();
            recorder.run(&receive);
            recorder.close();
        });
        // D-31: said, not hidden. Nothing is published any more.
        if catch_unwind(work).is_err() {
            let detail = "a bug: the recorder of events panicked; see the log, and restart the \
                          server to get events again";
            recorder.tell(Health::with("degraded", detail), Vec::new());
        }
    })?;
    Ok((Publisher::new(send, shared, epoch), thread))
}

struct Recorder<F: Fs> {
    dir: StateDir<F>,
    start: Start,
    journal: Option<Journal<F>>,
    lines: broadcast::Sender<Line>,
    shared: Arc<Shared>,
    events: mpsc::Sender<Event>,
    /// When to try again, after an error.
    retry: Option<Retry>,
    /// Events were published while there was no journal.
    unrecorded: bool,
}

impl<F: Shown> Recorder<F> {
    fn run(&mut self, jobs: &Receiver<Job>) {
        loop {
            let first = match &self.retry {
                None => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(retry) => {
                    jobs.recv_timeout(retry.at.saturating_duration_since(Instant::now()))
                }
            };
            match first {
                Ok(job) => self.take(job, jobs),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if self.retry.as_ref().is_some_and(|retry| retry.at <= Instant::now()) {
                self.try_again();
            }
        }
    }

    /// One batch, and the subscriptions between.
    fn take(&mut self, first: Job, jobs: &Receiver<Job>) {
        let mut batch = Vec::new();
        let mut bytes = 0;
        for job in std::iter::once(first).chain(std::iter::from_fn(|| jobs.try_recv().ok())) {
            match job {
                Job::Publish(pending) => {
                    if pending.dropped_before > 0 {
                        self.publish(std::mem::take(&mut batch));
                        self.dropped(pending.dropped_before);
                    }
                    bytes += pending.payload.len();
                    batch.push(pending);
                }
                Job::Subscribe { replay, done } => {
                    self.publish(std::mem::take(&mut batch));
                    // Who went away needs no answer.
                    let _ = done.send(self.subscribe(replay));
                }
                Job::Forget { texts, done } => {
                    self.publish(std::mem::take(&mut batch));
                    let forgotten = match &mut self.journal {
                        Some(journal) => {
                            journal.forget(&texts, forget::PAYLOAD).map_err(|e| e.to_string())
                        }
                        None => Err("it could not be opened".to_owned()),
                    };
                    let _ = done.send(forgotten);
                }
                Job::Flush { dropped_before, done } => {
                    self.publish(std::mem::take(&mut batch));
                    self.dropped(dropped_before);
                    let _ = done.send(self.shared.published.load(Ordering::Acquire));
                }
            }
            if batch.len() >= MAX_BATCH || bytes >= MAX_BYTES {
                break;
            }
        }
        self.publish(batch);
        self.upkeep();
    }

    /// Records, syncs, and then shows.
    fn publish(&mut self, batch: Vec<Pending>) {
        if batch.is_empty() {
            return;
        }
        let numbers = match &mut self.journal {
            Some(journal) if journal.is_available() => {
                let entries: Vec<_> = batch.iter().map(entry).collect();
                match journal.append(&entries, wall()) {
                    Ok(numbers) => {
                        self.shared.published.store(journal.last_recorded(), Ordering::Release);
                        Some(numbers)
                    }
                    Err(error) => {
                        self.failed(&error);
                        None
                    }
                }
            }
            _ => None,
        };
        if numbers.is_none() {
            self.unrecorded();
        }
        let mut numbers = numbers.into_iter().flatten();
        for pending in batch {
            // No subscriber is no error.
            let _ = self.lines.send(pending.line(numbers.next()));
        }
    }

    /// Notes that something was published without a record.
    fn unrecorded(&mut self) {
        self.unrecorded = true;
        let head = match &mut self.journal {
            Some(journal) => {
                journal.break_off();
                journal.head()
            }
            None => self.start.floor,
        };
        // A number that no record has: should the server end before the journal
        // can say so itself, the snapshot tells the next start of the gap.
        self.shared.published.store(head + 1, Ordering::Release);
    }

    fn subscribe(&self, replay: bool) -> Subscription {
        let journal = self.journal.as_ref();
        let past = replay.then(|| match journal.map(Journal::view) {
            Some(Ok(view)) => F::shown(view).ok_or_else(|| "there is no past".to_owned()),
            Some(Err(error)) => Err(error.to_string()),
            None => Err("the journal could not be opened".to_owned()),
        });
        Subscription {
            lines: self.lines.subscribe(),
            seq: journal.map_or(0, Journal::head),
            journal_id: journal.map(|journal| journal.id().to_owned()),
            past,
        }
    }

    /// Makes the place where events found no room a gap.
    fn dropped(&mut self, count: u64) {
        if count == 0 {
            return;
        }
        tracing::error!("{count} events were not published: the disk is too slow for them");
        self.unrecorded();
        let _ = self.lines.send(Line::Missed(count));
        self.try_again();
    }

    fn upkeep(&mut self) {
        let Some(journal) = &mut self.journal else {
            return;
        };
        if let Some(incident) = journal.take_incident() {
            tracing::error!("{incident}");
        }
        // A failed batch says so itself; until then nobody notices.
        if let Err(error) = journal.upkeep() {
            tracing::warn!("the journal was not tidied up: {error}");
        }
    }

    fn close(&mut self) {
        let dropped = self.shared.dropped.swap(0, Ordering::Relaxed);
        self.dropped(dropped);
        if let Some(journal) = self.journal.take().filter(Journal::is_available)
            && let Err(error) = journal.close(wall())
        {
            tracing::error!("the journal was not closed: {error}");
        }
    }
}

fn entry(pending: &Pending) -> Entry {
    if pending.passing {
        return Entry::Passing;
    }
    let payload = pending.recorded.as_ref().unwrap_or(&pending.payload);
    let draft = Draft::new(pending.at, pending.event, payload).or_else(|error| {
        tracing::error!("the record of {} leaves its payload out: {error}", pending.event);
        Draft::new(pending.at, pending.event, "{\"omitted\":true}")
    });
    // Names are fixed and fit; were one not to, it has no record.
    draft.map_or(Entry::Passing, Entry::State)
}

const MAX_BATCH: usize = 1_024;
const MAX_BYTES: usize = 1024 * 1024;

#[cfg(test)]
mod tests;
