//! Is an interrupted turn continued? One test for each row of the table.
//!
//! Rows that cannot occur here: D1, since the session owns its processes and
//! there is no list of them that could be unreadable; the half of D6 and D9 to
//! D18 in which two records disagree, since there is one record. D4 is the
//! reader's: see `golden.rs` in signaltty-persist.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, unreachable_pub, dead_code)]

mod bounds;
mod case;
mod proof;
mod rows;
#[path = "../support/mod.rs"]
mod support;
