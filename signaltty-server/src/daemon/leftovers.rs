//! What an earlier server of this state left running (D-25).
//!
//! Each child has a small file in the runtime directory while it lives: its
//! pane, its process id, when it started and in which boot, and a digest of its
//! command line. A child dies with its server (D-15), so at a start there is
//! rarely anything to do. Where one lives on, it is ended only if all of that
//! still fits; whatever else is found is reported and left alone.

mod strays;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use signaltty_adapters::records::read_small;
use signaltty_adapters::{AgentHost as _, ProcHost, ProcessInfo};
use signaltty_core::id::PaneId;

use super::launch::write_private;

pub(crate) use strays::{Stray, look_for_strays};

/// How long a killed process may take to be gone.
const PATIENCE: Duration = Duration::from_secs(2);

/// The longest file of a child.
const MAX_RECORD: u64 = 4096;

/// What is noted of a child.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    pane: String,
    pid: u32,
    boot_id: String,
    start_ticks: u64,
    /// SHA-256 of the command line as the kernel shows it, in hexadecimal.
    argv_sha256: String,
}

/// The files of this server's children.
#[derive(Debug)]
pub(crate) struct Children {
    runtime_dir: PathBuf,
    dir: PathBuf,
    boot_id: String,
    /// When this server began, in clock ticks: what started before is not its.
    begun: u64,
    host: ProcHost,
}

/// What was found of an earlier server, and not ended.
#[derive(Debug, Default)]
pub(crate) struct Leftovers {
    doubts: Vec<Doubt>,
}

#[derive(Debug)]
struct Doubt {
    /// Empty where not even that could be read.
    pane: Option<PaneId>,
    /// The processes that are in doubt, and when they started. With none of them
    /// it lasts as long as the server.
    processes: Vec<(u32, u64)>,
    what: String,
}

impl Children {
    /// Of the server that has this directory to itself.
    pub(crate) fn new(runtime_dir: &Path, own_dir: &Path) -> Self {
        let host = ProcHost { home: None, path: std::ffi::OsString::new() };
        let boot_id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        Self {
            runtime_dir: runtime_dir.to_owned(),
            dir: own_dir.join("children"),
            boot_id: boot_id.trim().to_owned(),
            begun: host.now_ticks(),
            host,
        }
    }

    /// When this server began, in clock ticks since boot.
    pub(crate) fn begun(&self) -> u64 {
        self.begun
    }

    /// Where the files are.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Those that a server had elsewhere.
    pub(crate) fn of_another(&self, own_dir: &Path) -> Self {
        Self::new(&self.runtime_dir, own_dir)
    }

    /// Notes a child that runs.
    pub(crate) fn add(&self, pane: PaneId, pid: u32, start_ticks: u64) {
        let Some(process) = self.host.process(pid) else {
            return;
        };
        let record = Record {
            pane: pane.to_string(),
            pid,
            boot_id: self.boot_id.clone(),
            start_ticks,
            argv_sha256: digest(&process),
        };
        let (path, begun) = (self.path(pid), self.dir.join(format!("{BEGUN}{pid}")));
        // There whole or not at all, whenever the server is killed.
        let written = serde_json::to_vec(&record).map_err(io::Error::from).and_then(|bytes| {
            remove(&begun);
            write_private(&self.runtime_dir, &begun, &bytes)?;
            fs::rename(&begun, &path)
        });
        if let Err(error) = written {
            tracing::warn!("process {pid} was not noted in {}: {error}", path.display());
        }
    }

    /// A child ended and was waited for.
    pub(crate) fn remove(&self, pid: u32) {
        remove(&self.path(pid));
    }

