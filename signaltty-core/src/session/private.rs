//! What a person keeps off the disk, and takes off it again (D-30).
//!
//! All of it is decided here: a shell asks and performs.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::structure::program_name;
use super::{Effect, Event, PaneEntry, Reply, Session, publish, reply};
use crate::id::{PaneId, RequestId, TabId, WorkspaceId};
use crate::notification::Notification;
use crate::pane::SavedPane;
use crate::saved::SavedSession;
use crate::session::CommandError;
use crate::time::Now;

/// What is to be forgotten: all that was said and shown in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Forget {
    /// These panes, also where they are closed.
    pub panes: BTreeSet<PaneId>,
    /// All panes that these workspaces have, or had in an older snapshot.
    pub workspaces: BTreeSet<WorkspaceId>,
}

/// What was removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Forgotten {
    /// Panes of which something may have been there.
    pub panes: usize,
    /// Saved outputs that were removed.
    pub tails: usize,
    /// Recorded events whose payloads were removed.
    pub records: usize,
    /// Older snapshots from which something was taken out.
    pub snapshots: usize,
    /// Files that name such a pane and could not be changed, for people.
    pub left: Vec<Arc<str>>,
}

impl Session {
    /// Whether output and messages of a pane may be kept on disk.
    pub fn keeps_history(&self, pane: PaneId) -> bool {
        let tab = self.panes.get(&pane).and_then(|entry| self.tabs.get(&entry.record.tab));
        let workspace = tab.and_then(|tab| self.workspaces.get(&tab.workspace));
        workspace.is_some_and(|entry| entry.record.switches.history)
    }

    /// Whether the texts of an event may be recorded. They are published in
    /// either case.
    pub fn records_texts(&self, event: &Event) -> bool {
        match event {
            Event::ResumeFailed { pane, .. }
            | Event::ContinuationFailed { pane, .. }
            | Event::ResumeVerdict { pane, .. } => self.keeps_history(*pane),
            _ => true,
        }
    }

    /// A pane as it may be saved.
    pub(super) fn saved_pane(entry: &PaneEntry, history: bool) -> Arc<SavedPane> {
        let mut record = Arc::clone(&entry.record);
        if !history {
            silence(Arc::make_mut(&mut record), "what was said of it is not kept");
        }
        record
    }

    /// The notifications as they may be saved.
    pub(super) fn saved_notifications(&self) -> Vec<Arc<Notification>> {
        // Those of a pane that is closed were taken care of then.
        let private = |pane: &PaneId| self.panes.contains_key(pane) && !self.keeps_history(*pane);
        let saved = self.notifications.iter().map(|notification| {
            let mut saved = Arc::clone(notification);
            if saved.pane.as_ref().is_some_and(private) {
                withhold(Arc::make_mut(&mut saved));
            }
            saved
        });
        saved.collect()
    }

    /// A pane is about to be closed: nothing will say any more that its words
    /// are kept off the disk, so they go with it.
    pub(super) fn close_words(&mut self, pane: PaneId) {
        if self.keeps_history(pane) {
            return;
        }
        for notification in self.notifications.iter_mut().filter(|n| n.pane == Some(pane)) {
            withhold(Arc::make_mut(notification));
        }
    }

    /// The same of all panes of a tab.
    pub(super) fn close_words_in(&mut self, tab: TabId) {
        let panes: Vec<_> =
            self.tabs.get(&tab).into_iter().flat_map(|t| t.layout.leaves()).collect();
        panes.into_iter().for_each(|pane| self.close_words(pane));
    }

    /// Takes out of the session what panes said, and has the rest removed once
    /// that is saved.
    pub(super) fn forget(
        &mut self,
        now: Now,
        request: RequestId,
        mut what: Forget,
        out: &mut Vec<Effect>,
    ) {
        for workspace in &what.workspaces {
            let tabs = self.workspaces.get(workspace).map(|entry| entry.tabs.as_slice());
            let tabs = tabs.into_iter().flatten().filter_map(|tab| self.tabs.get(tab));
            what.panes.extend(tabs.flat_map(|tab| tab.layout.leaves()));
        }
        for pane in &what.panes {
            let Some(entry) = self.panes.get_mut(pane) else {
                continue;
            };
            silence(Arc::make_mut(&mut entry.record), FORGOTTEN);
            entry.run.heard.message = None;
            publish(out, Event::PaneUpdated { pane: *pane });
        }
        self.notifications.retain(|n| n.pane.is_none_or(|pane| !what.panes.contains(&pane)));
        self.save.changed(now.mono);
        // What is removed afterwards must not come back with an older snapshot.
        self.save.require_barrier();
        out.push(Effect::Forget { request, what });
    }

    pub(super) fn forgotten(
        request: RequestId,
        result: Result<Forgotten, Arc<str>>,
        out: &mut Vec<Effect>,
    ) {
        let result = result.map(Reply::Forgotten).map_err(CommandError::NotForgotten);
        reply(out, request, result);
    }
}

impl Forget {
    /// Takes out of a saved session what such panes said. Gives the panes, and
    /// whether anything was there.
    pub fn silence(&self, session: &mut SavedSession) -> (BTreeSet<PaneId>, bool) {
        let tabs = session.tabs.iter().filter(|tab| self.workspaces.contains(&tab.workspace));
        let tabs: BTreeSet<_> = tabs.map(|tab| tab.id).collect();
        let mut panes = self.panes.clone();
        let inside = session.panes.iter().filter(|pane| tabs.contains(&pane.tab));
        panes.extend(inside.map(|pane| pane.id));
        let mut changed = false;
        for pane in session.panes.iter_mut().filter(|pane| panes.contains(&pane.id)) {
            let mut quiet = SavedPane::clone(pane);
            silence(&mut quiet, FORGOTTEN);
            if quiet != **pane {
                *pane = Arc::new(quiet);
                changed = true;
            }
        }
        let before = session.notifications.len();
        session.notifications.retain(|n| n.pane.is_none_or(|pane| !panes.contains(&pane)));
        (panes, changed || session.notifications.len() < before)
    }
}

/// Takes out what a notification says: that there was one stays.
fn withhold(notification: &mut Notification) {
    notification.body = Arc::from("");
    notification.title = Arc::from(match notification.from_program {
        true => "a program's notification",
        false => "a notification",
    });
}

const FORGOTTEN: &str = "what was said of it was forgotten";

/// Takes out what a pane's program said, in the title that it gave itself too.
/// What a person called it stays.
fn silence(record: &mut SavedPane, instead: &str) {
    record.last_message = None;
    if !record.titled_by_user {
        record.title = program_name(&record.argv);
    }
    let failure = record.agent.as_mut().and_then(|agent| agent.last_failure.as_mut());
    if let Some(failure) = failure {
        failure.refusal.message = Arc::from(instead);
    }
}
