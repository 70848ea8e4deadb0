//! Trees from files that nobody has checked.

use proptest::prelude::*;

use crate::layout::{
    Axis, Layout, LayoutViolation, Limits, RawChild, RawNode, RawWeight, Repaired, Size,
};

use super::{layout, limits, split};

use RawWeight::{Ratio, Unreadable, Whole};

pub(super) fn repair<L: Copy + Ord + std::fmt::Debug>(raw: RawNode<L>) -> Repaired<L> {
    let repaired = Layout::repair(raw, &Limits::default());
    if let Some(layout) = &repaired.layout {
        assert_eq!(layout.check(&Limits::default()), Ok(()));
    }
    repaired
}

fn leaf<L>(leaf: L) -> RawNode<L> {
    RawNode::Leaf(leaf)
}

#[test]
fn c089_malformed_trees_are_repaired_and_reported() {
    use Axis::{Column, Row};
    use LayoutViolation as V;
    let cases = [
        // A leaf twice: the first place counts.
        (
            split(Row, [leaf('a'), split(Column, [leaf('b'), leaf('a')]), leaf('c')]),
            "v1:[a|b|c]",
            vec![V::DuplicateLeaf('a')],
        ),
        (split(Row, [leaf('a'), leaf('a')]), "v1:a", vec![V::DuplicateLeaf('a')]),
        // Splits with too few children.
        (split(Row, [leaf('a')]), "v1:a", vec![V::FewChildren { found: 1 }]),
        (
            split(Row, [leaf('a'), split(Column, []), leaf('b')]),
            "v1:[a|b]",
            vec![V::FewChildren { found: 0 }],
        ),
        // The axis of the parent, also through a split that disappears.
        (
            split(Row, [leaf('a'), split(Row, [leaf('b'), leaf('c')])]),
            "v1:[a*2|b|c]",
            vec![V::SameAxis],
        ),
        (
            split(Row, [leaf('a'), split(Column, [split(Row, [leaf('b'), leaf('c')])])]),
            "v1:[a*2|b|c]",
            vec![V::FewChildren { found: 1 }, V::SameAxis],
        ),
    ];
    for (raw, expected, problems) in cases {
        let repaired = repair(raw);
        assert_eq!(repaired.layout, Some(layout(expected)));
        assert_eq!(repaired.problems, problems, "{expected}");
        assert!(repaired.displaced.is_empty());
    }
}

#[test]
fn c089_a_tree_without_leaves_gives_no_layout() {
    let repaired = repair(split::<char>(Axis::Row, [split(Axis::Column, [])]));
    assert_eq!(repaired.layout, None);
    assert_eq!(repaired.problems.last(), Some(&LayoutViolation::NoLeaf));
}

#[test]
fn c089_unknown_and_missing_panes_are_settled_by_edits() {
    // `x` has no record; `d` is in no leaf.
    let mut found = repair(split(Axis::Row, ['a', 'x', 'c'].map(leaf))).layout.unwrap();
    found.close('x').unwrap();
    found.split('c', crate::layout::Direction::Right, 'd', &Limits::default(), None).unwrap();
    assert_eq!(found, layout("v1:[a|c|d]"));
}

/// Splits of alternating axis, each with a leaf and the next split.
fn chain(depth: u32) -> RawNode<u32> {
    let axis = |level| {
        if level % 2 == 0 { Axis::Row } else { Axis::Column }
    };
    let innermost = leaf(depth);
    (0..depth).rev().fold(innermost, |inner, level| split(axis(level), [leaf(level), inner]))
}

#[test]
fn c089_ten_thousand_levels_lose_no_pane_and_need_no_stack() {
    let repaired = repair(chain(10_000));
    let found = repaired.layout.unwrap();
    assert_eq!((found.depth(), found.len()), (32, 256));
    assert!(found.leaves().eq(0..256));
    assert!(repaired.displaced.iter().copied().eq(256..=10_000));
    assert!(repaired.problems.contains(&LayoutViolation::TooDeep { limit: 32 }));
    assert!(repaired.problems.contains(&LayoutViolation::TooManyLeaves { limit: 256 }));
    // The outer levels, which the user sees best, are untouched.
    assert!(found.to_string().starts_with("v1:[0|[1/[2|[3/"));

    drop(chain(1_000_000));
    assert!(Layout::from_raw(chain(33), &Limits::default()).is_err());
    assert!(Layout::from_raw(chain(32), &Limits::default()).is_ok());
}

