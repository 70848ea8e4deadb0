//! From what a person types to an id: an id, a unique prefix of one, or a
//! workspace's handle.

use std::collections::HashSet;
use std::fmt::Display;

use serde_json::json;
use signaltty_core::id::{NotificationId, PaneId, TabId, WorkspaceId};
use signaltty_core::session::{Forget, Session, WorkspaceView};

use crate::nearest::{mistyped, nearest};
use crate::protocol::{WireError, code};

/// How many candidates an error names.
const NAMED: usize = 8;

/// The pane that `text` names. A workspace's handle stands for the pane that
/// has the focus in it.
pub(crate) fn pane(session: &Session, text: &str) -> Result<PaneId, WireError> {
    // Scripts give whole ids, which need no look at every pane.
    if let Some(id) = text.parse().ok().filter(|id| session.pane(*id).is_some()) {
        return Ok(id);
    }
    if let Some(id) = one(session.pane_ids(), text, "pane", PaneId::PREFIX)? {
        return Ok(id);
    }
    let focused = session.workspace_by_name(text).and_then(|id| {
        let workspace = session.workspaces().find(|w| w.record.id == id)?;
        let tab = session.tab(workspace.record.active_tab?)?;
        Some(tab.record.active_pane)
    });
    focused.ok_or_else(|| missing(session, code::NO_SUCH_PANE, "pane", PaneId::PREFIX, text))
}

/// The tab that `text` names. A workspace's handle stands for its active tab.
pub(crate) fn tab(session: &Session, text: &str) -> Result<TabId, WireError> {
    if let Some(id) = one(session.tab_ids(), text, "tab", TabId::PREFIX)? {
        return Ok(id);
    }
    let active = session.workspace_by_name(text).and_then(|id| {
        session.workspaces().find(|w| w.record.id == id).and_then(|w| w.record.active_tab)
    });
    active.ok_or_else(|| missing(session, code::NO_SUCH_TAB, "tab", TabId::PREFIX, text))
}

/// The workspace that `text` names.
pub(crate) fn workspace(session: &Session, text: &str) -> Result<WorkspaceId, WireError> {
    if let Some(id) = session.workspace_by_name(text) {
        return Ok(id);
    }
    let ids = session.workspaces().map(|workspace| workspace.record.id);
    one(ids, text, "workspace", WorkspaceId::PREFIX)?.ok_or_else(|| {
        missing(session, code::NO_SUCH_WORKSPACE, "workspace", WorkspaceId::PREFIX, text)
    })
}

/// The notification that `text` names.
pub(crate) fn notification(session: &Session, text: &str) -> Result<NotificationId, WireError> {
    let ids = session.notifications().map(|notification| notification.id);
    one(ids, text, "notification", NotificationId::PREFIX)?.ok_or_else(|| {
        let message = format!(
            "there is no notification {:?}; `signaltty notifications` lists the newest 200",
            shown(text)
        );
        WireError::new(code::NO_SUCH_NOTIFICATION, message)
    })
}

/// What `text` names, to be forgotten: a workspace by its handle or id, or a
/// pane. A whole id is taken also where nothing that is open has it.
pub(crate) fn forget(session: &Session, text: &str) -> Result<Forget, WireError> {
    let of_pane = |id| Forget { panes: [id].into(), ..Forget::default() };
    let of_workspace = |id| Forget { workspaces: [id].into(), ..Forget::default() };
    if let Ok(id) = text.parse() {
        return Ok(of_pane(id));
    }
    if let Ok(id) = text.parse() {
        return Ok(of_workspace(id));
    }
    if let Some(id) = session.workspace_by_name(text) {
        return Ok(of_workspace(id));
    }
    let found = one(session.pane_ids(), text, "pane", PaneId::PREFIX)?;
    if let Some(id) = found.filter(|_| !text.starts_with(WorkspaceId::PREFIX)) {
        return Ok(of_pane(id));
    }
    match workspace(session, text) {
        Ok(id) => Ok(of_workspace(id)),
        Err(error) if text.starts_with(WorkspaceId::PREFIX) => Err(error),
        Err(_) => Err(missing(session, code::NO_SUCH_PANE, "pane", PaneId::PREFIX, text)),
    }
}

