//! What stays off the disk because a person said so (D-30).

use std::collections::BTreeSet;
use std::sync::Arc;

use signaltty_core::id::{PaneId, WorkspaceId};
use signaltty_core::saved::SavedSession;
use signaltty_core::session::Event;

use super::event_loop::Daemon;
use super::publisher::Messages;

impl Daemon {
    /// Whether an event's texts may be recorded.
    pub(crate) fn messages_of(&self, event: &Event) -> Messages {
        let pane = match event {
            Event::ResumeFailed { pane, .. }
            | Event::ContinuationFailed { pane, .. }
            | Event::ResumeVerdict { pane, .. } => *pane,
            _ => return Messages::Recorded,
        };
        if self.keeps_history(pane) { Messages::Recorded } else { Messages::Withheld }
    }
}

/// Takes out what panes of workspaces without history said.
pub(crate) fn withhold(session: &mut SavedSession) {
    let off = |w: &&Arc<_>| -> bool {
        let workspace: &signaltty_core::workspace::SavedWorkspace = w;
        !workspace.switches.history
    };
    let workspaces: BTreeSet<WorkspaceId> =
        session.workspaces.iter().filter(off).map(|workspace| workspace.id).collect();
    if workspaces.is_empty() {
        return;
    }
    let tabs: BTreeSet<_> = session
        .tabs
        .iter()
        .filter(|tab| workspaces.contains(&tab.workspace))
        .map(|tab| tab.id)
        .collect();
    let panes: BTreeSet<PaneId> =
        session.panes.iter().filter(|pane| tabs.contains(&pane.tab)).map(|pane| pane.id).collect();
    for pane in &mut session.panes {
        if panes.contains(&pane.id) && pane.last_message.is_some() {
            Arc::make_mut(pane).last_message = None;
        }
    }
    for notification in &mut session.notifications {
        if notification.pane.is_some_and(|pane| panes.contains(&pane)) {
            Arc::make_mut(notification).body = Arc::from("");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d30_without_history_nothing_that_was_said_is_saved() {
        let file = include_bytes!("../../../signaltty-persist/tests/fixtures/v1.json");
        let before = signaltty_persist::schema::from_json(file).unwrap().session;
        let mut kept = before.clone();
        withhold(&mut kept);
        assert_eq!(kept, before);
        assert!(before.panes.iter().any(|pane| pane.last_message.is_some()));
        assert!(before.notifications.iter().any(|n| n.pane.is_some() && !n.body.is_empty()));
        let mut off = before.clone();
        for workspace in &mut off.workspaces {
            Arc::make_mut(workspace).switches.history = false;
        }
        withhold(&mut off);
        assert!(off.panes.iter().all(|pane| pane.last_message.is_none()));
        let said = off.notifications.iter().filter(|n| n.pane.is_some() && !n.body.is_empty());
        assert_eq!(said.count(), 0);
        assert_eq!(off.panes.len(), before.panes.len());
    }
}
