//! When to save.
//!
//! A change is saved within one debounce (2 s by default), at most one write
//! starts per debounce, and at most one is under way (S0-3, P6). Barriers do
//! not wait for the debounce, only for a write under way. A write that fails
//! leaves the change pending and is tried again, ever more slowly.
//!
//! Output alone never starts the debounce; it is saved with the periodic save
//! (D-24), whose timer runs only while there is such output.

use std::time::Duration;

/// Names one save, so that its result can be told from an older one's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SaveToken(u64);

/// How safe a save must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// A debounced save: the configuration decides whether it is synced.
    Relaxed,
    /// A barrier: on the disk before it is reported as done.
    Synced,
}

/// How a save policy is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SaveConfig {
    /// The least time between two writes.
    pub debounce: Duration,
    /// How long output alone may wait; `None` turns the periodic save off.
    pub periodic: Option<Duration>,
    /// The periodic save writes also where nothing changed (S0-36).
    pub unchanged: bool,
}

impl Default for SaveConfig {
    fn default() -> Self {
        Self {
            debounce: Duration::from_secs(2),
            periodic: Some(Duration::from_secs(60)),
            unchanged: false,
        }
    }
}

/// What is pending, as a pure machine over monotonic times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavePolicy {
    config: SaveConfig,
    changed_at: Option<Duration>,
    output_at: Option<Duration>,
    barrier: bool,
    in_flight: Option<SaveToken>,
    last_start: Option<Duration>,
    failures: u32,
    next: u64,
}

/// Why a save did not succeed, as far as policy needs to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SaveFailure {
    /// No room on the disk.
    NoSpace,
    /// The store refused the state.
    Refused,
    /// Anything else that the file system said.
    Io,
}

/// The longest pause between two tries.
const LONGEST_RETRY: Duration = Duration::from_secs(60);

impl SavePolicy {
    /// Nothing pending.
    pub fn new(config: SaveConfig) -> Self {
        Self {
            config,
            changed_at: None,
            output_at: None,
            barrier: false,
            in_flight: None,
            last_start: None,
            failures: 0,
            next: 0,
        }
    }

    /// Goes on with other times; what is pending stays pending.
    pub fn configure(&mut self, config: SaveConfig) {
        self.config = config;
    }

    /// Something changed that must be saved.
    pub fn changed(&mut self, now: Duration) {
        self.changed_at.get_or_insert(now);
    }

    /// A pane printed something.
    pub fn printed(&mut self, now: Duration) {
        self.output_at.get_or_insert(now);
    }

    /// Save at once and synced, whatever happened before: the pause after a
    /// failure must not hold up a shutdown.
    pub fn require_barrier(&mut self) {
        self.barrier = true;
    }

    /// Whether everything so far is saved.
    pub fn is_clean(&self) -> bool {
        self.changed_at.is_none() && !self.barrier && self.in_flight.is_none()
    }

    /// How many saves failed in a row.
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// When [`start`](Self::start) will give a save; `None` while nothing is
    /// pending or a write is under way.
    pub fn deadline(&self) -> Option<Duration> {
        if self.in_flight.is_some() {
            return None;
        }
        let spaced = |at: Duration| match self.last_start {
            Some(start) => at.max(start.saturating_add(self.config.debounce)),
            None => at,
        };
        if self.barrier {
            return Some(Duration::ZERO);
        }
        if self.failures > 0 {
            return Some(self.retry_at());
        }
        // Three quarters: the write itself takes part of the promised window.
        let change =
            self.changed_at.map(|at| spaced(at.saturating_add(self.config.debounce.mul_f32(0.75))));
        let output = match (self.output_at, self.config.periodic) {
            (Some(at), Some(periodic)) => Some(spaced(at.saturating_add(periodic))),
            _ => None,
        };
        let idle = self.config.periodic.filter(|_| self.config.unchanged);
        let idle = idle.map(|p| self.last_start.unwrap_or(Duration::ZERO).saturating_add(p));
        change.into_iter().chain(output).chain(idle).min()
    }

    /// Begins a save if one is due. The caller writes the state as it is now.
    pub fn start(&mut self, now: Duration) -> Option<(SaveToken, Durability)> {
        if self.deadline()? > now {
            return None;
        }
        let durability = if self.barrier { Durability::Synced } else { Durability::Relaxed };
        let token = SaveToken(self.next);
        self.next += 1;
        self.in_flight = Some(token);
        self.last_start = Some(now);
        self.changed_at = None;
        self.output_at = None;
        self.barrier = false;
        Some((token, durability))
    }

    /// Takes the result of a save. What it did not write is pending again.
    /// Returns whether the token was the one under way.
    pub fn finish(
        &mut self,
        now: Duration,
        token: SaveToken,
        result: Result<(), SaveFailure>,
    ) -> bool {
        if self.in_flight != Some(token) {
            return false;
        }
        self.in_flight = None;
        match result {
            Ok(()) => self.failures = 0,
            Err(_) => {
                self.failures = self.failures.saturating_add(1);
                self.changed_at.get_or_insert(now);
            }
        }
        true
    }

