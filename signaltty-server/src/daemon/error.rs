//! Why a server does not start, or ended.

use std::io;

use signaltty_adapters::RegistryError;
use signaltty_persist::{LoadError, OpenError};

use super::listener::ListenError;
use crate::config::SettingsError;

/// Why a server did not start, or did not end as asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The state directory cannot be used.
    #[error(transparent)]
    StateDir(#[from] OpenError),
    /// There is a state that this build must not touch (D-5).
    #[error(transparent)]
    Refused(#[from] LoadError),
    /// There is no socket to listen on.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// Two adapters for one agent.
    #[error(transparent)]
    Adapter(#[from] RegistryError),
    /// The configuration is not understood.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// What to log is not understood.
    #[error(
        "--log {0}; say a level such as `debug`, or one for each part: \
         `info,signaltty_server=debug`"
    )]
    Log(String),
    /// Threads or signals could not be set up.
    #[error("cannot {what}: {source}")]
    Setup {
        /// What.
        what: &'static str,
        /// Why.
        source: io::Error,
    },
    /// It ended as asked, and its last save failed.
    #[error(
        "the last save failed; what changed since the last good one is lost (the log says why)"
    )]
    NotSaved,
    /// The loop panicked; a bug. What was saved before is there.
    #[error("a bug: the server's loop panicked; see the log")]
    Panicked,
}

impl ServerError {
    /// The exit code of the process: 6 where a state directory is locked or must
    /// not be touched, 2 for a configuration or an option that is not understood, else 1.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::StateDir(_) | Self::Refused(_) => 6,
            Self::Settings(_) | Self::Log(_) => 2,
            _ => 1,
        }
    }
}
