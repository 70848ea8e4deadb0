//! The machine as Linux shows it under `/proc`.
//!
//! Processes come and go while one looks: whatever vanishes meanwhile is left
//! out, and a command line is believed only if the process still is the one of
//! before. Nothing here is an error, since an absent process is an answer.

mod clock;
mod files;
mod jobs;
mod sockets;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::net::SocketAddrV4;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub use jobs::Job;

use crate::records::read_small;
use crate::{AgentHost, OpenFile, ProcessInfo};

/// The real machine, read-only.
#[derive(Debug, Clone)]
pub struct ProcHost {
    /// The home directory of the user.
    pub home: Option<PathBuf>,
    /// The search path of a resume, as in `PATH`.
    pub path: OsString,
}

impl AgentHost for ProcHost {
    fn home(&self) -> Option<PathBuf> {
        self.home.clone()
    }

    fn process(&self, pid: u32) -> Option<ProcessInfo> {
        let before = stat(pid)?;
        let argv = command_line(pid);
        let after = stat(pid)?;
        (before.start_ticks == after.start_ticks).then_some(ProcessInfo {
            pid,
            parent: after.parent,
            start_ticks: after.start_ticks,
            argv,
        })
    }

    fn tree(&self, pid: u32) -> Vec<ProcessInfo> {
        let mut children: Option<BTreeMap<u32, Vec<u32>>> = None;
        let mut found = Vec::new();
        let mut known = BTreeSet::from([pid]);
        let mut todo = std::collections::VecDeque::from([pid]);
        while let Some(next) = todo.pop_front() {
            let Some(process) = self.process(next) else {
                continue;
            };
            found.push(process);
            let below = listed_children(next).unwrap_or_else(|| {
                children.get_or_insert_with(all_children).get(&next).cloned().unwrap_or_default()
            });
            for child in below {
                if known.len() < MAX_TREE && known.insert(child) {
                    todo.push_back(child);
                }
            }
        }
        found
    }

    fn find_program(&self, program: &str) -> Option<PathBuf> {
        if program.is_empty() {
            return None;
        }
        if program.contains('/') {
            let path = PathBuf::from(program);
            return is_program(&path).then_some(path);
        }
        // Relative entries would mean another program in every directory.
        std::env::split_paths(&self.path)
            .filter(|dir| dir.is_absolute())
            .map(|dir| dir.join(program))
            .find(|path| is_program(path))
    }

    fn open_files(&self, pid: u32) -> Vec<OpenFile> {
        files::open_files(pid)
    }

    fn lockers(&self, file: &Path) -> Vec<ProcessInfo> {
        let holders = files::lockers(file);
        holders.into_iter().filter_map(|pid| self.process(pid)).collect()
    }

    fn started(&self, process: &ProcessInfo) -> Option<SystemTime> {
        clock::started(process.start_ticks)
    }

    fn holds_connection(&self, pids: &[u32], client: SocketAddrV4, server: SocketAddrV4) -> bool {
        sockets::server_end(client, server)
            .is_some_and(|inode| pids.iter().any(|pid| sockets::holds(*pid, inode)))
    }
}

struct Stat {
    parent: u32,
    start_ticks: u64,
}

fn stat(pid: u32) -> Option<Stat> {
    parse_stat(&read_small(&proc_path(pid, "stat"), 4096).ok()?)
}

/// Reads parent and start time. The name in parentheses may hold anything,
/// parentheses and blanks too, so the fields are counted after the last one.
fn parse_stat(bytes: &[u8]) -> Option<Stat> {
    let end = bytes.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(bytes.get(end + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    // Field 22 of the line; the state is field 3.
    let start_ticks = fields.nth(17)?.parse().ok()?;
    (!matches!(state, "Z" | "X" | "x")).then_some(Stat { parent, start_ticks })
}

fn command_line(pid: u32) -> Vec<OsString> {
    let bytes = read_small(&proc_path(pid, "cmdline"), MAX_COMMAND_LINE).unwrap_or_default();
    bytes
        .strip_suffix(b"\0")
        .map(|args| {
            args.split(|byte| *byte == 0).map(|arg| OsStr::from_bytes(arg).to_owned()).collect()
        })
        .unwrap_or_default()
}

/// The children of all threads of a process, where the kernel lists them.
fn listed_children(pid: u32) -> Option<Vec<u32>> {
    let threads = std::fs::read_dir(proc_path(pid, "task")).ok()?;
    let mut children = Vec::new();
    for thread in threads.take(MAX_TREE) {
        let list = read_small(&thread.ok()?.path().join("children"), MAX_COMMAND_LINE).ok()?;
        let list = String::from_utf8(list).ok()?;
        children.extend(list.split_ascii_whitespace().filter_map(|id| id.parse::<u32>().ok()));
    }
    Some(children)
}

/// The children of every process, from looking at each.
fn all_children() -> BTreeMap<u32, Vec<u32>> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for pid in all_pids() {
        if let Some(stat) = stat(pid) {
            children.entry(stat.parent).or_default().push(pid);
        }
    }
    children
}

fn all_pids() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn proc_path(pid: u32, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{name}"))
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

/// The most processes of one tree that are looked at.
const MAX_TREE: usize = 4096;

/// The longest command line: 2 MiB, the usual limit of the system.
const MAX_COMMAND_LINE: u64 = 2 << 20;

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn host() -> ProcHost {
        ProcHost { home: None, path: "relative::/usr/bin:/bin".into() }
    }

    #[test]
    fn names_with_parentheses_and_blanks_do_not_shift_fields() {
        let numbers = "1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 99 100";
        for name in ["sh", "a b", "x) S 7 8", "((", ") Z 1"] {
            let line = format!("42 ({name}) S 17 {numbers}\n");
            let stat = parse_stat(line.as_bytes()).unwrap();
            assert_eq!((stat.parent, stat.start_ticks), (17, 4711), "{name}");
        }
        assert!(parse_stat(format!("42 (sh) Z 17 {numbers}").as_bytes()).is_none());
        for odd in ["", "42 (sh)", "42 (sh) S", "42 (sh) S x y", "42 (sh) S 1 2"] {
            assert!(parse_stat(odd.as_bytes()).is_none(), "{odd:?}");
        }
    }

    #[test]
    fn a_child_is_in_the_tree_until_it_ends() {
        let mut child = Command::new("/bin/cat").stdin(Stdio::piped()).spawn().unwrap();
        let me = host().process(std::process::id()).unwrap();
        let tree = host().tree(me.pid);
        assert_eq!(tree.first(), Some(&me));
        let seen = tree.iter().find(|process| process.pid == child.id()).unwrap();
        assert_eq!(seen.parent, me.pid);
        assert!(seen.start_ticks >= me.start_ticks);
        let scanned = all_children();
        assert!(scanned.get(&me.pid).unwrap().contains(&child.id()));
        drop(child.stdin.take());
        let pid = child.id();
        child.wait().unwrap();
        assert_eq!(host().process(pid), None);
    }

    #[test]
    fn s0_22_programs_are_found_by_absolute_entries_only() {
        assert!(host().find_program("cat").unwrap().is_absolute());
        assert!(host().find_program("/bin/cat").is_some());
        for missing in ["", "no-such-program", "/etc/passwd", "/nowhere/cat"] {
            assert_eq!(host().find_program(missing), None, "{missing}");
        }
    }
}
