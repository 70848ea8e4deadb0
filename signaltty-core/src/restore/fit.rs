//! Fits the layout of a tab to the panes that are in it.
//!
//! The panes' own records say in which tab they are; the layout only says how
//! they share its area. So a layout never decides whether a pane exists.

use std::collections::BTreeSet;

use crate::id::PaneId;
use crate::layout::{Axis, Layout, Limits, RawChild, RawNode};

/// A layout of exactly the panes that were asked for.
pub(super) struct Fitted {
    /// The layout; empty if there is no pane.
    pub(super) layout: Option<Layout<PaneId>>,
    /// Panes for which the limits left no place.
    pub(super) displaced: Vec<PaneId>,
    /// What had to be changed.
    pub(super) changes: Vec<String>,
}

/// Makes a layout hold `panes`, no more and no less, under the limits.
pub(super) fn fit(layout: Option<Layout<PaneId>>, panes: &[PaneId], limits: &Limits) -> Fitted {
    let mut changes = Vec::new();
    let mut layout = layout;
    let wanted: BTreeSet<_> = panes.iter().copied().collect();
    let strangers: Vec<_> =
        layout.iter().flat_map(Layout::leaves).filter(|pane| !wanted.contains(pane)).collect();
    for pane in strangers {
        changes.push(format!("{pane} is not in this tab"));
        let last = layout.as_ref().is_none_or(|layout| layout.len() == 1);
        if last {
            layout = None;
        } else if let Some(layout) = &mut layout {
            // The pane is a leaf and not the last one, so this succeeds.
            let _ = layout.close(pane);
        }
    }
    let placed: BTreeSet<_> = layout.iter().flat_map(Layout::leaves).collect();
    let missing: Vec<_> = panes.iter().copied().filter(|pane| !placed.contains(pane)).collect();
    let violation = layout.as_ref().and_then(|layout| layout.check(limits).err());
    if missing.is_empty() && violation.is_none() {
        return Fitted { layout, displaced: Vec::new(), changes };
    }
    changes.extend(violation.map(|violation| violation.to_string()));
    changes.extend(missing.iter().map(|pane| format!("{pane} had no place")));
    let leaves = missing.into_iter().map(RawNode::Leaf);
    let nodes: Vec<_> = layout.as_ref().map(RawNode::from).into_iter().chain(leaves).collect();
    let children = nodes.into_iter().map(|node| RawChild::new(1, node));
    let repaired = Layout::repair(RawNode::split(Axis::Row, children), limits);
    Fitted { layout: repaired.layout, displaced: repaired.displaced, changes }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pane(n: u8) -> PaneId {
        PaneId::from_random([n; 10])
    }

    #[test]
    fn a_layout_gets_exactly_its_panes() {
        let [a, b, c] = [1, 2, 3].map(pane);
        let cases: [(String, Vec<PaneId>, Option<String>, bool); 6] = [
            (format!("v1:[{a}|{b}]"), vec![a, b], Some(format!("v1:[{a}|{b}]")), true),
            (format!("v1:[{a}*3/{b}]"), vec![b, a], Some(format!("v1:[{a}*3/{b}]")), true),
            (format!("v1:[{a}|{b}]"), vec![b], Some(format!("v1:{b}")), false),
            (format!("v1:[{a}/{b}]"), vec![a, b, c], Some(format!("v1:[[{a}/{b}]|{c}]")), false),
            (format!("v1:{a}"), vec![c], Some(format!("v1:{c}")), false),
            (format!("v1:{a}"), vec![], None, false),
        ];
        for (text, panes, expected, unchanged) in cases {
            let fitted = fit(Some(text.parse().unwrap()), &panes, &Limits::default());
            assert_eq!(fitted.layout.map(|l| l.to_string()), expected, "{text}");
            assert_eq!(fitted.changes.is_empty(), unchanged, "{text}: {:?}", fitted.changes);
            assert!(fitted.displaced.is_empty());
        }
        let fitted = fit(None, &[a, c], &Limits::default());
        assert_eq!(fitted.layout.map(|l| l.to_string()), Some(format!("v1:[{a}|{c}]")));
    }

    #[test]
    fn panes_beyond_the_limits_are_handed_back() {
        let panes: Vec<_> = (0..=255).map(pane).collect();
        let more = (0..4).map(|n| PaneId::from_random([n, 0, 0, 0, 0, 0, 0, 0, 0, 1]));
        let all: Vec<_> = panes.into_iter().chain(more).collect();
        let fitted = fit(None, &all, &Limits::default());
        assert_eq!(fitted.layout.map(|l| l.len()), Some(256));
        assert_eq!(fitted.displaced.len(), 4);
    }
}
