//! Stories of a session: what goes in, what comes out, in virtual time.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    unreachable_pub,
    dead_code
)]

#[path = "../support/mod.rs"]
mod support;

mod addressed;
mod anchors;
mod arrange;
mod binding;
mod evidence;
mod exits;
mod inbox;
mod private;
mod refused;
mod restore;
mod resume;
mod sharing;
mod shell;
mod shutdown;
mod spaced;
mod structure;
mod turns;
mod unproven;
