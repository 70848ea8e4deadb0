//! Nodes of a valid tree, and the changes that keep it valid.
//!
//! Fields of a split are open to the rest of the layout module only. Functions
//! here recurse, which is safe because a valid tree is at most 255 deep.

use std::slice;

use super::weight::fit;
use super::{Axis, LayoutViolation, Weight};

/// A part of a layout.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node<L> {
    /// One pane.
    Leaf(L),
    /// An area divided between several nodes.
    Split(Split<L>),
}

/// A node that divides its area between two or more children.
///
/// It can be read but not made from outside, so a split that exists is valid.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Split<L> {
    pub(super) axis: Axis,
    pub(super) children: Vec<Child<L>>,
}

/// A node and its share of the split around it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Child<L> {
    /// The share.
    pub weight: Weight,
    /// The node.
    pub node: Node<L>,
}

/// The leaves of a layout in visual order; made by
/// [`Layout::leaves`](super::Layout::leaves).
#[derive(Clone, Debug)]
pub struct Leaves<'a, L> {
    root: Option<&'a Node<L>>,
    open: Vec<slice::Iter<'a, Child<L>>>,
}

impl<L> Split<L> {
    /// The axis along which the children follow each other.
    #[must_use]
    pub fn axis(&self) -> Axis {
        self.axis
    }

    /// The children in visual order; there are at least two.
    #[must_use]
    pub fn children(&self) -> &[Child<L>] {
        &self.children
    }
}

impl<L: Copy + Eq> Node<L> {
    pub(super) fn first(&self) -> L {
        // A split has children (L1), so the loop ends at a leaf.
        let mut node = self;
        loop {
            match node {
                Self::Leaf(leaf) => return *leaf,
                Self::Split(split) => {
                    if let Some(child) = split.children.first() {
                        node = &child.node;
                    }
                }
            }
        }
    }

    pub(super) fn depth(&self) -> usize {
        match self {
            Self::Leaf(_) => 0,
            Self::Split(split) => {
                1 + split.children.iter().map(|child| child.node.depth()).max().unwrap_or(0)
            }
        }
    }

    /// Tests L1 and L2.
    pub(super) fn check(&self) -> Result<(), LayoutViolation<L>> {
        let Self::Split(split) = self else {
            return Ok(());
        };
        if split.children.len() < 2 {
            return Err(LayoutViolation::FewChildren { found: split.children.len() });
        }
        for child in &split.children {
            if child.node.has_axis(split.axis) {
                return Err(LayoutViolation::SameAxis);
            }
            child.node.check()?;
        }
        Ok(())
    }

    pub(super) fn has_axis(&self, axis: Axis) -> bool {
        matches!(self, Self::Split(split) if split.axis == axis)
    }

    pub(super) fn is(&self, leaf: L) -> bool {
        matches!(self, Self::Leaf(own) if *own == leaf)
    }
}

impl<L: Copy + Eq> Split<L> {
    pub(super) fn position(&self, leaf: L) -> Option<usize> {
        self.children.iter().position(|child| child.node.is(leaf))
    }

    /// Puts a leaf before or behind the child at `position`.
    ///
    /// Children of equal weight stay equal, the newcomer included. Otherwise
    /// the newcomer takes half of the share of the child at `position`; an odd
    /// share doubles all weights of the run first, so the halves are whole.
    pub(super) fn insert_beside(&mut self, position: usize, backward: bool, leaf: L) {
        let Some(host) = self.children.get(position) else {
            return;
        };
        let host_weight = host.weight;
        let equal = self.children.iter().all(|child| child.weight == host_weight);
        let at = if backward { position } else { position + 1 };
        self.children.insert(at, Child { weight: host_weight, node: Node::Leaf(leaf) });
        if equal {
            return;
        }
        // Host and newcomer now hold the share twice, at `position` and behind
        // it, whichever comes first.
        let factor = 1 + u64::from(host_weight.get() % 2);
        let run: Vec<u64> = self
            .children
            .iter()
            .enumerate()
            .map(|(index, child)| {
                let share = u64::from(child.weight.get()) * factor;
                if index == position || index == position + 1 { share / 2 } else { share }
            })
            .collect();
        self.set_run(&fit(&run));
    }

    /// Replaces the child at `position` by the children of `inner`, which
    /// divide the child's share in their old proportions.
    ///
    /// Used where `inner` has this split's axis, so the picture stays
    /// the same but for rounding.
    pub(super) fn splice(&mut self, position: usize, inner: Self) {
        let Some(host) = self.children.get(position) else {
            return;
        };
        let share = u64::from(host.weight.get());
        let total: u64 = inner.children.iter().map(|child| u64::from(child.weight.get())).sum();
        let mut run = Vec::with_capacity(self.children.len() + inner.children.len());
        for (index, child) in self.children.iter().enumerate() {
            if index == position {
                run.extend(
                    inner.children.iter().map(|inner| share * u64::from(inner.weight.get())),
                );
            } else {
                run.push(u64::from(child.weight.get()) * total);
            }
        }
        self.children.splice(position..=position, inner.children);
        self.set_run(&fit(&run));
    }

    /// Puts `node`, whose split lost all other children, in the child's place.
    pub(super) fn lift(&mut self, position: usize, node: Node<L>) {
        match node {
            Node::Split(inner) if inner.axis == self.axis => self.splice(position, inner),
            node => {
                if let Some(child) = self.children.get_mut(position) {
                    child.node = node;
                }
            }
        }
    }

    fn set_run(&mut self, run: &[Weight]) {
        for (child, weight) in self.children.iter_mut().zip(run) {
            child.weight = *weight;
        }
    }
}

impl<'a, L> Leaves<'a, L> {
    pub(super) fn new(root: &'a Node<L>) -> Self {
        Self { root: Some(root), open: Vec::new() }
    }
}

impl<L: Copy> Iterator for Leaves<'_, L> {
    type Item = L;

    fn next(&mut self) -> Option<L> {
        let mut node = self.root.take();
        loop {
            match node.take() {
                Some(Node::Leaf(leaf)) => return Some(*leaf),
                Some(Node::Split(split)) => self.open.push(split.children.iter()),
                None => {
                    let child = self.open.last_mut()?.next();
                    match child {
                        Some(child) => node = Some(&child.node),
                        None => drop(self.open.pop()),
                    }
                }
            }
        }
    }
}
