//! Whether the state directory is still where it was opened.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::protocol::Health;

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
    pub(super) fn moved(&self) -> Option<Health> {
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
}
