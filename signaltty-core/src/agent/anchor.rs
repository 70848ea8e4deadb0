//! Anchors: how to recognise an agent's own record again.
//!
//! The same id is not the same conversation (D-3): agents reopen an id with an
//! empty, cut or foreign history and say nothing. So the id is saved together
//! with what the record looked like, and before and after a resume the record
//! must still extend that.

use std::path::PathBuf;
use std::sync::Arc;

/// What was saved of an agent's record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// The file that holds the record, absolute.
    pub record: PathBuf,
    /// Which file that was. A hint for people: a copied home has other numbers
    /// and the same conversation.
    pub file: Option<FileIdentity>,
    /// How much of the record there was.
    pub extent: Extent,
    /// The agent's id of the last message, where messages have ids.
    pub last_message: Option<Arc<str>>,
    /// How many messages of the person it held. At least one.
    pub user_messages: u64,
    /// For a fork whose beginning lives in another record: that record.
    pub base: Option<Box<Self>>,
}

impl Anchor {
    /// Whether it is of the same record as another one: of the same file, or by
    /// the same name. Two names of one file are one record.
    pub(crate) fn is_of_same_record(&self, other: &Self) -> bool {
        let same_file = self.file.is_some() && self.file == other.file;
        same_file || self.record == other.record
    }

    /// Whether it covers less than another anchor of the same conversation: of
    /// its own record, or of the one that holds a fork's beginning.
    pub(crate) fn is_shorter_than(&self, other: &Self) -> bool {
        let extent = match (&self.extent, &other.extent) {
            (Extent::Lines { bytes: ours, .. }, Extent::Lines { bytes: others, .. }) => {
                ours < others
            }
            (Extent::Rows { messages: ours }, Extent::Rows { messages: others }) => ours < others,
            _ => false,
        };
        let base = match (&self.base, &other.base) {
            (Some(ours), Some(others)) => ours.is_shorter_than(others),
            (None, Some(_)) => true,
            (_, None) => false,
        };
        extent || base || self.user_messages < other.user_messages
    }
}

/// Device and inode of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileIdentity {
    /// Device number.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
}

/// How much of a record there was.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Extent {
    /// A file to which lines are appended.
    Lines {
        /// Length of its complete lines in bytes.
        bytes: u64,
        /// SHA-256 of these bytes.
        sha256: [u8; 32],
    },
    /// Rows of a database.
    Rows {
        /// How many messages there were.
        messages: u64,
    },
}

/// How a record that was read relates to the anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// Everything that the anchor covers is there unchanged.
    Extends,
    /// The last saved message and the count are there, but bytes before them
    /// changed, as after a vendor's update. By hand only.
    Rewritten,
}

/// The record as an adapter found it: compared with the anchor, and anchored
/// anew as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    /// How it relates to the anchor that it was compared with.
    pub relation: Relation,
    /// The record as it is now.
    pub now: Anchor,
    /// Nobody has answered in it yet, or not since it was compacted. Of such a
    /// record an agent that tells how much it loaded may have nothing to tell.
    pub unanswered: bool,
}

impl Fingerprint {
    /// A record that relates to the anchor like that.
    pub fn new(relation: Relation, now: Anchor) -> Self {
        Self { relation, now, unanswered: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anchor(bytes: u64, base: Option<Anchor>) -> Anchor {
        Anchor {
            record: PathBuf::from("/r"),
            file: None,
            extent: Extent::Lines { bytes, sha256: [0; 32] },
            last_message: None,
            user_messages: 2,
            base: base.map(Box::new),
        }
    }

    #[test]
    fn d03_an_anchor_without_a_forks_beginning_covers_less() {
        let whole = anchor(20, Some(anchor(10, None)));
        assert!(anchor(30, None).is_shorter_than(&whole), "the beginning is left out");
        assert!(anchor(30, Some(anchor(9, None))).is_shorter_than(&whole), "and cut");
        assert!(!anchor(30, Some(anchor(10, None))).is_shorter_than(&whole));
        assert!(anchor(19, Some(anchor(10, None))).is_shorter_than(&whole));
        assert!(!whole.is_shorter_than(&anchor(20, None)), "more is not less");
    }
}
