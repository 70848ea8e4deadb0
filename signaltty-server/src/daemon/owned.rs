//! Taking the state directory.

use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use signaltty_persist::{Holder, OpenError};

/// Takes it with `open`. A killed server's lock stays for a moment with a child
/// that it had begun to start, until that one has ended too: a holder that is
/// gone is waited for.
pub(super) fn owned<T>(mut open: impl FnMut() -> Result<T, OpenError>) -> Result<T, OpenError> {
    let until = Instant::now() + PATIENCE;
    loop {
        match open() {
            Err(OpenError::Held { holder, .. }) if is_gone(&holder) && Instant::now() < until => {
                std::thread::sleep(PAUSE);
            }
            other => return other,
        }
    }
}

/// Whether the process that wrote the lock has ended. Where it named none, it is
/// taken to be there.
fn is_gone(holder: &Holder) -> bool {
    let pid = holder.pid.and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
    pid.is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH))
}

/// How long the end of a dead server's children is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

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
        ended.wait().unwrap();
        let mut tries = 0;
        let taken = owned(|| {
            tries += 1;
            if tries < 3 { Err(held(ended.id())) } else { Ok(()) }
        });
        assert!(taken.is_ok() && tries == 3, "{taken:?} {tries}");
        let (mut tries, me) = (0, std::process::id());
        let refused = owned(|| {
            tries += 1;
            Err::<(), _>(held(me))
        });
        assert!(matches!(refused, Err(OpenError::Held { .. })) && tries == 1, "{tries}");
        // Not for ever, either.
        assert!(owned(|| Err::<(), _>(held(ended.id()))).is_err());
    }
}
