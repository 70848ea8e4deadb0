//! The panes of a session, and what must be found among them without looking
//! at each: the next deadline, and who has a conversation open.
//!
//! Both indexes follow from the entries. An entry that was given out to be
//! changed is noted, and [`Panes::refresh`] brings the indexes up to date once
//! the input has been dealt with; so the cost of an input does not depend on
//! how many panes there are.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::PaneEntry;
use crate::agent::AgentSessionId;
use crate::id::PaneId;
use crate::restore::{PaneState, ResumeStage};

#[derive(Debug, Clone, Default)]
pub(super) struct Panes {
    entries: BTreeMap<PaneId, PaneEntry>,
    /// Entries that may have changed since the last refresh.
    touched: Vec<PaneId>,
    deadlines: BTreeSet<(Duration, PaneId)>,
    open: BTreeMap<AgentSessionId, BTreeSet<PaneId>>,
    /// Panes with an automatic start under way.
    by_itself: BTreeSet<PaneId>,
}

/// Under what an entry is found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Keys {
    deadline: Option<Duration>,
    /// The conversation that it holds, and the one that its agent shows.
    open: [Option<AgentSessionId>; 2],
    by_itself: bool,
}

impl Panes {
    pub(super) fn get(&self, id: &PaneId) -> Option<&PaneEntry> {
        self.entries.get(id)
    }

    pub(super) fn get_mut(&mut self, id: &PaneId) -> Option<&mut PaneEntry> {
        let entry = self.entries.get_mut(id)?;
        if self.touched.last() != Some(id) {
            self.touched.push(*id);
        }
        Some(entry)
    }

    pub(super) fn insert(&mut self, id: PaneId, entry: PaneEntry) {
        self.remove(&id);
        self.entries.insert(id, entry);
        self.touched.push(id);
    }

    pub(super) fn remove(&mut self, id: &PaneId) -> Option<PaneEntry> {
        let entry = self.entries.remove(id)?;
        self.forget(*id, &entry.keys);
        Some(entry)
    }

    pub(super) fn contains_key(&self, id: &PaneId) -> bool {
        self.entries.contains_key(id)
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&PaneId, &PaneEntry)> {
        self.entries.iter()
    }

    /// All of them, for what happens once in the life of a server.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut PaneEntry> {
        self.touched.extend(self.entries.keys());
        self.entries.values_mut()
    }

    /// When something is due in one of them next.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.deadlines.first().map(|(at, _)| *at)
    }

    /// How many automatic starts are under way.
    pub(super) fn starting_by_themselves(&self) -> usize {
        self.by_itself.len()
    }

    /// Panes whose deadline has passed.
    pub(super) fn due(&self, now: Duration) -> Vec<PaneId> {
        let passed = self.deadlines.iter().take_while(|(at, _)| *at <= now);
        passed.map(|(_, pane)| *pane).collect()
    }

    /// Panes with a process, present or to come, that hold or show this
    /// conversation. Of agents of any kind, wherever they keep their records.
    pub(super) fn holders(&self, id: &AgentSessionId) -> impl Iterator<Item = PaneId> {
        self.open.get(id).into_iter().flatten().copied()
    }

    /// Brings the indexes up to date.
    pub(super) fn refresh(&mut self) {
        for id in std::mem::take(&mut self.touched) {
            let Some(entry) = self.entries.get_mut(&id) else {
                continue;
            };
            let keys = Keys::of(entry);
            if keys == entry.keys {
                continue;
            }
            let old = std::mem::replace(&mut entry.keys, keys.clone());
            self.forget(id, &old);
            self.deadlines.extend(keys.deadline.map(|at| (at, id)));
            if keys.by_itself {
                self.by_itself.insert(id);
            }
            for shown in keys.open.into_iter().flatten() {
                self.open.entry(shown).or_default().insert(id);
            }
        }
    }

    fn forget(&mut self, id: PaneId, keys: &Keys) {
        if let Some(at) = keys.deadline {
            self.deadlines.remove(&(at, id));
        }
        self.by_itself.remove(&id);
        for shown in keys.open.iter().flatten() {
            if let Some(panes) = self.open.get_mut(shown) {
                panes.remove(&id);
                if panes.is_empty() {
                    self.open.remove(shown);
                }
            }
        }
    }

    /// The first pane that an index does not agree with.
    pub(super) fn misplaced(&self) -> Option<PaneId> {
        let mut expected = Self::default();
        for (id, entry) in &self.entries {
            let keys = Keys::of(entry);
            if keys != entry.keys {
                return Some(*id);
            }
            expected.deadlines.extend(keys.deadline.map(|at| (at, *id)));
            if keys.by_itself != self.by_itself.contains(id) {
                return Some(*id);
            }
            for shown in keys.open.into_iter().flatten() {
                expected.open.entry(shown).or_default().insert(*id);
            }
        }
        let deadline = self.deadlines.symmetric_difference(&expected.deadlines).next();
        let strange = |(id, panes): (&AgentSessionId, &BTreeSet<PaneId>)| {
            (expected.open.get(id) != Some(panes)).then(|| panes.first().copied()).flatten()
        };
        deadline.map(|(_, pane)| *pane).or_else(|| self.open.iter().find_map(strange))
    }
}

impl Keys {
    fn of(entry: &PaneEntry) -> Self {
        let told = entry.spaced.deadline();
        let deadline = match &entry.state {
            // What it said last is told also where it has ended since.
            PaneState::Tombstone(_) => return Self { deadline: told, ..Self::default() },
            PaneState::Live { .. } => entry.run.anchor_due,
            PaneState::Resuming(stage) => match **stage {
                ResumeStage::Checking { deadline, .. }
                | ResumeStage::Reading { deadline, .. }
                | ResumeStage::Verifying { deadline, .. } => Some(deadline),
                _ => None,
            },
        };
        let attempt = entry.attempt.as_ref().and_then(|attempt| attempt.deadline);
        let deadline = deadline.into_iter().chain(attempt).chain(told).min();
        let agent = entry.record.agent.as_ref();
        let saved = agent.and_then(|agent| agent.conversation.as_ref());
        // While it is being reopened it is as good as open.
        let open = entry.holds_open() || matches!(entry.state, PaneState::Resuming(_));
        let saved = saved.filter(|_| open);
        let shown = agent.and(entry.run.candidate.clone());
        let open = [saved.map(|saved| saved.id.clone()), shown];
        Self { deadline, open, by_itself: entry.starts_by_itself() }
    }
}
