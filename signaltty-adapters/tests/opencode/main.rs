//! OpenCode: its record, its launch, its channel, and the suite.
#![cfg(all(feature = "testing", feature = "opencode"))]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "test code")]

mod channel;
mod launch;
mod record;
mod server;
mod stage;
mod turn;
