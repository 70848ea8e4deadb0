//! Lists that lie over the panes while a person goes through them.

use std::path::PathBuf;

use super::model::Model;
use crate::protocol::{NotificationNode, WorktreeNode};

/// A list, and the chosen line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Board {
    pub(crate) kind: Kind,
    pub(crate) cursor: usize,
}

/// What is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// What people were told.
    Inbox,
    /// The checkouts of the project with this root.
    Checkouts(PathBuf),
}

impl Board {
    pub(crate) fn new(kind: Kind) -> Self {
        Self { kind, cursor: 0 }
    }

    /// How many lines there are.
    pub(crate) fn len(&self, model: &Model) -> usize {
        match &self.kind {
            Kind::Inbox => model.inbox.len(),
            Kind::Checkouts(root) => model.checkouts.of(root).len(),
        }
    }

    /// The chosen notification.
    pub(crate) fn notification<'m>(&self, model: &'m Model) -> Option<&'m NotificationNode> {
        let chosen = || model.inbox.get(self.cursor);
        matches!(self.kind, Kind::Inbox).then(chosen).flatten()
    }

    /// The chosen checkout.
    pub(crate) fn checkout<'m>(&self, model: &'m Model) -> Option<&'m WorktreeNode> {
        match &self.kind {
            Kind::Checkouts(root) => model.checkouts.of(root).get(self.cursor),
            Kind::Inbox => None,
        }
    }
}

/// How many notifications nobody read.
pub(crate) fn unread(model: &Model) -> usize {
    model.inbox.iter().filter(|node| node.read_at.is_none()).count()
}
