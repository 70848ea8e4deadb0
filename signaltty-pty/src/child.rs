//! A child that leads the session of a terminal.
//!
//! Invariant T2: every child is waited for, exactly once. Waiting goes through
//! a pidfd, so it can never take another process's status. A [`Child`] that is
//! dropped while it runs is killed and reaped in the background.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, WaitId, WaitIdOptions, WaitOptions, kill_process, kill_process_group,
    pidfd_open, pidfd_send_signal, waitid, waitpid,
};
use tokio::io::Interest;

use crate::error::SignalError;
use crate::process::{self, ProcessId};
use crate::signal::Signal;
use crate::sys::Watched;

/// How a child ended: by itself with a code, or by a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ExitStatus {
    /// The exit code, if the child ended by itself.
    pub code: Option<i32>,
    /// The number of the signal that ended it.
    pub signal: Option<i32>,
}

impl ExitStatus {
    /// Whether the child ended by itself with code 0.
    #[must_use]
    pub fn success(self) -> bool {
        self.code == Some(0)
    }
}

/// A child started by [`spawn`](crate::spawn()).
#[derive(Debug)]
pub struct Child {
    id: ProcessId,
    pidfd: OwnedFd,
    /// Set once the child has been reaped; held while it is being reaped, and
    /// while its group is signalled, so that the group's number stays ours.
    status: Mutex<Option<ExitStatus>>,
}

impl Child {
    /// Takes over a freshly started child. On failure it is killed and reaped.
    pub(crate) fn adopt(child: Pid) -> io::Result<Self> {
        let watch = || {
            let pidfd = pidfd_open(child, PidfdFlags::empty())?;
            // Nobody else reaps it, so it has a stat file even if it ended.
            let stat = process::stat(child.as_raw_nonzero().get().unsigned_abs());
            let stat = stat?.ok_or(io::ErrorKind::NotFound)?;
            Ok(Self { id: stat.id, pidfd, status: Mutex::new(None) })
        };
        watch().inspect_err(|_: &io::Error| {
            // The first error is the one to report; both calls fail only for
            // a child that is already gone.
            let _ = kill_process(child, rustix::process::Signal::KILL);
            let _ = waitpid(Some(child), WaitOptions::empty());
        })
    }

    /// The process id, which is also the id of its session and first group.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.id.pid
    }

    /// The process id together with the start time.
    #[must_use]
    pub fn id(&self) -> ProcessId {
        self.id
    }

    /// Waits for the end and reaps the child. Any number of callers may wait,
    /// and all get the same status. Cancelling it loses nothing.
    ///
    /// # Errors
    ///
    /// When the pidfd cannot be watched, or the status was taken by someone else
    /// in this process (a `waitpid` for any child, or an ignored SIGCHLD).
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime with IO enabled.
    pub async fn wait(&self) -> io::Result<ExitStatus> {
        loop {
            if let Some(status) = self.try_wait()? {
                return Ok(status);
            }
            // A copy, since a runtime watches one descriptor only once.
            let copy = match self.pidfd.try_clone() {
                Ok(copy) => copy,
                Err(error) if process::is_shortage(&error) => {
                    tokio::time::sleep(WITHOUT_A_COPY).await;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let watched = Watched::new(copy, Interest::READABLE)?;
            let _ready = watched.get().readable().await?;
        }
    }

    /// Reaps the child if it has ended, without waiting.
    ///
    /// # Errors
    ///
    /// As [`wait`](Self::wait).
    pub fn try_wait(&self) -> io::Result<Option<ExitStatus>> {
        let mut known = self.lock();
        if known.is_none() {
            *known = reap(&self.pidfd, WaitIdOptions::NOHANG)?;
        }
        Ok(*known)
    }

    /// Sends a signal to this process alone.
    ///
    /// # Errors
    ///
    /// [`SignalError::Ended`] once it has been reaped.
    pub fn signal(&self, signal: Signal) -> Result<(), SignalError> {
        pidfd_send_signal(&self.pidfd, signal.raw()).map_err(signal_error)
    }

    /// Sends a signal to the child's own process group.
    ///
    /// # Errors
    ///
    /// [`SignalError::Ended`] once the child has been reaped: from then on the
    /// group's number can mean another one.
    pub fn signal_group(&self, signal: Signal) -> Result<(), SignalError> {
        let known = self.lock();
        let group = i32::try_from(self.id.pid).ok().and_then(Pid::from_raw);
        match group {
            Some(group) if known.is_none() => {
                kill_process_group(group, signal.raw()).map_err(signal_error)
            }
            _ => Err(SignalError::Ended),
        }
    }

    /// Whether the child has been reaped.
    pub(crate) fn is_reaped(&self) -> bool {
        self.lock().is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Option<ExitStatus>> {
        // No code can panic between a change's first and last step.
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !matches!(self.try_wait(), Ok(None)) {
            return;
        }
        let _ = self.signal(Signal::Kill);
        let Ok(copy) = self.pidfd.try_clone() else {
            let _ = reap(&self.pidfd, WaitIdOptions::empty());
            return;
        };
        // A killed process can take its time to end, so not on this thread.
        let reaper = move || {
            let _ = reap(&copy, WaitIdOptions::empty());
        };
        if thread::Builder::new().name("reaper".to_owned()).spawn(reaper).is_err() {
            let _ = reap(&self.pidfd, WaitIdOptions::empty());
        }
    }
}

/// How often an end is looked for where no descriptor is left to wait with.
const WITHOUT_A_COPY: Duration = Duration::from_millis(50);

fn reap(pidfd: &OwnedFd, options: WaitIdOptions) -> io::Result<Option<ExitStatus>> {
    let ended = rustix::io::retry_on_intr(|| {
        waitid(WaitId::PidFd(pidfd.as_fd()), options | WaitIdOptions::EXITED)
    })?;
    Ok(ended
        .map(|ended| ExitStatus { code: ended.exit_status(), signal: ended.terminating_signal() }))
}

fn signal_error(errno: Errno) -> SignalError {
    match errno {
        Errno::SRCH => SignalError::Ended,
        other => SignalError::Io(other.into()),
    }
}
