//! Signals that ask a client to end.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Signals that ask a client to end. While one of these exists, they do not end
/// the process by themselves.
#[derive(Debug)]
pub(crate) struct Signals {
    terminate: Signal,
    hangup: Signal,
    interrupt: Signal,
    quit: Signal,
}

impl Signals {
    /// Listens from now on.
    pub(crate) fn new() -> io::Result<Self> {
        let signals = Self {
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
        };
        AWAITED.fetch_add(1, Ordering::SeqCst);
        Ok(signals)
    }

    /// The name of the next one.
    pub(crate) async fn next(&mut self) -> &'static str {
        let name = tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.hangup.recv() => "SIGHUP",
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.quit.recv() => "SIGQUIT",
        };
        ENDING.store(true, Ordering::SeqCst);
        name
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        AWAITED.fetch_sub(1, Ordering::SeqCst);
    }
}

static AWAITED: AtomicUsize = AtomicUsize::new(0);

/// One came to somebody who waited. Others learn of the same signal later, when
/// nobody may wait any more; the process ends in good order all the same.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Whether somebody waits for signals and ends the process in good order.
pub(super) fn are_awaited() -> bool {
    AWAITED.load(Ordering::SeqCst) > 0 || ENDING.load(Ordering::SeqCst)
}
