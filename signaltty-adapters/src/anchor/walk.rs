//! One pass over the lines of a record.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use signaltty_core::agent::{Anchor, Extent, FileIdentity};

use super::{Line, Scan};

/// The state of one pass over a record.
pub(super) struct Walk<'a> {
    against: Option<&'a Anchor>,
    hasher: Sha256,
    bytes: u64,
    last_message: Option<Arc<str>>,
    user_messages: u64,
    broken: u64,
    /// Digests of the ids of all messages.
    seen: BTreeSet<u128>,
    /// Digests of predecessors that were named and not seen so far.
    awaited: BTreeSet<u128>,
    /// The number of the last line with one.
    number: Option<u64>,
    /// How often a number did not follow the one before.
    gaps: usize,
    prefix_holds: bool,
    has_last_saved: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(against: Option<&'a Anchor>) -> Self {
        Self {
            against,
            hasher: Sha256::new(),
            bytes: 0,
            last_message: None,
            user_messages: 0,
            broken: 0,
            seen: BTreeSet::new(),
            awaited: BTreeSet::new(),
            number: None,
            gaps: 0,
            prefix_holds: false,
            has_last_saved: false,
        }
    }

    pub(super) fn bytes_of_line(&mut self, line: &[u8]) {
        self.hasher.update(line);
        self.bytes = self.bytes.saturating_add(line.len() as u64);
        if let Some(Extent::Lines { bytes, sha256 }) = self.against.map(|anchor| &anchor.extent)
            && *bytes == self.bytes
        {
            self.prefix_holds = digest(self.hasher.clone()) == *sha256;
        }
    }

    pub(super) fn line(&mut self, line: Line) {
        let (id, parent, by_person) = match line {
            Line::Message { id, parent, by_person } => (id, parent, by_person),
            Line::Numbered { number, message, by_person } => {
                return self.numbered(number, message, by_person);
            }
            Line::Other => return,
            Line::Broken => {
                self.broken = self.broken.saturating_add(1);
                return;
            }
        };
        let key = key(&id);
        self.seen.insert(key);
        self.awaited.remove(&key);
        if let Some(parent) = parent.as_deref().map(self::key)
            && !self.seen.contains(&parent)
        {
            self.awaited.insert(parent);
        }
        self.message(id, by_person);
    }

    fn numbered(&mut self, number: u64, message: Option<String>, by_person: bool) {
        let follows = self.number.is_none_or(|last| last.checked_add(1) == Some(number));
        self.number = Some(number);
        if !follows {
            self.gaps = self.gaps.saturating_add(1);
        }
        if let Some(id) = message {
            self.message(id, by_person);
        }
    }

    fn message(&mut self, id: String, by_person: bool) {
        if by_person {
            self.user_messages = self.user_messages.saturating_add(1);
        }
        let saved = self.against.and_then(|anchor| anchor.last_message.as_deref());
        self.has_last_saved |= saved == Some(id.as_str());
        self.last_message = Some(id.into());
    }

    /// How many messages were seen.
    pub(super) fn messages(&self) -> usize {
        self.seen.len()
    }

    pub(super) fn finish(self, path: &Path, file: FileIdentity) -> Scan {
        Scan {
            path: path.to_owned(),
            file,
            bytes: self.bytes,
            sha256: digest(self.hasher),
            last_message: self.last_message,
            user_messages: self.user_messages,
            broken: self.broken,
            missing: self.awaited.len().saturating_add(self.gaps),
            prefix_holds: self.prefix_holds,
            has_last_saved: self.has_last_saved,
        }
    }
}

fn digest(hasher: Sha256) -> [u8; 32] {
    hasher.finalize().into()
}

/// Half of a digest: enough to tell a million ids apart, also forged ones.
fn key(id: &str) -> u128 {
    let digest: [u8; 32] = Sha256::digest(id.as_bytes()).into();
    digest.iter().take(16).fold(0, |key, byte| (key << 8) | u128::from(*byte))
}
