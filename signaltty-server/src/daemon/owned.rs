//! Taking the state directory.

use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use signaltty_persist::{Holder, OpenError};

/// Takes it with `open`. A killed server's lock stays for a moment with it, while
/// its memory is given back, and with a child that it had begun to start, until
/// that one has ended too: a holder that is gone or going is waited for. So is
/// one that does not listen: it is about to end, or about to listen, and then it
/// is the one to use.
pub(super) fn owned<T>(mut open: impl FnMut() -> Result<T, OpenError>) -> Result<T, OpenError> {
    let until = Instant::now() + PATIENCE;
    loop {
        match open() {
            Err(OpenError::Held { holder, .. })
                if Instant::now() < until && (is_gone(&holder) || !listens(&holder)) =>
            {
                std::thread::sleep(PAUSE);
            }
            other => return other,
        }
    }
}

/// Whether the process that wrote the lock has ended, or is past its last
/// instruction. Where it named none, it is taken to be there.
fn is_gone(holder: &Holder) -> bool {
    let pid = holder.pid.and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
    pid.is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH) || is_exiting(pid))
}

/// Whether somebody answers where it said. One that named no place is taken to.
fn listens(holder: &Holder) -> bool {
    holder.socket.as_ref().is_none_or(|socket| UnixStream::connect(socket).is_ok())
}

/// Whether the system takes a process apart, or has done so (proc_pid_stat(5)).
fn is_exiting(pid: Pid) -> bool {
    let stat = std::fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    // Its name may hold anything, a parenthesis too.
    let after = stat.iter().rposition(|byte| *byte == b')').and_then(|at| stat.get(at + 1..));
    let after = String::from_utf8_lossy(after.unwrap_or_default());
    let mut fields = after.split_ascii_whitespace();
    let ended = fields.next().is_some_and(|state| matches!(state, "Z" | "X" | "x"));
    let flags = fields.nth(FLAGS_AFTER_STATE).and_then(|flags| flags.parse::<u64>().ok());
    ended || flags.is_some_and(|flags| flags & PF_EXITING != 0)
}

/// The flags are the ninth field of the stat file, the state is the third.
const FLAGS_AFTER_STATE: usize = 5;

/// `PF_EXITING` of the kernel's `sched.h`.
const PF_EXITING: u64 = 0x4;

/// How long the end of a dead server's children, or of a server, is waited for.
const PATIENCE: Duration = Duration::from_secs(3);

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(5);

#[cfg(test)]
mod tests {
    use super::*;

    fn held(pid: u32) -> OpenError {
        OpenError::Held { path: "/state".into(), holder: Holder { pid: Some(pid), socket: None } }
    }

    #[test]
    fn c013_the_lock_of_a_server_that_is_gone_is_waited_for_and_of_another_is_not() {
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        // Not reaped yet, as a server whose parent looks later.
        let zombie = ended.id();
        let stat = format!("/proc/{zombie}/stat");
        while !std::fs::read_to_string(&stat).unwrap().contains(") Z ") {
            std::thread::yield_now();
        }
        let waited = || {
            let mut tries = 0;
            let taken = owned(|| {
                tries += 1;
                if tries < 3 { Err(held(zombie)) } else { Ok(()) }
            });
            assert!(taken.is_ok() && tries == 3, "{taken:?} {tries}");
        };
        waited();
        ended.wait().unwrap();
        waited();
        let (mut tries, me) = (0, std::process::id());
        let refused = owned(|| {
            tries += 1;
            Err::<(), _>(held(me))
        });
        assert!(matches!(refused, Err(OpenError::Held { .. })) && tries == 1, "{tries}");
        // One that has closed its socket, and is about to end.
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("s");
        let ending = || {
            let holder = Holder { pid: Some(me), socket: Some(socket.clone()) };
            OpenError::Held { path: "/state".into(), holder }
        };
        let mut tries = 0;
        let taken = owned(|| {
            tries += 1;
            if tries < 3 { Err(ending()) } else { Ok(()) }
        });
        assert!(taken.is_ok() && tries == 3, "{taken:?} {tries}");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        tries = 0;
        let refused = owned(|| {
            tries += 1;
            Err::<(), _>(ending())
        });
        assert!(matches!(refused, Err(OpenError::Held { .. })) && tries == 1, "{tries}");
        // Not for ever, either.
        assert!(owned(|| Err::<(), _>(held(ended.id()))).is_err());
    }
}
