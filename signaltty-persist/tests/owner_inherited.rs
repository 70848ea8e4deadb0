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

use signaltty_persist::StateDir;

use common::owner;

#[test]
fn inv_t1_a_child_process_does_not_keep_the_lock() {
    let temporary = tempfile::tempdir().unwrap();
    let dir = StateDir::open(temporary.path(), &owner()).unwrap();
    let mut child = Command::new("cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    drop(dir);
    StateDir::open(temporary.path(), &owner()).unwrap();
    drop(child.stdin.take());
    child.wait().unwrap();
}
