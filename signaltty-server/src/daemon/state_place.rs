//! Whether the state directory is still where it was opened, and what was saved is
//! still in it.

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::protocol::Health;

/// The file of the session (docs/state-format.md).
const SNAPSHOT: &str = "snapshot.json";

/// The path of the state directory, and what was there at the start.
#[derive(Debug, Clone)]
pub(super) struct StatePlace {
    path: PathBuf,
    opened: Option<(u64, u64)>,
}

impl StatePlace {
    /// Remembers what is at `path`.
    pub(super) fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), opened: identity(path) }
    }

    /// What is wrong, where the path leads somewhere else by now. Saves go on in
    /// the directory that was opened, wherever it is: all of them succeed, and the
    /// next start finds none of it. Looks at files.
    fn moved(&self) -> Option<Health> {
        if self.opened.is_none() || identity(&self.path) == self.opened {
            return None;
        }
        let detail = format!(
            "the state directory is not at {} any more: it was moved or removed while this server \
             runs, and the next start will not find what is saved; put it back",
            self.path.display()
        );
        Some(Health::with("degraded", detail))
    }

    /// What is wrong with the place of a session that counts as saved. Looks at
    /// files.
    pub(super) fn trouble(&self, saved: bool) -> Option<Health> {
        let gone = || {
            let there = self.path.join(SNAPSHOT).symlink_metadata();
            there.is_err_and(|error| error.kind() == ErrorKind::NotFound).then(|| {
                let detail = format!(
                    "{SNAPSHOT} was removed from {} while this server runs; it is written again \
                     with the next change, and when the server stops",
                    self.path.display()
                );
                Health::with("degraded", detail)
            })
        };
        self.moved().or_else(|| if saved { gone() } else { None })
    }
}

/// Device and inode, through links as at the start.
fn identity(path: &Path) -> Option<(u64, u64)> {
    path.metadata().ok().map(|found| (found.dev(), found.ino()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_directory_that_was_replaced_is_noticed_and_one_that_came_back_too() {
        let dir = tempfile::tempdir().unwrap();
        let (path, aside) = (dir.path().join("state"), dir.path().join("aside"));
        fs::create_dir(&path).unwrap();
        let place = StatePlace::of(&path);
        assert_eq!(place.moved(), None);
        fs::rename(&path, &aside).unwrap();
        assert_eq!(place.moved().unwrap().state, "degraded");
        fs::create_dir(&path).unwrap();
        assert!(place.moved().unwrap().detail.unwrap().contains("state directory"));
        fs::remove_dir(&path).unwrap();
        fs::rename(&aside, &path).unwrap();
        assert_eq!(place.moved(), None);
    }

    #[test]
    fn c005_a_snapshot_that_was_removed_is_missed_where_one_was_saved() {
        let dir = tempfile::tempdir().unwrap();
        let place = StatePlace::of(dir.path());
        assert_eq!(place.trouble(false), None, "nothing was saved yet");
        let health = place.trouble(true).unwrap();
        assert_eq!(health.state, "degraded");
        assert!(health.detail.unwrap().contains("written again"));
        fs::write(dir.path().join(SNAPSHOT), "{}").unwrap();
        assert_eq!(place.trouble(true), None);
    }
}
