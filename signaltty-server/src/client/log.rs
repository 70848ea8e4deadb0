//! The log of a server that a client started: two files of bounded length.
//!
//! The server writes to its standard error, which is the file, and changes the
//! files itself while it runs. A client changes them when it starts a server.
//!
//! A client comes before the server's own look at the state directory, so it
//! takes the same care: nothing is made where another user is the owner, whose
//! server could not use it afterwards, and no link is followed, which would lead
//! this user's words into a file that somebody else chose.

use std::fs::{DirBuilder, File};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::{ClientError, StartError};
use crate::config::MAX_LOG_BYTES;

/// A log file, open for appending.
#[derive(Debug)]
pub(crate) struct Log {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// Handed to the server.
    pub(crate) file: File,
    /// What was in it before.
    start: u64,
}

impl Log {
    /// Opens the log of a state directory, whose folders are made where they
    /// are missing. A log of more than 4 MiB is put aside first, in the
    /// place of the one that was put aside before.
    ///
    /// # Errors
    ///
    /// [`StartError::Log`] where the directory is another user's, or something
    /// else is in the place of the log. Nothing is made or changed then.
    pub(crate) fn open(state_dir: &Path) -> Result<Self, ClientError> {
        Self::open_as(state_dir, rustix::process::geteuid().as_raw())
    }

    fn open_as(state_dir: &Path, user: u32) -> Result<Self, ClientError> {
        let shown = state_dir.join("log");
        let failed = |operation, path: &Path| {
            let path = path.to_owned();
            move |errno: Errno| ClientError::io(operation, &path, errno.into())
        };
        check_above(state_dir, user)?;
        let made = DirBuilder::new().recursive(true).mode(0o700).create(state_dir);
        made.map_err(|source| ClientError::io("make", state_dir, source))?;
        // The directory itself may be a link of this user's to another of theirs.
        let state = rustix::fs::open(state_dir, DIRECTORY, Mode::empty())
            .map_err(failed("open", state_dir))?;
        check_owner(&state, state_dir, user)?;
        match rustix::fs::mkdirat(&state, "log", Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(failed("make", &shown)(error)),
        }
        let flags = DIRECTORY | OFlags::NOFOLLOW;
        let dir = rustix::fs::openat(&state, "log", flags, Mode::empty());
        let dir = dir.map_err(|error| match error {
            Errno::LOOP | Errno::NOTDIR => refused(&shown, "it is no directory"),
            other => failed("open", &shown)(other),
        })?;
        check_owner(&dir, &shown, user)?;
        let path = shown.join("server.log");
        let long = rustix::fs::statat(&dir, NAME, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|found| u64::try_from(found.st_size).unwrap_or(0) > MAX_LOG_BYTES);
        if long {
            rustix::fs::renameat(&dir, NAME, &dir, ASIDE).map_err(failed("put aside", &path))?;
        }
        let file = rustix::fs::openat(&dir, NAME, LOG, Mode::RUSR | Mode::WUSR);
        let file = File::from(file.map_err(|error| match error {
            Errno::LOOP => refused(&path, "it is a symbolic link"),
            Errno::ISDIR | Errno::NXIO => refused(&path, "it is no regular file"),
            other => failed("open", &path)(other),
        })?);
        let found = file.metadata().map_err(|source| ClientError::io("open", &path, source))?;
        if !found.is_file() {
            return Err(refused(&path, "it is no regular file"));
        }
        if found.uid() != user {
            return Err(foreign(&path, found.uid(), user));
        }
        Ok(Self { path, file, start: found.len() })
    }

    /// The last lines that were written since the log was opened.
    pub(crate) fn last_lines(&self) -> io::Result<Vec<String>> {
        let mut file = &self.file;
        let end = file.metadata()?.len();
        let from = self.start.max(end.saturating_sub(TAIL_BYTES));
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<_> = text.lines().map(str::to_owned).collect();
        let skipped = lines.len().saturating_sub(TAIL_LINES);
        Ok(lines.into_iter().skip(skipped).collect())
    }
}

/// Refuses a directory that is, or would be made, in another user's: up to the
/// root everything belongs to this user or to root.
fn check_above(state_dir: &Path, user: u32) -> Result<(), ClientError> {
    for path in state_dir.ancestors() {
        let real = match path.canonicalize() {
            Ok(real) => real,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(source) => return Err(ClientError::io("look at", path, source)),
        };
        for above in real.ancestors() {
            let found = above.symlink_metadata();
            let found = found.map_err(|source| ClientError::io("look at", above, source))?;
            if found.uid() != user && found.uid() != 0 {
                return Err(foreign(above, found.uid(), user));
            }
        }
        break;
    }
    Ok(())
}

