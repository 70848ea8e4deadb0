//! Rectangles: what a layout looks like in an area of cells.
//!
//! Geometry is computed and never stored. Between two neighbouring children
//! lies one line of cells, the *separator*. Rectangles and separators tile the
//! area exactly and never overlap (L6), whatever the area and the weights.
//!
//! The cells of a split go to its children in proportion to the weights, but as
//! long as the area has room for it every pane shows. In an area that is too
//! small, the last children and the separators before them are cut away: their
//! rectangles are empty.

use std::fmt;

use super::share::share_out;
use super::{Axis, Layout, Node};

/// A number of columns and rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Size {
    /// The width in cells.
    pub cols: u16,
    /// The height in cells.
    pub rows: u16,
}

/// A cell, counted from the top left of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Point {
    /// The column, from 0.
    pub col: u16,
    /// The row, from 0.
    pub row: u16,
}

/// A rectangle of cells; it may be empty.
///
/// Its edges stay within 65,535, so arithmetic on them cannot overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rect {
    col: u16,
    row: u16,
    cols: u16,
    rows: u16,
}

/// The line of cells between two children of a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Separator {
    /// The axis of the split: the separators of a row are vertical lines.
    pub axis: Axis,
    /// The cells, one thick along the axis; never empty.
    pub rect: Rect,
}

/// A layout in an area.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrangement<L> {
    /// The leaves and their rectangles, in visual order.
    pub rects: Vec<(L, Rect)>,
    /// The lines between them.
    pub separators: Vec<Separator>,
}

/// Places a layout in an area.
#[must_use]
pub fn arrange<L: Copy + Eq>(layout: &Layout<L>, area: Rect) -> Arrangement<L> {
    let mut arrangement = Arrangement { rects: Vec::new(), separators: Vec::new() };
    arrangement.place(layout.root(), area);
    arrangement
}

/// The rectangles of all leaves in an area, in visual order.
#[must_use]
pub fn rects<L: Copy + Eq>(layout: &Layout<L>, area: Rect) -> Vec<(L, Rect)> {
    arrange(layout, area).rects
}

impl Size {
    /// Whether `other` fits in.
    #[must_use]
    pub const fn holds(self, other: Self) -> bool {
        self.cols >= other.cols && self.rows >= other.rows
    }
}

impl Default for Size {
    /// 80 × 24, the area of a tab that no client has shown yet.
    fn default() -> Self {
        Self { cols: 80, rows: 24 }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.cols, self.rows)
    }
}

impl Rect {
    /// A rectangle with its first cell at `at`, clipped at column and row 65,535.
    #[must_use]
    pub fn new(at: Point, size: Size) -> Self {
        Self {
            col: at.col,
            row: at.row,
            cols: size.cols.min(u16::MAX - at.col),
            rows: size.rows.min(u16::MAX - at.row),
        }
    }

    /// The first column.
    #[must_use]
    pub const fn col(self) -> u16 {
        self.col
    }

    /// The first row.
    #[must_use]
    pub const fn row(self) -> u16 {
        self.row
    }

    /// The width.
    #[must_use]
    pub const fn cols(self) -> u16 {
        self.cols
    }

    /// The height.
    #[must_use]
    pub const fn rows(self) -> u16 {
        self.rows
    }

    /// Width and height.
    #[must_use]
    pub const fn size(self) -> Size {
        Size { cols: self.cols, rows: self.rows }
    }

    /// Whether it has no cell.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.cols == 0 || self.rows == 0
    }

    /// Whether the cell is inside.
    #[must_use]
    pub fn contains(self, point: Point) -> bool {
        let (col, row) = (self.span(Axis::Row), self.span(Axis::Column));
        (col.0..col.1).contains(&point.col) && (row.0..row.1).contains(&point.row)
    }

    /// First cell and the cell behind the last one, along an axis.
    pub(super) fn span(self, axis: Axis) -> (u16, u16) {
        let (start, length) = match axis {
            Axis::Row => (self.col, self.cols),
            Axis::Column => (self.row, self.rows),
        };
        (start, start.saturating_add(length))
    }

    /// The slice from `offset` cells on along the axis, clipped to `self`.
    fn cut(self, axis: Axis, offset: u16, length: u16) -> Self {
        let (start, end) = self.span(axis);
        let from = start.saturating_add(offset).min(end);
        let length = length.min(end - from);
        match axis {
            Axis::Row => Self { col: from, cols: length, ..self },
            Axis::Column => Self { row: from, rows: length, ..self },
        }
    }
}

impl From<Size> for Rect {
    /// The rectangle of this size at the top left.
    fn from(size: Size) -> Self {
        Self::new(Point { col: 0, row: 0 }, size)
    }
}

impl<L: Copy + Eq> Arrangement<L> {
    fn place(&mut self, node: &Node<L>, area: Rect) {
        let split = match node {
            Node::Leaf(leaf) => return self.rects.push((*leaf, area)),
            Node::Split(split) => split,
        };
        let (start, end) = area.span(split.axis);
        let lengths = share_out(end - start, split.axis, &split.children);
        let mut offset = 0_u16;
        for (index, (child, length)) in split.children.iter().zip(lengths).enumerate() {
            if index > 0 {
                // Before a child that was cut away nothing is left of the area.
                let rect = area.cut(split.axis, offset, 1);
                if !rect.is_empty() {
                    self.separators.push(Separator { axis: split.axis, rect });
                }
                offset = offset.saturating_add(1);
            }
            self.place(&child.node, area.cut(split.axis, offset, length));
            offset = offset.saturating_add(length);
        }
    }
}
