//! What programs change so often that not each change can be an event.
//!
//! A spinner in a title changes it many times a second, for hours. Each event
//! is a synced record of the journal, so such a loop would write to the disk
//! without an end and push what happened out of the kept history. The first
//! change is told at once, what follows within [`EVERY`] as one event when that
//! is over. The state itself is never late: who asks sees the newest.

use std::time::Duration;

use super::{Effect, Event, Session, publish};
use crate::id::PaneId;
use crate::pane::Attention;
use crate::time::Now;

/// The least time between two such events of a pane.
pub(super) const EVERY: Duration = Duration::from_secs(1);

/// What waits to be told of one pane.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spaced {
    updates: Pace,
    bells: Pace,
}

#[derive(Debug, Clone, Copy, Default)]
struct Pace {
    /// Before this nothing more is told.
    free_at: Duration,
    waits: bool,
}

impl Pace {
    /// Something happened; whether it is told now.
    fn take(&mut self, now: Duration) -> bool {
        self.waits = now < self.free_at;
        if !self.waits {
            self.free_at = now + EVERY;
        }
        !self.waits
    }

    /// Whether what waited is told now.
    fn is_due(&mut self, now: Duration) -> bool {
        self.waits && self.take(now)
    }

    fn deadline(&self) -> Option<Duration> {
        self.waits.then_some(self.free_at)
    }
}

impl Spaced {
    /// When something is to be told; no timer runs while nothing waits.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.updates.deadline().into_iter().chain(self.bells.deadline()).min()
    }

    /// A person looked: a bell until then asks for nothing more.
    pub(super) fn seen(&mut self) {
        self.bells.waits = false;
    }
}

impl Session {
    /// A program or an agent changed what is known of its pane.
    pub(super) fn program_changed(&mut self, now: Now, pane: PaneId, out: &mut Vec<Effect>) {
        let entry = self.panes.get_mut(&pane);
        if entry.is_some_and(|entry| entry.spaced.updates.take(now.mono)) {
            publish(out, Event::PaneUpdated { pane });
        }
    }

    /// The bell. Who watches a pane clears its attention each time, so one that
    /// rings in a loop would change it without an end.
    pub(super) fn rang(&mut self, now: Now, pane: PaneId, out: &mut Vec<Effect>) {
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        if entry.record.attention == Attention::None && entry.spaced.bells.take(now.mono) {
            self.raise_attention(now, pane, Attention::Unread, out);
        }
    }

    /// Tells what waited long enough.
    pub(super) fn tell_if_due(&mut self, now: Now, pane: PaneId, out: &mut Vec<Effect>) {
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        let rang = entry.spaced.bells.is_due(now.mono);
        if entry.spaced.updates.is_due(now.mono) {
            publish(out, Event::PaneUpdated { pane });
        }
        if rang {
            self.raise_attention(now, pane, Attention::Unread, out);
        }
    }

    /// Tells all that waits, before it is too late.
    pub(super) fn tell_what_waits(&mut self, now: Now, out: &mut Vec<Effect>) {
        let waits = |entry: &super::PaneEntry| entry.spaced.deadline().is_some();
        let panes = self.panes.iter().filter(|(_, entry)| waits(entry));
        let panes: Vec<_> = panes.map(|(pane, _)| *pane).collect();
        for pane in panes {
            if let Some(entry) = self.panes.get_mut(&pane) {
                entry.spaced.updates.free_at = now.mono;
                entry.spaced.bells.free_at = now.mono;
            }
            self.tell_if_due(now, pane, out);
        }
    }
}
