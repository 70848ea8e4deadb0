//! Output of processes that ended, until it is on the disk.
//!
//! A save writes what there was when it began. What came after it, from the
//! same process or from a later one, must not be forgotten with it, so each
//! piece has a number.

use std::collections::BTreeMap;

use signaltty_core::id::PaneId;

/// Names one piece of kept output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeptId(u64);

/// At most one piece for each pane: the last.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    tails: BTreeMap<PaneId, (KeptId, Vec<u8>)>,
    next: u64,
}

impl Kept {
    pub(crate) fn keep(&mut self, pane: PaneId, tail: Vec<u8>) {
        self.tails.insert(pane, (KeptId(self.next), tail));
        self.next += 1;
    }

    pub(crate) fn of(&self, pane: PaneId) -> Option<&Vec<u8>> {
        self.tails.get(&pane).map(|(_, tail)| tail)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (PaneId, KeptId, &Vec<u8>)> {
        self.tails.iter().map(|(pane, (id, tail))| (*pane, *id, tail))
    }

    /// That piece is on the disk; a newer one stays.
    pub(crate) fn saved(&mut self, pane: PaneId, id: KeptId) {
        if self.tails.get(&pane).is_some_and(|(kept, _)| *kept == id) {
            self.tails.remove(&pane);
        }
    }

    /// Forgets what is kept of a pane; whether there was something.
    pub(crate) fn forget(&mut self, pane: PaneId) -> bool {
        self.tails.remove(&pane).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_during_a_save_outlives_it() {
        let pane = PaneId::from_random([0; 10]);
        let mut kept = Kept::default();
        kept.keep(pane, b"one".to_vec());
        let (_, written, _) = kept.iter().next().unwrap();
        kept.keep(pane, b"two".to_vec());
        kept.saved(pane, written);
        assert_eq!(kept.of(pane).map(Vec::as_slice), Some(&b"two"[..]));
        let (_, written, _) = kept.iter().next().unwrap();
        kept.saved(pane, written);
        assert_eq!(kept.of(pane), None);
    }
}
