//! What an adapter may look at besides files.

use std::ffi::OsString;
use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A read-only view of the machine. The server has the real one, tests have
/// others. Files are read directly, through the crate's bounded reader.
pub trait AgentHost: Send + Sync {
    /// The home directory of the user, for records whose place is not set by a
    /// variable.
    fn home(&self) -> Option<PathBuf>;

    /// A living process; `None` once it is gone or a zombie.
    fn process(&self, pid: u32) -> Option<ProcessInfo>;

    /// The process and its living descendants, the process itself first.
    fn tree(&self, pid: u32) -> Vec<ProcessInfo>;

    /// Where a program would be found, by the search path that a resume uses.
    fn find_program(&self, program: &str) -> Option<PathBuf>;

    /// The files that a living process has open. By default, and where it
    /// cannot be seen, none.
    fn open_files(&self, _pid: u32) -> Vec<OpenFile> {
        Vec::new()
    }

    /// Living processes that hold an exclusive lock on this file. By default,
    /// and where it cannot be seen, none.
    fn lockers(&self, _file: &Path) -> Vec<ProcessInfo> {
        Vec::new()
    }

    /// When a process was started, by the clock that people read. Moves with
    /// that clock, so it is good for showing and not for proving.
    fn started(&self, _process: &ProcessInfo) -> Option<SystemTime> {
        None
    }

    /// Whether the far end of our own connection from `client` to `server` is a
    /// socket of one of these processes. A password must not go anywhere else.
    /// By default nobody can tell, so it is not.
    fn holds_connection(&self, pids: &[u32], client: SocketAddrV4, server: SocketAddrV4) -> bool {
        let _ = (pids, client, server);
        false
    }
}

/// A file that a process has open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenFile {
    /// Where it is, without links.
    pub path: PathBuf,
    /// The process holds an exclusive lock on the whole file, as of `flock(2)`.
    pub locked: bool,
}

/// What is known of a living process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessInfo {
    /// Its id.
    pub pid: u32,
    /// Its parent's id.
    pub parent: u32,
    /// Start time in clock ticks since boot.
    pub start_ticks: u64,
    /// Its command line.
    pub argv: Vec<OsString>,
}