    /// Ends what an earlier server left, as far as there is no doubt. Only to
    /// be called by who holds the state and the socket, before anything starts.
    pub(crate) fn sweep(&self) -> Leftovers {
        let mut doubts = Vec::new();
        for entry in fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_name().as_encoded_bytes().starts_with(BEGUN.as_bytes()) {
                remove(&path);
                continue;
            }
            let before = doubts.len();
            match self.read(&path) {
                Ok(record) if record.boot_id == self.boot_id => self.settle(&record, &mut doubts),
                // Nothing outlives a boot.
                Ok(_) => {}
                Err(error) => doubts.push(Doubt {
                    pane: None,
                    processes: Vec::new(),
                    what: format!(
                        "{} should name a process of an earlier server and cannot be read \
                         ({error}); if nothing of it runs any more, remove the file",
                        path.display()
                    ),
                }),
            }
            // What is in doubt is in doubt at the next start, too.
            if doubts.len() == before {
                remove(&path);
            }
        }
        for doubt in &doubts {
            tracing::warn!("{}", doubt.what);
        }
        Leftovers { doubts }
    }

    fn settle(&self, record: &Record, doubts: &mut Vec<Doubt>) {
        let mut doubt = |pid: u32, start_ticks: u64, what: String| {
            let pane = record.pane.parse().ok();
            doubts.push(Doubt { pane, processes: vec![(pid, start_ticks)], what });
        };
        let found = self.host.process(record.pid);
        let same = found.filter(|process| process.start_ticks == record.start_ticks);
        match same {
            Some(process) if digest(&process) == record.argv_sha256 => match self.end(record) {
                Ok(()) => tracing::warn!(
                    pid = record.pid,
                    "ended a process that an earlier server left in {}",
                    record.pane
                ),
                Err(why) => doubt(
                    record.pid,
                    record.start_ticks,
                    format!(
                        "process {} was left in {} by an earlier server and could not be ended \
                         ({why}); end it yourself",
                        record.pid, record.pane
                    ),
                ),
            },
            Some(_) => doubt(
                record.pid,
                record.start_ticks,
                format!(
                    "process {} was started in {} by an earlier server and runs something else \
                     now, so it was left alone; end it yourself if it is in the way",
                    record.pid, record.pane
                ),
            ),
            None => {}
        }
        for pid in self.host.session_members(record.pid) {
            let Some(job) = self.host.job(pid) else {
                continue;
            };
            doubt(
                pid,
                job.start_ticks,
                format!(
                    "process {pid} was started from {} under an earlier server and lives on; it \
                     was left alone, end it yourself if it is in the way",
                    record.pane
                ),
            );
        }
    }

    /// Ends exactly this process.
    fn end(&self, record: &Record) -> io::Result<()> {
        let pid = i32::try_from(record.pid).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or(io::ErrorKind::InvalidInput)?;
        let pidfd = pidfd_open(pid, PidfdFlags::empty())?;
        // The descriptor means what runs now; compared after it was opened.
        let now = self.host.process(record.pid);
        let fits = now.is_some_and(|process| {
            process.start_ticks == record.start_ticks && digest(&process) == record.argv_sha256
        });
        if !fits {
            return Ok(());
        }
        pidfd_send_signal(&pidfd, Signal::KILL)?;
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let timeout = Timespec::try_from(left).map_err(|_| io::ErrorKind::InvalidInput)?;
            let mut fds = [PollFd::new(&pidfd, PollFlags::IN)];
            match poll(&mut fds, Some(&timeout)) {
                Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
                Ok(_) => return Ok(()),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn read(&self, path: &Path) -> io::Result<Record> {
        let bytes = read_small(path, MAX_RECORD).map_err(io::Error::other)?;
        Ok(serde_json::from_slice(&bytes)?)
    }

    fn path(&self, pid: u32) -> PathBuf {
        self.dir.join(pid.to_string())
    }
}

impl Leftovers {
    /// Whether something of the pane's earlier process may still run; what, for
    /// a person. Looks anew, so it is over once that has ended.
    pub(crate) fn doubt(&self, pane: PaneId) -> Option<String> {
        let about = |doubt: &&Doubt| doubt.pane.is_none_or(|of| of == pane);
        let lasting = self.doubts.iter().filter(about).filter(|doubt| doubt.lasts());
        let what: Vec<_> = lasting.map(|doubt| doubt.what.as_str()).collect();
        (!what.is_empty()).then(|| what.join("; "))
    }

    /// Takes what was found elsewhere as well.
    pub(crate) fn join(&mut self, other: Self) {
        self.doubts.extend(other.doubts);
    }

    /// A line for each doubt that is not over.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        self.doubts.iter().filter(|doubt| doubt.lasts()).map(|doubt| doubt.what.clone())
    }
}

impl Doubt {
    /// Looks whether the process is there still.
    fn lasts(&self) -> bool {
        let host = ProcHost { home: None, path: std::ffi::OsString::new() };
        let runs = |(pid, start_ticks): &(u32, u64)| {
            host.job(*pid).is_some_and(|job| job.start_ticks == *start_ticks)
        };
        self.processes.is_empty() || self.processes.iter().any(runs)
    }
}