#[test]
fn levels_that_fit_stay_and_the_innermost_are_dissolved() {
    // +---+-------+      +---+---------+
    // | a | b     |      | a |    b    |
    // |   +---+---+  ->  |   +---------+
    // |   | c | d |      |   |    c    |
    // |   |   |   |      |   +---------+
    // |   |   |   |      |   |    d    |
    // +---+---+---+      +---+---------+
    let raw = || RawNode::from(&layout("v1:[a|[b/[c|d]]]"));
    let repaired = Layout::repair(raw(), &limits(2, 9, Size::default()));
    assert_eq!(repaired.layout, Some(layout("v1:[a|[b*2/c/d]]")));
    assert_eq!(repaired.problems, [LayoutViolation::TooDeep { limit: 2 }]);
    let one_level = Layout::repair(raw(), &limits(1, 9, Size::default()));
    assert_eq!(one_level.layout.unwrap().depth(), 1);
    let no_level = Layout::repair(raw(), &limits(0, 9, Size::default()));
    assert_eq!(no_level.layout, Some(Layout::single('a')));
    assert_eq!(no_level.displaced, ['b', 'c', 'd']);
    let no_leaf = Layout::repair(raw(), &limits(9, 0, Size::default()));
    assert_eq!((no_leaf.layout, no_leaf.displaced.len()), (None, 4));
}

#[test]
fn the_list_of_problems_is_bounded() {
    let repaired = repair(split(Axis::Row, std::iter::repeat_n(7, 1000).map(leaf)));
    assert_eq!(repaired.layout, Some(Layout::single(7)));
    assert_eq!((repaired.problems.len(), repaired.unlisted), (64, 999 - 64));
}

#[test]
fn debug_output_of_an_unchecked_tree_is_one_line() {
    assert_eq!(format!("{:?}", chain(10_000)), "Split { axis: Row, children: [2 children] }");
}

fn raw_weight() -> impl Strategy<Value = RawWeight> {
    prop_oneof![
        4 => (1_i64..10).prop_map(Whole),
        1 => any::<i64>().prop_map(Whole),
        1 => any::<f64>().prop_map(Ratio),
        1 => (0.0..1.0).prop_map(Ratio),
        1 => Just(Unreadable),
    ]
}

/// A tree as bare data, from which equal raw trees can be built.
#[derive(Clone, Debug)]
enum Tree {
    Leaf(u8),
    Split(bool, Vec<(RawWeight, Self)>),
}

impl Tree {
    fn raw(&self) -> RawNode<u8> {
        match self {
            Self::Leaf(leaf) => RawNode::Leaf(*leaf),
            Self::Split(row, children) => RawNode::split(
                if *row { Axis::Row } else { Axis::Column },
                children.iter().map(|(weight, tree)| RawChild::new(*weight, tree.raw())),
            ),
        }
    }

    fn leaves(&self, found: &mut Vec<u8>) {
        match self {
            Self::Leaf(leaf) if found.contains(leaf) => {}
            Self::Leaf(leaf) => found.push(*leaf),
            Self::Split(_, children) => children.iter().for_each(|(_, tree)| tree.leaves(found)),
        }
    }
}

fn tree() -> impl Strategy<Value = Tree> {
    any::<u8>().prop_map(Tree::Leaf).prop_recursive(12, 200, 5, |inner| {
        (any::<bool>(), prop::collection::vec((raw_weight(), inner), 0..5))
            .prop_map(|(row, children)| Tree::Split(row, children))
    })
}

proptest! {
    #[test]
    fn repair_loses_no_leaf_and_obeys_the_limits(tree in tree(), depth in 0_u8..6, leaves in 0_u16..40) {
        let limits = limits(depth, leaves, Size::default());
        let repaired = Layout::repair(tree.raw(), &limits);
        prop_assert_eq!(&repaired, &Layout::repair(tree.raw(), &limits), "it is deterministic");
        let mut expected = Vec::new();
        tree.leaves(&mut expected);
        let kept = repaired.layout.iter().flat_map(Layout::leaves);
        let found: Vec<u8> = kept.chain(repaired.displaced.iter().copied()).collect();
        prop_assert_eq!(found, expected, "in visual order");
        if let Some(layout) = &repaired.layout {
            prop_assert_eq!(layout.check(&limits), Ok(()));
            // A repaired layout needs no second repair.
            let again = Layout::repair(RawNode::from(layout), &limits);
            prop_assert!(again.problems.is_empty());
            prop_assert_eq!(again.layout.as_ref(), Some(layout));
        }
        match Layout::from_raw(tree.raw(), &limits) {
            Ok(strict) => {
                prop_assert!(repaired.problems.is_empty());
                prop_assert_eq!(Some(strict), repaired.layout);
            }
            Err(first) => prop_assert_eq!(Some(&first), repaired.problems.first()),
        }
    }
}
