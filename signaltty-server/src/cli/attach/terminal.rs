//! This terminal while it shows a pane, and how it becomes itself again.
//!
//! The pane's program sets modes of this terminal: another screen, the mouse,
//! a hidden cursor. Whichever way the client ends, they are set back: at a
//! normal end and an error when the guard is dropped, at a panic before its
//! message is written. Signals end the session like an error does.

use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

use crate::client::FrameWriter;

/// A terminal in raw mode. Itself again when dropped.
#[derive(Debug)]
pub(crate) struct RawTerminal {
    before: Arc<Before>,
}

/// How a terminal was.
#[derive(Debug)]
struct Before {
    termios: Termios,
    restored: AtomicBool,
    /// What was typed and not read is for nobody else.
    discards: AtomicBool,
    /// Held while the server may write the terminal.
    lease: Mutex<Option<UnixStream>>,
}

/// How long a server that has the terminal on loan may take to stop writing it. It
/// does so at once, unless it hangs.
const GIVE_BACK: Duration = Duration::from_secs(1);

impl RawTerminal {
    /// Puts the terminal of standard input into raw mode.
    pub(crate) fn enter() -> io::Result<Self> {
        let termios = tcgetattr(io::stdin())?;
        let mut raw = termios.clone();
        raw.make_raw();
        let before = Arc::new(Before {
            termios,
            restored: AtomicBool::new(false),
            discards: AtomicBool::new(false),
            lease: Mutex::default(),
        });
        let in_panic = Arc::clone(&before);
        let next = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            in_panic.restore();
            next(panic);
        }));
        tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
        TAKEN.store(true, Ordering::Relaxed);
        Ok(Self { before })
    }

    /// Gives the terminal back for a while: it is itself again.
    #[cfg(feature = "tui")]
    pub(crate) fn leave(&self) {
        self.before.restore();
    }

    /// Takes the terminal again, whatever its modes are by now.
    #[cfg(feature = "tui")]
    pub(crate) fn take(&self) -> io::Result<()> {
        let mut raw = self.before.termios.clone();
        raw.make_raw();
        self.before.restored.store(false, Ordering::Relaxed);
        TAKEN.store(true, Ordering::Relaxed);
        tcsetattr(io::stdin(), OptionalActions::Now, &raw).map_err(io::Error::from)
    }

    /// Says that what was typed and not read yet was meant for what was shown, and
    /// not for whoever reads the terminal next.
    pub(super) fn discard_typed(&self) {
        self.before.discards.store(true, Ordering::Relaxed);
    }

    /// Offers the terminal to the server that is at the other end. It is opened
    /// anew for that: without waiting is a property of the open file, and the one
    /// of standard output is also that of the shell. It can only be written.
    pub(super) fn lend(&self, server: &mut FrameWriter) -> io::Result<()> {
        let name = rustix::termios::ttyname(io::stdout(), Vec::new())?;
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let terminal = open(name.as_c_str(), flags, Mode::empty())?;
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_read_timeout(Some(GIVE_BACK))?;
        server.lend(terminal.as_fd(), theirs.as_fd())?;
        *self.before.lease.lock().unwrap_or_else(PoisonError::into_inner) = Some(ours);
        Ok(())
    }

    /// Says that the server may write the terminal from now on.
    pub(super) fn begin_loan(&self) -> io::Result<()> {
        match &mut *self.before.lease.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(lease) => lease.write_all(b"1"),
            None => Ok(()),
        }
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        self.before.restore();
    }
}

impl Before {
    fn restore(&self) {
        if self.restored.swap(true, Ordering::Relaxed) {
            return;
        }
        // A panic may come from anywhere, but not from inside of this lock.
        let lease = self.lease.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut lease) = lease {
            let _ = lease.shutdown(Shutdown::Write);
            let _ = lease.read(&mut [0]);
        }
        // The terminal may be gone, and there is nobody to tell then.
        let _ = write(RESET.as_bytes());
        let actions = match self.discards.load(Ordering::Relaxed) {
            true => OptionalActions::Flush,
            false => OptionalActions::Now,
        };
        let _ = tcsetattr(io::stdin(), actions, &self.termios);
        TAKEN.store(false, Ordering::Relaxed);
    }
}

