//! When processes were started, by the clock that people read.

use std::time::{Duration, SystemTime};

use rustix::param::clock_ticks_per_second;
use rustix::time::{ClockId, clock_gettime};

/// Clock ticks since the boot.
pub(super) fn now() -> u64 {
    let up = clock_gettime(ClockId::Boottime);
    let (seconds, nanos) = (up.tv_sec.unsigned_abs(), up.tv_nsec.unsigned_abs());
    let per_second = clock_ticks_per_second();
    let rest = nanos.saturating_mul(per_second) / 1_000_000_000;
    seconds.saturating_mul(per_second).saturating_add(rest)
}

/// The moment that lies so many clock ticks after the boot.
pub(super) fn started(ticks: u64) -> Option<SystemTime> {
    let up = clock_gettime(ClockId::Boottime);
    let up = Duration::new(up.tv_sec.try_into().ok()?, up.tv_nsec.try_into().ok()?);
    SystemTime::now().checked_sub(up)?.checked_add(of_ticks(ticks, clock_ticks_per_second())?)
}

fn of_ticks(ticks: u64, per_second: u64) -> Option<Duration> {
    let seconds = ticks.checked_div(per_second)?;
    let rest = ticks.checked_rem(per_second)?;
    let nanos = rest.checked_mul(1_000_000_000)?.checked_div(per_second)?;
    Some(Duration::new(seconds, nanos.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;
    use crate::{AgentHost, ProcHost};

    #[test]
    fn ticks_become_time() {
        assert_eq!(of_ticks(12_345, 100), Some(Duration::from_millis(123_450)));
        assert_eq!(of_ticks(1, 0), None);
    }

    #[test]
    fn a_child_was_started_just_now() {
        let host = ProcHost { home: None, path: Default::default() };
        // Ticks are coarse, and a machine may be slow.
        let before = SystemTime::now() - Duration::from_millis(50);
        let ticks_before = now();
        let mut child = Command::new("/bin/cat").stdin(Stdio::piped()).spawn().unwrap();
        let process = host.process(child.id()).unwrap();
        assert!((ticks_before..=now()).contains(&process.start_ticks), "{process:?}");
        let started = host.started(&process).unwrap();
        let after = SystemTime::now() + Duration::from_millis(50);
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(before <= started && started <= after, "{started:?} is not now");
    }
}
