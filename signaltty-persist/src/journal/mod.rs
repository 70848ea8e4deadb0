//! The journal: published events as JSON lines, so that clients can catch up.
//!
//! # Words
//!
//! A **record** is one event on one line of `audit.jsonl`, with a **number**
//! that only rises. A **passing** event takes a number and leaves no record. A
//! client's **cursor** is the journal's id and the number of the last recorded
//! event that it saw. The **evidence** says what the files should hold; a
//! **lost** range is one where they do not.
//!
//! # What holds
//!
//! Numbers rise and are never given twice (J1). A record is synced before
//! anybody sees it (J2): [`Journal::append`] returns after the sync, and the
//! caller publishes after that. A replay is complete, or says where the gap is
//! (J3). After a failed sync nothing more is written to that file, and nothing
//! in it is claimed that was not synced before (J4).
//!
//! # What is absent
//!
//! Clocks, randomness and threads: times and the id of a new journal are given.
//! The journal says nothing about the snapshot or about saved output: with a
//! valid journal and an old snapshot, the old snapshot is what is restored.

mod batch;
mod begin;
mod error;
mod file;
mod forget;
mod open;
mod reader;
mod record;
mod report;
mod retention;
mod sealed;
mod segment;
mod sequence;
mod small;
mod survey;
mod writer;

pub use error::JournalError;
pub use forget::Erased;
pub use open::{OpenedJournal, Start};
pub use reader::{Cursor, MAX_REPLAY, Recorded, Replay, View};
pub use record::{Draft, DraftError, MAX_PAYLOAD};
pub use report::JournalReport;
pub(crate) use report::report;
pub use retention::Lost;
pub use writer::{Entry, Journal, Limits};
