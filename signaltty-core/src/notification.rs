//! Notifications: the last 200, each with the time at which it was read.

use std::sync::Arc;
use std::time::Duration;

use crate::id::{NotificationId, PaneId};
use crate::pane::Attention;
use crate::time::UnixMillis;

/// How many notifications are kept; the oldest go first (S0-11).
pub const KEPT: usize = 200;

/// Longest body, in characters.
pub const BODY_CHARS: usize = 2_000;

/// How many notifications of programs are kept of one pane (OSC 9, 99 and 777);
/// its oldest go first, so that no program takes the place of everybody's.
pub const PROGRAM_KEPT: usize = 20;

/// So many of a pane's programs are taken at once.
pub const PROGRAM_BURST: u32 = 5;

/// After that one is taken in this time.
pub const PROGRAM_EVERY: Duration = Duration::from_secs(10);

/// Something that a person should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// Its id.
    pub id: NotificationId,
    /// The pane that it is about.
    pub pane: Option<PaneId>,
    /// One line, at most 200 characters.
    pub title: Arc<str>,
    /// More about it, at most 2,000 characters.
    pub body: Arc<str>,
    /// How bad it is.
    pub severity: Severity,
    /// When it came.
    pub created_at: UnixMillis,
    /// When a person read it.
    pub read_at: Option<UnixMillis>,
    /// A program in the pane printed it: its word, and nobody's report.
    pub from_program: bool,
}

/// How bad a notification is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// For information.
    Info,
    /// Something may be wrong.
    Warning,
    /// Something is wrong.
    Error,
}

impl Severity {
    /// Every value, in order.
    pub const ALL: &'static [Self] = &[Self::Info, Self::Warning, Self::Error];

    /// The text form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    /// How much a pane wants a person because of it.
    pub fn attention(self) -> Attention {
        match self {
            Self::Info => Attention::Unread,
            Self::Warning => Attention::Warning,
            Self::Error => Attention::Error,
        }
    }

    /// Reads the text form.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|severity| severity.as_str() == text)
    }
}
