//! Killed servers and interrupted turns: which go on, at which point a server
//! may die, and that no turn is continued twice.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    unreachable_pub,
    dead_code
)]

mod matrix;
mod narrow;
mod play;
mod scenarios;
#[path = "../support/mod.rs"]
mod support;
