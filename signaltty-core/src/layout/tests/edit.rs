//! Edits, one at a time.

use crate::layout::{
    Axis, Closed, Direction, EditError, Layout, Limits, Node, Size, Weight, rects,
};

use super::{layout, limits, size};

use Direction::{Down, Left, Right, Up};

fn check_split(before: &str, at: char, direction: Direction, after: &str) {
    let mut edited = layout(before);
    edited.split(at, direction, 'n', &Limits::default(), None).unwrap();
    assert_eq!(edited.to_string(), after, "{before} split {at} {direction:?}");
    assert_eq!(edited.check(&Limits::default()), Ok(()));
}

#[test]
fn split_adds_a_sibling_or_nests() {
    // +---+        +---+---+      +---+
    // | a |   ->   | a | n |  or  | n |
    // +---+        +---+---+      +---+
    //                             | a |
    //                             +---+
    check_split("v1:a", 'a', Right, "v1:[a|n]");
    check_split("v1:a", 'a', Left, "v1:[n|a]");
    check_split("v1:a", 'a', Down, "v1:[a/n]");
    check_split("v1:a", 'a', Up, "v1:[n/a]");
    // +---+---+      +---+---+---+      +---+---+
    // | a | b |  ->  | a | n | b |  or  | a | b |
    // +---+---+      +---+---+---+      |   +---+
    //                                   |   | n |
    //                                   +---+---+
    check_split("v1:[a|b]", 'a', Right, "v1:[a|n|b]");
    check_split("v1:[a|b]", 'b', Left, "v1:[a|n|b]");
    check_split("v1:[a|b]", 'b', Down, "v1:[a|[b/n]]");
    // The split of the right axis may lie deeper.
    check_split("v1:[a|[b/[c|d]]]", 'd', Left, "v1:[a|[b/[c|n|d]]]");
}

#[test]
fn equal_runs_stay_equal_and_others_share_the_split_pane() {
    check_split("v1:[a*3|b*3|[c/d]*3]", 'a', Right, "v1:[a*3|n*3|b*3|[c/d]*3]");
    // An even weight is halved.
    check_split("v1:[a*4|b*3]", 'a', Right, "v1:[a*2|n*2|b*3]");
    check_split("v1:[a*4|b*3]", 'a', Left, "v1:[n*2|a*2|b*3]");
    // An odd one doubles the run first.
    check_split("v1:[a*3|b*2]", 'a', Right, "v1:[a*3|n*3|b*4]");
    // Nothing is left in common in the end.
    check_split("v1:[a*4|b*2]", 'a', Right, "v1:[a|n|b]");
    // Too large to double: rounded, and no weight becomes zero.
    check_split("v1:[a*65535|b]", 'a', Right, "v1:[a*65535|n*65535|b*2]");
    check_split("v1:[a*65535|b]", 'b', Right, "v1:[a*65535|b|n]");
}

#[test]
fn a_split_leaves_the_share_of_other_panes_alone() {
    let mut edited = layout("v1:[a*5|b*7|c*11]");
    for (index, new) in ('d'..='h').enumerate() {
        let at = edited.leaves().nth(index * 2 % edited.len()).unwrap();
        edited.split(at, Right, new, &Limits::default(), None).unwrap();
    }
    let Node::Split(split) = edited.root() else { panic!("a row") };
    let total: u32 = split.children().iter().map(|child| u32::from(child.weight.get())).sum();
    // Eight panes still make up three shares of 5, 7 and 11.
    assert_eq!((split.axis(), split.children().len(), total % 23), (Axis::Row, 8, 0));
}

fn check_close(before: &str, leaf: char, after: &str) {
    let mut edited = layout(before);
    assert_eq!(edited.close(leaf), Ok(Closed::Remaining));
    assert_eq!(edited.to_string(), after, "{before} close {leaf}");
    assert_eq!(edited.check(&Limits::default()), Ok(()));
}

#[test]
fn inv_l1_close_dissolves_splits_of_one() {
    check_close("v1:[a|b]", 'a', "v1:b");
    check_close("v1:[a|b|c*2]", 'a', "v1:[b|c*2]");
    check_close("v1:[a*2|[b/c]]", 'c', "v1:[a*2|b]");
    check_close("v1:[a|[b/c]]", 'a', "v1:[b/c]");
}

#[test]
fn inv_l2_close_merges_splits_of_one_axis_and_keeps_sizes() {
    // +---+-------+      +---+---+---+
    // | a | b | c |  ->  | a | b | c |
    // |   +-------+      |   |   |   |
    // |   |   d   |      |   |   |   |
    // +---+-------+      +---+---+---+
    check_close("v1:[a|[[b|c]/d]]", 'd', "v1:[a*2|b|c]");
    check_close("v1:[a*3|[[b*2|c]/d]*2|e]", 'd', "v1:[a*9|b*4|c*2|e*3]");
    check_close("v1:[a|[[b|c]/d]|[[e*2|f]/g]]", 'd', "v1:[a*2|b|c|[[e*2|f]/g]*2]");
    check_close("v1:[a*65535|[[b*65535|c]/d]]", 'd', "v1:[a*65535|b|c]");

    let area = size(83, 24).into();
    let mut edited = layout("v1:[a|[[b|c]/d]]");
    let before = rects(&edited, area);
    edited.close('d').unwrap();
    let after = rects(&edited, area);
    let widths = |rects: &[(char, crate::layout::Rect)]| -> Vec<u16> {
        rects.iter().take(3).map(|(_, rect)| rect.cols()).collect()
    };
    // One line more in the row takes its cell where rounding puts it.
    for (old, new) in widths(&before).into_iter().zip(widths(&after)) {
        assert!(old.abs_diff(new) <= 1, "{before:?} {after:?}");
    }
}