/// The id that is `text` or begins with it, with its prefix or without.
fn one<I: Display>(
    ids: impl Iterator<Item = I>,
    text: &str,
    kind: &str,
    prefix: &str,
) -> Result<Option<I>, WireError> {
    let random = text.strip_prefix(prefix).unwrap_or(text);
    if random.is_empty() || !random.bytes().all(|b| matches!(b, b'a'..=b'z' | b'2'..=b'7')) {
        return Ok(None);
    }
    let wanted = format!("{prefix}{random}");
    let mut found: Vec<_> =
        ids.map(|id| (id.to_string(), id)).filter(|(text, _)| text.starts_with(&wanted)).collect();
    if let Some(exact) = found.iter().position(|(text, _)| *text == wanted) {
        return Ok(Some(found.swap_remove(exact).1));
    }
    if found.len() < 2 {
        return Ok(found.pop().map(|(_, id)| id));
    }
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    let candidates: Vec<_> = found.iter().take(NAMED).map(|(text, _)| text.clone()).collect();
    let message = format!(
        "{shown:?} fits {} {kind}s: {}; give more of the id",
        found.len(),
        candidates.join(", "),
        shown = shown(text)
    );
    let details = json!({"candidates": candidates});
    Err(WireError::new(code::AMBIGUOUS, message).with_details(details))
}

fn missing(session: &Session, code: &str, kind: &str, prefix: &str, text: &str) -> WireError {
    let message = format!(
        "there is no {kind} {:?}; give an id such as {prefix}…, the beginning of one, or a \
         workspace's handle (`signaltty ls` shows them)",
        shown(text)
    );
    WireError::new(code, message).with_details(json!({"near": near(session, prefix, text)}))
}

/// What was most likely meant, as something that can be given instead: a handle, or
/// the id of a pane or a tab that is called so.
fn near(session: &Session, prefix: &str, text: &str) -> Vec<String> {
    let mut near = Vec::new();
    if text.len() > LONGEST {
        return near;
    }
    let handles: Vec<_> = session.workspaces().map(|w| w.record.handle.to_string()).collect();
    near.extend(nearest(text, handles.iter().map(String::as_str)).map(str::to_owned));
    let (mut ids, mut titles) = (Vec::new(), Vec::new());
    if near.is_empty() {
        // Handles are made of names: these are only asked where no handle is near.
        let named = |(workspace, handle): (WorkspaceView<'_>, &String)| {
            (workspace.record.name.to_string(), handle.clone())
        };
        titles.extend(session.workspaces().zip(&handles).map(named));
    }
    if prefix == WorkspaceId::PREFIX {
        ids.extend(session.workspaces().map(|w| w.record.id.to_string()));
    }
    if prefix == TabId::PREFIX {
        ids.extend(session.tab_ids().map(|id| id.to_string()));
        let tabs = session.tab_ids().filter_map(|id| session.tab(id));
        titles.extend(tabs.map(|tab| (tab.record.title.to_string(), tab.record.id.to_string())));
    }
    if prefix == PaneId::PREFIX {
        ids.extend(session.pane_ids().map(|id| id.to_string()));
        let panes = session.pane_ids().filter_map(|id| session.pane(id));
        titles
            .extend(panes.map(|pane| (pane.record.title.to_string(), pane.record.id.to_string())));
    }
    let random = text.strip_prefix(prefix).unwrap_or(text);
    let bare = ids.iter().filter_map(|id| id.strip_prefix(prefix));
    near.extend(mistyped(random, bare).map(|id| format!("{prefix}{id}")));
    // Of many panes only some are compared, since others wait for the answer; those
    // that are called so exactly are found among all.
    let wanted = text.to_lowercase();
    let short = titles.iter().filter(|(title, _)| title.len() <= LONGEST);
    let called = nearest(text, short.take(COMPARED).map(|(title, _)| title.as_str()));
    let so = |title: &str| title.to_lowercase() == wanted || Some(title) == called;
    near.extend(titles.iter().filter(|(title, _)| so(title)).map(|(_, id)| id.clone()));
    let mut seen = HashSet::new();
    near.retain(|id| seen.insert(id.clone()));
    near.truncate(NAMED);
    near
}

/// Names that are longer are no typing errors.
const LONGEST: usize = 60;

/// Titles that are compared with what was typed.
const COMPARED: usize = 1000;

fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}
