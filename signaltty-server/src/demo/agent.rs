//! The demonstration agent, as the story sees it from outside: its process,
//! its record, and the files by which it misbehaves.

use std::ffi::OsStr;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::ask::Broken;

/// The variable that says where the agent keeps its files.
pub(super) const HOME: &str = "SIGNALTTY_DEMO_HOME";

/// A process that is watched until it ends, whatever becomes of its number.
/// Killed when dropped.
#[derive(Debug)]
pub(super) struct Watched {
    pid: u32,
    handle: OwnedFd,
}

impl Watched {
    pub(super) fn new(pid: u32) -> Result<Self, Broken> {
        let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let number = number.ok_or_else(|| Broken::new(format!("{pid} is no process id")))?;
        let handle = pidfd_open(number, PidfdFlags::empty()).map_err(std::io::Error::from)?;
        Ok(Self { pid, handle })
    }

    /// Waits until it has ended.
    pub(super) async fn ended(&self) -> Result<(), Broken> {
        let started = Instant::now();
        while !self.has_ended()? {
            if started.elapsed() > LIMIT {
                let message = format!("process {} still runs after {LIMIT:?}", self.pid);
                return Err(Broken::new(message));
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }

    /// A handle is readable from the end of its process on, reaped or not.
    fn has_ended(&self) -> Result<bool, Broken> {
        let mut handles = [PollFd::new(&self.handle, PollFlags::IN)];
        let now = Timespec::default();
        let ready = poll(&mut handles, Some(&now)).map_err(std::io::Error::from)?;
        Ok(ready > 0)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // An error says that it has ended already.
        let _ = pidfd_send_signal(&self.handle, Signal::KILL);
    }
}

/// The record of a conversation on disk.
#[derive(Debug)]
pub(super) struct Record {
    path: PathBuf,
    whole: Vec<u8>,
}

impl Record {
    /// Finds the record of a conversation and keeps a copy of it.
    pub(super) fn keep(home: &Path, id: &str) -> Result<Self, Broken> {
        let projects = fs::read_dir(home.join("conversations"))?;
        let name = format!("{id}.jsonl");
        let mut paths = projects.flatten().map(|entry| entry.path().join(&name));
        let path = paths
            .find(|path| path.is_file())
            .ok_or_else(|| Broken::new(format!("the agent has no record of {id}")))?;
        let whole = fs::read(&path)?;
        Ok(Self { path, whole })
    }

    /// Takes everything out of it.
    pub(super) fn empty(&self) -> Result<(), Broken> {
        Ok(fs::write(&self.path, "")?)
    }

    /// Whether it is as it was.
    pub(super) fn is_whole(&self) -> Result<bool, Broken> {
        Ok(fs::read(&self.path)? == self.whole)
    }

    /// Puts back what was in it.
    pub(super) fn restore(&self) -> Result<(), Broken> {
        Ok(fs::write(&self.path, &self.whole)?)
    }
}

/// How the agent behaves when it is started the next time.
pub(super) fn behave(home: &Path, how: Option<&str>) -> Result<(), Broken> {
    let path = home.join("behaviour");
    match how {
        Some(how) => fs::write(path, how)?,
        None => fs::remove_file(path)?,
    }
    Ok(())
}

/// The processes that ever ran as the agent and did not take their leave: each
/// lists itself in a file when it starts.
pub(super) fn listed(home: &Path) -> Vec<u32> {
    let files = fs::read_dir(home.join("live")).into_iter().flatten().flatten();
    let pid = |path: PathBuf| {
        let json = path.extension() == Some(OsStr::new("json"));
        path.file_stem().filter(|_| json)?.to_str()?.parse().ok()
    };
    let mut pids: Vec<_> = files.filter_map(|file| pid(file.path())).collect();
    pids.sort_unstable();
    pids
}

/// Whether such a process exists, one that ended and was not reaped included.
pub(super) fn exists(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

const LIMIT: Duration = Duration::from_secs(4);

const PAUSE: Duration = Duration::from_millis(10);
