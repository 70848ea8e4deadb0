//! The throw-away directory.

use std::cell::Cell;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rustix::rand::{GetRandomFlags, getrandom};

use crate::config::{Overrides, Paths};

/// A private directory with everything that the story needs. Removed when
/// dropped, unless it is kept.
#[derive(Debug)]
pub(super) struct Place {
    /// The directory itself.
    pub(super) root: PathBuf,
    /// The server's places in it.
    pub(super) paths: Paths,
    kept: Cell<bool>,
}

impl Place {
    pub(super) fn new() -> io::Result<Self> {
        let temporary = fs::canonicalize(std::env::temp_dir())?;
        let root = temporary.join(format!("signaltty-{}", random_name()?));
        DirBuilder::new().mode(0o700).create(&root)?;
        // From here on the directory is removed whatever happens.
        let place = Self {
            paths: Paths {
                state_dir: root.join("state"),
                runtime_dir: root.join("state/run"),
                socket: root.join("s"),
            },
            root,
            kept: Cell::new(false),
        };
        fs::create_dir(place.project())?;
        fs::create_dir(place.agent_home())?;
        fs::create_dir(place.root.join("config"))?;
        // A system whose temporary directory is too deep for a socket is found
        // out here.
        let overrides = Overrides {
            state_dir: Some(place.paths.state_dir.clone()),
            socket: Some(place.paths.socket.clone()),
        };
        Paths::resolve(&overrides, &place.root, |_| None).map_err(io::Error::other)?;
        Ok(place)
    }

    /// Where the agent works.
    pub(super) fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    /// Where the agent keeps its conversations.
    pub(super) fn agent_home(&self) -> PathBuf {
        self.root.join("agent")
    }

    /// The directory stays.
    pub(super) fn keep(&self) {
        self.kept.set(true);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.kept.get() {
            remove(&self.root);
        }
    }
}

/// A process that is just ending may still make a file, hence the second try.
fn remove(root: &Path) {
    let _ = fs::remove_dir_all(root).or_else(|_| fs::remove_dir_all(root));
}

fn random_name() -> io::Result<String> {
    let mut bytes = [0_u8; 5];
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_directory_is_private_and_goes_unless_it_is_kept() {
        let place = Place::new().unwrap();
        let root = place.root.clone();
        let mode = fs::metadata(&root).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        drop(place);
        assert!(!root.exists());
        let place = Place::new().unwrap();
        let root = place.root.clone();
        place.keep();
        drop(place);
        assert!(root.exists());
        remove(&root);
    }
}
