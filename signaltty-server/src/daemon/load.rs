//! From what was loaded to a session.

use signaltty_core::id::ServerEpoch;
use signaltty_core::session::{Config, Session};
use signaltty_persist::{Loaded, StateDir, history, older};

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
    let good = entries.iter().rev().find(|entry| older(dir, entry.generation).is_ok());
    good.map(|entry| {
        format!(
            "; stop it and run `signaltty-server history restore {}` to go back to the state of {}",
            entry.generation,
            rfc3339(entry.saved_at)
        )
    })
}
