//! Random choices that can be repeated.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A small generator; its seed is printed, and the variable sets it.
pub struct Random(u64);

impl Random {
    /// Seeded from a variable, else from the clock.
    pub fn from_env(variable: &str) -> Self {
        let given = std::env::var(variable).ok().and_then(|text| text.parse().ok());
        let seed = given.unwrap_or_else(|| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            u64::try_from(now.as_nanos() & u128::from(u64::MAX)).unwrap()
        });
        println!("{variable}={seed} repeats these choices");
        Self(seed | 1)
    }

    /// Another generator, whose choices follow from the same seed.
    pub fn another(&mut self) -> Self {
        self.below(1);
        Self(self.0.rotate_left(32) | 1)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    pub fn up_to(&mut self, most: Duration) -> Duration {
        let millis = usize::try_from(most.as_millis()).unwrap() + 1;
        Duration::from_millis(self.below(millis).try_into().unwrap())
    }
}
