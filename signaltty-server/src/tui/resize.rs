//! Moving the line between two panes: a layout whose weights are the cells that
//! each part has now, with some of them moved.

use signaltty_core::id::PaneId;
use signaltty_core::layout::{Axis, Layout, Node, Rect, rects};

/// The layout after the line behind `pane` (before it, where it is the last)
/// moved by so many cells; `None` where there is no such line or no room.
pub(crate) fn moved(
    layout: &Layout<PaneId>,
    area: Rect,
    pane: PaneId,
    axis: Axis,
    cells: i32,
) -> Option<Layout<PaneId>> {
    let all = rects(layout, area);
    let mut text = String::from("v1:");
    let mut moved = false;
    let target = innermost(layout.root(), pane, axis)?;
    print(layout.root(), &all, target, pane, cells, &mut text, &mut moved)?;
    text.parse().ok().filter(|_| moved)
}

/// The innermost split along the axis around the pane.
fn innermost(node: &Node<PaneId>, pane: PaneId, axis: Axis) -> Option<*const Node<PaneId>> {
    let Node::Split(split) = node else { return None };
    let child = split.children().iter().find(|child| holds(&child.node, pane))?;
    let deeper = innermost(&child.node, pane, axis);
    deeper.or_else(|| (split.axis() == axis).then_some(std::ptr::from_ref(node)))
}

fn holds(node: &Node<PaneId>, pane: PaneId) -> bool {
    match node {
        Node::Leaf(leaf) => *leaf == pane,
        Node::Split(split) => split.children().iter().any(|child| holds(&child.node, pane)),
    }
}

fn print(
    node: &Node<PaneId>,
    all: &[(PaneId, Rect)],
    target: *const Node<PaneId>,
    pane: PaneId,
    cells: i32,
    text: &mut String,
    moved: &mut bool,
) -> Option<()> {
    let split = match node {
        Node::Leaf(leaf) => {
            text.push_str(&leaf.to_string());
            return Some(());
        }
        Node::Split(split) => split,
    };
    let here = std::ptr::eq(node, target);
    let children = split.children();
    let mut weights: Vec<i32> = children.iter().map(|child| child.weight.get().into()).collect();
    if here {
        weights = children.iter().map(|child| extent(&child.node, all, split.axis())).collect();
        let at = children.iter().position(|child| holds(&child.node, pane))?;
        // The last one moves the line before it.
        let (before, after) =
            if at + 1 < children.len() { (at, at + 1) } else { (at.checked_sub(1)?, at) };
        *weights.get_mut(before)? += cells;
        *weights.get_mut(after)? -= cells;
        if weights.iter().any(|weight| *weight < 1) {
            return None;
        }
        *moved = true;
    }
    text.push('[');
    for (index, (child, weight)) in children.iter().zip(weights).enumerate() {
        if index > 0 {
            text.push(if split.axis() == Axis::Row { '|' } else { '/' });
        }
        print(&child.node, all, target, pane, cells, text, moved)?;
        text.push_str(&format!("*{weight}"));
    }
    text.push(']');
    Some(())
}

/// How many cells a part has along an axis.
fn extent(node: &Node<PaneId>, all: &[(PaneId, Rect)], axis: Axis) -> i32 {
    let own = all.iter().filter(|(pane, rect)| !rect.is_empty() && holds(node, *pane));
    let span = |rect: &Rect| match axis {
        Axis::Row => (rect.col(), rect.col().saturating_add(rect.cols())),
        Axis::Column => (rect.row(), rect.row().saturating_add(rect.rows())),
    };
    let spans: Vec<_> = own.map(|(_, rect)| span(rect)).collect();
    let start = spans.iter().map(|span| span.0).min().unwrap_or(0);
    let end = spans.iter().map(|span| span.1).max().unwrap_or(0);
    i32::from(end.saturating_sub(start))
}

#[cfg(test)]
mod tests {
    use signaltty_core::layout::{Point, Size};

    use super::*;

    fn id(n: u8) -> PaneId {
        PaneId::from_random([n; 10])
    }

    #[test]
    fn a_line_moves_by_exactly_as_many_cells_as_asked_for() {
        let (a, b, c) = (id(1), id(2), id(3));
        let layout: Layout<PaneId> = format!("v1:[{a}|[{b}/{c}]]").parse().unwrap();
        let area = Rect::new(Point { col: 0, row: 0 }, Size { cols: 81, rows: 25 });
        let size = |layout: &Layout<PaneId>, pane| {
            rects(layout, area).into_iter().find(|(p, _)| *p == pane).unwrap().1.size()
        };
        let wider = moved(&layout, area, a, Axis::Row, 3).unwrap();
        assert_eq!((size(&wider, a).cols, size(&wider, b).cols), (43, 37));
        // The last one moves the line before it: the same line.
        let same = moved(&layout, area, c, Axis::Row, 3).unwrap();
        assert_eq!(size(&same, a).cols, 43);
        let taller = moved(&layout, area, b, Axis::Column, -4).unwrap();
        assert_eq!((size(&taller, b).rows, size(&taller, c).rows), (8, 16));
        assert!(moved(&layout, area, a, Axis::Column, 1).is_none(), "no such line");
        assert!(moved(&layout, area, b, Axis::Column, -40).is_none(), "no room");
    }
}
