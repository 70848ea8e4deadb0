//! Where a process stands among the jobs of its terminal, and what it was
//! started with.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use super::{ProcHost, all_pids, proc_path};
use crate::records::read_small;

/// A process among the jobs of its terminal, as `/proc/PID/stat` shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// Start time in clock ticks since boot (field 22).
    pub start_ticks: u64,
    /// Its process group (field 5).
    pub group: u32,
    /// Its session (field 6).
    pub session: u32,
    /// Its controlling terminal as a device number (field 7); 0 if it has none.
    pub terminal: u64,
    /// The group in the foreground of that terminal (field 8); 0 if there is
    /// none.
    pub foreground: u32,
    /// The user whose rights it has.
    pub user: u32,
}

impl ProcHost {
    /// Where a living process stands; `None` once it is gone or a zombie.
    pub fn job(&self, pid: u32) -> Option<Job> {
        let bytes = read_small(&proc_path(pid, "stat"), 4096).ok()?;
        let user = std::fs::metadata(proc_path(pid, "")).ok()?.uid();
        parse(&bytes, user)
    }

    /// The processes that a process started and that still run.
    pub fn children(&self, pid: u32) -> Vec<u32> {
        super::listed_children(pid)
            .unwrap_or_else(|| super::all_children().remove(&pid).unwrap_or_default())
    }

    /// The environment with which a process was started, where it may be read.
    pub fn environment(&self, pid: u32) -> Option<Vec<(OsString, OsString)>> {
        let bytes = read_small(&proc_path(pid, "environ"), MAX_ENVIRONMENT).ok()?;
        let lines = bytes.split(|byte| *byte == 0).filter(|line| !line.is_empty());
        let pairs = lines.filter_map(|line| {
            let equals = line.iter().position(|byte| *byte == b'=')?;
            let (name, value) = line.split_at_checked(equals)?;
            let value = value.get(1..)?;
            Some((OsStr::from_bytes(name).to_owned(), OsStr::from_bytes(value).to_owned()))
        });
        Some(pairs.collect())
    }

    /// The working directory of a process, without links, where it may be seen.
    /// Of one that was removed, the path that it had.
    pub fn cwd(&self, pid: u32) -> Option<PathBuf> {
        let link = std::fs::read_link(proc_path(pid, "cwd")).ok();
        let link = link.filter(|path| path.is_absolute())?;
        // The system adds a remark, which may as well be the end of a name.
        match link.as_os_str().as_bytes().strip_suffix(REMOVED) {
            Some(path) if !link.exists() => Some(OsStr::from_bytes(path).into()),
            _ => Some(link),
        }
    }

    /// The present time as the kernel notes it for a process that starts: clock
    /// ticks since boot.
    pub fn now_ticks(&self) -> u64 {
        super::clock::now()
    }

    /// Living processes with the rights of a user, with when they started. At
    /// most 100,000 are looked at.
    pub fn of_user(&self, user: u32) -> Vec<(u32, u64)> {
        let jobs = all_pids().take(MAX_PROCESSES).map(|pid| (pid, self.job(pid)));
        let ours = jobs.filter_map(|(pid, job)| Some((pid, job.filter(|job| job.user == user)?)));
        ours.map(|(pid, job)| (pid, job.start_ticks)).collect()
    }

    /// Living processes of a session, without the one that leads it. A session
    /// keeps its number as long as it has a member, so the number names it
    /// until then.
    pub fn session_members(&self, session: u32) -> Vec<u32> {
        all_pids()
            .filter(|pid| *pid != session)
            .filter(|pid| self.job(*pid).is_some_and(|job| job.session == session))
            .collect()
    }
}

/// The name in parentheses may hold anything, so the fields are counted after
/// the last one.
fn parse(bytes: &[u8], user: u32) -> Option<Job> {
    let end = bytes.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(bytes.get(end + 1..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // Field 3 is the first here.
    let field = |number: usize| fields.get(number - 3).copied();
    if matches!(field(3)?, "Z" | "X" | "x") {
        return None;
    }
    // What is of another namespace, or not there, is 0 or negative.
    let number = |at: usize| field(at)?.parse::<i64>().ok();
    let id = |at: usize| number(at).map(|id| u32::try_from(id).unwrap_or(0));
    Some(Job {
        start_ticks: field(22)?.parse().ok()?,
        group: id(5)?,
        session: id(6)?,
        terminal: u64::try_from(number(7)?).unwrap_or(0),
        foreground: id(8)?,
        user,
    })
}

/// What the system writes after the path of a directory that was removed.
const REMOVED: &[u8] = b" (deleted)";

/// The most processes of a machine that are looked at.
const MAX_PROCESSES: usize = 100_000;

/// The longest environment that is read.
const MAX_ENVIRONMENT: u64 = 4 << 20;

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_job_is_read_whatever_its_name_is() {
        let line = b"7 (a) S 1 (b) R 3 9 5 34816 12 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 1 1";
        let job = parse(line, 1000).unwrap();
        let wanted = Job {
            start_ticks: 4242,
            group: 9,
            session: 5,
            terminal: 34816,
            foreground: 12,
            user: 1000,
        };
        assert_eq!(job, wanted);
        let none = b"7 (x) S 3 9 5 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 1 1";
        let job = parse(none, 0).unwrap();
        assert_eq!((job.terminal, job.foreground), (0, 0));
        assert!(parse(b"7 (x) Z 3 9 5 0 -1 1 1 2 3 4 5 6 7 8 20 0 1 0 4242", 0).is_none());
        assert!(parse(b"7 (x) S 3", 0).is_none());
    }

    #[test]
    fn c064_a_removed_directory_has_the_path_that_it_had() {
        let host = ProcHost { home: None, path: OsString::new() };
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        for (name, removed) in [("d", true), ("kept (deleted)", false), ("d (deleted)", true)] {
            let path = top.join(name);
            std::fs::create_dir(&path).unwrap();
            let mut cat = Command::new("/bin/cat");
            let mut child = cat.current_dir(&path).stdin(Stdio::piped()).spawn().unwrap();
            if removed {
                std::fs::remove_dir(&path).unwrap();
            }
            assert_eq!(host.cwd(child.id()), Some(path), "{name}");
            drop(child.stdin.take());
            child.wait().unwrap();
        }
    }

    #[test]
    fn a_process_shows_what_it_was_started_with() {
        let host = ProcHost { home: None, path: OsString::new() };
        let mut child = Command::new("/bin/cat")
            .env_clear()
            .env("MINE", "a=b")
            .current_dir("/")
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        // The environment is there once `cat` is, which the fork need not be yet.
        let until = Instant::now() + Duration::from_secs(30);
        let found = loop {
            let found = host.environment(child.id()).unwrap();
            if !found.is_empty() || Instant::now() > until {
                break found;
            }
            std::thread::yield_now();
        };
        assert_eq!(found, [("MINE".into(), "a=b".into())]);
        assert_eq!(host.cwd(child.id()).unwrap(), PathBuf::from("/"));
        let (mine, its) = (host.job(std::process::id()).unwrap(), host.job(child.id()).unwrap());
        assert_eq!((mine.session, mine.user), (its.session, its.user));
        assert!(host.session_members(mine.session).contains(&child.id()));
        drop(child.stdin.take());
        let pid = child.id();
        child.wait().unwrap();
        assert_eq!(host.job(pid), None);
    }
}
