//! Trees that nobody has checked, as loaders build them from files.
//!
//! Such a tree may be broken in every way: too deep, empty splits, leaves
//! twice, weights that are no numbers. Nothing here recurses, so even its depth
//! is harmless; [`Layout::from_raw`](super::Layout::from_raw) and
//! [`Layout::repair`](super::Layout::repair) turn it into a layout.

use std::{fmt, mem, vec};

use super::fold::{Translate, fold};
use super::{Axis, Weight};

/// A node of an unchecked tree.
pub enum RawNode<L> {
    /// One pane.
    Leaf(L),
    /// A split with any number of children.
    Split {
        /// The axis.
        axis: Axis,
        /// The children.
        children: RawChildren<L>,
    },
}

/// A node of an unchecked tree and its share of the split around it.
#[derive(Debug)]
pub struct RawChild<L> {
    /// The share, whatever was found.
    pub weight: RawWeight,
    /// The node.
    pub node: RawNode<L>,
    /// Where it begins in the text it was read from, if it was.
    pub(super) offset: usize,
}

/// The children of a split in an unchecked tree.
///
/// A list of its own, so that dropping a very deep tree needs no stack.
pub struct RawChildren<L>(Vec<RawChild<L>>);

/// A weight as it was found.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum RawWeight {
    /// A whole number.
    Whole(i64),
    /// A fraction, as formats with ratios have; meaningful beside its siblings.
    Ratio(f64),
    /// None, or something that is not a number.
    Unreadable,
}

impl<L> RawNode<L> {
    /// A split of these children.
    #[must_use]
    pub fn split(axis: Axis, children: impl IntoIterator<Item = RawChild<L>>) -> Self {
        Self::Split { axis, children: children.into_iter().collect() }
    }

    /// Translates every leaf, for example from a description of a pane to the
    /// id of the pane started for it.
    ///
    /// Unlike [`Layout::try_map`](super::Layout::try_map) this allows leaves
    /// that are equal or cannot be compared.
    ///
    /// # Errors
    ///
    /// The first error of `translate`.
    pub fn try_map<M, E>(self, translate: impl FnMut(L) -> Result<M, E>) -> Result<RawNode<M>, E> {
        fold(self, 0, &mut Translate(translate))
    }
}

impl<L> RawChild<L> {
    /// A child with its weight.
    #[must_use]
    pub fn new(weight: impl Into<RawWeight>, node: RawNode<L>) -> Self {
        Self { weight: weight.into(), node, offset: 0 }
    }
}

impl<L> RawChildren<L> {
    /// The number of children.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The children, for reading.
    pub fn iter(&self) -> std::slice::Iter<'_, RawChild<L>> {
        self.0.iter()
    }

    /// Adds a child behind the others.
    pub fn push(&mut self, child: RawChild<L>) {
        self.0.push(child);
    }
}

impl<L> Default for RawChildren<L> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<L> FromIterator<RawChild<L>> for RawChildren<L> {
    fn from_iter<I: IntoIterator<Item = RawChild<L>>>(children: I) -> Self {
        Self(children.into_iter().collect())
    }
}

impl<L> IntoIterator for RawChildren<L> {
    type Item = RawChild<L>;
    type IntoIter = vec::IntoIter<RawChild<L>>;

    fn into_iter(mut self) -> Self::IntoIter {
        mem::take(&mut self.0).into_iter()
    }
}

impl<'a, L> IntoIterator for &'a RawChildren<L> {
    type Item = &'a RawChild<L>;
    type IntoIter = std::slice::Iter<'a, RawChild<L>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<L> Drop for RawChildren<L> {
    fn drop(&mut self) {
        let mut pending = mem::take(&mut self.0);
        while let Some(child) = pending.pop() {
            if let RawNode::Split { mut children, .. } = child.node {
                pending.append(&mut children.0);
            }
        }
    }
}

impl<L: fmt::Debug> fmt::Debug for RawNode<L> {
    /// Shows this node only, since a tree may be deeper than the stack.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Leaf(leaf) => f.debug_tuple("Leaf").field(leaf).finish(),
            Self::Split { axis, children } => {
                f.debug_struct("Split").field("axis", axis).field("children", children).finish()
            }
        }
    }
}

impl<L> fmt::Debug for RawChildren<L> {
    /// Shows the number of children.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{} children]", self.0.len())
    }
}

impl fmt::Display for RawWeight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(value) => value.fmt(f),
            Self::Ratio(value) => write!(f, "{value:e}"),
            Self::Unreadable => f.write_str("(unreadable)"),
        }
    }
}

impl From<Weight> for RawWeight {
    fn from(weight: Weight) -> Self {
        Self::Whole(i64::from(weight.get()))
    }
}

impl From<i64> for RawWeight {
    fn from(value: i64) -> Self {
        Self::Whole(value)
    }
}

impl From<f64> for RawWeight {
    fn from(value: f64) -> Self {
        Self::Ratio(value)
    }
}