    fn retry_at(&self) -> Duration {
        let factor = 1u32 << self.failures.saturating_sub(1).min(6);
        let pause = self.config.debounce.saturating_mul(factor).min(LONGEST_RETRY);
        self.last_start.unwrap_or(Duration::ZERO).saturating_add(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn policy() -> SavePolicy {
        SavePolicy::new(SaveConfig::default())
    }

    #[test]
    fn s0_3_a_burst_of_changes_is_one_write() {
        let mut policy = policy();
        let mut writes = Vec::new();
        for t in 0..10_000u64 {
            if t < 1_000 && t % 10 == 0 {
                policy.changed(ms(t));
            }
            if let Some((token, durability)) = policy.start(ms(t)) {
                assert_eq!(durability, Durability::Relaxed);
                writes.push(t);
                assert!(policy.finish(ms(t), token, Ok(())));
            }
        }
        assert_eq!(writes, [1_500]);
    }

    #[test]
    fn s0_3_writes_are_a_debounce_apart_and_no_change_waits_longer() {
        let mut policy = policy();
        let (mut writes, mut oldest) = (Vec::new(), None::<u64>);
        for t in 0..60_000u64 {
            if t % 7 == 0 {
                policy.changed(ms(t));
                oldest.get_or_insert(t);
            }
            if let Some((token, _)) = policy.start(ms(t)) {
                assert!(oldest.take().is_some_and(|since| t - since <= 2_000));
                writes.push(t);
                policy.finish(ms(t), token, Ok(()));
            }
        }
        assert!(writes.windows(2).all(|pair| pair[1] - pair[0] >= 2_000));
        assert!(writes.len() >= 28, "{}", writes.len());
    }

    #[test]
    fn s0_3_no_change_no_write() {
        assert_eq!(policy().deadline(), None);
    }

    #[test]
    fn s0_36_output_alone_is_saved_once_a_minute() {
        let mut with = policy();
        with.printed(ms(5));
        with.printed(ms(900));
        assert_eq!(with.deadline(), Some(ms(60_005)));
        let mut without = SavePolicy::new(SaveConfig { periodic: None, ..SaveConfig::default() });
        without.printed(ms(5));
        assert_eq!(without.deadline(), None);
    }

    #[test]
    fn s0_36_a_save_regardless_of_activity_comes_once_a_minute() {
        let mut policy = SavePolicy::new(SaveConfig { unchanged: true, ..SaveConfig::default() });
        let mut writes = Vec::new();
        for t in (0..200_000u64).step_by(100) {
            if let Some((token, _)) = policy.start(ms(t)) {
                writes.push(t);
                policy.finish(ms(t), token, Ok(()));
            }
        }
        assert_eq!(writes, [60_000, 120_000, 180_000]);
        policy.configure(SaveConfig { periodic: None, unchanged: true, ..SaveConfig::default() });
        assert_eq!(policy.deadline(), None);
    }

    #[test]
    fn a_change_that_waits_follows_the_new_times() {
        let mut policy = policy();
        policy.changed(ms(0));
        policy.configure(SaveConfig { debounce: ms(400), ..SaveConfig::default() });
        assert!(policy.deadline().is_some_and(|at| at < ms(301)));
    }

    #[test]
    fn barriers_wait_only_for_a_write_under_way() {
        let mut policy = policy();
        policy.changed(ms(0));
        let (first, _) = policy.start(ms(1_500)).unwrap();
        policy.require_barrier();
        assert_eq!(policy.deadline(), None);
        policy.finish(ms(1_600), first, Ok(()));
        let (_, durability) = policy.start(ms(1_600)).unwrap();
        assert_eq!(durability, Durability::Synced);
    }

    #[test]
    fn c016_a_failed_write_leaves_the_change_pending_and_backs_off() {
        let mut policy = policy();
        policy.changed(ms(0));
        let (mut t, mut pauses) = (1_500, Vec::new());
        for _ in 0..8 {
            let (token, _) = policy.start(ms(t)).unwrap();
            policy.finish(ms(t + 1), token, Err(SaveFailure::NoSpace));
            assert!(!policy.is_clean());
            let next = u64::try_from(policy.deadline().unwrap().as_millis()).unwrap();
            pauses.push(next - t);
            t = next;
        }
        assert_eq!(pauses, [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    }

    #[test]
    fn results_of_another_save_change_nothing() {
        let mut policy = policy();
        policy.changed(ms(0));
        let (token, _) = policy.start(ms(2_000)).unwrap();
        policy.finish(ms(2_001), token, Ok(()));
        let before = policy.clone();
        assert!(!policy.finish(ms(2_002), token, Err(SaveFailure::Io)));
        assert_eq!(policy, before);
    }
}
