//! Where Codex keeps a conversation: in a rollout, a file of lines below
//! directories that are named after the day on which it began.
//!
//! Codex also has databases. They are made from the rollouts anew where they are
//! missing, so nothing is read from them.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use signaltty_core::agent::AgentSessionId;
use signaltty_core::env::ConfigEnv;
use signaltty_core::restore::{FailureCode, Refusal};

use crate::AgentHost;
use crate::records::{ReadError, Record, io_error};

/// The directory in which Codex keeps everything.
pub(super) fn home(env: &ConfigEnv, host: &dyn AgentHost) -> Option<PathBuf> {
    match env.var(super::HOME_VAR) {
        Some(dir) => Some(PathBuf::from(dir)),
        None => host.home().map(|home| home.join(".codex")),
    }
}

/// The file whose lock a conversation's writer holds.
pub(super) fn lock(home: &Path, id: &AgentSessionId) -> PathBuf {
    locks(home).join(format!("{id}{LOCK_END}"))
}

/// The directory of all such files.
pub(super) fn locks(home: &Path) -> PathBuf {
    home.join("thread-writer-locks")
}

/// The conversation after which a lock is named.
pub(super) fn locked_id(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()?.strip_suffix(LOCK_END)
}

/// The conversation after which a rollout is named: the name ends with it, also
/// where it is packed.
pub(super) fn rollout_id(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?.strip_prefix("rollout-")?;
    let name = name.strip_suffix(PACKED_END).unwrap_or(name).strip_suffix(".jsonl")?;
    let (time, id) = name.split_at_checked(name.len().checked_sub(ID_LENGTH)?)?;
    time.ends_with('-').then_some(id)
}

/// Opens a rollout. Codex may pack one that nobody used for a week, which then has
/// another name and the same lines, until the conversation is opened again.
pub(super) fn open(path: &Path) -> Result<Record, ReadError> {
    match Record::open(path) {
        Err(missing @ ReadError::Missing { .. }) => {
            let mut packed = path.as_os_str().to_owned();
            packed.push(PACKED_END);
            match Record::open_packed(packed.as_ref()) {
                Err(ReadError::Missing { .. }) => Err(missing),
                opened => opened,
            }
        }
        opened => opened,
    }
}

/// The name of a rollout as it is when it is not packed.
fn unpacked(path: PathBuf) -> PathBuf {
    let name = path.as_os_str().as_bytes().strip_suffix(PACKED_END.as_bytes());
    name.map_or_else(|| path.clone(), |name| OsStr::from_bytes(name).into())
}

/// Finds the only rollout of a conversation, by the name that it has when it is
/// not [packed](open).
pub(super) fn find(home: &Path, id: &AgentSessionId) -> Result<PathBuf, Refusal> {
    let sessions = home.join("sessions");
    let mut found: Option<PathBuf> = None;
    let mut left = MAX_ENTRIES;
    for_each_rollout(&sessions, DEPTH, &mut left, &mut |path| {
        if rollout_id(&path) != Some(id.as_str()) {
            return Ok(());
        }
        let path = unpacked(path);
        match found.replace(path.clone()) {
            None => Ok(()),
            // A packed one and what is made of it, side by side for a moment.
            Some(other) if other == path => Ok(()),
            Some(other) => Err(Refusal::new(
                FailureCode::Unreadable,
                format!(
                    "codex has two rollouts of the conversation {id}, so nobody can say which one \
                     it is: {} is one; move one of them away",
                    other.display()
                ),
            )),
        }
    })?;
    found.ok_or_else(|| gone(home, id))
}

fn gone(home: &Path, id: &AgentSessionId) -> Refusal {
    let archived = fs::read_dir(home.join("archived_sessions")).into_iter().flatten().flatten();
    let archived =
        archived.take(MAX_ENTRIES).any(|entry| rollout_id(&entry.path()) == Some(id.as_str()));
    let message = if archived {
        format!("the conversation {id} was archived; `codex unarchive {id}` brings it back")
    } else {
        format!(
            "codex has no conversation {id} on this machine: no rollout below {} is named after \
             it; start a new one in this pane, or restore the file",
            home.join("sessions").display()
        )
    };
    Refusal::new(FailureCode::Gone, message)
}

/// Calls `visit` with every file that lies exactly so deep.
fn for_each_rollout(
    dir: &Path,
    depth: usize,
    left: &mut usize,
    visit: &mut dyn FnMut(PathBuf) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) => {
            return match error.kind() {
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Ok(()),
                _ => Err(io_error("listing", dir, error).refusal()),
            };
        }
    };
    for entry in entries {
        let entry = entry.map_err(|error| io_error("listing", dir, error).refusal())?;
        *left = left.checked_sub(1).ok_or_else(|| {
            let message = format!("there are too many rollouts below {}", dir.display());
            Refusal::new(FailureCode::Unreadable, message)
        })?;
        match depth.checked_sub(1) {
            None => visit(entry.path())?,
            Some(depth) => for_each_rollout(&entry.path(), depth, left, visit)?,
        }
    }
    Ok(())
}

/// A year, a month and a day.
const DEPTH: usize = 3;

/// The most files and directories that are looked through.
const MAX_ENTRIES: usize = 1 << 20;

/// Characters of an id.
const ID_LENGTH: usize = 36;

const PACKED_END: &str = ".zst";

const LOCK_END: &str = ".lock";
