//! Anchors of records: of files of lines here, of rows in [`Rows`].
//!
//! The anchor covers the complete lines; a last line without its end is one
//! that the agent did not finish, and agents leave it out too. Agents append,
//! so a sound record begins with the very bytes that the anchor covers. Memory
//! is bounded: the file is streamed, and of each message only a digest of its
//! id is kept, to find messages whose predecessor is missing.
//!
//! What a line means is the adapter's business: it gives a reader of lines.

mod rows;
mod walk;

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use signaltty_core::agent::{Anchor, Extent, FileIdentity, Fingerprint, Relation};
use signaltty_core::restore::{FailureCode, Refusal};

pub use self::rows::Rows;
use self::walk::Walk;
use crate::records::{ReadError, Record, io_error};

/// The longest line that is read: 64 MiB.
pub const MAX_LINE_BYTES: u64 = 64 << 20;

/// The most messages in one record.
pub const MAX_MESSAGES: usize = 1 << 20;

/// What one line of a record says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A link in the chain of messages.
    Message {
        /// The agent's id of it.
        id: String,
        /// The id of the message that it follows.
        parent: Option<String>,
        /// A person wrote it.
        by_person: bool,
    },
    /// A line with its number, which rises by one from one such line to the
    /// next.
    Numbered {
        /// The number.
        number: u64,
        /// The agent's id of the message that the line holds, if it holds one.
        message: Option<String>,
        /// A person wrote that message.
        by_person: bool,
    },
    /// Something else of the agent's.
    Other,
    /// Not a line that the agent writes whole.
    Broken,
}

/// A record that was read to its end, and compared with an anchor on the way.
#[derive(Debug, Clone)]
pub struct Scan {
    path: PathBuf,
    file: FileIdentity,
    bytes: u64,
    sha256: [u8; 32],
    last_message: Option<Arc<str>>,
    user_messages: u64,
    broken: u64,
    missing: usize,
    prefix_holds: bool,
    has_last_saved: bool,
}

impl Scan {
    /// Reads the record at `path`, with `against` as what was saved of it.
    ///
    /// # Errors
    ///
    /// When it is not there, cannot be read, or exceeds a bound.
    pub fn read(
        path: &Path,
        against: Option<&Anchor>,
        read_line: fn(&[u8]) -> Line,
    ) -> Result<Self, ReadError> {
        Self::read_until(path, u64::MAX, against, read_line)
    }

    /// Reads no more than the first `end` bytes of the record at `path`. The
    /// record may hold fewer: see [`bytes`](Self::bytes).
    ///
    /// # Errors
    ///
    /// Those of [`read`](Self::read).
    pub fn read_until(
        path: &Path,
        end: u64,
        against: Option<&Anchor>,
        read_line: fn(&[u8]) -> Line,
    ) -> Result<Self, ReadError> {
        Self::read_record(&Record::open(path)?, path, end, against, read_line)
    }

