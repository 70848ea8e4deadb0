//! Which files processes have open, and which of them they lock.
//!
//! A lock of `flock(2)` belongs to an opened file, so the kernel shows it with
//! each process that has that file open: also with a child that inherited it
//! after the process that took it is gone. That the lock file exists says
//! nothing.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::{all_pids, proc_path};
use crate::OpenFile;
use crate::records::read_small;

/// The files that a process has open. Pipes, sockets and the like are left out.
pub(super) fn open_files(pid: u32) -> Vec<OpenFile> {
    let Ok(entries) = fs::read_dir(proc_path(pid, "fd")) else {
        return Vec::new();
    };
    let entries = entries.take(MAX_FILES).flatten();
    entries
        .filter_map(|entry| {
            let path = fs::read_link(entry.path()).ok().filter(|path| path.is_absolute())?;
            let info = proc_path(pid, "fdinfo").join(entry.file_name());
            let info = read_small(&info, MAX_INFO).unwrap_or_default();
            // The number may have gone to another file meanwhile.
            let same = fs::read_link(entry.path()).is_ok_and(|again| again == path);
            same.then(|| OpenFile { path, locked: shows_lock(&info) })
        })
        .collect()
}

/// Processes that hold an exclusive lock on a file, by their ids.
pub(super) fn lockers(file: &Path) -> Vec<u32> {
    let (Ok(path), Ok(about)) = (fs::canonicalize(file), fs::metadata(file)) else {
        return Vec::new();
    };
    // The table of all locks tells quickly that there is none. It names files
    // by numbers that differ from those of the file on some file systems, so
    // whose lock it is comes from the processes.
    let table = read_small(Path::new("/proc/locks"), MAX_LOCKS).ok();
    let table = table.as_deref().map(String::from_utf8_lossy);
    let listed: Option<Vec<_>> = table.as_deref().map(|table| {
        table.lines().filter_map(lock_of).filter(|l| l.inode == about.ino()).collect()
    });
    if listed.as_ref().is_some_and(Vec::is_empty) {
        return Vec::new();
    }
    let holds = |pid: &u32| {
        let files = open_files(*pid);
        files.iter().any(|open| open.locked && open.path == path)
    };
    let seen: Vec<u32> = all_pids().filter(holds).collect();
    if !seen.is_empty() {
        return seen;
    }
    // What another user's process has open is not shown; its lock is.
    let device = (rustix::fs::major(about.dev()), rustix::fs::minor(about.dev()));
    let same = listed.into_iter().flatten().filter(|lock| lock.device == device);
    same.map(|lock| lock.pid).collect()
}

/// An exclusive lock on a whole file, as the kernel lists it.
#[derive(Debug, PartialEq, Eq)]
struct Lock {
    pid: u32,
    device: (u32, u32),
    inode: u64,
}

fn shows_lock(info: &[u8]) -> bool {
    String::from_utf8_lossy(info)
        .lines()
        .filter_map(|line| line.strip_prefix("lock:"))
        .any(|line| lock_of(line).is_some())
}

/// Reads a line such as `1: FLOCK  ADVISORY  WRITE 4711 fe:00:815 0 EOF`. One
/// that waits for a lock has an arrow after its number.
fn lock_of(line: &str) -> Option<Lock> {
    let mut words = line.split_ascii_whitespace().skip(1);
    let kind = (words.next()?, words.next()?, words.next()?);
    if kind != ("FLOCK", "ADVISORY", "WRITE") {
        return None;
    }
    let pid = words.next()?.parse().ok()?;
    let mut numbers = words.next()?.split(':');
    let mut device = || u32::from_str_radix(numbers.next()?, 16).ok();
    let device = (device()?, device()?);
    let inode = numbers.next()?.parse().ok()?;
    Some(Lock { pid, device, inode })
}

/// The most open files of one process that are looked at.
const MAX_FILES: usize = 1 << 16;

const MAX_INFO: u64 = 1 << 20;

const MAX_LOCKS: u64 = 16 << 20;

#[cfg(test)]
mod tests {
    use std::fs::File;

    use rustix::fs::{FlockOperation, flock};

    use super::*;

    #[test]
    fn only_exclusive_locks_of_whole_files_are_read() {
        let lock = Lock { pid: 4711, device: (0xfe, 0), inode: 815 };
        assert_eq!(lock_of("1: FLOCK  ADVISORY  WRITE 4711 fe:00:815 0 EOF"), Some(lock));
        for other in [
            "1: -> FLOCK  ADVISORY  WRITE 4711 fe:00:815 0 EOF",
            "1: FLOCK  ADVISORY  READ 4711 fe:00:815 0 EOF",
            "1: POSIX  ADVISORY  WRITE 4711 fe:00:815 0 EOF",
            "1: FLOCK  ADVISORY  WRITE -1 fe:00:815 0 EOF",
            "1: FLOCK  ADVISORY  WRITE 4711 fe:815 0 EOF",
            "1: FLOCK",
            "",
        ] {
            assert_eq!(lock_of(other), None, "{other}");
        }
    }

    #[test]
    fn a_lock_counts_while_it_is_held_and_its_file_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(dir.path()).unwrap().join("lock");
        let me = std::process::id();
        let locked = || {
            let files = open_files(me);
            files.into_iter().find(|open| open.path == path).map(|open| open.locked)
        };
        assert_eq!(locked(), None);
        let file = File::create(&path).unwrap();
        assert_eq!((locked(), lockers(&path)), (Some(false), vec![]));
        flock(&file, FlockOperation::LockShared).unwrap();
        assert_eq!((locked(), lockers(&path)), (Some(false), vec![]));
        flock(&file, FlockOperation::LockExclusive).unwrap();
        assert_eq!((locked(), lockers(&path)), (Some(true), vec![me]));
        // Through a link on the way, too.
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert_eq!(lockers(&link), [me]);
        drop(file);
        assert_eq!((locked(), lockers(&path)), (None, vec![]));
        assert!(path.exists());
        assert!(lockers(&dir.path().join("none")).is_empty());
    }
}
