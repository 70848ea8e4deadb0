//! Notices of a host shutdown, with the delay lock held until the state is
//! saved.
//!
//! This version holds the types and the switched-off path: a [`ShutdownWatch`]
//! that never reports anything and says so in its [`Status`]. Nothing connects
//! to a bus yet, so a reboot reaches the server as SIGTERM only.
//!
//! ```
//! use signaltty_logind::{Status, WatchConfig, watch};
//!
//! let watch = watch(WatchConfig::new(false));
//! assert!(matches!(watch.status(), Status::Disabled(_)));
//! ```
#![forbid(unsafe_code)]

use std::os::fd::OwnedFd;

/// How a watch is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct WatchConfig {
    /// Off with `SIGNALTTY_LOGIND=0` or in the configuration.
    pub enabled: bool,
}

impl WatchConfig {
    /// A watch that is on or off.
    pub fn new(enabled: bool) -> Self {
        Self { enabled }
    }
}

/// What a watch is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// It does nothing, for this reason.
    Disabled(&'static str),
    /// It holds the lock and waits.
    Armed,
    /// The host goes down.
    Preparing,
    /// The lock was refused; notices still arrive.
    Denied,
    /// The bus or logind is away; it tries again.
    Retrying,
}

impl Status {
    /// One word for `status`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Disabled(_) => "disabled",
            Self::Armed => "armed",
            Self::Preparing => "preparing",
            Self::Denied => "denied",
            Self::Retrying => "retrying",
        }
    }
}

/// The delay lock. The host waits, within its own limit, until this is dropped.
#[derive(Debug)]
pub struct Inhibitor {
    _lock: OwnedFd,
}

impl Inhibitor {
    /// Takes over the descriptor that logind handed out.
    pub fn new(lock: OwnedFd) -> Self {
        Self { _lock: lock }
    }
}

/// The host goes down.
#[derive(Debug)]
#[non_exhaustive]
pub struct HostShutdown {
    /// Drop it once the state is saved, whatever came of that. Empty where the
    /// lock was refused: the host does not wait then.
    pub hold: Option<Inhibitor>,
}

/// Watches for a host shutdown.
#[derive(Debug)]
pub struct ShutdownWatch {
    status: Status,
}

/// Begins to watch.
pub fn watch(config: WatchConfig) -> ShutdownWatch {
    let reason = if config.enabled {
        "this version does not watch for host shutdowns"
    } else {
        "switched off"
    };
    ShutdownWatch { status: Status::Disabled(reason) }
}

impl ShutdownWatch {
    /// What it is doing.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// Waits for the next shutdown of the host; for ever while disabled.
    pub async fn next(&mut self) -> HostShutdown {
        std::future::pending().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s0_31_a_switched_off_watch_says_why() {
        let on = watch(WatchConfig::new(true));
        let off = watch(WatchConfig::new(false));
        assert_eq!(off.status(), &Status::Disabled("switched off"));
        assert_ne!(on.status(), off.status());
        assert_eq!(off.status().as_str(), "disabled");
    }
}
