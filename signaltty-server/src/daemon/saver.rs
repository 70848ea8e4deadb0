//! The thread that owns the state directory after the start.
//!
//! At most one save is under way, which the core sees to; reads of tails queue
//! behind it. A panic in a save is a failed save, said as such (D-31).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use signaltty_core::id::{PaneId, RequestId};
use signaltty_core::save::{Durability, SaveFailure, SaveToken};
use signaltty_core::saved::SavedSession;
use signaltty_core::session::Forget;
use signaltty_persist::tail::{self, Tail};
use signaltty_persist::{Reason, Save, Store};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use super::event::Event;
use super::forget::Outcome;
use super::kept::KeptId;

/// Reads that may wait for the thread; more readers wait for room among them.
/// There is room for one save besides, and there is never more than one, so that
/// no reader can keep the last save of a server out.
const READS: usize = 64;

/// One save, as the loop hands it over.
pub(crate) struct SaveJob {
    pub(crate) token: SaveToken,
    pub(crate) session: SavedSession,
    pub(crate) durability: Durability,
    pub(crate) tails: Vec<TailJob>,
    /// Panes that printed and did not say what in time.
    pub(crate) missed: Vec<PaneId>,
    pub(crate) closed: Vec<PaneId>,
    /// What is to be removed once this is saved, for which requests.
    pub(crate) forget: Vec<(RequestId, Forget)>,
    /// Monotonic time since the server started.
    pub(crate) now: Duration,
    /// As a bug would.
    #[cfg(test)]
    pub(crate) panics: bool,
}

/// The output of one pane.
pub(crate) struct TailJob {
    pub(crate) pane: PaneId,
    /// Its number, where its process ended.
    pub(crate) kept: Option<KeptId>,
    pub(crate) bytes: Vec<u8>,
}

/// What a save came to.
#[derive(Debug)]
pub(crate) struct SaveOutcome {
    pub(crate) result: Result<(), SaveFailure>,
    /// For people.
    pub(crate) detail: Option<String>,
    /// Kept output that is on the disk now.
    pub(crate) saved: Vec<(PaneId, KeptId)>,
    /// Panes whose output is not on the disk although it was to be.
    pub(crate) unsaved: Vec<PaneId>,
    /// Closed panes that the snapshot in place no longer has.
    pub(crate) closed: Vec<PaneId>,
    /// What came of requests to forget.
    pub(crate) forgot: Vec<Outcome>,
}

impl SaveOutcome {
    /// One that saved nothing. `requests` are those that waited for it.
    pub(crate) fn failed(why: &str, requests: &[RequestId]) -> Self {
        Self::not_saved(SaveFailure::Io, why, requests)
    }

    fn not_saved(failure: SaveFailure, why: &str, requests: &[RequestId]) -> Self {
        let forgot = requests.iter().map(|request| (*request, Err(why.to_owned())));
        Self {
            result: Err(failure),
            detail: Some(why.to_owned()),
            saved: Vec::new(),
            unsaved: Vec::new(),
            closed: Vec::new(),
            forgot: forgot.collect(),
        }
    }
}

enum Job {
    Save(Box<SaveJob>),
    Tail { pane: PaneId, done: oneshot::Sender<Result<Tail, String>>, _room: OwnedSemaphorePermit },
}

/// Hands jobs to the saver. The thread ends, and the lock on the directory is
/// given up, once the last of these is gone.
#[derive(Clone)]
pub(crate) struct Saver {
    jobs: SyncSender<Job>,
    reads: Arc<Semaphore>,
}

impl Saver {
    /// Starts the thread.
    pub(crate) fn start(
        store: Store,
        events: mpsc::Sender<Event>,
    ) -> std::io::Result<(Self, thread::JoinHandle<()>)> {
        let (send, receive) = sync_channel(READS + 1);
        let thread = thread::Builder::new()
            .name("saver".to_owned())
            .spawn(move || run(store, &receive, &events))?;
        let reads = Arc::new(Semaphore::new(READS));
        Ok((Self { jobs: send, reads }, thread))
    }

    /// Begins a save; the result comes as an event.
    ///
    /// Returns whether it was taken, which it is unless the thread is gone.
    #[must_use]
    pub(crate) fn save(&self, job: SaveJob) -> bool {
        self.jobs.try_send(Job::Save(Box::new(job))).is_ok()
    }

    /// Reads the saved output of a pane.
    pub(crate) fn tail(&self, pane: PaneId) -> oneshot::Receiver<Result<Tail, String>> {
        let (done, receiver) = oneshot::channel();
        let (jobs, reads) = (self.jobs.clone(), Arc::clone(&self.reads));
        tokio::spawn(async move {
            // Nobody closes it.
            if let Ok(_room) = reads.acquire_owned().await {
                // A thread that is gone drops the sender, which the reader sees.
                let _ = jobs.try_send(Job::Tail { pane, done, _room });
            }
        });
        receiver
    }
}

