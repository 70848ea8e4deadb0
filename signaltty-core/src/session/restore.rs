//! From a saved session to a running one in which nothing runs (R1).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::panes::Keys;
use super::spaced::Spaced;
use super::watch::Watch;
use super::{Config, PaneEntry, Run, Session, WorkspaceEntry};
use crate::id::ServerEpoch;
use crate::pane::{Lifecycle, SavedPane};
use crate::restore::{PaneState, RepairProblem, classify, repair};
use crate::saved::SavedSession;
use crate::time::Now;
use crate::workspace::Naming;

impl Session {
    /// Rebuilds a session. Every pane is a tombstone; lifecycle and attention
    /// are as saved (D-28). Starts nothing.
    ///
    /// Takes any value: what does not fit together is [repaired](repair), and
    /// the problems say what.
    pub fn restore(
        saved: SavedSession,
        epoch: ServerEpoch,
        config: Config,
        now: Now,
    ) -> (Self, Vec<RepairProblem>) {
        let journal_seq = saved.journal_seq;
        let (saved, problems) = repair(saved.into(), &config.layout);
        let mut session = Self::rebuild(saved, epoch, config, now);
        session.journal_seq = journal_seq;
        if !problems.is_empty() {
            session.save.changed(now.mono);
        }
        for problem in &problems {
            use RepairProblem::{LayoutRepaired, TabRecovered};
            if let LayoutRepaired { tab, .. } | TabRecovered { tab, .. } = problem {
                // Nothing runs, so this only sets sizes.
                session.resize_tab(*tab, &mut Vec::new());
            }
        }
        session.panes.refresh();
        (session, problems)
    }

    fn rebuild(saved: SavedSession, epoch: ServerEpoch, config: Config, now: Now) -> Self {
        let mut session = Self::new(epoch, config);
        session.notifications = saved.notifications;
        let mut tabs_of: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for tab in saved.tabs {
            tabs_of.entry(tab.workspace).or_default().push(tab.id);
            session.tabs.insert(tab.id, tab);
        }
        for mut record in saved.workspaces {
            if record.naming == Naming::Generating {
                Arc::make_mut(&mut record).naming = Naming::Failed;
                session.save.changed(now.mono);
            }
            session.order.push(record.id);
            session.handles.insert(Arc::clone(&record.handle), record.id);
            let tabs = tabs_of.remove(&record.id).unwrap_or_default();
            session.workspaces.insert(record.id, WorkspaceEntry { record, tabs });
        }
        for mut record in saved.panes {
            if was_interrupted(&record) {
                if let Some(agent) = &mut Arc::make_mut(&mut record).agent {
                    agent.interrupted = true;
                    if agent.turns.active().is_none() {
                        // Saved before turns were counted.
                        let _ = agent.turns.begin();
                    }
                }
                session.save.changed(now.mono);
            }
            if question_expired(&record)
                && let Some(agent) = &mut Arc::make_mut(&mut record).agent
            {
                agent.question_expired = true;
                session.save.changed(now.mono);
            }
            let state = PaneState::Tombstone(classify(record.end.as_ref(), record.agent.as_ref()));
            session.panes.insert(
                record.id,
                PaneEntry {
                    record,
                    state,
                    run: Run::default(),
                    watch: Watch::default(),
                    decision: None,
                    attempt: None,
                    receipt: None,
                    spaced: Spaced::default(),
                    keys: Keys::default(),
                },
            );
        }
        session
    }
}

/// It waited for a person's answer when its process went, and that is not noted
/// yet. Nobody can give that answer any more (S0-42).
fn question_expired(pane: &SavedPane) -> bool {
    use crate::pane::Attention::{InputRequired, PermissionRequired};
    let asked = pane.lifecycle == Lifecycle::Blocked
        || matches!(pane.attention, InputRequired | PermissionRequired);
    let by_user = pane.end.is_some_and(|end| end.cause == crate::pane::EndCause::User);
    asked && !by_user && pane.agent.as_ref().is_some_and(|agent| !agent.question_expired)
}

/// A turn was under way when the server went, and that is not noted yet.
fn was_interrupted(pane: &SavedPane) -> bool {
    let working = matches!(pane.lifecycle, Lifecycle::Working | Lifecycle::Blocked);
    pane.end.is_none() && working && pane.agent.as_ref().is_some_and(|agent| !agent.interrupted)
}
