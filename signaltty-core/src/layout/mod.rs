//! The layout of a tab: which panes share its area, and how.
//!
//! A [`Layout`] is a tree. A *leaf* is one pane; a *split* divides its area
//! along one [`Axis`] between at least two children, each with a [`Weight`].
//! The tree is n-ary, so three equal columns are one split with three children
//! and not a chain of halves. Weights are whole numbers, so two layouts are
//! equal or they are not, and the text form is exact.
//!
//! What always holds, numbered as in the design and checked by
//! [`Layout::check`]:
//!
//! - **L1** a split has at least two children;
//! - **L2** a split directly inside another one has the other axis;
//! - **L3** a leaf appears at most once (across tabs this is the session's duty);
//! - **L4** weights are positive, by type;
//! - **L8** depth and number of leaves stay under the [`Limits`].
//!
//! The parts: editing is in methods of [`Layout`] such as [`Layout::split`],
//! geometry is the function [`arrange`], moving the focus is [`neighbour`], the
//! text form is `Display` and [`Layout::parse`], and trees from files that
//! nobody has checked come in as a [`RawNode`] through [`Layout::from_raw`]
//! (strict) or [`Layout::repair`] (forgiving).
//!
//! Absent on purpose: sizes in cells, which are computed and never stored;
//! the zoomed pane, which is the business of each client; and an empty layout,
//! since a tab without panes has none.
//!
//! ```
//! use signaltty_core::layout::{Closed, Direction, Layout, Limits, Rect, Size, rects};
//!
//! let limits = Limits::default();
//! let mut layout = Layout::single(1_u32);
//! layout.split(1, Direction::Right, 2, &limits, None)?;
//! layout.split(2, Direction::Down, 3, &limits, None)?;
//! assert_eq!(layout.to_string(), "v1:[1|[2/3]]");
//!
//! let area = Rect::from(Size { cols: 81, rows: 24 });
//! let (pane, rect) = rects(&layout, area)[0];
//! assert_eq!((pane, rect.cols(), rect.rows()), (1, 40, 24));
//!
//! assert_eq!(layout.close(2), Ok(Closed::Remaining));
//! assert_eq!(layout, "v1:[1|3]".parse()?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod change;
mod edit;
mod focus;
mod fold;
#[cfg(any(test, feature = "testing"))]
mod fuzz;
mod geometry;
mod map;
mod node;
mod parse;
mod parser;
mod raw;
mod repair;
mod sane;
mod share;
#[cfg(test)]
mod tests;
mod text;
mod weight;

use thiserror::Error;

pub use edit::{Closed, EditError};
pub use focus::neighbour;
#[cfg(any(test, feature = "testing"))]
pub use fuzz::{fuzz_layout_edits, fuzz_layout_text};
pub use geometry::{Arrangement, Point, Rect, Separator, Size, arrange, rects};
pub use map::MapError;
pub use node::{Child, Leaves, Node, Split};
pub use parse::{ParseError, ParseErrorKind};
pub use raw::{RawChild, RawChildren, RawNode, RawWeight};
pub use repair::Repaired;
pub use weight::Weight;

/// A valid tree of panes; see the [module](self) for what that means.
///
/// It has at least one leaf. Every edit either succeeds or is refused and then
/// changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout<L> {
    root: Node<L>,
}

impl<L: Copy + Eq> Layout<L> {
    /// The layout of a tab with one pane.
    #[must_use]
    pub fn single(leaf: L) -> Self {
        Self { root: Node::Leaf(leaf) }
    }

    /// The root of the tree, for walking it.
    #[must_use]
    pub fn root(&self) -> &Node<L> {
        &self.root
    }

