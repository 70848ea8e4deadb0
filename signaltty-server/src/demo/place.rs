//! The throw-away directory.

use std::cell::Cell;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::rand::{GetRandomFlags, getrandom};

use crate::config::{MAX_SOCKET_PATH, Paths};

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
        let mut root = fs::canonicalize(std::env::temp_dir())?.join(random_name()?);
        if root.join(SOCKET).as_os_str().len() > MAX_SOCKET_PATH {
            root = Path::new("/tmp").join(random_name()?);
        }
        DirBuilder::new().mode(0o700).create(&root)?;
        // From here on the directory is removed whatever happens.
        let place = Self {
            paths: Paths {
                state_dir: root.join("state"),
                runtime_dir: root.join("state/run"),
                socket: root.join(SOCKET),
            },
            root,
            kept: Cell::new(false),
        };
        fs::create_dir(place.project())?;
        fs::create_dir(place.agent_home())?;
        fs::create_dir(place.root.join("config"))?;
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

    /// Removes the directory.
    pub(super) async fn remove(self) -> io::Result<()> {
        self.keep();
        let mut tries = TRIES;
        loop {
            match fs::remove_dir_all(&self.root) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && !self.root.exists() => {
                    return Ok(());
                }
                // A process that is just ending may have made or removed a file.
                Err(_) if tries > 0 => tries -= 1,
                ended => return ended,
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.kept.get() {
            // There is nobody to tell.
            let _ = fs::remove_dir_all(&self.root);
        }
    }
}

fn random_name() -> io::Result<String> {
    let mut bytes = [0_u8; 5];
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("signaltty-{digits}"))
}

const SOCKET: &str = "s";

const TRIES: usize = 50;

const PAUSE: Duration = Duration::from_millis(20);

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
        fs::remove_dir_all(&root).unwrap();
    }
}
