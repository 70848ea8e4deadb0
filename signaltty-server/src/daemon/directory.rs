//! The directory that a pane is in (D-23): as its shell tells it, else that of
//! its process.
//!
//! What a shell tells (OSC 7) is how it spells the directory. It counts while it is
//! that of a process in the foreground: a shell that ended, one behind a link to
//! another machine, or a file that is shown told of somewhere else.
//!
//! A directory that is not there is nobody's to go back to, so it changes
//! nothing: the pane keeps the last one that was (C064). Looking needs the file
//! system, which may hang; so it is done on the blocking pool, and of several
//! looks at a pane only the newest counts.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use signaltty_adapters::{AgentHost as _, ProcHost};
use signaltty_core::agent::ProcessMark;
use signaltty_core::id::InstanceId;
use signaltty_core::session::{Input, PaneFact};

use super::event::Event;
use super::event_loop::Daemon;
use super::scout;

/// What is known of the directory of a pane with a process.
#[derive(Debug, Clone, Default)]
pub(crate) struct Directory {
    /// The newest look.
    number: u64,
    /// What its program told, while that counts.
    told: Option<PathBuf>,
    /// What was seen last.
    seen: Option<Seen>,
}

/// What says, without the file system, that there may be news.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    /// The directory of the pane's own process, as the system names it.
    link: PathBuf,
    /// The group in the foreground.
    foreground: u32,
}

/// What a look found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The directory, where it is there and news.
    path: Option<PathBuf>,
    /// Whether what the program told counts no more.
    stale: bool,
}

impl Daemon {
    /// The program in a pane told its directory.
    pub(super) fn directory_told(&mut self, instance: InstanceId, path: PathBuf) {
        if let Some(handle) = self.panes.of_mut(instance) {
            handle.directory.told = Some(path);
            self.look_at_directory(instance);
        }
    }

    /// A pane is quiet: its process may have gone elsewhere, or the program that
    /// told is no longer there.
    pub(super) fn directory_of_process(&mut self, instance: InstanceId) {
        let Some(process) = self.launches.of(instance).map(|launch| scout::mark(launch.root()))
        else {
            return;
        };
        let Some(handle) = self.panes.of_mut(instance) else {
            return;
        };
        // The link is the system's own and needs no file system.
        let Ok(link) = fs::read_link(format!("/proc/{}/cwd", process.pid)) else { return };
        let foreground = host().job(process.pid).map_or(0, |job| job.foreground);
        let mut seen = Seen { link, foreground };
        if handle.directory.told.is_none() {
            seen.foreground = 0;
        }
        if handle.directory.seen.as_ref() != Some(&seen) {
            handle.directory.seen = Some(seen);
            self.look_at_directory(instance);
        }
    }

    fn look_at_directory(&mut self, instance: InstanceId) {
        let Some(process) = self.launches.of(instance).map(|launch| scout::mark(launch.root()))
        else {
            return;
        };
        let pane = self.panes.of(instance).and_then(|handle| self.session.pane(handle.pane));
        let known = pane.map(|view| view.record.cwd.clone()).unwrap_or_default();
        let Some(handle) = self.panes.of_mut(instance) else {
            return;
        };
        handle.directory.number += 1;
        let (number, events) = (handle.directory.number, self.events.clone());
        let told = handle.directory.told.clone();
        tokio::spawn(async move {
            let look = move || look(told.as_deref(), process, &known);
            if let Ok(found) = tokio::task::spawn_blocking(look).await {
                let _ = events.send(Event::Directory { instance, number, found }).await;
            }
        });
    }

    /// A look came to its end.
    pub(super) fn directory_found(&mut self, instance: InstanceId, number: u64, found: Found) {
        let Some(handle) = self.panes.of_mut(instance) else { return };
        if handle.directory.number != number {
            return;
        }
        if found.stale {
            handle.directory.told = None;
        }
        if let Some(path) = found.path {
            self.input(Input::Fact { instance, fact: PaneFact::Cwd(path) });
        }
    }
}

