//! Opening a pseudo-terminal pair.
//!
//! Both ends are close-on-exec from birth (invariant T1): there is no moment
//! in which another thread's fork could inherit one. The peer is opened through
//! the master and not by name, so it is right in any mount namespace.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{InputModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

use crate::error::OpenError;
use crate::size::Size;

/// Both ends of a new pseudo-terminal.
#[derive(Debug)]
pub(crate) struct Pair {
    /// The server's end, non-blocking.
    pub(crate) master: OwnedFd,
    /// The child's end, blocking.
    pub(crate) peer: OwnedFd,
}

/// Opens a terminal of the given size with UTF-8 line editing.
pub(crate) fn open(size: Size) -> Result<Pair, OpenError> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags).map_err(|errno| OpenError::Master(errno.into()))?;
    grantpt(&master).map_err(|errno| OpenError::Unlock(errno.into()))?;
    unlockpt(&master).map_err(|errno| OpenError::Unlock(errno.into()))?;
    let peer = ioctl_tiocgptpeer(&master, flags).map_err(|errno| OpenError::Peer(errno.into()))?;
    configure(&master, &peer, size).map_err(OpenError::Configure)?;
    Ok(Pair { master, peer })
}

/// Tells the kernel the size; it sends SIGWINCH to the foreground group if it changed.
pub(crate) fn set_size(master: &OwnedFd, size: Size) -> io::Result<()> {
    let size = size.at_least_one();
    let winsize = Winsize { ws_col: size.cols, ws_row: size.rows, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(master, winsize)?;
    Ok(())
}

fn configure(master: &OwnedFd, peer: &OwnedFd, size: Size) -> io::Result<()> {
    set_size(master, size)?;
    // Without IUTF8 an erase in canonical mode removes single bytes.
    let mut termios = tcgetattr(peer)?;
    termios.input_modes.insert(InputModes::IUTF8);
    tcsetattr(peer, OptionalActions::Now, &termios)?;
    // The flag belongs to the open file, and only this process has the master.
    let flags = fcntl_getfl(master)?;
    fcntl_setfl(master, flags | OFlags::NONBLOCK)?;
    Ok(())
}
