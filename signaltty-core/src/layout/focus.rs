//! Moving the focus to a neighbouring pane.

use std::cmp::Reverse;

use super::{Axis, Direction, Point, Rect};

/// The pane next to `from` in a direction, among the rectangles of a layout.
///
/// Only panes count that are visible, lie wholly on that side and share at least
/// one line with `from` or with the separators along it: a pane of one column
/// may have nothing but the end of a separator above it. Among them, in this
/// order, wins the one
///
/// 1. nearest to the edge of `from`;
/// 2. nearest to the cursor's line, if a cursor is given: its row when moving
///    sideways, its column when moving up or down;
/// 3. with the most lines in common with `from`;
/// 4. first in visual order.
///
/// The focus never wraps around: there is no neighbour beyond the last pane,
/// none for an unknown pane and none for one that is cut to nothing.
#[must_use]
pub fn neighbour<L: Copy + Eq>(
    rects: &[(L, Rect)],
    from: L,
    direction: Direction,
    cursor: Option<Point>,
) -> Option<L> {
    let (_, own) = rects.iter().find(|(leaf, rect)| *leaf == from && !rect.is_empty())?;
    let across = direction.axis().across();
    let line = cursor.map(|cursor| match across {
        Axis::Row => cursor.col,
        Axis::Column => cursor.row,
    });
    rects
        .iter()
        .filter(|(leaf, rect)| *leaf != from && !rect.is_empty())
        .filter_map(|(leaf, rect)| {
            let gap = gap(*own, *rect, direction)?;
            let shared = shared(own.span(across), rect.span(across))?;
            let distance = line.map_or(0, |line| distance(line, rect.span(across)));
            Some((*leaf, (gap, distance, Reverse(shared))))
        })
        .min_by_key(|(_, rank)| *rank)
        .map(|(leaf, _)| leaf)
}

/// The cells between the edges, unless `other` is not on that side.
fn gap(own: Rect, other: Rect, direction: Direction) -> Option<u16> {
    let (own_start, own_end) = own.span(direction.axis());
    let (start, end) = other.span(direction.axis());
    if direction.is_backward() { own_start.checked_sub(end) } else { start.checked_sub(own_end) }
}

/// How many lines two spans share: none if they only touch, as spans do where
/// one ends in the separator along the other.
fn shared(own: (u16, u16), other: (u16, u16)) -> Option<u16> {
    own.1.min(other.1).checked_sub(own.0.max(other.0))
}

/// How far a line is from a span that is not empty.
fn distance(line: u16, span: (u16, u16)) -> u16 {
    if line < span.0 { span.0 - line } else { line.saturating_sub(span.1.saturating_sub(1)) }
}
