//! The journal: what was published is there, or the place of the gap is known.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed step fails the test"
)]

mod changed;
mod crash;
mod damage;
mod forget;
mod golden;
mod outage;
mod replay;
mod support;
