//! How long to wait before the next try.
//!
//! The waits are 1, 2, 4 … 60 seconds, each lengthened by up to a quarter so
//! that servers which lost the same bus do not come back in step. The longest
//! wait is never lengthened: by then the earlier ones have spread them.
//! Time and chance come from outside.

use std::time::Duration;

/// The shortest wait, and the least distance between two tries of one kind.
pub(crate) const FIRST: Duration = Duration::from_secs(1);

/// The longest wait.
pub(crate) const LONGEST: Duration = Duration::from_secs(60);

/// Counts failures in a row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Backoff {
    failures: u32,
}

impl Backoff {
    /// The wait after one more failure; `jitter` is spread over a quarter of it.
    pub(crate) fn next(&mut self, jitter: u16) -> Duration {
        let doubled = FIRST.saturating_mul(2_u32.saturating_pow(self.failures));
        self.failures = self.failures.saturating_add(1);
        let plain = doubled.min(LONGEST);
        let extra = plain / 4 * u32::from(jitter) / u32::from(u16::MAX);
        (plain + extra).min(LONGEST)
    }

    /// Begins again at the shortest wait.
    pub(crate) fn reset(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn s0_29_waits_double_from_one_second_to_sixty() {
        let mut backoff = Backoff::default();
        let waits: Vec<_> = (0..9).map(|_| backoff.next(0).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        backoff.reset();
        assert_eq!(backoff.next(0), FIRST);
    }

    proptest! {
        #[test]
        fn inv_g3_a_wait_stays_between_its_plain_length_and_the_cap(jitters: Vec<u16>) {
            let (mut backoff, mut plain) = (Backoff::default(), Backoff::default());
            for jitter in jitters {
                let (wait, least) = (backoff.next(jitter), plain.next(0));
                prop_assert!(wait >= least && wait <= LONGEST && wait <= least * 5 / 4);
            }
        }
    }
}
