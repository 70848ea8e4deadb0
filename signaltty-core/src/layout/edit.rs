//! Editing a layout.
//!
//! A refused edit changes nothing (S1): methods refuse before the first change,
//! or work on a copy that takes the layout's place when it is acceptable. A
//! copy of 256 panes is a few kilobytes, and people edit slowly.

use thiserror::Error;

use super::change::{Share, equalise, insert, remove, set_share, take_only};
use super::{Axis, Direction, Layout, Limits, Node, Rect, Size, Weight, rects};

/// What closing a pane left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// The leaf is gone and others remain.
    Remaining,
    /// It was the only leaf. The layout is unchanged, since it cannot be empty:
    /// drop it.
    WasLast,
}

/// Why an edit was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EditError<L> {
    /// The leaf is not in this layout.
    #[error("pane {0} is not in this layout")]
    UnknownLeaf(L),
    /// The leaf to be added is there already.
    #[error("pane {0} is already in this layout")]
    DuplicateLeaf(L),
    /// An edit of two leaves was asked for with one leaf.
    #[error("pane {0} cannot be moved relative to itself; name another one")]
    SameLeaf(L),
    /// A new arrangement leaves a pane out.
    #[error("pane {0} is missing from the new layout")]
    Missing(L),
    /// There is no split whose weights could be changed.
    #[error("pane {0} shares no space in that direction")]
    NoSplit(L),
    /// Splits would be nested too deeply.
    #[error("splits would be nested more than {limit} deep; use another tab")]
    TooDeep {
        /// The limit in force.
        limit: u8,
    },
    /// There would be too many leaves.
    #[error("the tab already has its {limit} panes; use another tab")]
    TooMany {
        /// The limit in force.
        limit: u16,
    },
    /// A pane would become smaller than allowed.
    #[error("pane {leaf} would get less than {min}; make the terminal larger, or use another tab")]
    NoRoom {
        /// The first such pane in visual order.
        leaf: L,
        /// The smallest size in force.
        min: Size,
    },
}

impl<L: Copy + Eq> Layout<L> {
    /// Adds the leaf `new` at a side of the leaf `at`.
    ///
    /// If `at` sits in a split of the direction's axis, `new` becomes its
    /// neighbour there: where all children of that split have one weight the
    /// newcomer gets it too, so equal columns stay equal; otherwise it takes
    /// half of the share of `at`. If not, `at` is replaced by a new split with
    /// two equal children.
    ///
    /// With the area of the tab, an edit that leaves a pane less than
    /// [`Limits::min_pane`] is refused. Panes that were smaller before do not
    /// count, so a client with a tiny window does not block edits elsewhere.
    ///
    /// # Errors
    ///
    /// Refuses an unknown `at`, a `new` that is there already, and whatever
    /// breaks the limits.
    pub fn split(
        &mut self,
        at: L,
        direction: Direction,
        new: L,
        limits: &Limits,
        area: Option<Size>,
    ) -> Result<(), EditError<L>> {
        self.require(at)?;
        if self.contains(new) {
            return Err(EditError::DuplicateLeaf(new));
        }
        let mut next = self.clone();
        insert(&mut next.root, at, direction, new);
        self.accept(next, limits, area)
    }

    /// Removes a leaf; its siblings share its space in their proportions.
    ///
    /// A split that is left with one child gives way to that child. If this
    /// brings two splits of one axis together they become one, with weights
    /// that keep the proportions of the panes.
    ///
    /// # Errors
    ///
    /// Refuses an unknown leaf.
    pub fn close(&mut self, leaf: L) -> Result<Closed, EditError<L>> {
        self.require(leaf)?;
        let Node::Split(split) = &mut self.root else {
            return Ok(Closed::WasLast);
        };
        remove(split, leaf);
        if let Some(only) = take_only(split) {
            self.root = only;
        }
        Ok(Closed::Remaining)
    }

    /// Exchanges two leaves; shape and weights stay.
    ///
    /// # Errors
    ///
    /// Refuses unknown leaves and a leaf with itself.
    pub fn swap(&mut self, a: L, b: L) -> Result<(), EditError<L>> {
        self.require(a)?;
        self.require(b)?;
        if a == b {
            return Err(EditError::SameLeaf(a));
        }
        self.root.for_each_mut(&mut |leaf| {
            if *leaf == a {
                *leaf = b;
            } else if *leaf == b {
                *leaf = a;
            }
        });
        Ok(())
    }

