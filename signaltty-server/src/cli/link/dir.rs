//! The directory of a link: it goes with its process, whichever way that ends.
//!
//! At a normal end and an error the link is dropped. A signal that nobody else
//! waits for and a panic take it away first. After SIGKILL it stays, and the next
//! link that is opened takes it away: a directory that nobody has locked any more
//! is nobody's.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::process::geteuid;
use rustix::rand::{GetRandomFlags, getrandom};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::ssh::Ssh;
use crate::cli::signals;

/// What is open. A process has one link at most.
static OPEN: Mutex<Option<Open>> = Mutex::new(None);

#[derive(Debug)]
struct Open {
    dir: PathBuf,
    /// Locked for as long as this process lives, and not longer: children do not
    /// inherit it.
    _lock: File,
    ssh: Arc<Ssh>,
}

/// A name that nobody else has.
pub(super) fn name() -> io::Result<PathBuf> {
    let mut random = [0; 8];
    getrandom(&mut random, GetRandomFlags::empty())?;
    Ok(std::env::temp_dir().join(format!("{PREFIX}{:016x}", u64::from_le_bytes(random))))
}

const PREFIX: &str = "signaltty-";

/// From now on no way to end leaves a directory behind.
pub(super) fn watch() -> io::Result<()> {
    let ignored = ignored();
    let kept = [SIGHUP, SIGINT, SIGQUIT, SIGTERM].into_iter().filter(|signal| {
        // Whoever started this with nohup(1) wants it to go on.
        ignored & (1 << (signal - 1)) == 0
    });
    let mut asked = Signals::new(kept)?;
    std::thread::Builder::new().name("end".to_owned()).spawn(move || {
        for signal in asked.forever() {
            // A verb that waits for signals itself comes to its own end.
            if !signals::are_awaited() {
                remove();
                // Where that fails the process goes on, and a second one ends it.
                let _ = emulate_default_handler(signal);
            }
        }
    })?;
    let next = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        remove();
        next(panic);
    }));
    Ok(())
}

/// The signals that are ignored, a bit for each, the lowest for signal 1.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Makes the directory.
pub(super) fn make(dir: &Path, ssh: &Arc<Ssh>) -> io::Result<()> {
    sweep(&std::env::temp_dir());
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    DirBuilder::new().mode(0o700).create(dir)?;
    let lock = lock(dir)?;
    *open = Some(Open { dir: dir.to_owned(), _lock: lock, ssh: Arc::clone(ssh) });
    Ok(())
}

/// Takes the directory away, and ends what is shared through it.
pub(super) fn remove() {
    let open = OPEN.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(open) = open {
        open.ssh.end_shared();
        let _ = fs::remove_dir_all(&open.dir);
    }
}

fn lock(dir: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(dir, flags, Mode::empty())?);
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    Ok(file)
}

/// Takes away what a process left that was killed.
fn sweep(temp: &Path) {
    for entry in fs::read_dir(temp).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let random = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let ours = random.is_some_and(|random| {
            random.len() == 16 && random.bytes().all(|byte| byte.is_ascii_hexdigit())
        });
        if ours && is_left(&entry) {
            // Somebody else may do the same.
            let _ = lock(&entry.path()).and_then(|_lock| fs::remove_dir_all(entry.path()));
        }
    }
}

/// Whether a directory is this user's, and so old that it would be locked by now.
fn is_left(entry: &fs::DirEntry) -> bool {
    let Ok(found) = entry.metadata() else { return false };
    let age = found.modified().ok().and_then(|at| SystemTime::now().duration_since(at).ok());
    found.is_dir() && found.uid() == geteuid().as_raw() && age.is_some_and(|age| age > FRESH)
}

const FRESH: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// What the test below runs in a process of its own.
    #[test]
    fn child_that_panics() {
        if std::env::var_os("SIGNALTTY_TEST_PANIC_OF_A_LINK").is_none() {
            return;
        }
        watch().unwrap();
        let dir = name().unwrap();
        let ssh = Arc::new(Ssh::new("nowhere.invalid", &dir));
        make(&dir, &ssh).unwrap();
        assert!(dir.is_dir());
        // As in the full-screen client, where it ends the process at once.
        let _ = std::thread::spawn(|| panic!("on purpose")).join();
        std::process::exit(7);
    }

    #[test]
    fn a_panic_leaves_no_directory_behind() {
        let temp = tempfile::tempdir().unwrap();
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "cli::link::dir::tests::child_that_panics", "--nocapture"])
            .env("SIGNALTTY_TEST_PANIC_OF_A_LINK", "1")
            .env("SIGNALTTY_SSH", "false")
            .env("TMPDIR", temp.path())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(7), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("on purpose"), "{output:?}");
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 0);
    }
}
