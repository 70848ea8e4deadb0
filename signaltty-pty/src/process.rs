//! Looking at processes through `/proc`.
//!
//! A process id can be reused as soon as its process is reaped, so a process is
//! named by its id *and* its start time, and is signalled only through a pidfd
//! that was opened first and compared with that pair afterwards: a pidfd keeps
//! meaning the process it was opened for.
//!
//! Membership in a session is read at one moment. A process that forks while
//! the list is read can be missed; who needs all of them reads again.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open, pidfd_send_signal};

use crate::signal::Signal;

/// A process, named so that a reused id is not mistaken for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessId {
    /// The process id.
    pub pid: u32,
    /// When it started, in clock ticks since boot (field 22 of its stat file).
    pub start_time: u64,
}

/// What the stat file of a process says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) id: ProcessId,
    pub(crate) parent: u32,
    pub(crate) session: u32,
    /// Ended, and only waiting to be reaped.
    pub(crate) ended: bool,
}

/// A process of a session, held by a pidfd.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) id: ProcessId,
    pub(crate) pidfd: OwnedFd,
}

impl Member {
    /// Sends a signal; a process that has ended is no error.
    pub(crate) fn signal(&self, signal: Signal) {
        // The process may be gone, or have become another user's; neither can
        // be helped, and who is left is reported at the end.
        let _ = pidfd_send_signal(&self.pidfd, signal.raw());
    }
}

/// The stat of one process, if there is such a process that may be seen.
///
/// # Errors
///
/// When this process cannot look, as without a free descriptor. That is no answer:
/// whoever took it for one would leave a process running.
pub(crate) fn stat(pid: u32) -> io::Result<Option<Stat>> {
    // One read, since a kernel gives the whole line to it. What is read here
    // has at most 22 numbers of 20 digits and a name of 64 bytes.
    let mut line = [0; 1_024];
    let read = File::open(format!("/proc/{pid}/stat")).and_then(|mut file| file.read(&mut line));
    match read {
        Ok(length) => Ok(line.get(..length).and_then(|line| parse(pid, line))),
        Err(error) if is_shortage(&error) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Whether this process, or the machine, has run out of something.
pub(crate) fn is_shortage(error: &io::Error) -> bool {
    let short = [Errno::MFILE, Errno::NFILE, Errno::NOMEM];
    Errno::from_io_error(error).is_some_and(|errno| short.contains(&errno))
}

/// Every process that can be seen, by a look that began after the call.
///
/// Those who ask at the same time share a look: two hundred panes that are
/// stopped together cost a few of them and not hundreds.
///
/// # Panics
///
/// Outside a tokio runtime.
pub(crate) async fn all() -> io::Result<Arc<[Stat]>> {
    static LAST: tokio::sync::Mutex<Option<(Instant, Arc<[Stat]>)>> =
        tokio::sync::Mutex::const_new(None);
    let asked = Instant::now();
    let mut last = LAST.lock().await;
    if let Some((_, found)) = last.as_ref().filter(|(began, _)| *began >= asked) {
        return Ok(Arc::clone(found));
    }
    let began = Instant::now();
    let look = tokio::task::spawn_blocking(look);
    let found: Arc<[Stat]> = look.await.map_err(io::Error::other)??.into();
    *last = Some((began, Arc::clone(&found)));
    Ok(found)
}

fn look() -> io::Result<Vec<Stat>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        if let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) {
            found.extend(stat(pid)?);
        }
    }
    Ok(found)
}

/// Holds a process by a pidfd, if it is still the one that `expected` saw.
///
/// # Errors
///
/// As [`stat`].
pub(crate) fn hold(expected: &Stat) -> io::Result<Option<Member>> {
    let Some(pid) = i32::try_from(expected.id.pid).ok().and_then(Pid::from_raw) else {
        return Ok(None);
    };
    let pidfd = match pidfd_open(pid, PidfdFlags::empty()).map_err(io::Error::from) {
        Ok(pidfd) => pidfd,
        Err(error) if is_shortage(&error) => return Err(error),
        Err(_) => return Ok(None),
    };
    let now = stat(expected.id.pid)?;
    let same = now.is_some_and(|now| now.id == expected.id && now.session == expected.session);
    Ok(same.then_some(Member { id: expected.id, pidfd }))
}

