//! Snapshots that were edited, and what must hold of every session.

use serde_json::Value;
use signaltty_core::saved::SavedSession;
use signaltty_persist::Problem;
use signaltty_persist::schema::{Header, from_json, to_json};

use super::session;

/// A session as a JSON value, changed, and read again.
pub(crate) fn changed(panes: &[u8], change: impl Fn(&mut Value)) -> (SavedSession, Vec<Problem>) {
    let bytes = to_json(&session("api", panes), &Header::default()).unwrap();
    let mut value: Value = serde_json::from_slice(&bytes).unwrap();
    change(&mut value);
    let mut decoded = from_json(value.to_string().as_bytes()).unwrap();
    // The tests here break the checksum on purpose.
    assert_eq!(decoded.problems.remove(0), Problem::EditedOrDamaged);
    assert_sound(&decoded.session);
    (decoded.session, decoded.problems)
}

/// Every pane is in exactly one tab, every tab in a workspace, handles are
/// unique, and what is active exists.
pub(crate) fn assert_sound(session: &SavedSession) {
    for pane in &session.panes {
        let places = session.tabs.iter().filter(|tab| tab.layout.contains(pane.id)).count();
        assert_eq!(places, 1, "{}", pane.id);
        assert!(session.tabs.iter().any(|tab| tab.id == pane.tab && tab.layout.contains(pane.id)));
    }
    let leaves: usize = session.tabs.iter().map(|tab| tab.layout.len()).sum();
    assert_eq!(leaves, session.panes.len());
    for tab in &session.tabs {
        assert!(session.workspaces.iter().any(|workspace| workspace.id == tab.workspace));
        assert!(tab.layout.contains(tab.active_pane));
    }
    for (n, workspace) in session.workspaces.iter().enumerate() {
        let tabs: Vec<_> =
            session.tabs.iter().filter(|tab| tab.workspace == workspace.id).map(|t| t.id).collect();
        assert_eq!(workspace.active_tab.is_some(), !tabs.is_empty());
        assert!(workspace.active_tab.is_none_or(|tab| tabs.contains(&tab)));
        assert!(!workspace.handle.is_empty());
        assert!(session.workspaces[..n].iter().all(|other| other.handle != workspace.handle));
    }
}
