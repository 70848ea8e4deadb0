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
    /// Whether it covers less than another anchor of the same conversation.
    pub(crate) fn is_shorter_than(&self, other: &Self) -> bool {
        let extent = match (&self.extent, &other.extent) {
            (Extent::Lines { bytes: ours, .. }, Extent::Lines { bytes: others, .. }) => {
                ours < others
            }
            (Extent::Rows { messages: ours }, Extent::Rows { messages: others }) => ours < others,
            _ => false,
        };
        extent || self.user_messages < other.user_messages
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
}
