//! Signals that ask a client to end.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

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
        AWAITED.fetch_add(1, Ordering::Relaxed);
        Ok(signals)
    }

    /// The name of the next one.
    pub(crate) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.hangup.recv() => "SIGHUP",
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.quit.recv() => "SIGQUIT",
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        AWAITED.fetch_sub(1, Ordering::Relaxed);
    }
}

static AWAITED: AtomicUsize = AtomicUsize::new(0);

/// Whether somebody waits for signals and ends the process in good order.
pub(super) fn are_awaited() -> bool {
    AWAITED.load(Ordering::Relaxed) > 0
}
