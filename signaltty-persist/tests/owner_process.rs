//! One owner among processes.
//!
//! Alone in its file: a child that another test is just starting has a copy of
//! every descriptor until it runs its own program.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed step fails the test"
)]

mod common;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use signaltty_persist::{OpenError, Owner, StateDir};

use common::owner;

const CHILD_DIR: &str = "SIGNALTTY_TEST_STATE_DIR";

#[test]
fn inv_p7_another_process_is_kept_out_until_the_owner_dies() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("state");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "child_that_owns_the_directory", "--nocapture"])
        .env(CHILD_DIR, &path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line.contains("owned")), "the child has it");
    let OpenError::Held { holder, .. } = StateDir::open(&path, &owner()).unwrap_err() else {
        panic!("not held")
    };
    assert_eq!(holder.pid, Some(child.id()));
    // A kill gives it back; no stale lock is left.
    child.kill().unwrap();
    child.wait().unwrap();
    StateDir::open(&path, &owner()).unwrap();
}

#[test]
#[ignore = "runs as the child of another test"]
fn child_that_owns_the_directory() {
    let path = std::env::var_os(CHILD_DIR).unwrap();
    let owner = Owner { pid: std::process::id(), ..owner() };
    let _dir = StateDir::open(Path::new(&path), &owner).unwrap();
    println!("owned");
    // Until the parent kills this process or closes the pipe.
    let _ = std::io::stdin().read_line(&mut String::new());
}
