//! The value that may be persisted.
//!
//! Records are shared, so taking it costs a few reference counts and the
//! event loop does not pause for a save. What has no field here is never
//! saved: instances, wait baselines, permission waits, zoom, search.

use std::sync::Arc;

use crate::notification::Notification;
use crate::pane::SavedPane;
use crate::time::UnixMillis;
use crate::workspace::{SavedTab, SavedWorkspace};

/// A session at one moment, without anything that dies with the server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SavedSession {
    /// When it was taken.
    pub saved_at: UnixMillis,
    /// The last event that had been published.
    pub journal_seq: u64,
    /// Workspaces, in the order in which people see them.
    pub workspaces: Vec<Arc<SavedWorkspace>>,
    /// Tabs, in order within their workspace.
    pub tabs: Vec<Arc<SavedTab>>,
    /// Panes, each in exactly one tab.
    pub panes: Vec<Arc<SavedPane>>,
    /// The newest notifications, oldest first.
    pub notifications: Vec<Arc<Notification>>,
    /// The person closed the last workspace, so that this is empty on purpose
    /// (P9). Not saved.
    pub emptied_by_user: bool,
}

impl SavedSession {
    /// Whether there is nothing in it that a person could miss.
    pub fn is_empty(&self) -> bool {
        self.workspaces.is_empty()
    }
}