/// Those of `all` that descend from `root`, without it.
pub(crate) fn descendants(all: &[Stat], root: u32) -> Vec<Stat> {
    let mut family = vec![root];
    let mut found: Vec<Stat> = Vec::new();
    while let Some(parent) = family.pop() {
        for stat in all.iter().filter(|stat| stat.parent == parent && stat.id.pid != root) {
            // Parents are read at different moments; never go in circles.
            if !found.iter().any(|seen| seen.id == stat.id) {
                found.push(*stat);
                family.push(stat.id.pid);
            }
        }
    }
    found
}

/// Reads a stat file. The second field is a name in parentheses, which may
/// itself contain spaces and parentheses, so fields count from the last one.
fn parse(pid: u32, text: &[u8]) -> Option<Stat> {
    let end = text.iter().rposition(|&byte| byte == b')')?;
    let rest = std::str::from_utf8(text.get(end + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let _group = fields.next()?;
    // A process whose parents are of another namespace shows negative numbers.
    let session = fields.next()?.parse::<i64>().ok()?;
    let start_time = fields.nth(15)?.parse().ok()?;
    Some(Stat {
        id: ProcessId { pid, start_time },
        parent,
        session: u32::try_from(session).unwrap_or(0),
        ended: matches!(state, "Z" | "X" | "x"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_survives_a_hostile_process_name() {
        let line = b"7 (a) R 1 (b) S 3 7 9 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 1 1";
        let stat = parse(7, line).expect("parses");
        assert_eq!(stat.id, ProcessId { pid: 7, start_time: 4242 });
        assert_eq!((stat.parent, stat.session, stat.ended), (3, 9, false));
    }

    #[test]
    fn own_stat_is_found_and_a_changed_start_time_is_not_held() {
        let me = stat(std::process::id()).expect("can look").expect("own stat");
        assert!(hold(&me).expect("can hold").is_some());
        let mut other = me;
        other.id.start_time += 1;
        assert!(hold(&other).expect("can hold").is_none());
    }

    #[tokio::test]
    async fn those_who_ask_together_share_a_look_and_see_what_was_there_before() {
        let mut child = std::process::Command::new("sleep").arg("600").spawn().expect("spawns");
        let looks = [all(), all(), all(), all()];
        let [first, second, third, fourth] = looks.map(tokio::spawn);
        let mut found = Vec::new();
        for look in [first, second, third, fourth] {
            found.push(look.await.expect("no panic").expect("/proc can be read"));
        }
        assert!(found.iter().all(|all| all.iter().any(|stat| stat.id.pid == child.id())));
        // The first one's look may have begun before the others asked.
        assert!(found.windows(2).skip(1).all(|pair| Arc::ptr_eq(&pair[0], &pair[1])));
        child.kill().expect("is ours");
        child.wait().expect("is ours");
        let later = all().await.expect("/proc can be read");
        assert!(!later.iter().any(|stat| stat.id.pid == child.id()));
    }

    #[test]
    fn descendants_are_found_over_generations_and_circles_end() {
        let make = |pid, parent| Stat {
            id: ProcessId { pid, start_time: 1 },
            parent,
            session: 1,
            ended: false,
        };
        let all = [make(2, 1), make(3, 2), make(4, 3), make(5, 6), make(6, 5), make(1, 4)];
        let mut pids: Vec<u32> = descendants(&all, 1).iter().map(|stat| stat.id.pid).collect();
        pids.sort_unstable();
        assert_eq!(pids, [2, 3, 4]);
    }
}
