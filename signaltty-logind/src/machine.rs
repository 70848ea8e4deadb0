//! The monitor as a machine: facts and the time go in, actions come out.
//!
//! It opens nothing and reads no clock. The lock is a value `L` that it owns
//! without looking at it, so tests can count locks.
//!
//! Invariants:
//! - At most one lock is held. A newer one is in hand before the older one is
//!   dropped, and an announcement takes the lock along. Dropping the machine
//!   drops the lock (G1).
//! - Two [`Action::Connect`] are at least a second apart, and so are two
//!   [`Action::Lock`], whatever the bus does (G3).
//! - A shutdown is announced once, until the host takes it back.
//!
//! Deliberately absent: the save. It belongs to whoever gets the announcement.

use std::time::Duration;

use crate::backoff::{Backoff, FIRST};
use crate::status::Trouble;

mod steps;
#[cfg(test)]
mod tests;

/// The time since some start, and a number without meaning to spread retries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) at: Duration,
    pub(crate) jitter: u16,
}

/// A fact.
#[derive(Debug)]
pub(crate) enum Input<L> {
    /// Begin.
    Start,
    /// The bus is there and both signals are subscribed to.
    Connected,
    /// There is no connection.
    ConnectFailed(Trouble),
    /// The connection is gone.
    Disconnected,
    /// logind gave the lock.
    Locked(L),
    /// logind has a shutdown under way and gives no lock any more.
    LockTooLate,
    /// This user may not have the lock.
    LockDenied,
    /// No lock, for another reason.
    LockFailed(Trouble),
    /// The property that says whether a shutdown is under way.
    Read(bool),
    /// The property could not be read.
    ReadFailed(Trouble),
    /// How long the host waits for its lock holders.
    Limit(Duration),
    /// logind's notice: a shutdown begins, or was taken back.
    Signal(bool),
    /// logind left the bus.
    OwnerLost,
    /// logind came to the bus, perhaps in place of another one.
    OwnerGained,
    /// The deadline has passed.
    Tick,
}

/// Something to do. Calls are answered by an [`Input`]; a later call replaces
/// one that is still under way.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Action<L> {
    /// Connect, and subscribe before anything else.
    Connect,
    /// Close the connection and forget its call.
    Disconnect,
    /// Ask for the lock.
    Lock,
    /// Read whether a shutdown is under way.
    Read,
    /// Read how long the host waits.
    ReadLimit,
    /// Tell the server.
    Announce(Announcement<L>),
}

/// A shutdown of the host.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Announcement<L> {
    pub(crate) hold: Option<L>,
    pub(crate) delay_limit: Option<Duration>,
}

/// What a watch's status is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Condition {
    Connecting,
    Armed,
    Preparing,
    Denied,
    Retrying(Trouble),
}

/// The monitor.
#[derive(Debug)]
pub(crate) struct Monitor<L> {
    phase: Phase,
    held: Option<L>,
    /// The server was told of the shutdown that is under way.
    announced: bool,
    /// The last answer to a request for the lock was that this user may not.
    denied: bool,
    /// What went wrong last; empty once armed.
    trouble: Option<Trouble>,
    delay_limit: Option<Duration>,
    /// Only in `Down` and `Unlocked`.
    retry_at: Option<Duration>,
    last_lock: Option<Duration>,
    connected_since: Option<Duration>,
    armed_since: Option<Duration>,
    connects: Backoff,
    locks: Backoff,
}

/// Where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Not begun.
    Idle,
    /// A connection is being made.
    Connecting,
    /// No connection; the deadline starts the next try.
    Down,
    /// The lock has been asked for.
    Locking,
    /// The property is being read.
    Reading,
    /// The lock is held, and no shutdown was under way when it was taken.
    Armed,
    /// Connected without a fresh lock; the deadline starts the next try.
    Unlocked,
    /// logind left the bus. Calling it would start it, so nothing is asked.
    Away,
    /// The server has been told.
    Preparing,
}

