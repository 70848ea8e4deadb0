//! Children of the owner.
//!
//! Alone in its file, for the reason that `owner_process.rs` gives.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed step fails the test"
)]

mod common;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use signaltty_persist::StateDir;

use common::owner;

#[test]
fn inv_t1_a_child_process_does_not_keep_the_lock() {
    let temporary = tempfile::tempdir().unwrap();
    let dir = StateDir::open(temporary.path(), &owner()).unwrap();
    let mut child =
        Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    drop(dir);
    // The kernel lets the parent go on a moment before it closes the child's
    // descriptors at its exec.
    let until = Instant::now() + Duration::from_secs(20);
    while StateDir::open(temporary.path(), &owner()).is_err() {
        assert!(Instant::now() < until, "the child keeps the lock");
        std::thread::yield_now();
    }
    drop(child.stdin.take());
    child.wait().unwrap();
}
