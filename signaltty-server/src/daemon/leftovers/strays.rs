//! Processes that a pane of an earlier server started and that left its session.
//!
//! No note of a child leads to them. What they were started with does: their
//! environment names the socket of the server and the pane. They are named and
//! never ended, since nothing says that they are in anybody's way: a person's
//! `ssh-agent` is one of them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use signaltty_adapters::{AgentHost as _, ProcHost};
use signaltty_core::id::PaneId;
use tokio::sync::mpsc;

use super::{Doubt, Leftovers};
use crate::daemon::event::Event;

/// A process that names a pane, which may be one of another server's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stray {
    pid: u32,
    start_ticks: u64,
    parent: u32,
    pane: PaneId,
}

/// Looks for them once, beside the loop: a start does not wait for a machine
/// with many processes.
pub(crate) fn look_for_strays(socket: PathBuf, begun: u64, events: mpsc::Sender<Event>) {
    tokio::spawn(async move {
        let look = tokio::task::spawn_blocking(move || find(&socket, begun)).await;
        match look {
            Ok(found) if found.is_empty() => {}
            Ok(found) => {
                let _ = events.send(Event::Strays(found)).await;
            }
            Err(error) => tracing::error!("the look for what an earlier server left: {error}"),
        }
    });
}

/// All of this user that were started before that moment, in clock ticks.
fn find(socket: &Path, begun: u64) -> Vec<Stray> {
    let host = ProcHost { home: None, path: OsString::new() };
    let user = rustix::process::geteuid().as_raw();
    let earlier = host.of_user(user).into_iter().filter(|(_, start_ticks)| *start_ticks < begun);
    let stray = |(pid, start_ticks): (u32, u64)| {
        let env = host.environment(pid)?;
        let of = |name: &str| env.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        let pane = of("SIGNALTTY_PANE").filter(|_| of("SIGNALTTY_SOCKET").is_some_and(is(socket)));
        let pane = pane?.to_str()?.parse().ok()?;
        // Compared after it was read.
        let process = host.process(pid).filter(|process| process.start_ticks == start_ticks)?;
        Some(Stray { pid, start_ticks, parent: process.parent, pane })
    };
    earlier.filter_map(stray).collect()
}

fn is(socket: &Path) -> impl Fn(&OsString) -> bool {
    let socket: &OsStr = socket.as_os_str();
    move |value| value == socket
}

impl Leftovers {
    /// Takes those of panes that are known, and are not named already: one line
    /// for each that no other of them started.
    pub(crate) fn add_strays(&mut self, found: &[Stray], known: impl Fn(PaneId) -> bool) {
        let named: BTreeSet<_> =
            self.doubts.iter().flat_map(|doubt| doubt.processes.iter().copied()).collect();
        let is_new =
            |stray: &&Stray| known(stray.pane) && !named.contains(&(stray.pid, stray.start_ticks));
        let strays: BTreeMap<u32, &Stray> =
            found.iter().filter(is_new).map(|stray| (stray.pid, stray)).collect();
        let mut trees: BTreeMap<u32, Vec<(u32, u64)>> = BTreeMap::new();
        for stray in strays.values() {
            let top = top(&strays, stray);
            trees.entry(top.pid).or_default().push((stray.pid, stray.start_ticks));
        }
        for (pid, processes) in trees {
            let Some(top) = strays.get(&pid) else {
                continue;
            };
            let below = match processes.len() - 1 {
                0 => String::new(),
                more => format!(" with {more} that it started"),
            };
            let what = format!(
                "process {pid} was started from {} under an earlier server, left the pane's \
                 session and lives on{below}; it was left alone, end it yourself if it is in the \
                 way",
                top.pane
            );
            tracing::warn!("{what}");
            self.doubts.push(Doubt { pane: Some(top.pane), processes, what });
        }
    }
}

/// The one above it of the same pane that none of them started.
fn top<'a>(strays: &BTreeMap<u32, &'a Stray>, stray: &'a Stray) -> &'a Stray {
    let mut at = stray;
    for _ in 0..strays.len() {
        match strays.get(&at.parent).filter(|above| above.pane == at.pane) {
            Some(above) => at = above,
            None => break,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use super::*;

    fn pane(n: u8) -> PaneId {
        PaneId::from_random([n; 10])
    }

    #[test]
    fn d25_a_process_is_a_stray_by_socket_and_pane_and_only_from_before() {
        let host = ProcHost { home: None, path: OsString::new() };
        let mut child = Command::new("/bin/cat")
            .env_clear()
            .env("SIGNALTTY_PANE", pane(1).to_string())
            .env("SIGNALTTY_SOCKET", "/run/ours")
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        // The environment is there once `cat` is, which the fork need not be yet.
        let until = Instant::now() + Duration::from_secs(30);
        while host.environment(child.id()).is_none_or(|env| env.len() != 2) {
            assert!(Instant::now() < until);
            std::thread::yield_now();
        }
        let start_ticks = host.process(child.id()).unwrap().start_ticks;
        let found = |socket: &str, begun| {
            let found = find(Path::new(socket), begun);
            found.into_iter().map(|stray| (stray.pid, stray.pane)).collect::<Vec<_>>()
        };
        assert_eq!(found("/run/ours", start_ticks + 1), [(child.id(), pane(1))]);
        assert_eq!(found("/run/ours", start_ticks), []);
        assert_eq!(found("/run/other", start_ticks + 1), []);
        drop(child.stdin.take());
        child.wait().unwrap();
    }

    #[test]
    fn d25_a_tree_of_strays_is_one_line_and_what_is_named_is_not_named_again() {
        let stray = |pid, parent, n| Stray { pid, start_ticks: 1, parent, pane: pane(n) };
        let found = [stray(10, 1, 1), stray(11, 10, 1), stray(12, 11, 1), stray(20, 1, 2)];
        let mut leftovers = Leftovers::default();
        leftovers.add_strays(&found, |of| of != pane(2));
        leftovers.add_strays(&found, |of| of != pane(2));
        let [only] = &*leftovers.doubts else { panic!("{leftovers:?}") };
        assert_eq!((only.pane, only.processes.len()), (Some(pane(1)), 3));
        assert!(only.what.starts_with("process 10 was started from"), "{}", only.what);
        assert!(only.what.contains("lives on with 2 that it started;"), "{}", only.what);
    }
}
