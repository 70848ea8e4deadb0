//! A client's terminal, handed over to the server.
//!
//! A client on this machine may pass its terminal along. What its pane prints
//! then goes from the pane's task straight to that terminal: no client is woken
//! between a program and a screen. The client lends it, and takes it back with a
//! second descriptor, the lease: a stream socket whose other end the client
//! holds. A byte on it begins the loan, its end is the end of the loan, also
//! where the client died; the server answers with its own end once it writes no
//! more.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::fs::{OFlags, fcntl_getfl};
use rustix::io::retry_on_intr;
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

/// A terminal on loan.
#[derive(Debug, Clone)]
pub(crate) struct Handover {
    terminal: Arc<OwnedFd>,
    lease: Arc<UnixStream>,
}

impl Handover {
    /// Takes what a client passed along: its terminal, then the lease.
    ///
    /// # Errors
    ///
    /// Where these are not what a client passes: a terminal that is written
    /// without waiting, and a stream socket.
    pub(crate) fn new(passed: Vec<OwnedFd>) -> io::Result<Self> {
        let invalid = |what| io::Error::new(io::ErrorKind::InvalidInput, what);
        let [terminal, lease] =
            <[OwnedFd; 2]>::try_from(passed).map_err(|_| invalid("not two descriptors"))?;
        let flags = fcntl_getfl(&terminal)?;
        if !rustix::termios::isatty(&terminal) || !flags.contains(OFlags::NONBLOCK) {
            return Err(invalid("no terminal that is written without waiting"));
        }
        let lease = std::os::unix::net::UnixStream::from(lease);
        // Fails where it is no socket.
        lease.peer_addr()?;
        lease.set_nonblocking(true)?;
        Ok(Self { terminal: Arc::new(terminal), lease: Arc::new(UnixStream::from_std(lease)?) })
    }

    /// Waits until the client has shown everything that it got in frames.
    /// `false` where it takes its terminal back instead.
    pub(crate) async fn begins(&self) -> bool {
        self.heard().await
    }

    /// Waits until the client takes its terminal back, or is gone.
    pub(crate) async fn ends(&self) {
        while self.heard().await {}
    }

    async fn heard(&self) -> bool {
        loop {
            if self.lease.readable().await.is_err() {
                return false;
            }
            match self.lease.try_read(&mut [0]) {
                Ok(count) => return count > 0,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return false,
            }
        }
    }

    /// Tells the client that nothing is written any more.
    pub(crate) fn give_back(&self) {
        // Whoever is gone needs no answer.
        let _ = rustix::net::shutdown(&self.lease, rustix::net::Shutdown::Both);
    }

    /// Writes what the terminal takes at once.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] where that is nothing, and whatever is wrong
    /// with the terminal.
    pub(crate) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        Ok(retry_on_intr(|| rustix::io::write(&self.terminal, bytes))?)
    }

    /// Waits until it may take something.
    ///
    /// # Errors
    ///
    /// When it cannot be watched.
    pub(crate) async fn writable(&self) -> io::Result<()> {
        pipe::Sender::from_owned_fd_unchecked(self.terminal.try_clone()?)?.writable().await
    }
}
