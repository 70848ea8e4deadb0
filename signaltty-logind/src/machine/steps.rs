//! What the machine does at a change of its phase.

use super::{Action, Announcement, Duration, FIRST, Moment, Monitor, Phase, STEADY, Trouble};

impl<L> Monitor<L> {
    pub(super) fn is_due(&self, now: Moment) -> bool {
        self.retry_at.is_some_and(|at| now.at >= at)
    }

    pub(super) fn connect(&mut self) -> Vec<Action<L>> {
        self.enter(Phase::Connecting);
        vec![Action::Connect]
    }

    /// The lock that is held stays: logind finds it again after a restart of the
    /// bus, and it lets the host wait for a shutdown that begins meanwhile.
    pub(super) fn go_down(&mut self, now: Moment, trouble: Trouble) {
        self.settle_locks(now);
        if lasted(self.connected_since.take(), now) {
            self.connects.reset();
        }
        self.denied = false;
        self.trouble = Some(trouble);
        self.enter(Phase::Down);
        self.retry_at = Some(now.at + self.connects.next(now.jitter));
    }

    pub(super) fn go_away(&mut self, now: Moment) {
        self.settle_locks(now);
        self.denied = false;
        self.trouble = Some(Trouble::NoLogind);
        self.enter(Phase::Away);
    }

    pub(super) fn lock(&mut self, now: Moment) -> Vec<Action<L>> {
        self.enter(Phase::Locking);
        self.last_lock = Some(now.at);
        vec![Action::Lock]
    }

    /// At once, unless the last try is too recent: a logind that comes and goes
    /// must not be able to drive the monitor.
    pub(super) fn lock_when_allowed(&mut self, now: Moment) -> Vec<Action<L>> {
        self.settle_locks(now);
        match self.last_lock.map(|last| last + FIRST) {
            Some(allowed) if allowed > now.at => {
                self.enter(Phase::Unlocked);
                self.retry_at = Some(allowed);
                Vec::new()
            }
            _ => self.lock(now),
        }
    }

    pub(super) fn retry_lock(&mut self, now: Moment, trouble: Option<Trouble>) {
        if trouble.is_some() {
            self.denied = false;
            self.trouble = trouble;
        }
        self.enter(Phase::Unlocked);
        self.retry_at = Some(now.at + self.locks.next(now.jitter));
    }

    pub(super) fn read(&mut self) -> Vec<Action<L>> {
        self.enter(Phase::Reading);
        vec![Action::Read]
    }

    pub(super) fn arm(&mut self, now: Moment) -> Vec<Action<L>> {
        self.enter(Phase::Armed);
        self.announced = false;
        self.trouble = None;
        self.armed_since = Some(now.at);
        vec![Action::ReadLimit]
    }

    pub(super) fn prepare(&mut self, now: Moment) -> Vec<Action<L>> {
        self.settle_locks(now);
        self.enter(Phase::Preparing);
        // A lock that came after the announcement has nobody to release it.
        let hold = self.held.take();
        if self.announced {
            return Vec::new();
        }
        self.announced = true;
        vec![Action::Announce(Announcement { hold, delay_limit: self.delay_limit })]
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.retry_at = None;
    }

    fn settle_locks(&mut self, now: Moment) {
        if lasted(self.armed_since.take(), now) {
            self.locks.reset();
        }
    }
}

fn lasted(since: Option<Duration>, now: Moment) -> bool {
    since.is_some_and(|since| now.at.saturating_sub(since) >= STEADY)
}
