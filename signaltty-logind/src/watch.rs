//! What a server uses: begin to watch, wait for the shutdown, ask how it goes.

use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;

use crate::driver::{Driver, jitter};
use crate::inhibitor::Inhibitor;
use crate::link::{Connect, ToBus};
use crate::status::Status;

/// How a watch is set up.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WatchConfig {
    /// Off with `SIGNALTTY_LOGIND=0` or in the configuration.
    pub enabled: bool,
    /// A D-Bus address. Without one it is the system bus, where
    /// `DBUS_SYSTEM_BUS_ADDRESS` says it is.
    pub address: Option<String>,
    /// Who the lock is for; people read it in `systemd-inhibit --list`.
    pub who: String,
    /// What the lock is for.
    pub why: String,
}

impl WatchConfig {
    /// A watch of the system bus that is on or off.
    pub fn new(enabled: bool) -> Self {
        Self {
            enabled,
            address: None,
            who: "signaltty".to_owned(),
            why: "Saving terminal sessions".to_owned(),
        }
    }

    /// The same on another bus.
    #[must_use]
    pub fn with_address(self, address: impl Into<String>) -> Self {
        Self { address: Some(address.into()), ..self }
    }
}

/// The host goes down.
#[derive(Debug)]
#[non_exhaustive]
pub struct HostShutdown {
    /// Drop it once the state is saved, whatever came of that. Empty where no
    /// lock was held: the host does not wait then.
    pub hold: Option<Inhibitor>,
    /// How long the host waits for all of its lock holders, where logind said so.
    pub delay_limit: Option<Duration>,
}

impl HostShutdown {
    /// How long a save may take before the lock should be released without it:
    /// three quarters of the host's limit, or of logind's default of five seconds.
    ///
    /// Without a lock the host may end the server at any time, so this is no
    /// promise then.
    pub fn save_budget(&self) -> Duration {
        let limit = self.delay_limit.unwrap_or(DEFAULT_DELAY);
        limit - limit / 4
    }
}

/// Watches for a host shutdown. Dropping it ends the watch and releases the lock.
#[derive(Debug)]
pub struct ShutdownWatch {
    statuses: watch::Receiver<Status>,
    /// Empty while disabled.
    task: Option<Task>,
}

#[derive(Debug)]
struct Task {
    shutdowns: mpsc::Receiver<HostShutdown>,
    abort: AbortHandle,
}

/// Begins to watch, and returns before anything is connected.
///
/// While disabled, or outside of a tokio runtime, or where there is no systemd
/// to ask, there is no task and no connection, and the status says why.
pub fn watch(config: WatchConfig) -> ShutdownWatch {
    if !config.enabled {
        return ShutdownWatch::disabled("switched off");
    }
    if !cfg!(target_os = "linux") {
        return ShutdownWatch::disabled("there is no logind on this system");
    }
    let connector = ToBus { address: config.address.clone() };
    watch_through(connector, config, jitter)
}

/// The same with another way to connect.
pub(crate) fn watch_through(
    connector: impl Connect + Sync,
    config: WatchConfig,
    jitter: fn() -> u16,
) -> ShutdownWatch {
    let Ok(runtime) = Handle::try_current() else {
        return ShutdownWatch::disabled("started outside of a runtime");
    };
    let (status, statuses) = watch::channel(Status::Connecting);
    let (shutdown, shutdowns) = mpsc::channel(1);
    let WatchConfig { who, why, .. } = config;
    let driver = Driver { connector, who, why, jitter, statuses: status, shutdowns: shutdown };
    let abort = runtime.spawn(driver.run()).abort_handle();
    ShutdownWatch { statuses, task: Some(Task { shutdowns, abort }) }
}

impl ShutdownWatch {
    fn disabled(why: &'static str) -> Self {
        let (_, statuses) = watch::channel(Status::Disabled(why));
        Self { statuses, task: None }
    }

    #[cfg(test)]
    pub(crate) fn abort(&self) {
        if let Some(task) = &self.task {
            task.abort.abort();
        }
    }

    /// What it is doing.
    pub fn status(&self) -> Status {
        if self.task.is_some() && self.statuses.has_changed().is_err() {
            return Status::Disabled("the watch ended unexpectedly");
        }
        self.statuses.borrow().clone()
    }

    /// The status as it changes. It closes with the watch.
    pub fn statuses(&self) -> watch::Receiver<Status> {
        self.statuses.clone()
    }

    /// Waits for the next shutdown of the host; for ever while disabled.
    ///
    /// May be dropped and called again without losing one. It comes again only
    /// if the host took the first shutdown back.
    pub async fn next(&mut self) -> HostShutdown {
        if let Some(task) = &mut self.task
            && let Some(shutdown) = task.shutdowns.recv().await
        {
            return shutdown;
        }
        std::future::pending().await
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.abort.abort();
    }
}

/// How long logind waits where its configuration does not say otherwise.
const DEFAULT_DELAY: Duration = Duration::from_secs(5);
