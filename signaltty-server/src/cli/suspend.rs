//! Job control of a client that has the terminal.
//!
//! Such a client takes every key, so nothing typed on the terminal stops it;
//! `kill -TSTP`, a debugger or a script that suspends itself do. The terminal is
//! then the shell's, and whoever goes on has to take it again and to show all of
//! it anew: the shell has set its modes and drawn over it meanwhile.

use std::fs;
use std::io;

use rustix::process::{Pid, Signal as Number, getpgid, getpgrp, getpid, getppid, getsid};
use rustix::termios::tcgetpgrp;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What job control asks of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// To stop, once the terminal is given back (SIGTSTP).
    Stop,
    /// To go on: it was stopped without being asked (SIGSTOP).
    GoOn,
}

/// The signals of job control. From the first of these on SIGTSTP does not stop
/// the process by itself.
#[derive(Debug)]
pub(crate) struct JobControl {
    stop: Signal,
    go_on: Signal,
}

impl JobControl {
    /// Listens from now on.
    pub(crate) fn new() -> io::Result<Self> {
        let number = |signal: Number| SignalKind::from_raw(signal.as_raw());
        let (stop, go_on) = (signal(number(Number::TSTP))?, signal(number(Number::CONT))?);
        Ok(Self { stop, go_on })
    }

    /// What is asked next.
    pub(crate) async fn next(&mut self) -> Asked {
        loop {
            tokio::select! {
                // As the kernel does where nobody could let it go on.
                _ = self.stop.recv() => if somebody_can_continue() {
                    return Asked::Stop;
                },
                _ = self.go_on.recv() => return Asked::GoOn,
            }
        }
    }

    /// Stops where that is asked, and comes back once the terminal is this
    /// process's again: one that goes on in the background stops again.
    pub(crate) async fn obey(&mut self, asked: Asked) {
        let mut stops = asked == Asked::Stop;
        while stops || !has_the_terminal() {
            if rustix::process::kill_process(getpid(), Number::STOP).is_err() {
                return;
            }
            let _ = self.go_on.recv().await;
            stops = false;
        }
    }
}

/// Whether the terminal takes modes from this process. One that is not the
/// session's terminal has no foreground.
fn has_the_terminal() -> bool {
    tcgetpgrp(io::stdin()).map_or(true, |foreground| foreground == getpgrp())
}

/// Whether the shell that started this process is there to let it go on: an
/// ancestor of the session outside of this process group, its parent's parents
/// being those of a wrapper in the group.
fn somebody_can_continue() -> bool {
    let (Ok(session), group) = (getsid(None), getpgrp()) else { return false };
    let mut parent = getppid();
    while let Some(pid) = parent {
        if getsid(Some(pid)) != Ok(session) {
            return false;
        }
        if getpgid(Some(pid)) != Ok(group) {
            return true;
        }
        parent = parent_of(pid);
    }
    false
}

fn parent_of(pid: Pid) -> Option<Pid> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_pid())).ok()?;
    // The name may contain anything; state and parent follow it.
    let (_, rest) = stat.rsplit_once(')')?;
    Pid::from_raw(rest.split_whitespace().nth(1)?.parse().ok()?)
}