    /// The same, of a record that was opened.
    pub(crate) fn read_record(
        record: &Record,
        path: &Path,
        end: u64,
        against: Option<&Anchor>,
        read_line: fn(&[u8]) -> Line,
    ) -> Result<Self, ReadError> {
        let mut walk = Walk::new(against);
        let mut contents = BufReader::with_capacity(1 << 16, record.contents().take(end));
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = (&mut contents)
                .take(MAX_LINE_BYTES + 1)
                .read_until(b'\n', &mut line)
                .map_err(|source| io_error("reading", path, source))?;
            let Some((b'\n', text)) = line.split_last() else {
                if read as u64 > MAX_LINE_BYTES {
                    return Err(too_large(path, "a line", MAX_LINE_BYTES));
                }
                break;
            };
            walk.bytes_of_line(&line);
            walk.line(read_line(text));
            if walk.messages() > MAX_MESSAGES {
                return Err(too_large(path, "the chain of messages", MAX_MESSAGES as u64));
            }
        }
        Ok(walk.finish(path, record.identity()))
    }

    /// Compares the record with what was saved of it. The scan must have been
    /// made against this anchor.
    ///
    /// # Errors
    ///
    /// [`Damaged`](FailureCode::Damaged) where messages that were saved are not
    /// there, or the record cannot be compared.
    pub fn compare(self, anchor: &Anchor) -> Result<Fingerprint, Refusal> {
        let Extent::Lines { bytes: saved, .. } = anchor.extent else {
            return Err(self.damaged("was anchored in another form".to_owned()));
        };
        if self.bytes < saved {
            let now = self.bytes;
            return Err(self.damaged(format!(
                "is shorter than it was: {now} bytes of complete lines, {saved} were saved"
            )));
        }
        if self.missing > 0 {
            return Err(self.holes());
        }
        if self.prefix_holds {
            return Ok(self.fingerprint(Relation::Extends));
        }
        let rewritten = self.has_last_saved
            && self.broken == 0
            && self.user_messages >= anchor.user_messages.max(1);
        if rewritten {
            return Ok(self.fingerprint(Relation::Rewritten));
        }
        Err(self.damaged("does not hold the messages that were saved".to_owned()))
    }

    /// Anchors a record of which nothing was saved yet.
    ///
    /// # Errors
    ///
    /// [`Gone`](FailureCode::Gone) while it holds no message of a person,
    /// [`Damaged`](FailureCode::Damaged) where its chain of messages has holes.
    pub fn first_anchor(self) -> Result<Anchor, Refusal> {
        spoken(self.part()?)
    }

    /// Anchors a part of a conversation, in which nobody need have spoken.
    ///
    /// # Errors
    ///
    /// [`Damaged`](FailureCode::Damaged) where its chain of messages has holes.
    pub fn part(self) -> Result<Anchor, Refusal> {
        if self.missing > 0 {
            return Err(self.holes());
        }
        Ok(self.fingerprint(Relation::Extends).now)
    }

    /// Anchors the record anew, and never less of it than before.
    ///
    /// # Errors
    ///
    /// Those of [`first_anchor`](Self::first_anchor) where nothing was saved,
    /// else those of [`compare`](Self::compare), and
    /// [`Rewritten`](FailureCode::Rewritten).
    pub fn anchor_anew(self, saved: Option<&Anchor>) -> Result<Anchor, Refusal> {
        let Some(saved) = saved else {
            return self.first_anchor();
        };
        extended(self.compare(saved)?)
    }

    /// Length of the complete lines that were read.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many messages of a person the record holds.
    pub fn user_messages(&self) -> u64 {
        self.user_messages
    }

    fn fingerprint(self, relation: Relation) -> Fingerprint {
        let now = Anchor {
            record: self.path,
            file: Some(self.file),
            extent: Extent::Lines { bytes: self.bytes, sha256: self.sha256 },
            last_message: self.last_message,
            user_messages: self.user_messages,
            base: None,
        };
        Fingerprint::new(relation, now)
    }

    fn holes(&self) -> Refusal {
        self.damaged(format!(
            "has holes: messages before {} of its messages are missing",
            self.missing
        ))
    }

    fn damaged(&self, what: String) -> Refusal {
        Refusal::new(
            FailureCode::Damaged,
            format!("the agent's record {} {what}; restore it from a backup", self.path.display()),
        )
    }
}

/// The anchor, where a person has said something.
pub(crate) fn spoken(anchor: Anchor) -> Result<Anchor, Refusal> {
    if anchor.user_messages > 0 {
        return Ok(anchor);
    }
    Err(Refusal::new(
        FailureCode::Gone,
        format!(
            "nobody has said anything in the conversation yet: {} holds no message of a person",
            anchor.record.display()
        ),
    ))
}

/// The anchor as it is now, where it extends the saved one.
pub(crate) fn extended(found: Fingerprint) -> Result<Anchor, Refusal> {
    match found.relation {
        Relation::Extends => Ok(found.now),
        Relation::Rewritten => Err(Refusal::new(
            FailureCode::Rewritten,
            format!(
                "{} was rewritten before its saved end, so the saved anchor is kept",
                found.now.record.display()
            ),
        )),
    }
}

fn too_large(path: &Path, what: &'static str, limit: u64) -> ReadError {
    ReadError::TooLarge { path: path.to_owned(), what, limit }
}
