//! The delay lock.

use std::os::fd::OwnedFd;

/// The delay lock. The host waits, within its own limit, until this is dropped.
///
/// It is the only copy of logind's descriptor and close-on-exec, so no child
/// can keep the host waiting. Dropping it is the release, on every path: an
/// error, a panic and the end of the process do the same.
#[derive(Debug)]
pub struct Inhibitor {
    _lock: OwnedFd,
}

impl Inhibitor {
    /// Takes over the descriptor that logind handed out.
    pub(crate) fn new(lock: OwnedFd) -> Self {
        Self { _lock: lock }
    }

    #[cfg(test)]
    pub(crate) fn number(&self) -> i32 {
        std::os::fd::AsRawFd::as_raw_fd(&self._lock)
    }
}