/// The directory, where it is there. One that is the `known` one by another
/// name keeps its spelling, unless the program chose the other.
fn look(told: Option<&Path>, process: ProcessMark, known: &Path) -> Found {
    let host = host();
    let here = |told: &Path| {
        fs::metadata(told).is_ok_and(|there| there.is_dir() && counts(&there, process))
    };
    if let Some(told) = told.filter(|told| here(told)) {
        return Found { path: Some(plain(told)), stale: false };
    }
    let path = (|| {
        host.job(process.pid).filter(|job| job.start_ticks == process.start_ticks)?;
        let path = host.cwd(process.pid)?;
        let same = fs::canonicalize(known).is_ok_and(|known| known == path);
        Some(path).filter(|path| !same && path.is_dir())
    })();
    Found { path, stale: told.is_some() }
}

/// Whether the directory that was told is that of a process from the foreground
/// up to the pane's own. One that must not be looked at may be in it.
fn counts(told: &Metadata, root: ProcessMark) -> bool {
    let host = host();
    let same = |pid: u32| match fs::metadata(format!("/proc/{pid}/cwd")) {
        Ok(cwd) => (cwd.dev(), cwd.ino()) == (told.dev(), told.ino()),
        Err(error) => error.kind() == ErrorKind::PermissionDenied,
    };
    let mut next = host.job(root.pid).map(|job| job.foreground);
    for _ in 0..MAX_ANCESTORS {
        match next.filter(|pid| *pid > 1 && *pid != root.pid) {
            Some(pid) if same(pid) => return true,
            Some(pid) => next = host.process(pid).map(|process| process.parent),
            None => break,
        }
    }
    same(root.pid)
}

/// Processes between the foreground and the pane's own that are looked at.
const MAX_ANCESTORS: usize = 64;

/// A path without what says nothing; as the system has it, where it goes up.
fn plain(path: &Path) -> PathBuf {
    if path.components().any(|part| part == Component::ParentDir) {
        return fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    }
    path.components().collect()
}

fn host() -> ProcHost {
    ProcHost { home: None, path: Default::default() }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::{Command, Stdio};

    use super::*;

    fn found(path: Option<&PathBuf>, stale: bool) -> Found {
        Found { path: path.cloned(), stale }
    }

    #[test]
    fn c064_d23_only_a_directory_that_is_there_and_news_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let (real, link, other) = (top.join("real"), top.join("link"), top.join("other"));
        fs::create_dir(&real).unwrap();
        fs::create_dir(&other).unwrap();
        symlink(&real, &link).unwrap();
        let gone = top.join("gone");

        let mut cat = Command::new("/bin/cat");
        let mut child = cat.current_dir(&real).stdin(Stdio::piped()).spawn().unwrap();
        let start_ticks = host().process(child.id()).unwrap().start_ticks;
        let process = |ticks| ProcessMark { pid: child.id(), start_ticks: ticks };
        let looked = |told: Option<&Path>, known: &Path| look(told, process(start_ticks), known);
        // What is told is the spelling of where the process is, and nothing else.
        assert_eq!(looked(Some(&real), &top), found(Some(&real), false));
        assert_eq!(looked(Some(&link), &top), found(Some(&link), false));
        assert_eq!(looked(Some(&gone), &top), found(Some(&real), true));
        assert_eq!(looked(Some(&other), &top), found(Some(&real), true));
        assert_eq!(looked(Some(&top.join("other/../link/./")), &top), found(Some(&real), false));
        assert_eq!(looked(Some(&link.join("./")), &top), found(Some(&link), false));

        assert_eq!(looked(None, &top), found(Some(&real), false));
        assert_eq!(looked(None, &link), found(None, false), "it is spelled as it was (C056)");
        let again = look(None, process(start_ticks + 1), &top);
        assert_eq!(again, found(None, false), "its number came again");
        fs::remove_dir(&real).unwrap();
        assert_eq!(looked(None, &top), found(None, false));
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}
