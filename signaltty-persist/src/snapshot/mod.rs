//! The snapshot: the saved session as one file, replaced whole.
//!
//! [`schema`] turns a session into bytes and back without IO, [`load`] reads
//! the file and says what it found, [`Store`] writes it. Bytes are believed in
//! this order: version, checksum, syntax, records, and how they fit together.

mod assemble;
mod backup;
mod convert;
#[cfg(feature = "schema")]
mod described;
mod encode;
mod forget;
mod lists;
mod load;
mod part;
mod problem;
mod records;
mod restore;
mod rotation;
mod salvage;
pub mod schema;
mod store;
mod tails;

pub use forget::Removed;
pub use load::{Loaded, load};
pub use problem::{Corruption, Problem};
pub use restore::{Replaced, older, restore};
pub use rotation::{HistoryEntry, history};
pub use store::{Durability, Opened, Program, Save, SaveReport, Store};
pub use tails::TailFailure;

pub(crate) use backup::CORRUPT;

pub(crate) const SNAPSHOT: &str = "snapshot.json";
