//! The log of a server that a client started: two files of bounded length.
//!
//! Standard output and error of such a server are the log file already. Once it
//! is long it is put aside, and both go to a new one: so whatever is printed
//! there, such as a panic, is in the log as well.

use std::fs::{self, File};
use std::io::{self, Write, stderr};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{Mode, OFlags};
use rustix::stdio::{dup2_stderr, dup2_stdout};

use crate::config::MAX_LOG_BYTES;

/// Writes to standard error, and changes what that is.
#[derive(Debug)]
pub(crate) struct OwnLog {
    path: PathBuf,
    /// Held while the files change.
    turning: Mutex<()>,
}

impl OwnLog {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, turning: Mutex::new(()) }
    }

    fn turn(&self) -> io::Result<()> {
        let _turning = self.turning.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = successor(stderr(), &self.path)? {
            dup2_stdout(&file)?;
            dup2_stderr(&file)?;
        }
        Ok(())
    }
}

impl Write for &OwnLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = stderr().write(bytes)?;
        // A log that cannot be put aside is still a log.
        let _ = self.turn();
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        stderr().flush()
    }
}

/// The file to go on with, where the open one is too long.
fn successor(open: impl AsFd, path: &Path) -> io::Result<Option<File>> {
    let open = File::from(open.as_fd().try_clone_to_owned()?).metadata()?;
    if open.len() <= MAX_LOG_BYTES {
        return Ok(None);
    }
    // Where a client has put it aside already, there is nothing left to do.
    let ours = fs::symlink_metadata(path)
        .is_ok_and(|found| (found.dev(), found.ino()) == (open.dev(), open.ino()));
    if ours {
        let mut aside = path.as_os_str().to_owned();
        aside.push(".1");
        fs::rename(path, aside)?;
    }
    // Somebody may have put a link in its place.
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE;
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(Some(rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_log_is_put_aside_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("server.log");
        let first = File::create(&path).unwrap();
        assert!(successor(&first, &path).unwrap().is_none());
        first.set_len(MAX_LOG_BYTES + 1).unwrap();
        let mut second = successor(&first, &path).unwrap().unwrap();
        second.write_all(b"new").unwrap();
        let aside = dir.path().join("server.log.1");
        assert_eq!(fs::metadata(&aside).unwrap().len(), MAX_LOG_BYTES + 1);

        // Somebody else has put the first one aside.
        let mut again = successor(&first, &path).unwrap().unwrap();
        again.write_all(b"er").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"newer");
        assert_eq!(fs::metadata(&aside).unwrap().len(), MAX_LOG_BYTES + 1);
    }
}
