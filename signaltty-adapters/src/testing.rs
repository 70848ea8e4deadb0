//! A fake machine for tests of adapters and of what uses them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::future::Future;
use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, SystemTime};

use crate::{AgentHost, OpenFile, ProcessInfo};

/// A machine whose processes are what a test says. Files are real ones.
#[derive(Debug, Clone, Default)]
pub struct FakeHost {
    /// The home directory.
    pub home: Option<PathBuf>,
    /// Where programs are found, by name.
    pub programs: BTreeMap<String, PathBuf>,
    /// When it booted; its processes run at a hundred ticks a second.
    pub boot: Option<SystemTime>,
    processes: BTreeMap<u32, ProcessInfo>,
    files: BTreeMap<u32, Vec<OpenFile>>,
    listeners: BTreeMap<u16, u32>,
}

impl FakeHost {
    /// A machine without processes, on which these programs are installed.
    pub fn with_programs(programs: &[&str]) -> Self {
        let at = |name: &&str| ((*name).to_owned(), PathBuf::from("/bin").join(name));
        Self { programs: programs.iter().map(at).collect(), ..Self::default() }
    }

    /// Starts a process.
    pub fn start(&mut self, pid: u32, parent: u32, start_ticks: u64, argv: &[&str]) {
        let process = ProcessInfo {
            pid,
            parent,
            start_ticks,
            argv: argv.iter().map(OsString::from).collect(),
        };
        self.processes.insert(pid, process);
    }

    /// Says that a process listens on this port. Who really does is the test.
    pub fn listen(&mut self, pid: u32, port: u16) {
        self.listeners.insert(port, pid);
    }

    /// Ends a process.
    pub fn end(&mut self, pid: u32) {
        self.processes.remove(&pid);
        self.files.remove(&pid);
    }

    /// Lets a process have a file open.
    pub fn open(&mut self, pid: u32, file: OpenFile) {
        self.files.entry(pid).or_default().push(file);
    }
}

impl AgentHost for FakeHost {
    fn home(&self) -> Option<PathBuf> {
        self.home.clone()
    }

    fn process(&self, pid: u32) -> Option<ProcessInfo> {
        self.processes.get(&pid).cloned()
    }

    fn tree(&self, pid: u32) -> Vec<ProcessInfo> {
        let mut tree: Vec<ProcessInfo> = self.process(pid).into_iter().collect();
        let mut at = 0;
        while let Some(parent) = tree.get(at).map(|process| process.pid) {
            let children = self.processes.values().filter(|one| one.parent == parent);
            let new: Vec<_> = children.filter(|one| !tree.contains(one)).cloned().collect();
            tree.extend(new);
            at += 1;
        }
        tree
    }

    fn find_program(&self, program: &str) -> Option<PathBuf> {
        self.programs.get(program).cloned()
    }

    fn open_files(&self, pid: u32) -> Vec<OpenFile> {
        let alive = self.processes.contains_key(&pid);
        self.files.get(&pid).filter(|_| alive).cloned().unwrap_or_default()
    }

    fn lockers(&self, file: &Path) -> Vec<ProcessInfo> {
        let holds = |one: &&ProcessInfo| {
            let files = self.open_files(one.pid);
            files.iter().any(|open| open.locked && open.path == file)
        };
        self.processes.values().filter(holds).cloned().collect()
    }

    fn started(&self, process: &ProcessInfo) -> Option<SystemTime> {
        let after = Duration::from_millis(process.start_ticks.checked_mul(10)?);
        self.boot?.checked_add(after)
    }

    fn holds_connection(&self, pids: &[u32], _: SocketAddrV4, server: SocketAddrV4) -> bool {
        let listener = self.listeners.get(&server.port());
        listener.is_some_and(|pid| pids.contains(pid) && self.processes.contains_key(pid))
    }
}

/// Runs a future of an adapter to its end, on this thread.
pub fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}
