//! Starts children, on the process's main thread only (D-15).
//!
//! The signal that keeps a child from outliving its server follows the thread
//! that made it, so a thread of the runtime's pool must not be that thread.
//! The main thread does nothing else.

use std::sync::mpsc::TrySendError;

use signaltty_pty::{Child, Pty, SpawnError, SpawnSpec};
use tokio::sync::oneshot;

use super::bounded::{Receiver, Sender, bounded};

/// How many starts may wait; one more is refused, which the person sees.
const WAITING: usize = 1_024;

/// What a start gives.
pub(crate) type Spawned = Result<(Pty, Child), SpawnError>;

struct Job {
    spec: SpawnSpec,
    done: oneshot::Sender<Spawned>,
}

/// Asks the main thread for children. The main thread ends its loop once the
/// last of these is gone.
#[derive(Clone)]
pub(crate) struct Spawner {
    jobs: Sender<Job>,
}

/// The main thread's part.
pub(crate) struct MainThread {
    jobs: Receiver<Job>,
}

/// Both ends.
pub(crate) fn spawner() -> (Spawner, MainThread) {
    let (send, receive) = bounded(WAITING);
    (Spawner { jobs: send }, MainThread { jobs: receive })
}

impl Spawner {
    /// Hands a start over; the answer comes through the receiver, which is
    /// closed if it could not be taken.
    pub(crate) fn spawn(&self, spec: SpawnSpec) -> oneshot::Receiver<Spawned> {
        let (done, receiver) = oneshot::channel();
        match self.jobs.try_send(Job { spec, done }) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                tracing::error!("{WAITING} starts are waiting already, one more was refused");
            }
        }
        receiver
    }
}

impl MainThread {
    /// Starts children until nobody can ask for one any more.
    pub(crate) fn run(self) {
        while let Ok(Job { spec, done }) = self.jobs.recv() {
            // Nobody waits any more: the child is dropped, which ends it.
            let _ = done.send(signaltty_pty::spawn(&spec));
        }
    }
}
