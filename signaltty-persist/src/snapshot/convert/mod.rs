//! Between the core's records and those of the file, one record at a time.
//!
//! Writing cannot fail. Reading gives the record, a careful default for each
//! part that it cannot read, or the reason why there is no record. Identity
//! fails closed: a conversation that is not exactly as it was written comes
//! back without its anchor, and nothing without an anchor is resumed.

mod agent;
mod read;
mod write;

pub(super) use read::Reader;
#[cfg(feature = "schema")]
pub(super) use write::{PROCESS, SHUTDOWN, USER};
