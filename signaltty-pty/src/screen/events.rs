//! What a program told its terminal besides what to draw.

use std::path::PathBuf;

use super::osc::Begun;

/// Something a program told its terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScreenEvent {
    /// The title changed; `None` when the terminal was reset.
    Title(Option<String>),
    /// The bell rang.
    Bell,
    /// The program says where it works (OSC 7). Whoever uses it decides whether
    /// `host` is this machine.
    Cwd {
        /// The host of the URL, often empty.
        host: String,
        /// The directory.
        path: PathBuf,
    },
    /// The program wants to notify its person (OSC 9, 99 or 777).
    Notification {
        /// A title, where the sequence has one.
        title: Option<String>,
        /// The text.
        body: String,
    },
}

/// Events and answers on their way out. Both are bounded: a newer title,
/// directory or bell replaces the older one, the oldest notification goes when
/// there are too many, and answers that do not fit are not given.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    events: Vec<ScreenEvent>,
    answers: Vec<u8>,
    attached: bool,
    /// A notification of which more is to come.
    pub(super) begun: Begun,
}

impl Outbox {
    pub(crate) fn post(&mut self, event: ScreenEvent) {
        use ScreenEvent::{Bell, Cwd, Notification, Title};
        self.events.retain(|old| {
            !matches!((old, &event), (Title(_), Title(_)) | (Bell, Bell) | (Cwd { .. }, Cwd { .. }))
        });
        if self.events.len() >= MAX_EVENTS {
            let oldest = self.events.iter().position(|old| matches!(old, Notification { .. }));
            self.events.remove(oldest.unwrap_or(0));
        }
        self.events.push(event);
    }

    pub(crate) fn take_events(&mut self) -> Vec<ScreenEvent> {
        std::mem::take(&mut self.events)
    }

    pub(crate) fn answer(&mut self, bytes: &[u8]) {
        if !self.attached && self.answers.len() + bytes.len() <= MAX_ANSWERS {
            self.answers.extend_from_slice(bytes);
        }
    }

    pub(crate) fn take_answers(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.answers)
    }

    pub(crate) fn set_attached(&mut self, attached: bool) {
        self.attached = attached;
        if attached {
            self.answers = Vec::new();
        }
    }
}

const MAX_EVENTS: usize = 32;
const MAX_ANSWERS: usize = 4 * 1024;
