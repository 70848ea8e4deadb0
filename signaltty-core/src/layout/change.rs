//! The changes to a tree of which edits are made.
//!
//! They keep L1 and L2, and leave it to their caller to test the rest first.

use super::{Axis, Child, Direction, Node, Split, Weight};

impl<L> Node<L> {
    pub(super) fn for_each_mut(&mut self, change: &mut impl FnMut(&mut L)) {
        match self {
            Self::Leaf(leaf) => change(leaf),
            Self::Split(split) => {
                for child in &mut split.children {
                    child.node.for_each_mut(change);
                }
            }
        }
    }
}

/// How far a search for the share to set has come.
pub(super) enum Share {
    /// The leaf is not in this branch.
    Absent,
    /// The leaf is here; a split further out has to take the weight.
    Pending,
    /// Done.
    Set,
}

pub(super) fn insert<L: Copy + Eq>(
    node: &mut Node<L>,
    at: L,
    direction: Direction,
    new: L,
) -> bool {
    match node {
        Node::Leaf(leaf) if *leaf == at => {
            let mut split = Split {
                axis: direction.axis(),
                children: vec![Child { weight: Weight::ONE, node: Node::Leaf(at) }],
            };
            split.insert_beside(0, direction.is_backward(), new);
            *node = Node::Split(split);
            true
        }
        Node::Leaf(_) => false,
        Node::Split(split) => {
            if split.axis == direction.axis() {
                if let Some(position) = split.position(at) {
                    split.insert_beside(position, direction.is_backward(), new);
                    return true;
                }
            }
            split.children.iter_mut().any(|child| insert(&mut child.node, at, direction, new))
        }
    }
}

pub(super) fn remove<L: Copy + Eq>(split: &mut Split<L>, leaf: L) -> bool {
    if let Some(position) = split.position(leaf) {
        split.children.remove(position);
        return true;
    }
    for position in 0..split.children.len() {
        let Some(child) = split.children.get_mut(position) else {
            continue;
        };
        let Node::Split(inner) = &mut child.node else {
            continue;
        };
        if remove(inner, leaf) {
            if let Some(only) = take_only(inner) {
                split.lift(position, only);
            }
            return true;
        }
    }
    false
}

/// Takes the child out of a split that has just one; its place is then filled.
pub(super) fn take_only<L>(split: &mut Split<L>) -> Option<Node<L>> {
    if split.children.len() == 1 { split.children.pop().map(|child| child.node) } else { None }
}

pub(super) fn set_share<L: Copy + Eq>(
    node: &mut Node<L>,
    leaf: L,
    axis: Option<Axis>,
    weight: Weight,
) -> Share {
    let split = match node {
        Node::Leaf(own) if *own == leaf => return Share::Pending,
        Node::Leaf(_) => return Share::Absent,
        Node::Split(split) => split,
    };
    let wanted = axis.is_none_or(|axis| axis == split.axis);
    for child in &mut split.children {
        match set_share(&mut child.node, leaf, axis, weight) {
            Share::Absent => {}
            Share::Pending if wanted => {
                child.weight = weight;
                return Share::Set;
            }
            found => return found,
        }
    }
    Share::Absent
}

pub(super) fn equalise<L>(node: &mut Node<L>) {
    if let Node::Split(split) = node {
        for child in &mut split.children {
            child.weight = Weight::ONE;
            equalise(&mut child.node);
        }
    }
}
