//! Walking an unchecked tree of any depth without recursion.

use std::vec;

use super::{Axis, RawChild, RawNode, RawWeight};

/// What to make of a tree, from its leaves up.
pub(super) trait Fold<L> {
    type Output;
    type Error;

    fn leaf(&mut self, leaf: L, offset: usize) -> Result<Self::Output, Self::Error>;

    fn split(
        &mut self,
        axis: Axis,
        children: Vec<Folded<Self::Output>>,
        offset: usize,
    ) -> Result<Self::Output, Self::Error>;
}

/// A child that has been folded.
pub(super) struct Folded<T> {
    pub(super) weight: RawWeight,
    pub(super) offset: usize,
    pub(super) output: T,
}

/// A split of which some children have been folded.
struct Open<L, T> {
    axis: Axis,
    weight: RawWeight,
    offset: usize,
    rest: vec::IntoIter<RawChild<L>>,
    done: Vec<Folded<T>>,
}

/// Folds a tree of any depth, leaves in visual order.
pub(super) fn fold<L, F: Fold<L>>(
    root: RawNode<L>,
    offset: usize,
    folder: &mut F,
) -> Result<F::Output, F::Error> {
    let mut stack: Vec<Open<L, F::Output>> = Vec::new();
    let mut current = RawChild { weight: RawWeight::Whole(1), node: root, offset };
    'down: loop {
        let RawChild { weight, node, offset } = current;
        let mut folded = match node {
            RawNode::Leaf(leaf) => Folded { weight, offset, output: folder.leaf(leaf, offset)? },
            RawNode::Split { axis, children } => {
                let rest = children.into_iter();
                let mut open = Open { axis, weight, offset, rest, done: Vec::new() };
                if let Some(child) = open.rest.next() {
                    stack.push(open);
                    current = child;
                    continue 'down;
                }
                open.finish(folder)?
            }
        };
        while let Some(mut open) = stack.pop() {
            open.done.push(folded);
            if let Some(child) = open.rest.next() {
                stack.push(open);
                current = child;
                continue 'down;
            }
            folded = open.finish(folder)?;
        }
        return Ok(folded.output);
    }
}

impl<L, T> Open<L, T> {
    fn finish<F: Fold<L, Output = T>>(self, folder: &mut F) -> Result<Folded<T>, F::Error> {
        let Self { axis, weight, offset, done, .. } = self;
        Ok(Folded { weight, offset, output: folder.split(axis, done, offset)? })
    }
}

/// Makes the same tree with other leaves.
pub(super) struct Translate<F>(pub(super) F);

impl<L, M, E, F: FnMut(L) -> Result<M, E>> Fold<L> for Translate<F> {
    type Output = RawNode<M>;
    type Error = E;

    fn leaf(&mut self, leaf: L, _offset: usize) -> Result<RawNode<M>, E> {
        (self.0)(leaf).map(RawNode::Leaf)
    }

    fn split(
        &mut self,
        axis: Axis,
        children: Vec<Folded<RawNode<M>>>,
        _offset: usize,
    ) -> Result<RawNode<M>, E> {
        let children = children.into_iter().map(|Folded { weight, offset, output }| RawChild {
            weight,
            node: output,
            offset,
        });
        Ok(RawNode::split(axis, children))
    }
}
