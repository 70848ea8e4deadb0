//! From what was loaded to a session.

use signaltty_core::id::ServerEpoch;
use signaltty_core::session::{Config, Session};
use signaltty_persist::inspect::{ReadOnly, SnapshotFound};
use signaltty_persist::{HistoryEntry, Loaded, StateDir, history, older};

use super::clock::{Clock, rfc3339};

pub(super) fn restore(
    loaded: Loaded,
    epoch: ServerEpoch,
    config: Config,
    clock: Clock,
    dir: &StateDir,
) -> (Session, String, Vec<String>) {
    match loaded {
        Loaded::Missing => {
            let lines: Vec<_> = way_back(dir)
                .map(|way| format!("snapshot.json is gone, so the server started empty{way}"))
                .into_iter()
                .collect();
            for line in &lines {
                tracing::warn!("{line}");
            }
            (Session::new(epoch, config), "missing".to_owned(), lines)
        }
        Loaded::Snapshot { session, problems, kept, .. } => {
            let mut lines: Vec<_> = problems.iter().map(ToString::to_string).collect();
            if let Some(kept) = kept {
                lines.push(format!("the file as it was found is kept as {}", kept.display()));
            }
            for line in &lines {
                tracing::warn!("loading the state: {line}");
            }
            let word = if problems.is_empty() { "loaded" } else { "loaded_with_repairs" };
            // The store repaired what it read, so there is nothing to add.
            let (session, _) = Session::restore(session, epoch, config, clock.now());
            (session, word.to_owned(), lines)
        }
        Loaded::Corrupt { backup, reason } => {
            let line = format!(
                "the saved state could not be read ({reason}); it was moved to {}, saved output \
                 was kept, and the server started empty{}",
                backup.display(),
                way_back(dir).unwrap_or_default()
            );
            tracing::error!("{line}");
            (Session::new(epoch, config), "corrupt".to_owned(), vec![line])
        }
        Loaded::EmptyFile { backup } => {
            let line = format!(
                "the saved state was an empty file, as a loss of power leaves; it was moved to \
                 {}, saved output was kept, and the server started empty{}",
                backup.display(),
                way_back(dir).unwrap_or_default()
            );
            tracing::error!("{line}");
            (Session::new(epoch, config), "empty_file".to_owned(), vec![line])
        }
        _ => (Session::new(epoch, config), "unknown".to_owned(), Vec::new()),
    }
}

/// Names the newest older snapshot that can be read, and how to go back to it
/// (C004).
fn way_back(dir: &StateDir) -> Option<String> {
    let entries = history(dir).unwrap_or_default();
    newest(&entries, |generation| older(dir, generation).is_ok())
        .map(|way| format!("; stop it and {way}"))
}

/// The same of a directory that no server has.
pub(super) fn way_back_of(dir: &ReadOnly) -> Option<String> {
    let entries = dir.history().unwrap_or_default();
    newest(&entries, |generation| dir.older(generation).is_ok())
}

fn newest(entries: &[HistoryEntry], is_good: impl Fn(u64) -> bool) -> Option<String> {
    let good = entries.iter().rev().find(|entry| is_good(entry.generation));
    good.map(|entry| {
        format!(
            "run `signaltty-server history restore {}` to go back to the state of {}",
            entry.generation,
            rfc3339(entry.saved_at)
        )
    })
}

/// What a snapshot means for a start.
#[derive(Debug)]
pub(crate) enum Means {
    /// It is used; what was repaired.
    Used(Vec<String>),
    /// It is set aside, and the server begins empty.
    SetAside(String),
    /// The server does not start.
    Refused(String),
}

impl Means {
    pub(crate) fn of(found: &SnapshotFound) -> Self {
        match found {
            SnapshotFound::Loaded { problems, .. } => Self::Used(
                problems.iter().map(|problem| format!("snapshot.json: {problem}")).collect(),
            ),
            SnapshotFound::Empty => Self::SetAside(
                "snapshot.json is empty, as a loss of power leaves; a start would set it aside \
                 and begin empty"
                    .to_owned(),
            ),
            SnapshotFound::Corrupt(why) => Self::SetAside(format!(
                "snapshot.json cannot be read ({why}); a start would set it aside and begin empty"
            )),
            SnapshotFound::FutureVersion(version) => Self::Refused(format!(
                "snapshot.json has version {version}, which is newer than this program; start \
                 the newer program, or move the file away"
            )),
            SnapshotFound::Foreign => Self::Refused(
                "snapshot.json was written by another program; choose another state directory, \
                 or move the file away"
                    .to_owned(),
            ),
            SnapshotFound::Unreadable(error) => Self::Refused(error.to_string()),
            _ => Self::Used(Vec::new()),
        }
    }
}
