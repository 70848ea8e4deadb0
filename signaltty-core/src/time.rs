//! Time, which always arrives as an argument.

use std::time::Duration;

/// Milliseconds since the Unix epoch, by the wall clock.
///
/// Only shown and saved. Nothing is decided by it, since the wall clock may go
/// back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct UnixMillis(pub u64);

/// The moment at which an input arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Monotonic time since an arbitrary start; every deadline is one of these.
    pub mono: Duration,
    /// Wall clock time, for records that people read.
    pub wall: UnixMillis,
}
