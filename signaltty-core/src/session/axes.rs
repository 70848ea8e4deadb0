//! What a pane does and how much it wants a person: two independent axes.
//!
//! Any lifecycle may follow any other; agents drive it. Attention is only raised
//! by what happens, and only lowered by a person or by the agent's own word.

use std::sync::Arc;

use super::{CommandError, Effect, Event, PaneEntry, Reply, Session, publish};
use crate::id::PaneId;
use crate::pane::{Attention, Lifecycle};
use crate::time::Now;

impl Session {
    pub(super) fn set_lifecycle(
        &mut self,
        now: Now,
        pane: PaneId,
        lifecycle: Lifecycle,
        out: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        let previous = entry.record.lifecycle;
        // A finished turn stays one until something else happens: agents say
        // that it is done and, a moment later, that they are idle.
        if (previous, lifecycle) == (Lifecycle::Done, Lifecycle::Idle) {
            return;
        }
        if previous != lifecycle {
            self.lifecycle_is(now, pane, lifecycle, out);
        }
    }

    fn lifecycle_is(
        &mut self,
        now: Now,
        pane: PaneId,
        lifecycle: Lifecycle,
        out: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        let previous = std::mem::replace(&mut entry.edit().lifecycle, lifecycle);
        entry.count_turn(previous, lifecycle);
        self.changes += 1;
        entry.watch.lifecycle(lifecycle, self.changes);
        self.save.changed(now.mono);
        publish(out, Event::AgentLifecycle { pane, lifecycle, previous });
        if previous == Lifecycle::Blocked {
            self.clear_request(now, pane, out);
        }
    }

    /// A turn came to its end, and the agent says which. One more of them is a
    /// change also where nobody saw it being worked on, and its person has not
    /// read what came of it.
    pub(super) fn finished(
        &mut self,
        now: Now,
        pane: PaneId,
        lifecycle: Lifecycle,
        turn: Arc<str>,
        out: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        if entry.run.finished.as_ref() == Some(&turn) {
            return self.set_lifecycle(now, pane, lifecycle, out);
        }
        entry.run.finished = Some(turn);
        if let Some(agent) = &mut entry.edit().agent
            && agent.turns.active().is_none()
        {
            // It began and ended between two looks.
            let _ = agent.turns.begin();
        }
        self.lifecycle_is(now, pane, lifecycle, out);
        self.raise_attention(now, pane, Attention::Unread, out);
    }

    /// Raises the attention of a pane; never lowers it.
    pub(super) fn raise_attention(
        &mut self,
        now: Now,
        pane: PaneId,
        attention: Attention,
        out: &mut Vec<Effect>,
    ) {
        let known = self.panes.get(&pane).map(|entry| entry.record.attention);
        if known.is_some_and(|known| known < attention) {
            self.set_attention(now, pane, attention, out);
        }
    }

    /// The agent no longer waits for a person.
    pub(super) fn clear_request(&mut self, now: Now, pane: PaneId, out: &mut Vec<Effect>) {
        let known = self.panes.get(&pane).map(|entry| entry.record.attention);
        if matches!(known, Some(Attention::InputRequired | Attention::PermissionRequired)) {
            self.set_attention(now, pane, Attention::Unread, out);
        }
    }

    pub(super) fn mark_seen(
        &mut self,
        now: Now,
        pane: PaneId,
        out: &mut Vec<Effect>,
    ) -> Result<Reply, CommandError> {
        let entry = self.panes.get_mut(&pane).ok_or(CommandError::NoSuchPane(pane))?;
        entry.spaced.seen();
        // What an agent waits for is not answered by looking at it.
        if entry.record.attention != Attention::None && entry.decision.is_none() {
            self.set_attention(now, pane, Attention::None, out);
        }
        Ok(Reply::Done)
    }

    fn set_attention(
        &mut self,
        now: Now,
        pane: PaneId,
        attention: Attention,
        out: &mut Vec<Effect>,
    ) {
        if let Some(entry) = self.panes.get_mut(&pane) {
            entry.edit().attention = attention;
            self.changes += 1;
            entry.watch.attention(attention, self.changes);
            self.save.changed(now.mono);
            publish(out, Event::AttentionChanged { pane, attention });
        }
    }
}

impl PaneEntry {
    /// A turn begins when the agent starts to work, and is over when it says so
    /// itself. An end of the process leaves it active.
    fn count_turn(&mut self, previous: Lifecycle, now: Lifecycle) {
        use Lifecycle::{Blocked, Done, Failed, Idle, Working};
        let Some(agent) = &mut self.edit().agent else {
            return;
        };
        match (previous, now) {
            (Working | Blocked, Working) if agent.turns.active().is_some() => {}
            (_, Working) => {
                let _ = agent.turns.begin();
            }
            (_, Done | Idle | Failed) => agent.turns.finish(),
            _ => {}
        }
    }
}