fn run(mut store: Store, jobs: &Receiver<Job>, events: &mpsc::Sender<Event>) {
    while let Ok(job) = jobs.recv() {
        match job {
            Job::Save(job) => {
                let token = job.token;
                let outcome = catch_unwind(AssertUnwindSafe(|| save(&mut store, &job)))
                    .unwrap_or_else(|_| SaveOutcome::failed(PANICKED, &requests(&job)));
                if events.blocking_send(Event::Saved { token, outcome }).is_err() {
                    return;
                }
            }
            Job::Tail { pane, done, .. } => {
                let read = tail::read(store.dir(), pane);
                let _ = done.send(read.map_err(|error| error.to_string()));
            }
        }
    }
}

fn requests(job: &SaveJob) -> Vec<RequestId> {
    job.forget.iter().map(|(request, _)| *request).collect()
}

fn save(store: &mut Store, job: &SaveJob) -> SaveOutcome {
    #[cfg(test)]
    if job.panics {
        std::panic::resume_unwind(Box::new("as asked"));
    }
    let tails: Vec<_> = job.tails.iter().map(|tail| (tail.pane, tail.bytes.as_slice())).collect();
    let durability = match job.durability {
        Durability::Relaxed => signaltty_persist::Durability::Relaxed,
        Durability::Synced => signaltty_persist::Durability::Synced,
    };
    let wanted = Save {
        session: &job.session,
        durability,
        tails: &tails,
        closed: &job.closed,
        now: job.now,
    };
    if !job.forget.is_empty() {
        // The file may say more than the session that came of it.
        store.write_anew();
    }
    match store.save(wanted) {
        Ok(report) => {
            let failed: Vec<_> = report.tail_failures.iter().map(|failure| failure.pane).collect();
            for failure in &report.tail_failures {
                tracing::warn!("{failure}");
            }
            if let Some(error) = &report.history_failure {
                tracing::warn!("the older snapshot was not kept: {error}");
            }
            let saved = job.tails.iter().filter_map(|tail| Some((tail.pane, tail.kept?)));
            SaveOutcome {
                result: Ok(()),
                detail: report
                    .tail_failures
                    .first()
                    .map(ToString::to_string)
                    .or_else(|| report.history_failure.as_ref().map(ToString::to_string)),
                saved: saved.filter(|(pane, _)| !failed.contains(pane)).collect(),
                unsaved: failed.iter().chain(&job.missed).copied().collect(),
                closed: job.closed.clone(),
                forgot: forget(store, &job.forget),
            }
        }
        Err(error) => {
            tracing::error!("the state was not saved: {error}");
            let failure = match error.reason() {
                Reason::NoSpace => SaveFailure::NoSpace,
                Reason::Refused => SaveFailure::Refused,
                _ => SaveFailure::Io,
            };
            let detail = format!("{error} ({})", error.reason().as_str());
            SaveOutcome::not_saved(failure, &detail, &requests(job))
        }
    }
}

/// Removes what is to be forgotten, now that the snapshot is without it.
fn forget(store: &mut Store, wanted: &[(RequestId, Forget)]) -> Vec<Outcome> {
    let removed = wanted.iter().map(|(request, what)| {
        let removed = store.forget(what).map_err(|error| error.to_string());
        (*request, removed)
    });
    removed.collect()
}

const PANICKED: &str = "a bug: the save panicked; see the log";

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use signaltty_core::save::{SaveConfig, SavePolicy};
    use signaltty_core::time::UnixMillis;
    use signaltty_persist::{Owner, Program, StateDir};

    use super::*;

    /// A save whose token a policy gave.
    fn job(policy: &mut SavePolicy, panics: bool) -> SaveJob {
        policy.require_barrier();
        let (token, durability) = policy.start(Duration::ZERO).unwrap();
        SaveJob {
            token,
            session: SavedSession::default(),
            durability,
            tails: Vec::new(),
            missed: Vec::new(),
            closed: Vec::new(),
            forget: vec![(RequestId(7), Forget::default())],
            now: Duration::ZERO,
            panics,
        }
    }

    #[test]
    fn d31_a_panic_in_a_save_is_a_failed_save_and_the_next_one_works() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        let owner = Owner { pid: 1, started_at: UnixMillis(0), socket: None };
        let state = StateDir::open(dir.path(), &owner).unwrap();
        let store = Store::open(state, Program::default()).unwrap().store;
        let (send, mut receive) = mpsc::channel(4);
        let (saver, thread) = Saver::start(store, send).unwrap();
        let mut policy = SavePolicy::new(SaveConfig::default());
        for panics in [true, false] {
            assert!(saver.save(job(&mut policy, panics)));
            let Some(Event::Saved { token, outcome }) = receive.blocking_recv() else {
                panic!("no result");
            };
            let result = outcome.result;
            assert_eq!(result.is_err(), panics);
            assert_eq!(dir.path().join("snapshot.json").exists(), !panics);
            let said = outcome.detail.unwrap_or_default();
            assert_eq!(said.contains("a bug"), panics, "{said}");
            // Whoever waits for it is answered in either case.
            assert_eq!(outcome.forgot.len(), 1);
            assert_eq!(outcome.forgot[0].1.is_err(), panics);
            assert!(policy.finish(Duration::ZERO, token, result));
            assert_eq!(policy.failures() > 0, panics, "it is tried again");
        }
        drop(saver);
        thread.join().unwrap();
    }
}
