//! How many descriptors a process may have open.
//!
//! A server needs two or three for each pane, which the usual soft limit of 1,024
//! ends at some hundreds. Programs in panes get back what the server was started
//! with: some of them do not get on with a high one (`select`).

use std::io;
use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

static STARTED_WITH: OnceLock<Rlimit> = OnceLock::new();

/// Raises the soft limit of this process to the hard one. Children started from
/// now on get the soft limit that was there before.
///
/// # Errors
///
/// Whatever the kernel says; the limit is then as it was.
pub fn raise_descriptor_limit() -> io::Result<()> {
    let before = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: before.maximum, maximum: before.maximum };
    let before = STARTED_WITH.get_or_init(|| before);
    if before.current != before.maximum {
        setrlimit(Resource::Nofile, raised)?;
    }
    Ok(())
}

/// What a child is to have, where it differs from what it would inherit.
pub(crate) fn of_children() -> Option<Rlimit> {
    STARTED_WITH.get().filter(|limit| limit.current != limit.maximum).cloned()
}