    /// Puts a new leaf in the place of an old one.
    ///
    /// Two of these, one in each layout, swap panes between tabs.
    ///
    /// # Errors
    ///
    /// Refuses an unknown `old` and a `new` that is there already.
    pub fn replace(&mut self, old: L, new: L) -> Result<(), EditError<L>> {
        self.require(old)?;
        if self.contains(new) {
            return Err(EditError::DuplicateLeaf(new));
        }
        self.root.for_each_mut(&mut |leaf| {
            if *leaf == old {
                *leaf = new;
            }
        });
        Ok(())
    }

    /// Takes a leaf out and adds it again at a side of `beside`, by the rules
    /// of [`close`](Self::close) and [`split`](Self::split).
    ///
    /// # Errors
    ///
    /// Refuses unknown leaves, a leaf beside itself, and whatever breaks the
    /// limits.
    pub fn move_leaf(
        &mut self,
        leaf: L,
        beside: L,
        direction: Direction,
        limits: &Limits,
        area: Option<Size>,
    ) -> Result<(), EditError<L>> {
        self.require(leaf)?;
        self.require(beside)?;
        if leaf == beside {
            return Err(EditError::SameLeaf(leaf));
        }
        let mut next = self.clone();
        next.close(leaf)?;
        insert(&mut next.root, beside, direction, leaf);
        self.accept(next, limits, area)
    }

    /// Sets the share of a leaf in the split directly around it.
    ///
    /// # Errors
    ///
    /// Refuses an unknown leaf and the only leaf of a layout.
    pub fn set_weight(&mut self, leaf: L, weight: Weight) -> Result<(), EditError<L>> {
        self.set_share(leaf, None, weight)
    }

    /// Sets the share of the branch that holds a leaf, in the innermost split
    /// of the given axis around it.
    ///
    /// This is how a border is moved that has no single pane along it.
    ///
    /// # Errors
    ///
    /// Refuses an unknown leaf and one that no split of that axis holds.
    pub fn set_branch_weight(
        &mut self,
        leaf: L,
        axis: Axis,
        weight: Weight,
    ) -> Result<(), EditError<L>> {
        self.set_share(leaf, Some(axis), weight)
    }

    /// Takes the place of this layout with another one of the same panes.
    ///
    /// # Errors
    ///
    /// Refuses a `next` with a pane too many or too few, and whatever breaks
    /// the limits.
    pub fn rearrange(
        &mut self,
        next: Self,
        limits: &Limits,
        area: Option<Size>,
    ) -> Result<(), EditError<L>> {
        let own: Vec<_> = self.leaves().collect();
        let new: Vec<_> = next.leaves().collect();
        if let Some(stranger) = new.iter().find(|leaf| !own.contains(leaf)) {
            return Err(EditError::UnknownLeaf(*stranger));
        }
        if let Some(missing) = own.iter().find(|leaf| !new.contains(leaf)) {
            return Err(EditError::Missing(*missing));
        }
        self.accept(next, limits, area)
    }

    /// Gives all children of every split the same weight.
    pub fn equalise(&mut self) {
        equalise(&mut self.root);
    }

    fn require(&self, leaf: L) -> Result<(), EditError<L>> {
        if self.contains(leaf) { Ok(()) } else { Err(EditError::UnknownLeaf(leaf)) }
    }

    fn set_share(
        &mut self,
        leaf: L,
        axis: Option<Axis>,
        weight: Weight,
    ) -> Result<(), EditError<L>> {
        match set_share(&mut self.root, leaf, axis, weight) {
            Share::Absent => Err(EditError::UnknownLeaf(leaf)),
            Share::Pending => Err(EditError::NoSplit(leaf)),
            Share::Set => Ok(()),
        }
    }

    fn accept(
        &mut self,
        next: Self,
        limits: &Limits,
        area: Option<Size>,
    ) -> Result<(), EditError<L>> {
        // A layout made under wider limits may be edited, but not grow.
        if next.len() > usize::from(limits.leaves).max(self.len()) {
            return Err(EditError::TooMany { limit: limits.leaves });
        }
        if next.depth() > usize::from(limits.depth).max(self.depth()) {
            return Err(EditError::TooDeep { limit: limits.depth });
        }
        if let Some(area) = area {
            let area = Rect::from(area);
            let min = limits.min_pane;
            let before = rects(self, area);
            let was_cramped =
                |leaf| before.iter().any(|(own, rect)| *own == leaf && !rect.size().holds(min));
            for (leaf, rect) in rects(&next, area) {
                if !rect.size().holds(min) && !was_cramped(leaf) {
                    return Err(EditError::NoRoom { leaf, min });
                }
            }
        }
        *self = next;
        Ok(())
    }
}
