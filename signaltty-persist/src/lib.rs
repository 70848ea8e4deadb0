//! Saved state of a terminal session: a snapshot, some older ones, and the end
//! of each pane's output.
//!
//! # Words
//!
//! The **state directory** holds everything and has one owner, who holds its
//! lock. The **snapshot** is the session as one file; a **generation** counts
//! its saves. A **tail** is the end of a pane's output. A **problem** is a thing
//! in a loaded file that is not as it was written.
//!
//! # What holds
//!
//! Whenever this process is killed, the old snapshot or the new one is there,
//! whole. After a save that reported `durable` the same is true of a loss of
//! power. What cannot be read is never replaced: there is no [`Store`] without
//! a load that succeeded, and no load without the lock.
//!
//! # What is absent
//!
//! Clocks and threads: the caller decides when to save, and on which thread.
//! Nothing here is asynchronous.
//!
//! A [`Store`] for a type of your own: what it promises rests on what it knows of
//! a session, such as when an empty one may replace a full one, whose tail may
//! go, and what can be repaired. A generic one would leave these to a trait of
//! more methods than a store of your own has lines, and would promise less. For
//! that store [`fs`] has the operations, and `fault` (feature `testing`) the disk
//! on which to stop it at each of them; the [`schema`] of a session needs no
//! store at all.
//!
//! ```
//! use std::time::Duration;
//!
//! use signaltty_core::saved::SavedSession;
//! use signaltty_core::time::UnixMillis;
//! use signaltty_persist::{Durability, Loaded, Owner, Program, Save, StateDir, Store};
//!
//! # let temporary = tempfile::tempdir()?;
//! # let path = temporary.path().join("state");
//! let owner = Owner { pid: 4242, started_at: UnixMillis(0), socket: None };
//! let dir = StateDir::open(&path, &owner)?;
//! let program = Program { version: "0.1.0".into(), protocol: 1 };
//! let mut opened = Store::open(dir, program)?;
//! assert_eq!(opened.loaded, Loaded::Missing);
//!
//! let report = opened.store.save(Save {
//!     session: &SavedSession::default(),
//!     durability: Durability::Synced,
//!     tails: &[],
//!     closed: &[],
//!     now: Duration::ZERO,
//! })?;
//! assert!(report.written && report.durable);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod dir;
mod error;
#[cfg(feature = "testing")]
pub mod fault;
pub mod fs;
#[cfg(feature = "testing")]
pub mod fuzz;
pub mod inspect;
pub mod journal;
mod os_text;
pub mod redact;
mod replace;
mod snapshot;
pub mod tail;

pub use dir::{Owner, StateDir};
pub use error::{Holder, LoadError, OpenError, PathError, Reason, RestoreError, SaveError, Unsafe};
pub use snapshot::schema;
pub use snapshot::{
    Corruption, Durability, HistoryEntry, Loaded, Opened, Problem, Program, Removed, Replaced,
    Save, SaveReport, Store, TailFailure, history, load, older, restore,
};
