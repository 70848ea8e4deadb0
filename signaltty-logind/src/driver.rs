//! The task that feeds the machine and does what it says.
//!
//! Everything happens in this one task: a call that is under way is a future
//! in a slot, so dropping the task drops the call, the connection and the lock.

use std::convert::Infallible;
use std::time::SystemTime;

use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use crate::inhibitor::Inhibitor;
use crate::link::{Connect, Link};
use crate::machine::{Action, Announcement, Condition, Input, Moment, Monitor};
use crate::proxy::CALL_TIMEOUT;
use crate::status::{Status, Trouble, clipped};
use crate::watch::HostShutdown;

/// What a driver is made of.
pub(crate) struct Driver<C> {
    pub(crate) connector: C,
    pub(crate) who: String,
    pub(crate) why: String,
    pub(crate) jitter: fn() -> u16,
    pub(crate) statuses: watch::Sender<Status>,
    /// Has room for one announcement; while it is full one more waits in the
    /// driver, see [`Running::keep`].
    pub(crate) shutdowns: mpsc::Sender<HostShutdown>,
}

/// The end of a future in the slot.
enum Outcome {
    Linked(Box<Link>),
    Fact(Input<Inhibitor>),
    Nothing,
}

struct Running<C> {
    driver: Driver<C>,
    started: Instant,
    monitor: Monitor<Inhibitor>,
    link: Option<Box<Link>>,
    call: Option<BoxFuture<'static, Outcome>>,
    unsent: Option<HostShutdown>,
}

impl<C: Connect> Driver<C> {
    /// Runs until its task is aborted, which the end of the watch does.
    pub(crate) async fn run(self) {
        let mut running = Running {
            started: Instant::now(),
            monitor: Monitor::new(),
            link: None,
            call: None,
            unsent: None,
            driver: self,
        };
        running.feed(Input::Start);
        loop {
            match running.wait().await {
                Outcome::Linked(link) => {
                    running.link = Some(link);
                    running.feed(Input::Connected);
                }
                Outcome::Fact(input) => running.feed(input),
                Outcome::Nothing => {}
            }
        }
    }
}

impl<C: Connect> Running<C> {
    /// The next thing that happens.
    ///
    /// The order matters. The answer to a call comes before signals: where both
    /// are there, logind sent the answer first, and the lock must be in hand
    /// when the notice is taken in. The deadline comes before signals so that a
    /// flood of them cannot hold it up.
    async fn wait(&mut self) -> Outcome {
        let deadline = self.monitor.deadline().map(|at| self.started + at);
        tokio::select! {
            biased;
            Ok(permit) = self.driver.shutdowns.reserve(), if self.unsent.is_some() => {
                if let Some(shutdown) = self.unsent.take() {
                    permit.send(shutdown);
                }
                Outcome::Nothing
            }
            outcome = answer(&mut self.call) => {
                self.call = None;
                outcome
            }
            () = sleep_until(deadline) => Outcome::Fact(Input::Tick),
            input = next(&mut self.link) => Outcome::Fact(input),
        }
    }

    fn feed(&mut self, input: Input<Inhibitor>) {
        let now = Moment { at: self.started.elapsed(), jitter: (self.driver.jitter)() };
        for action in self.monitor.handle(now, input) {
            self.perform(action);
        }
        publish(&self.driver.statuses, self.monitor.condition());
    }

    fn perform(&mut self, action: Action<Inhibitor>) {
        match (action, &self.link) {
            (Action::Connect, _) => {
                self.call = Some(Box::pin(open(self.driver.connector.connect())));
            }
            (Action::Disconnect, _) => {
                self.link = None;
                self.call = None;
            }
            (Action::Announce(announcement), _) => self.keep(announcement),
            (Action::Lock, Some(link)) => {
                let call = link.lock(&self.driver.who, &self.driver.why);
                self.call = Some(Box::pin(async { Outcome::Fact(call.await) }));
            }
            (Action::Read, Some(link)) => {
                let call = link.read();
                self.call = Some(Box::pin(async { Outcome::Fact(call.await) }));
            }
            (Action::ReadLimit, Some(link)) => {
                let call = link.read_limit();
                self.call =
                    Some(Box::pin(async { call.await.map_or(Outcome::Nothing, Outcome::Fact) }));
            }
            // The machine asks only while connected.
            (Action::Lock | Action::Read | Action::ReadLimit, None) => {}
        }
    }

    /// Keeps an announcement until the server takes it. Where an earlier one was
    /// not taken yet, one of them is enough; a lock that comes with the other is
    /// not lost but handed on.
    fn keep(&mut self, announcement: Announcement<Inhibitor>) {
        let Announcement { hold, delay_limit } = announcement;
        let earlier = self.unsent.take().and_then(|shutdown| shutdown.hold);
        self.unsent = Some(HostShutdown { hold: hold.or(earlier), delay_limit });
    }
}

async fn open(connecting: BoxFuture<'static, zbus::Result<zbus::Connection>>) -> Outcome {
    let open = async { Link::open(connecting.await?).await };
    match tokio::time::timeout(CALL_TIMEOUT, open).await {
        Ok(Ok(link)) => Outcome::Linked(Box::new(link)),
        Ok(Err(error)) => Outcome::Fact(Input::ConnectFailed(no_bus(&error))),
        Err(_) => Outcome::Fact(Input::ConnectFailed(Trouble::Silent(CALL_TIMEOUT))),
    }
}

fn no_bus(error: &zbus::Error) -> Trouble {
    Trouble::NoBus(clipped(&error.to_string()))
}

async fn answer(call: &mut Option<BoxFuture<'static, Outcome>>) -> Outcome {
    match call {
        Some(call) => call.await,
        None => never().await,
    }
}

async fn next(link: &mut Option<Box<Link>>) -> Input<Inhibitor> {
    match link {
        Some(link) => link.next().await,
        None => never().await,
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => never().await,
    }
}

async fn never<T>() -> T {
    let never: Infallible = std::future::pending().await;
    match never {}
}

/// A status is published when it changed; a trouble keeps the time of its first try.
fn publish(statuses: &watch::Sender<Status>, condition: Condition) {
    statuses.send_if_modified(|status| {
        let now = match condition {
            Condition::Connecting => Status::Connecting,
            Condition::Armed => Status::Armed,
            Condition::Preparing => Status::Preparing,
            Condition::Denied => Status::Denied,
            Condition::Retrying(trouble) => {
                let since = match status {
                    Status::Retrying { since, .. } => *since,
                    _ => SystemTime::now(),
                };
                Status::Retrying { trouble, since }
            }
        };
        let changed = *status != now;
        *status = now;
        changed
    });
}

/// A number without meaning, different in each process and at each call.
pub(crate) fn jitter() -> u16 {
    use std::hash::{BuildHasher, RandomState};

    (RandomState::new().hash_one(()) & u64::from(u16::MAX)) as u16
}