    /// The leaves in visual order: left to right, top to bottom, depth first.
    #[must_use]
    pub fn leaves(&self) -> Leaves<'_, L> {
        Leaves::new(&self.root)
    }

    /// The first leaf in visual order.
    #[must_use]
    pub fn first(&self) -> L {
        self.root.first()
    }

    /// Whether the leaf is in this layout.
    #[must_use]
    pub fn contains(&self, leaf: L) -> bool {
        self.leaves().any(|other| other == leaf)
    }

    /// The number of leaves, which is at least one.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a layout is never empty")]
    pub fn len(&self) -> usize {
        self.leaves().count()
    }

    /// The number of splits around the deepest leaf; 0 for a single pane.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.root.depth()
    }

    /// Tests every invariant.
    ///
    /// Layouts are valid by construction, so inside one process a failure is a
    /// bug or means that the layout was made under other limits.
    ///
    /// # Errors
    ///
    /// Says which invariant is broken.
    pub fn check(&self, limits: &Limits) -> Result<(), LayoutViolation<L>> {
        self.root.check()?;
        if self.depth() > usize::from(limits.depth) {
            return Err(LayoutViolation::TooDeep { limit: limits.depth });
        }
        if self.len() > usize::from(limits.leaves) {
            return Err(LayoutViolation::TooManyLeaves { limit: limits.leaves });
        }
        let mut seen = Vec::new();
        for leaf in self.leaves() {
            if seen.contains(&leaf) {
                return Err(LayoutViolation::DuplicateLeaf(leaf));
            }
            seen.push(leaf);
        }
        Ok(())
    }
}

/// The direction in which a split lays out its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Axis {
    /// Side by side, from left to right.
    Row,
    /// Stacked, from top to bottom.
    Column,
}

impl Axis {
    /// The other axis.
    #[must_use]
    pub const fn across(self) -> Self {
        match self {
            Self::Row => Self::Column,
            Self::Column => Self::Row,
        }
    }
}

/// A side of a pane: where a new pane goes, or where the focus moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// Towards the first column.
    Left,
    /// Towards the last column.
    Right,
    /// Towards the first row.
    Up,
    /// Towards the last row.
    Down,
}

impl Direction {
    /// The axis this direction lies on.
    #[must_use]
    pub const fn axis(self) -> Axis {
        match self {
            Self::Left | Self::Right => Axis::Row,
            Self::Up | Self::Down => Axis::Column,
        }
    }

    /// Whether it points at smaller columns or rows.
    const fn is_backward(self) -> bool {
        matches!(self, Self::Left | Self::Up)
    }
}

/// How large a layout may become.
///
/// The same limits hold for editing and for loading, so what was saved can be
/// loaded. The types of the fields bound what a limit can be set to; at 255
/// levels the recursive functions of this module still need little stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The most splits around any leaf. Default: 32.
    pub depth: u8,
    /// The most leaves, that is panes in a tab. Default: 256.
    pub leaves: u16,
    /// The smallest pane that an edit in a known area may leave. Default: 1 × 1.
    pub min_pane: Size,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 32, leaves: 256, min_pane: Size { cols: 1, rows: 1 } }
    }
}

/// What is wrong with a tree that is not a valid layout.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LayoutViolation<L> {
    /// L1: a split needs at least two children.
    #[error("a split has {found} children and needs at least two")]
    FewChildren {
        /// The number of children it has.
        found: usize,
    },
    /// L2: a split sits directly in a split of the same axis.
    #[error("a split lies directly inside a split of the same axis")]
    SameAxis,
    /// L3: a leaf appears twice.
    #[error("pane {0} appears more than once")]
    DuplicateLeaf(L),
    /// L4: a weight is missing, no number, or outside of the sane range.
    #[error("weight {found} is not a sane share")]
    BadWeight {
        /// The weight as it was found.
        found: String,
    },
    /// L8: splits are nested too deeply.
    #[error("splits are nested more than {limit} deep")]
    TooDeep {
        /// The limit in force.
        limit: u8,
    },
    /// L8: there are too many leaves.
    #[error("there are more than {limit} panes")]
    TooManyLeaves {
        /// The limit in force.
        limit: u16,
    },
    /// The tree has no leaf at all.
    #[error("there is no pane")]
    NoLeaf,
}
