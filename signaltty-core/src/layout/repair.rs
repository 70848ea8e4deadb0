//! From an unchecked tree to a layout.
//!
//! The strict way refuses the tree at its first problem. The forgiving way
//! always ends, always gives the same result for the same tree, and loses no
//! pane:
//!
//! - a second occurrence of a leaf is dropped;
//! - leaves beyond the limit are handed back, for the caller to place elsewhere;
//! - a split without children disappears, one with a single child gives way to
//!   it, and one inside another of the same axis is merged into it;
//! - where splits are nested too deeply the innermost are dissolved, and their
//!   panes become equal neighbours;
//! - a weight that makes no sense is replaced by a sane one.
//!
//! Both are one pass over the tree, so they agree on what a problem is.

use std::collections::BTreeSet;

use super::fold::{Fold, Folded, fold};
use super::sane::sane_run;
use super::{
    Axis, Child, Layout, LayoutViolation, Limits, Node, RawNode, RawWeight, Split, Weight,
};

/// What could be made of an unchecked tree.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired<L> {
    /// The layout; `None` if the tree has no leaf or the limits allow none.
    pub layout: Option<Layout<L>>,
    /// Leaves for which the limits left no place, in visual order, each once.
    pub displaced: Vec<L>,
    /// What was wrong; at most the first 64 problems. Empty means that the tree
    /// was valid, or had nothing worse than sane ratios for weights.
    pub problems: Vec<LayoutViolation<L>>,
    /// How many more problems there were.
    pub unlisted: usize,
}

/// A violation and where in the text it was found.
pub(super) type Located<L> = (usize, LayoutViolation<L>);

impl<L: Copy + Ord> Layout<L> {
    /// The layout that a tree describes, if it describes a valid one.
    ///
    /// Ratios are accepted as weights if each is at least a twentieth of the
    /// largest in its split.
    ///
    /// # Errors
    ///
    /// The first violation, with leaves in visual order and inner splits first.
    pub fn from_raw(raw: RawNode<L>, limits: &Limits) -> Result<Self, LayoutViolation<L>> {
        from_raw_located(raw, 0, limits).map_err(|(_, violation)| violation)
    }

    /// The layout closest to a tree, and what had to be changed.
    #[must_use]
    pub fn repair(raw: RawNode<L>, limits: &Limits) -> Repaired<L> {
        let (layout, builder) = build(raw, 0, limits);
        Repaired {
            layout,
            displaced: builder.displaced,
            problems: builder.problems.into_iter().map(|(_, violation)| violation).collect(),
            unlisted: builder.unlisted,
        }
    }
}

pub(super) fn from_raw_located<L: Copy + Ord>(
    raw: RawNode<L>,
    offset: usize,
    limits: &Limits,
) -> Result<Layout<L>, Located<L>> {
    let (layout, builder) = build(raw, offset, limits);
    if let Some(problem) = builder.problems.into_iter().next() {
        return Err(problem);
    }
    layout.ok_or((offset, LayoutViolation::NoLeaf))
}

fn build<L: Copy + Ord>(
    raw: RawNode<L>,
    offset: usize,
    limits: &Limits,
) -> (Option<Layout<L>>, Builder<L>) {
    let mut builder = Builder {
        limits: *limits,
        // Where no split is allowed there is place for one leaf only.
        places: if limits.depth == 0 { limits.leaves.min(1) } else { limits.leaves },
        seen: BTreeSet::new(),
        displaced: Vec::new(),
        problems: Vec::new(),
        unlisted: 0,
        too_deep: false,
    };
    let root = match fold(raw, offset, &mut builder) {
        Ok(root) => root,
        Err(never) => match never {},
    };
    if root.is_none() && builder.displaced.is_empty() {
        builder.report(offset, LayoutViolation::NoLeaf);
    }
    (root.map(|root| Layout { root }), builder)
}

struct Builder<L> {
    limits: Limits,
    places: u16,
    seen: BTreeSet<L>,
    displaced: Vec<L>,
    problems: Vec<Located<L>>,
    unlisted: usize,
    too_deep: bool,
}

impl<L: Copy + Ord> Fold<L> for Builder<L> {
    /// A valid tree within the depth limit, or nothing if it has no leaves.
    type Output = Option<Node<L>>;
    type Error = std::convert::Infallible;

