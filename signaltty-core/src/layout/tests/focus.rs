//! Moving the focus.

use proptest::prelude::*;

use crate::layout::Direction::{self, Down, Left, Right, Up};
use crate::layout::{Layout, Limits, Point, neighbour, rects};

use super::model::{apply, edits};
use super::{layout, size};

fn check(
    text: &str,
    from: char,
    direction: Direction,
    cursor: Option<(u16, u16)>,
    to: Option<char>,
) {
    let rects = rects(&layout(text), size(80, 24).into());
    let cursor = cursor.map(|(col, row)| Point { col, row });
    assert_eq!(neighbour(&rects, from, direction, cursor), to, "{text} {from} {direction:?}");
}

#[test]
fn the_focus_moves_to_the_neighbour_and_never_wraps() {
    // +---+---+---+
    // |   | b |   |
    // | a +---+ d |
    // |   | c |   |
    // +---+---+---+
    let text = "v1:[a|[b/c*2]|d]";
    for (from, direction, to) in [
        ('a', Left, None),
        ('a', Up, None),
        ('a', Down, None),
        ('b', Left, Some('a')),
        ('b', Right, Some('d')),
        ('b', Down, Some('c')),
        ('b', Up, None),
        ('c', Up, Some('b')),
        // Without a cursor, the one with more lines in common.
        ('a', Right, Some('c')),
        ('d', Left, Some('c')),
        ('d', Right, None),
        ('x', Left, None),
    ] {
        check(text, from, direction, None, to);
    }
}

#[test]
fn the_cursor_decides_between_neighbours() {
    let text = "v1:[a|[b/c*2]]";
    check(text, 'a', Right, Some((5, 0)), Some('b'));
    check(text, 'a', Right, Some((5, 20)), Some('c'));
    // On the separator, at row 8, both are equally near.
    check(text, 'a', Right, Some((5, 8)), Some('c'));
    // A pane further away is no match for them, wherever the cursor is.
    check("v1:[a|[b/c]|d]", 'a', Right, Some((5, 12)), Some('b'));
    let text = "v1:[[a|b*3]/c]";
    check(text, 'c', Up, None, Some('b'));
    check(text, 'c', Up, Some((3, 20)), Some('a'));
}

#[test]
fn equal_neighbours_are_taken_in_visual_order() {
    check("v1:[a|[b/c/d]]", 'a', Right, Some((0, 12)), Some('c'));
    // 24 rows less a line: the first of two has one row more.
    check("v1:[a|[b/c]]", 'a', Right, None, Some('b'));
    let rects = rects(&layout("v1:[a|[b/c]]"), size(9, 5).into());
    assert_eq!(neighbour(&rects, 'a', Right, None), Some('b'));
}

#[test]
fn a_pane_below_the_end_of_a_separator_still_has_a_neighbour_above() {
    // aa|bb
    // -----    `d` has only the line between `a` and `b` above it.
    // c|d|e
    let rects = rects(&layout("v1:[[a|b]/[c|d|e]]"), size(5, 3).into());
    assert_eq!(neighbour(&rects, 'd', Up, None), Some('a'));
    // Panes across a corner are none.
    // aa|bb
    // -----
    // cc|dd
    let rects = super::super::rects(&layout("v1:[[a|b]/[c|d]]"), size(5, 3).into());
    let nearest_to_d = Some(Point { col: 4, row: 2 });
    assert_eq!(neighbour(&rects, 'a', Down, nearest_to_d), Some('c'));
}

#[test]
fn panes_cut_to_nothing_have_and_are_no_neighbours() {
    let rects = rects(&layout("v1:[a|b|c]"), size(3, 1).into());
    assert_eq!(neighbour(&rects, 'b', Right, None), None);
    assert_eq!(neighbour(&rects, 'c', Left, None), None);
}

fn direction() -> impl Strategy<Value = Direction> {
    prop_oneof![Just(Left), Just(Right), Just(Up), Just(Down)]
}

proptest! {
    #[test]
    fn every_pane_that_is_not_at_the_edge_has_an_adjacent_neighbour(
        edits in edits(1..60),
        direction in direction(),
    ) {
        let area = size(200, 100);
        let mut layout = Layout::single(0);
        for (new, edit) in (1..).zip(edits) {
            apply(&mut layout, edit, new, &Limits::default(), Some(area)).ok();
        }
        let rects = rects(&layout, area.into());
        for (leaf, rect) in rects.iter().filter(|(_, rect)| !rect.is_empty()) {
            let (start, end) = rect.span(direction.axis());
            let edge = match direction {
                Left | Up => start == 0,
                Right => end == area.cols,
                Down => end == area.rows,
            };
            let found = neighbour(&rects, *leaf, direction, None);
            prop_assert_eq!(found.is_none(), edge);
            if let Some(found) = found {
                let (_, other) = rects.iter().find(|(leaf, _)| *leaf == found).unwrap();
                let (other_start, other_end) = other.span(direction.axis());
                let gap = match direction {
                    Left | Up => start - other_end,
                    Right | Down => other_start - end,
                };
                prop_assert_eq!(gap, 1, "only a separator lies between");
            }
        }
    }
}
