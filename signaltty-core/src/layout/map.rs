//! Layouts with other leaves: taking a tab's shape out, and putting it back.
//!
//! *Export* describes a tab as a tree whose leaves say what to start, with
//! [`Layout::try_export`]. *Apply* goes the other way: check the shape over
//! positions in a list of descriptions, start a pane for each, and translate
//! positions to the new ids with [`Layout::try_map`].

use std::convert::Infallible;

use thiserror::Error;

use super::{Child, Layout, Node, RawChild, RawNode, Split};

/// Why a layout could not be translated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MapError<M, E> {
    /// A leaf has no translation.
    #[error("a pane cannot be translated")]
    Leaf(#[source] E),
    /// Two leaves have the same translation, which breaks L3.
    #[error("two panes would both become {0}")]
    DuplicateLeaf(M),
}

impl<L: Copy + Eq> Layout<L> {
    /// The same shape with translated leaves.
    ///
    /// # Errors
    ///
    /// The first error of `translate`, or two leaves with one translation.
    pub fn try_map<M: Copy + Eq, E>(
        &self,
        mut translate: impl FnMut(L) -> Result<M, E>,
    ) -> Result<Layout<M>, MapError<M, E>> {
        let mut seen = Vec::new();
        let root = map(&self.root, &mut |leaf| {
            let leaf = translate(leaf).map_err(MapError::Leaf)?;
            if seen.contains(&leaf) {
                return Err(MapError::DuplicateLeaf(leaf));
            }
            seen.push(leaf);
            Ok(leaf)
        })?;
        Ok(Layout { root })
    }

    /// The tree with leaves of any type, for writing it to a foreign format.
    ///
    /// # Errors
    ///
    /// The first error of `describe`.
    pub fn try_export<M, E>(
        &self,
        mut describe: impl FnMut(L) -> Result<M, E>,
    ) -> Result<RawNode<M>, E> {
        export(&self.root, &mut describe)
    }
}

impl<L: Copy + Eq> From<&Layout<L>> for RawNode<L> {
    fn from(layout: &Layout<L>) -> Self {
        match layout.try_export(Ok::<L, Infallible>) {
            Ok(node) => node,
            Err(never) => match never {},
        }
    }
}

fn map<L: Copy, M, E>(
    node: &Node<L>,
    translate: &mut impl FnMut(L) -> Result<M, E>,
) -> Result<Node<M>, E> {
    let split = match node {
        Node::Leaf(leaf) => return translate(*leaf).map(Node::Leaf),
        Node::Split(split) => split,
    };
    let mut children = Vec::with_capacity(split.children.len());
    for Child { weight, node } in &split.children {
        children.push(Child { weight: *weight, node: map(node, translate)? });
    }
    Ok(Node::Split(Split { axis: split.axis, children }))
}

fn export<L: Copy, M, E>(
    node: &Node<L>,
    describe: &mut impl FnMut(L) -> Result<M, E>,
) -> Result<RawNode<M>, E> {
    let split = match node {
        Node::Leaf(leaf) => return describe(*leaf).map(RawNode::Leaf),
        Node::Split(split) => split,
    };
    let mut children = Vec::with_capacity(split.children.len());
    for Child { weight, node } in &split.children {
        children.push(RawChild::new(*weight, export(node, describe)?));
    }
    Ok(RawNode::split(split.axis, children))
}
