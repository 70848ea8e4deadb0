//! What is saved of a session, and when.

use std::sync::Arc;

use super::{Effect, Phase, Session};
use crate::save::Durability;
use crate::saved::SavedSession;
use crate::time::Now;

impl Session {
    /// The value that may be persisted. Without the messages of workspaces that
    /// keep no history (D-30).
    pub fn saved(&self, now: Now) -> SavedSession {
        let mut saved = SavedSession {
            saved_at: now.wall,
            journal_seq: self.journal_seq,
            notifications: self.saved_notifications(),
            emptied_by_user: self.emptied_by_user,
            ..SavedSession::default()
        };
        for workspace in self.order.iter().filter_map(|id| self.workspaces.get(id)) {
            saved.workspaces.push(Arc::clone(&workspace.record));
            for tab in workspace.tabs.iter().filter_map(|id| self.tabs.get(id)) {
                saved.tabs.push(Arc::clone(tab));
                let panes = tab.layout.leaves().filter_map(|id| self.panes.get(&id));
                let history = workspace.record.switches.history;
                saved.panes.extend(panes.map(|pane| Self::saved_pane(pane, history)));
            }
        }
        self.unzoom(&mut saved);
        saved
    }

    /// Whether every change is saved.
    pub fn is_saved(&self) -> bool {
        self.save.is_clean()
    }

    /// How many saves in a row failed.
    pub fn save_failures(&self) -> u32 {
        self.save.failures()
    }

    /// Notes the last published event, so that it is in the next snapshot.
    pub fn note_published(&mut self, seq: u64) {
        self.journal_seq = seq;
    }

    pub(super) fn start_save(&mut self, now: Now, out: &mut Vec<Effect>) {
        if self.phase == Phase::Stopped {
            return;
        }
        if let Some((token, durability)) = self.save.start(now.mono) {
            if let Phase::Stopping { token: last, .. } = &mut self.phase {
                *last = Some(token);
            }
            if durability == Durability::Synced {
                self.barrier_begins(token);
                self.marks_begin(token);
            }
            out.push(Effect::Save { token, durability });
        }
    }
}
