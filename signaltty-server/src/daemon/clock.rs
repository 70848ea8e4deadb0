//! The clock of the daemon, which the core does not have.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use signaltty_core::time::{Now, UnixMillis};
use tokio::time::Instant;

/// Monotonic time since the server started, and the wall clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    start: Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { start: Instant::now() }
    }

    pub(crate) fn now(self) -> Now {
        Now { mono: self.start.elapsed(), wall: wall() }
    }

    /// The instant of a monotonic time that the core gave.
    pub(crate) fn instant(self, mono: Duration) -> Instant {
        self.start + mono
    }
}

/// The wall clock; before 1970 it counts as 1970.
pub(crate) fn wall() -> UnixMillis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixMillis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// A time as scripts read it, in RFC 3339 and UTC.
pub(crate) fn rfc3339(at: UnixMillis) -> String {
    let millis = i64::try_from(at.0).unwrap_or(i64::MAX);
    jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::MAX).to_string()
}
