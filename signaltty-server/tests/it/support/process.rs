//! Processes, as `/proc` shows them.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};

use super::wait_until;

/// A process: its number alone may come again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Process {
    pub pid: u32,
    start: u64,
}

struct Stat {
    process: Process,
    state: char,
    parent: u32,
}

fn stat(pid: u32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before may hold anything, a parenthesis too.
    let rest = text.rsplit_once(')')?.1;
    let fields: Vec<_> = rest.split_whitespace().collect();
    Some(Stat {
        process: Process { pid, start: fields.get(19)?.parse().ok()? },
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
    })
}

impl Process {
    /// Whether it runs. One that only waits to be reaped does not.
    pub fn runs(&self) -> bool {
        stat(self.pid).is_some_and(|found| found.process == *self && found.state != 'Z')
    }
}

/// The running children of a process.
pub fn children(parent: u32) -> Vec<Process> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| stat(entry.file_name().to_str()?.parse().ok()?))
        .filter(|found| found.parent == parent && found.state != 'Z')
        .map(|found| found.process)
        .collect()
}

/// How many children of a process ended and were never waited for.
pub fn zombies(parent: u32) -> usize {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let stats = entries.filter_map(|entry| stat(entry.file_name().to_str()?.parse().ok()?));
    stats.filter(|found| found.parent == parent && found.state == 'Z').count()
}

/// The running processes whose environment names this socket, whoever their
/// parent is by now.
pub fn with_socket(socket: &Path) -> Vec<Process> {
    let wanted = [b"SIGNALTTY_SOCKET=", socket.as_os_str().as_bytes()].concat();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| {
            let found = stat(entry.file_name().to_str()?.parse().ok()?)?;
            let environment = fs::read(entry.path().join("environ")).ok()?;
            let named = environment.split(|byte| *byte == 0).any(|line| line == wanted);
            (named && found.state != 'Z').then_some(found.process)
        })
        .collect()
}

/// Waits until none of these runs.
pub fn wait_gone(processes: &[Process]) {
    let what = format!("the end of {processes:?}");
    wait_until(&what, || !processes.iter().any(Process::runs));
}

/// Sends a signal. SIGSTOP reaches a process by one of its threads, and the
/// others go on until that one was scheduled: they are waited for.
pub fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.try_into().unwrap()).unwrap(), signal).unwrap();
    if signal == Signal::STOP {
        wait_until("every thread to stop", || {
            let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
            tasks.map(|task| fs::read_to_string(task.path().join("stat"))).all(|stat| {
                // One that has ended meanwhile does nothing either.
                stat.map_or(true, |stat| stat.rsplit(") ").next().unwrap().starts_with('T'))
            })
        });
    }
}

/// Whether this process ignores a signal, and so what it starts.
pub fn ignores(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    let mask = u64::from_str_radix(mask.trim(), 16).unwrap();
    mask & (1 << (signal.as_raw() - 1)) != 0
}

/// How many descriptors a process has open.
pub fn descriptors(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count()
}

/// The numbers of the descriptors that a process has open.
pub fn open_numbers(pid: u32) -> Vec<u64> {
    let dir = fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    dir.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// The files that a process has open.
pub fn open_files(pid: u32) -> Vec<PathBuf> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    entries.filter_map(|entry| fs::read_link(entry.path()).ok()).collect()
}
