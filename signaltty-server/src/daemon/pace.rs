//! How often something may be done: so often a second on average, and for one
//! second's worth at once.

use std::time::{Duration, Instant};

/// See the module.
#[derive(Debug)]
pub(super) struct Pace {
    /// The time that one takes.
    each: Duration,
    /// When all that was done is paid for.
    until: Option<Instant>,
}

/// What may be done at once is what may be done in this time.
const BURST: Duration = Duration::from_secs(1);

impl Pace {
    /// At most `per_second`, at least one.
    pub(super) fn new(per_second: u32) -> Self {
        Self { each: BURST / per_second.max(1), until: None }
    }

    /// How long to wait before one more; nothing is counted then. No time at all
    /// where it may be done now, which is counted.
    pub(super) fn take(&mut self, now: Instant) -> Duration {
        let until = self.until.map_or(now, |until| until.max(now));
        let ahead = until.duration_since(now);
        if ahead + self.each > BURST {
            return ahead + self.each - BURST;
        }
        self.until = Some(until + self.each);
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seconds_worth_goes_at_once_and_then_the_rate() {
        let (mut pace, start) = (Pace::new(10), Instant::now());
        let taken = (0..20).filter(|_| pace.take(start).is_zero()).count();
        assert_eq!(taken, 10);
        assert_eq!(pace.take(start), Duration::from_millis(100));
        let later = start + Duration::from_millis(250);
        assert_eq!((0..20).filter(|_| pace.take(later).is_zero()).count(), 2);
        let rested = start + Duration::from_secs(60);
        assert_eq!((0..20).filter(|_| pace.take(rested).is_zero()).count(), 10);
    }
}