#[test]
fn closing_the_last_leaf_leaves_the_layout_to_its_owner() {
    let mut edited = layout("v1:a");
    assert_eq!(edited.close('a'), Ok(Closed::WasLast));
    assert_eq!(edited, Layout::single('a'));
}

#[test]
fn inv_l5_a_closed_leaf_is_gone_and_the_first_one_is_a_leaf() {
    let mut edited = layout("v1:[a|[b/c]]");
    edited.close('a').unwrap();
    assert!(!edited.contains('a'));
    assert!(edited.contains(edited.first()));
    assert_eq!(edited.first(), 'b');
}

#[test]
fn swap_and_replace_keep_the_shape() {
    let mut edited = layout("v1:[a*2|[b/c*3]]");
    edited.swap('a', 'c').unwrap();
    assert_eq!(edited.to_string(), "v1:[c*2|[b/a*3]]");
    edited.replace('c', 'x').unwrap();
    assert_eq!(edited.to_string(), "v1:[x*2|[b/a*3]]");
}

#[test]
fn move_takes_out_and_puts_in() {
    for (before, leaf, beside, direction, after) in [
        ("v1:[a|b|c]", 'a', 'c', Right, "v1:[b|c|a]"),
        ("v1:[a|b|c]", 'a', 'c', Up, "v1:[b|[a/c]]"),
        ("v1:[a|b]", 'a', 'b', Down, "v1:[b/a]"),
        ("v1:[a|[b/c]]", 'b', 'a', Left, "v1:[b|a|c]"),
        ("v1:[a|[b/c]]", 'a', 'c', Left, "v1:[b/[a|c]]"),
    ] {
        let mut edited = layout(before);
        edited.move_leaf(leaf, beside, direction, &Limits::default(), None).unwrap();
        assert_eq!(edited.to_string(), after, "{before}");
    }
}

#[test]
fn weights_are_set_where_the_border_is() {
    let nine = Weight::new(9).unwrap();
    let mut edited = layout("v1:[[a/b]|[c/d]]");
    edited.set_weight('c', nine).unwrap();
    assert_eq!(edited.to_string(), "v1:[[a/b]|[c*9/d]]");
    edited.set_branch_weight('c', Axis::Row, nine).unwrap();
    assert_eq!(edited.to_string(), "v1:[[a/b]|[c*9/d]*9]");
    edited.set_branch_weight('a', Axis::Column, nine).unwrap();
    assert_eq!(edited.to_string(), "v1:[[a*9/b]|[c*9/d]*9]");
    edited.equalise();
    assert_eq!(edited.to_string(), "v1:[[a/b]|[c/d]]");
}

type Edit = fn(&mut Layout<char>) -> Result<(), EditError<char>>;

#[test]
fn refused_edits_name_the_reason_and_change_nothing() {
    const ROOMY: Size = Size { cols: 80, rows: 24 };
    let cases: [(Edit, EditError<char>); 14] = [
        (|l| l.split('x', Up, 'n', &Limits::default(), None), EditError::UnknownLeaf('x')),
        (|l| l.split('a', Up, 'b', &Limits::default(), None), EditError::DuplicateLeaf('b')),
        (|l| l.split('c', Right, 'n', &limits(2, 9, ROOMY), None), EditError::TooDeep { limit: 2 }),
        (|l| l.split('c', Down, 'n', &limits(9, 3, ROOMY), None), EditError::TooMany { limit: 3 }),
        (
            |l| l.split('b', Down, 'n', &Limits::default(), Some(size(80, 3))),
            EditError::NoRoom { leaf: 'c', min: size(1, 1) },
        ),
        (|l| l.close('x').map(drop), EditError::UnknownLeaf('x')),
        (|l| l.swap('a', 'x'), EditError::UnknownLeaf('x')),
        (|l| l.swap('a', 'a'), EditError::SameLeaf('a')),
        (|l| l.replace('a', 'b'), EditError::DuplicateLeaf('b')),
        (|l| l.move_leaf('a', 'a', Up, &Limits::default(), None), EditError::SameLeaf('a')),
        (
            |l| l.move_leaf('a', 'c', Right, &limits(9, 9, size(30, 12)), Some(ROOMY)),
            EditError::NoRoom { leaf: 'a', min: size(30, 12) },
        ),
        (|l| l.set_weight('x', Weight::MAX), EditError::UnknownLeaf('x')),
        (|l| l.set_branch_weight('a', Axis::Column, Weight::MAX), EditError::NoSplit('a')),
        (|l| l.move_leaf('x', 'a', Up, &Limits::default(), None), EditError::UnknownLeaf('x')),
    ];
    // +---+---+
    // | a | b |
    // |   +---+
    // |   | c |
    // +---+---+
    for (number, (edit, error)) in cases.into_iter().enumerate() {
        let mut edited = layout("v1:[a|[b/c]]");
        assert_eq!(edit(&mut edited), Err(error), "case {number}");
        assert_eq!(edited, layout("v1:[a|[b/c]]"), "case {number}");
    }
    let mut only = layout("v1:a");
    assert_eq!(only.set_weight('a', Weight::MAX), Err(EditError::NoSplit('a')));
}
