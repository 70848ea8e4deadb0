//! The directory that a pane is in (D-23): as its shell tells it, else that of
//! its process.
//!
//! A directory that is not there is nobody's to go back to, so it changes
//! nothing: the pane keeps the last one that was (C064). Looking needs the file
//! system, which may hang; so it is done on the blocking pool, and of several
//! looks at a pane only the newest counts.

use std::fs;
use std::path::{Path, PathBuf};

use signaltty_adapters::ProcHost;
use signaltty_core::agent::ProcessMark;
use signaltty_core::id::InstanceId;
use signaltty_core::session::{Input, PaneFact};

use super::event::Event;
use super::event_loop::Daemon;
use super::scout;

/// Where a directory was learned from.
#[derive(Debug)]
enum Told {
    /// By the program in the pane (OSC 7).
    Program(PathBuf),
    /// It is that of the pane's own process.
    Process(ProcessMark),
}

/// What is known of the directory of a pane with a process.
#[derive(Debug, Clone, Default)]
pub(crate) struct Directory {
    /// The newest look.
    number: u64,
    /// Its program tells, so its process is not looked at.
    told: bool,
    /// What the process showed last.
    link: Option<PathBuf>,
}

impl Daemon {
    /// The program in a pane told its directory.
    pub(super) fn directory_told(&mut self, instance: InstanceId, path: PathBuf) {
        if let Some(handle) = self.panes.of_mut(instance) {
            handle.directory.told = true;
            self.look_at_directory(instance, Told::Program(path));
        }
    }

    /// A pane is quiet: its process may have gone elsewhere, and its program
    /// does not tell.
    pub(super) fn directory_of_process(&mut self, instance: InstanceId) {
        let Some(process) = self.launches.of(instance).map(|launch| scout::mark(launch.root()))
        else {
            return;
        };
        let Some(handle) = self.panes.of_mut(instance).filter(|handle| !handle.directory.told)
        else {
            return;
        };
        // The link is the system's own and needs no file system.
        let link = fs::read_link(format!("/proc/{}/cwd", process.pid)).ok();
        if link.is_some() && handle.directory.link != link {
            handle.directory.link = link;
            self.look_at_directory(instance, Told::Process(process));
        }
    }

    fn look_at_directory(&mut self, instance: InstanceId, told: Told) {
        let pane = self.panes.of(instance).and_then(|handle| self.session.pane(handle.pane));
        let known = pane.map(|view| view.record.cwd.clone()).unwrap_or_default();
        let Some(handle) = self.panes.of_mut(instance) else {
            return;
        };
        handle.directory.number += 1;
        let (number, events) = (handle.directory.number, self.events.clone());
        tokio::spawn(async move {
            let found = tokio::task::spawn_blocking(move || look(told, &known)).await;
            let found = found.ok().flatten();
            let _ = events.send(Event::Directory { instance, number, found }).await;
        });
    }

    /// A look came to its end.
    pub(super) fn directory_found(
        &mut self,
        instance: InstanceId,
        number: u64,
        found: Option<PathBuf>,
    ) {
        let newest = self.panes.of(instance).is_some_and(|h| h.directory.number == number);
        if let Some(path) = found.filter(|_| newest) {
            self.input(Input::Fact { instance, fact: PaneFact::Cwd(path) });
        }
    }
}

/// The directory, where it is there. One that is the `known` one by another
/// name keeps its spelling, unless the program chose the other.
fn look(told: Told, known: &Path) -> Option<PathBuf> {
    let path = match told {
        Told::Program(path) => path,
        Told::Process(mark) => {
            let host = ProcHost { home: None, path: Default::default() };
            host.job(mark.pid).filter(|job| job.start_ticks == mark.start_ticks)?;
            let path = host.cwd(mark.pid)?;
            if fs::canonicalize(known).is_ok_and(|known| known == path) {
                return None;
            }
            path
        }
    };
    path.is_dir().then_some(path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::{Command, Stdio};

    use signaltty_adapters::AgentHost as _;

    use super::*;

    #[test]
    fn c064_d23_only_a_directory_that_is_there_and_news_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let (real, link, file) = (top.join("real"), top.join("link"), top.join("file"));
        fs::create_dir(&real).unwrap();
        symlink(&real, &link).unwrap();
        fs::write(&file, "").unwrap();
        let gone = top.join("gone");
        for (told, found) in [(&real, true), (&link, true), (&file, false), (&gone, false)] {
            let expected = found.then(|| told.clone());
            assert_eq!(look(Told::Program(told.clone()), &top), expected, "{}", told.display());
        }

        let mut cat = Command::new("/bin/cat");
        let mut child = cat.current_dir(&real).stdin(Stdio::piped()).spawn().unwrap();
        let host = ProcHost { home: None, path: Default::default() };
        let start_ticks = host.process(child.id()).unwrap().start_ticks;
        let process = |ticks| Told::Process(ProcessMark { pid: child.id(), start_ticks: ticks });
        assert_eq!(look(process(start_ticks), &top), Some(real.clone()));
        assert_eq!(look(process(start_ticks), &link), None, "it is spelled as it was (C056)");
        assert_eq!(look(process(start_ticks + 1), &top), None, "its number came again");
        fs::remove_dir(&real).unwrap();
        assert_eq!(look(process(start_ticks), &top), None);
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}
