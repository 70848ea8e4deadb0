//! What is typed on this terminal.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use tokio::net::unix::pipe;
use tokio::sync::mpsc;

/// Standard input as the runtime can wait for it.
///
/// A terminal is opened anew for that: without waiting is a property of the open
/// file, and the one of standard input is also that of the shell. Where it has no
/// name to be opened by, a thread reads it, at the price of a handover for every
/// key.
pub(super) enum Typing {
    /// The terminal itself.
    Terminal(pipe::Receiver),
    /// From the thread.
    Thread(mpsc::Receiver<Vec<u8>>),
}

impl Typing {
    pub(super) fn new() -> io::Result<Self> {
        match terminal().and_then(pipe::Receiver::from_owned_fd_unchecked) {
            Ok(terminal) => Ok(Self::Terminal(terminal)),
            Err(_) => thread().map(Self::Thread),
        }
    }

    /// The next piece; `None` once the terminal is gone. May be dropped while it
    /// waits without losing bytes.
    pub(super) async fn next(&mut self) -> Option<Vec<u8>> {
        let terminal = match self {
            Self::Terminal(terminal) => terminal,
            Self::Thread(pieces) => return pieces.recv().await,
        };
        let mut buffer = [0; PIECE];
        loop {
            terminal.readable().await.ok()?;
            match terminal.try_read(&mut buffer) {
                Ok(length @ 1..) => return buffer.get(..length).map(<[u8]>::to_vec),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(_) | Err(_) => return None,
            }
        }
    }
}

fn terminal() -> io::Result<OwnedFd> {
    let name = rustix::termios::ttyname(io::stdin(), Vec::new())?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(open(name.as_c_str(), flags, Mode::empty())?)
}

/// Reads on a thread of its own. At most [`PIECES`] pieces wait; the terminal
/// keeps what comes after them.
fn thread() -> io::Result<mpsc::Receiver<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel(PIECES);
    let read = move || {
        let mut buffer = [0; PIECE];
        loop {
            match rustix::io::read(io::stdin(), &mut buffer) {
                Ok(length @ 1..) => {
                    let bytes = buffer.get(..length).unwrap_or_default().to_vec();
                    if sender.blocking_send(bytes).is_err() {
                        return;
                    }
                }
                Err(Errno::INTR) => {}
                Ok(_) | Err(_) => return,
            }
        }
    };
    let thread = std::thread::Builder::new().name("terminal".to_owned());
    thread.spawn(read).map(|_| receiver)
}

const PIECE: usize = 4096;

const PIECES: usize = 16;