/// A connection or a lock that lasted this long starts its backoff anew.
const STEADY: Duration = Duration::from_secs(60);

impl<L> Monitor<L> {
    /// A monitor that has not begun.
    pub(crate) fn new() -> Self {
        Self {
            phase: Phase::Idle,
            held: None,
            announced: false,
            denied: false,
            trouble: None,
            delay_limit: None,
            retry_at: None,
            last_lock: None,
            connected_since: None,
            armed_since: None,
            connects: Backoff::default(),
            locks: Backoff::default(),
        }
    }

    /// When to come back with [`Input::Tick`].
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.retry_at
    }

    /// What to show.
    pub(crate) fn condition(&self) -> Condition {
        if self.announced {
            return Condition::Preparing;
        }
        match (self.phase, &self.trouble) {
            (Phase::Armed, _) => Condition::Armed,
            _ if self.denied => Condition::Denied,
            (_, Some(trouble)) => Condition::Retrying(trouble.clone()),
            (_, None) => Condition::Connecting,
        }
    }

    /// Takes a fact in. Facts that do not fit the phase change nothing: they
    /// are late answers, or a bus that does not keep to the rules.
    pub(crate) fn handle(&mut self, now: Moment, input: Input<L>) -> Vec<Action<L>> {
        use Phase::{Armed, Away, Connecting, Down, Idle, Locking, Preparing, Reading, Unlocked};

        let mut actions = Vec::new();
        match (self.phase, input) {
            (Idle, Input::Start) => actions = self.connect(),
            (Connecting, Input::Connected) => {
                self.connected_since = Some(now.at);
                actions = self.lock(now);
            }
            (Connecting, Input::ConnectFailed(trouble)) => self.go_down(now, trouble),
            (Down, Input::Tick) if self.is_due(now) => actions = self.connect(),
            (Idle | Connecting | Down, _) => {}

            (_, Input::Disconnected) => {
                self.go_down(now, Trouble::Disconnected);
                actions.push(Action::Disconnect);
            }
            (Unlocked, Input::Tick) if self.is_due(now) => actions = self.lock(now),

            (Locking, Input::Locked(lock)) => {
                // The older lock, if any, is dropped here, after the newer one came.
                self.held = Some(lock);
                self.denied = false;
                actions = self.read();
            }
            (Locking, Input::LockTooLate) => actions = self.prepare(now),
            (Locking, Input::LockDenied) => {
                // logind asks for permission before it looks at its own state, so a
                // shutdown may be under way all the same.
                self.denied = true;
                actions = self.read();
            }
            (Locking, Input::LockFailed(trouble)) => self.retry_lock(now, Some(trouble)),

            (Reading, Input::Read(true)) => actions = self.prepare(now),
            (Reading, Input::Read(false)) if self.denied => {
                self.announced = false;
                self.retry_lock(now, None);
            }
            (Reading, Input::Read(false)) => actions = self.arm(now),
            (Reading, Input::ReadFailed(trouble)) => self.retry_lock(now, Some(trouble)),
            (_, Input::Limit(limit)) => self.delay_limit = Some(limit),

            (Preparing, Input::Signal(true)) => {}
            (_, Input::Signal(true)) => actions = self.prepare(now),
            (Preparing, Input::Signal(false)) => {
                self.announced = false;
                actions = self.lock_when_allowed(now);
            }
            (_, Input::Signal(false)) => self.announced = false,

            (Locking | Reading | Armed | Unlocked, Input::OwnerLost) => self.go_away(now),
            // A request for the lock that is under way is answered by the newcomer or
            // fails by itself: it may be the very call that started logind.
            (Reading | Armed | Unlocked | Away | Preparing, Input::OwnerGained) => {
                actions = self.lock_when_allowed(now);
            }
            _ => {}
        }
        actions
    }
}
