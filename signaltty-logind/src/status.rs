//! What a watch tells about itself.

use std::time::{Duration, SystemTime};

/// What a watch is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// It does nothing, for this reason.
    Disabled(&'static str),
    /// It has not had an answer yet.
    Connecting,
    /// It holds the lock and waits.
    Armed,
    /// The host goes down, and the server has been told.
    Preparing,
    /// The lock was refused; notices still arrive, but the host does not wait.
    Denied,
    /// The bus or logind is away; it tries again.
    Retrying {
        /// What went wrong last.
        trouble: Trouble,
        /// When the first of these tries failed.
        since: SystemTime,
    },
}

impl Status {
    /// One word for `status`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Disabled(_) => "disabled",
            Self::Connecting => "connecting",
            Self::Armed => "armed",
            Self::Preparing => "preparing",
            Self::Denied => "denied",
            Self::Retrying { .. } => "retrying",
        }
    }

    /// More about it, for a person.
    pub fn detail(&self) -> Option<String> {
        match self {
            Self::Disabled(why) => Some((*why).to_owned()),
            Self::Denied => Some("logind refused the lock; the host will not wait".to_owned()),
            Self::Retrying { trouble, .. } => Some(trouble.to_string()),
            Self::Connecting | Self::Armed | Self::Preparing => None,
        }
    }
}

/// Why a watch is not armed.
///
/// Texts that came over the bus are cut to 200 characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Trouble {
    /// The bus is not there, or refused the connection.
    #[error("the system bus cannot be reached: {0}")]
    NoBus(String),
    /// The connection ended: the bus was stopped or restarted.
    #[error("the connection to the system bus ended")]
    Disconnected,
    /// The bus or logind took too long.
    #[error("no answer within {} s", .0.as_secs())]
    Silent(Duration),
    /// logind is not on the bus.
    #[error("logind is not on the bus")]
    NoLogind,
    /// logind, or the bus for it, answered with an error.
    #[error("logind answered: {0}")]
    Refused(String),
}

/// Texts of other programs, short enough to keep and to show.
pub(crate) fn clipped(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(CLIP).collect()
}

const CLIP: usize = 200;