fn digest(process: &ProcessInfo) -> String {
    use std::os::unix::ffi::OsStrExt as _;
    let mut hash = Sha256::new();
    for word in &process.argv {
        hash.update(word.as_bytes());
        hash.update([0]);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn remove(path: &Path) {
    match fs::remove_file(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => tracing::warn!("{} was not removed: {error}", path.display()),
    }
}

/// How the name of a note begins that is being written.
const BEGUN: &str = ".";

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;

    struct Stage {
        dir: tempfile::TempDir,
        child: Child,
    }

    impl Stage {
        fn new(program: &mut Command) -> Self {
            let child = program.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
            Self { dir: tempfile::tempdir().unwrap(), child }
        }

        fn children(&self) -> Children {
            Children::new(self.dir.path(), &self.dir.path().join("own"))
        }

        fn start_ticks(&self) -> u64 {
            self.children().host.process(self.child.id()).unwrap().start_ticks
        }

        /// As an earlier server left it.
        fn noted(&self, change: impl FnOnce(&mut Record)) -> Leftovers {
            let children = self.children();
            children.add(pane(), self.child.id(), self.start_ticks());
            let path = children.path(self.child.id());
            let mut record = children.read(&path).unwrap();
            change(&mut record);
            fs::write(&path, serde_json::to_vec(&record).unwrap()).unwrap();
            children.sweep()
        }

        fn runs(&mut self) -> bool {
            self.child.try_wait().unwrap().is_none()
        }
    }

    impl Drop for Stage {
        fn drop(&mut self) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    fn pane() -> PaneId {
        PaneId::from_random([1; 10])
    }

    fn cat() -> Command {
        Command::new("/bin/cat")
    }

    #[test]
    fn d25_an_exact_leftover_is_ended() {
        let mut stage = Stage::new(&mut cat());
        let found = stage.noted(|_| {});
        assert!(!stage.runs());
        assert_eq!(found.doubt(pane()), None);
        assert_eq!(fs::read_dir(stage.children().dir).unwrap().count(), 0);
    }

    #[test]
    fn d25_whatever_does_not_fit_lives_on() {
        type Change = fn(&mut Record);
        let changes: [(&str, Change); 3] = [
            ("another boot", |record| record.boot_id = "another".into()),
            ("a number that came again", |record| record.start_ticks += 1),
            ("another program", |record| record.argv_sha256 = "0".repeat(64)),
        ];
        for (what, change) in changes {
            let mut stage = Stage::new(&mut cat());
            let found = stage.noted(change);
            assert!(stage.runs(), "{what}");
            let doubt = found.doubt(pane());
            assert_eq!(doubt.is_some(), what == "another program", "{what}: {doubt:?}");
            assert_eq!(found.doubt(PaneId::from_random([2; 10])), None, "{what}");
        }
    }

    #[test]
    fn d25_a_doubt_is_kept_until_its_process_is_gone() {
        let mut stage = Stage::new(&mut cat());
        let other = |record: &mut Record| record.argv_sha256 = "0".repeat(64);
        assert_eq!(stage.noted(other).lines().count(), 1);
        let again = stage.children().sweep();
        let text = again.doubt(pane()).unwrap();
        assert!(text.contains(&format!("process {}", stage.child.id())), "{text}");
        stage.child.kill().unwrap();
        stage.child.wait().unwrap();
        assert_eq!(again.doubt(pane()), None);
        assert_eq!(stage.children().sweep().lines().count(), 0);
    }

    #[test]
    fn d25_what_the_child_started_is_reported() {
        // In a session of its own, as a pane's child is; it starts another and
        // is killed.
        let script = "cat <&3 3<&- & echo $!; exec cat";
        let mut command = Command::new("setsid");
        command.args(["sh", "-c", &format!("exec 3<&0; {script}")]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let child = command.spawn().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let mut stage = Stage { dir, child };
        let mut line = String::new();
        let out = stage.child.stdout.as_mut().unwrap();
        io::BufRead::read_line(&mut io::BufReader::new(out), &mut line).unwrap();
        let below: u32 = line.trim().parse().unwrap();
        let children = stage.children();
        children.add(pane(), stage.child.id(), stage.start_ticks());
        // Waiting for the child would close it.
        let input = stage.child.stdin.take();
        stage.child.kill().unwrap();
        stage.child.wait().unwrap();
        let found = children.sweep();
        let text = found.doubt(pane()).unwrap();
        assert!(text.contains(&format!("process {below}")), "{text}");
        // It ends with its input.
        drop(input);
        let until = Instant::now() + Duration::from_secs(20);
        while found.doubt(pane()).is_some() {
            assert!(Instant::now() < until, "{text}");
            std::thread::yield_now();
        }
    }

    #[test]
    fn d25_a_note_that_a_kill_cut_off_is_no_doubt() {
        let stage = Stage::new(&mut cat());
        let children = stage.children();
        children.add(pane(), stage.child.id(), stage.start_ticks());
        let note = children.path(stage.child.id());
        let begun = note.with_file_name(format!("{BEGUN}{}", stage.child.id()));
        fs::rename(note, &begun).unwrap();
        fs::write(&begun, "").unwrap();
        assert!(children.sweep().lines().next().is_none());
        assert!(!begun.exists());
    }

    #[test]
    fn d25_an_unreadable_record_is_a_doubt_about_every_pane() {
        let stage = Stage::new(&mut cat());
        let children = stage.children();
        children.add(pane(), stage.child.id(), stage.start_ticks());
        fs::write(children.path(stage.child.id()), "{").unwrap();
        assert!(children.sweep().doubt(PaneId::from_random([2; 10])).is_some());
    }
}