    fn leaf(&mut self, leaf: L, offset: usize) -> Result<Self::Output, Self::Error> {
        if !self.seen.insert(leaf) {
            self.report(offset, LayoutViolation::DuplicateLeaf(leaf));
            return Ok(None);
        }
        if self.places == 0 {
            if self.displaced.is_empty() {
                let limits = self.limits;
                self.report(
                    offset,
                    match limits.depth {
                        0 if limits.leaves > 0 => LayoutViolation::TooDeep { limit: 0 },
                        _ => LayoutViolation::TooManyLeaves { limit: limits.leaves },
                    },
                );
            }
            self.displaced.push(leaf);
            return Ok(None);
        }
        self.places -= 1;
        Ok(Some(Node::Leaf(leaf)))
    }

    fn split(
        &mut self,
        axis: Axis,
        children: Vec<Folded<Self::Output>>,
        offset: usize,
    ) -> Result<Self::Output, Self::Error> {
        if children.len() < 2 {
            self.report(offset, LayoutViolation::FewChildren { found: children.len() });
        }
        let present: Vec<(RawWeight, usize, Node<L>)> = children
            .into_iter()
            .filter_map(|child| Some((child.weight, child.offset, child.output?)))
            .collect();
        let weights = self.weights(&present);
        let mut inner_splits = Vec::new();
        let mut split = Split { axis, children: Vec::with_capacity(present.len()) };
        for ((_, offset, node), weight) in present.into_iter().zip(weights) {
            if node.has_axis(axis) {
                inner_splits.push(split.children.len());
                self.report(offset, LayoutViolation::SameAxis);
            }
            split.children.push(Child { weight, node });
        }
        if split.children.len() < 2 {
            return Ok(split.children.pop().map(|child| child.node));
        }
        // From the last to the first, so positions stay right.
        for position in inner_splits.into_iter().rev() {
            dissolve(&mut split, position, false);
        }
        let mut node = Node::Split(split);
        if node.depth() > usize::from(self.limits.depth) {
            if !self.too_deep {
                self.too_deep = true;
                self.report(offset, LayoutViolation::TooDeep { limit: self.limits.depth });
            }
            flatten(&mut node, self.limits.depth);
        }
        Ok(Some(node))
    }
}

impl<L: Copy + Ord> Builder<L> {
    fn report(&mut self, offset: usize, violation: LayoutViolation<L>) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push((offset, violation));
        } else {
            self.unlisted += 1;
        }
    }

    /// A weight for each child; whole numbers in range stay what they are.
    fn weights(&mut self, children: &[(RawWeight, usize, Node<L>)]) -> Vec<Weight> {
        let found: Vec<RawWeight> = children.iter().map(|(weight, _, _)| *weight).collect();
        let run = sane_run(&found);
        for ((weight, offset, _), is_sane) in children.iter().zip(run.is_sane) {
            if !is_sane {
                let found = weight.to_string();
                self.report(*offset, LayoutViolation::BadWeight { found });
            }
        }
        run.weights
    }
}

/// Dissolves the innermost splits until at most `depth` levels are left, at
/// least one.
fn flatten<L: Copy + Eq>(node: &mut Node<L>, depth: u8) {
    let Node::Split(split) = node else { return };
    for position in (0..split.children.len()).rev() {
        if depth <= 1 {
            dissolve(split, position, true);
        } else if let Some(child) = split.children.get_mut(position) {
            flatten(&mut child.node, depth - 1);
        }
    }
}

/// Replaces a split among the children by its own children, or by all leaves
/// in it as equals.
fn dissolve<L: Copy + Eq>(split: &mut Split<L>, position: usize, to_leaves: bool) {
    let Some(child) = split.children.get_mut(position) else {
        return;
    };
    if matches!(child.node, Node::Leaf(_)) {
        return;
    }
    let first = Node::Leaf(child.node.first());
    let node = std::mem::replace(&mut child.node, first);
    let inner = if to_leaves {
        let leaves = super::Leaves::new(&node);
        let children =
            leaves.map(|leaf| Child { weight: Weight::ONE, node: Node::Leaf(leaf) }).collect();
        Split { axis: split.axis, children }
    } else if let Node::Split(inner) = node {
        inner
    } else {
        return;
    };
    split.splice(position, inner);
}

/// How many problems of one tree are listed.
const MAX_PROBLEMS: usize = 64;