fn check_owner(dir: &OwnedFd, path: &Path, user: u32) -> Result<(), ClientError> {
    let found = rustix::fs::fstat(dir.as_fd());
    let owner = found.map_err(|error| ClientError::io("look at", path, error.into()))?.st_uid;
    if owner == user { Ok(()) } else { Err(foreign(path, owner, user)) }
}

fn foreign(path: &Path, owner: u32, user: u32) -> ClientError {
    let why = format!("it belongs to user {owner}, and this is user {user}");
    StartError::Log { path: path.to_owned(), why }.into()
}

fn refused(path: &Path, why: &str) -> ClientError {
    StartError::Log { path: path.to_owned(), why: format!("{why}; move it away") }.into()
}

const NAME: &str = "server.log";
const ASIDE: &str = "server.log.1";

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Not waiting for the reader of a fifo.
const LOG: OFlags = OFlags::RDWR
    .union(OFlags::APPEND)
    .union(OFlags::CREATE)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

const TAIL_BYTES: u64 = 8 * 1024;

const TAIL_LINES: usize = 10;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_long_log_is_put_aside_and_only_new_lines_are_shown() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log/server.log");
        let log = Log::open(dir.path()).unwrap();
        (&log.file).write_all(b"old\n").unwrap();
        let log = Log::open(dir.path()).unwrap();
        assert_eq!(log.last_lines().unwrap(), Vec::<String>::new());
        for line in 0..20 {
            writeln!(&log.file, "line {line}").unwrap();
        }
        let shown = log.last_lines().unwrap();
        assert_eq!((shown.len(), shown[0].as_str()), (10, "line 10"));
        log.file.set_len(MAX_LOG_BYTES + 1).unwrap();
        Log::open(dir.path()).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), 0);
        let aside = fs::metadata(dir.path().join("log/server.log.1")).unwrap();
        assert_eq!(aside.len(), MAX_LOG_BYTES + 1);
    }

    #[test]
    fn what_somebody_put_in_the_place_of_the_log_is_left_alone() {
        for (name, says) in [
            ("log", "no directory"),
            ("log/server.log", "a symbolic link"),
            ("log/dir", "no regular"),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let other = dir.path().join("other");
            let state = dir.path().join("state");
            fs::create_dir_all(state.join("log")).unwrap();
            match name {
                "log" => {
                    fs::create_dir(&other).unwrap();
                    fs::remove_dir(state.join("log")).unwrap();
                    symlink(&other, state.join("log")).unwrap();
                }
                "log/server.log" => {
                    fs::write(&other, "somebody's").unwrap();
                    symlink(&other, state.join(name)).unwrap();
                }
                _ => fs::create_dir(state.join("log/server.log")).unwrap(),
            }
            let error = Log::open(&state).unwrap_err();
            let ClientError::Start(refusal) = &error else { panic!("{error:?}") };
            assert!(refusal.is_refusal() && error.to_string().contains(says), "{name}: {error}");
            let kept = fs::read(&other).unwrap_or_default();
            assert!(kept.is_empty() || kept == b"somebody's", "{name}");
            assert!(!other.join("server.log").exists(), "{name}");
        }
    }

    #[test]
    fn nothing_is_made_in_the_home_of_another_user() {
        let dir = tempfile::tempdir().unwrap();
        let (home, me) = (dir.path().join("home"), rustix::process::geteuid().as_raw());
        fs::create_dir(&home).unwrap();
        // Root looks at another's, anybody else is taken for another.
        let (owner, user) = if me == 0 { (4321, 0) } else { (me, me + 1) };
        std::os::unix::fs::chown(&home, Some(owner), None).unwrap();
        let state = home.join(".local/state/signaltty");
        let refused = || Log::open_as(&state, user).unwrap_err().to_string();
        for part in [format!("belongs to user {owner}"), "SIGNALTTY_STATE_DIR".to_owned()] {
            assert!(refused().contains(&part), "{part}: {}", refused());
        }
        assert_eq!(fs::read_dir(&home).unwrap().count(), 0);
        fs::create_dir_all(state.join("log")).unwrap();
        refused();
        assert_eq!(fs::read_dir(state.join("log")).unwrap().count(), 0);
    }
}