/// Whether a screen is shown on the terminal, which nothing else may write to.
pub(crate) fn is_taken() -> bool {
    TAKEN.load(Ordering::Relaxed)
}

static TAKEN: AtomicBool = AtomicBool::new(false);

/// Columns and rows of the terminal of standard output.
pub(crate) fn size() -> io::Result<(u16, u16)> {
    let size = tcgetwinsize(io::stdout())?;
    // A terminal that does not know its size says 0.
    let or = |value: u16, default| if value == 0 { default } else { value };
    Ok((or(size.ws_col, 80), or(size.ws_row, 24)))
}

/// Shows bytes as they are, in as few pieces as the terminal takes.
pub(super) fn write(bytes: &[u8]) -> io::Result<()> {
    let out = io::stdout();
    let mut rest = bytes;
    while !rest.is_empty() {
        match rustix::io::write(&out, rest) {
            Ok(count) => rest = rest.get(count..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            // Somebody else made it so.
            Err(Errno::AGAIN) => {
                let mut polled = [PollFd::new(&out, PollFlags::OUT)];
                match poll(&mut polled, None) {
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(errno) => return Err(errno.into()),
                }
            }
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// Shows lines above the screen, so that they end up in the scrollback.
pub(super) fn write_history(lines: &[u8]) -> io::Result<()> {
    let mut out = Vec::with_capacity(lines.len());
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\n") {
            Some(line) => {
                out.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
                out.extend_from_slice(b"\r\n");
            }
            None => out.extend_from_slice(line),
        }
    }
    out.extend_from_slice(b"\x1b[0m");
    let (_, rows) = size().unwrap_or((80, 24));
    out.extend(b"\r\n".repeat(usize::from(rows)));
    write(&out)
}

/// Ends everything that a program may have set, and goes below what it showed.
///
/// The order matters. Leaving the other screen also moves the cursor to where
/// it was saved, so it is saved first, which changes nothing where that screen
/// is not shown. Scroll regions move the cursor too.
pub(super) const RESET: &str = concat!(
    "\x18",                              // ends a sequence that was cut
    "\x1b[?2026l",                       // show what is held back
    "\x1b[=0u",                          // keyboard protocol of this screen
    "\x1b7\x1b[?1049l",                  // the other screen
    "\x1b[=0u\x1b[>4;0m",                // keyboard protocols
    "\x1b[?9l\x1b[?1000l\x1b[?1002l",    // mouse
    "\x1b[?1003l\x1b[?1005l\x1b[?1006l", // mouse encodings
    "\x1b[?1015l\x1b[?1016l",            // mouse encodings
    "\x1b[?1004l\x1b[?2004l",            // focus reports, bracketed paste
    "\x1b[?1l\x1b>\x1b[4l",              // cursor keys, keypad, insert mode
    "\x1b[?6l\x1b[?7h\x1b[r",            // origin, wrapping, scroll region
    "\x0f\x1b(B",                        // character sets
    "\x1b[0 q\x1b[?25h\x1b[0m",          // cursor and attributes
    "\x1b[999;1H\r\n",                   // below everything
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_set_back() {
        for mode in [
            "?1049l", "?1000l", "?1002l", "?1003l", "?1006l", "?2004l", "?1004l", "?25h", "0m",
            "?7h", "r", "?2026l",
        ] {
            let sequence = format!("\x1b[{mode}");
            assert!(RESET.contains(&sequence), "{mode}");
        }
        let save = RESET.find("\x1b7").unwrap();
        assert!(save < RESET.find("\x1b[?1049l").unwrap());
    }
}
