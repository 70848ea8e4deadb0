//! The server's end of a terminal.
//!
//! A [`Pty`] is made by `spawn`, outside any runtime; [`Pty::register`] turns it
//! into an [`AsyncPty`] inside one. Neither buffers anything. One task should
//! write: two concurrent writers would interleave their bytes.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::termios::{tcgetpgrp, tcgetwinsize};
use tokio::io::Interest;
use tokio::time::{Instant, timeout, timeout_at};

use crate::error::{WriteCause, WriteError};
use crate::open;
use crate::size::Size;
use crate::sys::Watched;

/// How much one read should ask for. Most reads return less.
pub const READ_BUFFER: usize = 64 * 1024;

/// The master of a terminal, not yet known to a runtime.
#[derive(Debug)]
pub struct Pty {
    master: OwnedFd,
}

impl Pty {
    pub(crate) fn new(master: OwnedFd) -> Self {
        Self { master }
    }

    /// Hands the terminal to the runtime of the caller.
    ///
    /// # Errors
    ///
    /// When the runtime cannot watch another descriptor; the terminal is then
    /// closed, which hangs up on the child.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime with IO and time enabled.
    pub fn register(self) -> io::Result<AsyncPty> {
        // Room is waited for where a write found none: watched for both, it would be
        // told of after everything that the program reads.
        Ok(AsyncPty { master: Watched::new(self.master, Interest::READABLE)? })
    }

    /// Sets the size; programs in the foreground are told if it changed.
    ///
    /// # Errors
    ///
    /// Whatever the kernel says; none is expected on an open terminal.
    pub fn resize(&self, size: Size) -> io::Result<()> {
        open::set_size(&self.master, size)
    }
}

/// The master of a terminal, watched by a runtime.
#[derive(Debug)]
pub struct AsyncPty {
    master: Watched,
}

impl AsyncPty {
    /// Reads what is there, waiting for it if there is nothing.
    ///
    /// Returns 0 at the end of file, that is, once no process has the other end
    /// open. Cancelling it loses nothing. Buffers should be [`READ_BUFFER`] long.
    ///
    /// # Errors
    ///
    /// Whatever the kernel says, except for the error that means end of file.
    pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut ready = self.master.get().readable().await?;
            match ready.try_io(|fd| read_some(fd.get_ref(), buffer)) {
                Ok(result) => return result,
                Err(_would_block) => {}
            }
        }
    }

    /// Waits until there is something to read, or the end.
    ///
    /// # Errors
    ///
    /// When the runtime is shutting down.
    pub async fn readable(&self) -> io::Result<()> {
        let mut ready = self.master.get().readable().await?;
        ready.retain_ready();
        Ok(())
    }

    /// Reads what is there after [`readable`](Self::readable), as much as fits: the
    /// kernel hands out at most a page at a time, and whoever passes it on or
    /// parses it does better with more.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] if there is nothing after all, else as
    /// [`read`](Self::read).
    pub fn read_ready(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let master = self.master.get();
        fill(buffer, |rest| master.try_io(Interest::READABLE, |fd| read_some(fd, rest)))
    }

    /// Reads what is there, as much as fits, without waiting and without the
    /// runtime.
    ///
    /// # Errors
    ///
    /// As [`try_read`](Self::try_read).
    pub fn read_now(&self, buffer: &mut [u8]) -> io::Result<usize> {
        fill(buffer, |rest| self.try_read(rest))
    }

    /// Blocks this thread until there is something to read, or the end, or the
    /// time is over; whether there is.
    ///
    /// # Errors
    ///
    /// Whatever the kernel says; none is expected on an open terminal.
    pub fn readable_within(&self, time: Duration) -> io::Result<bool> {
        let mut polled = [PollFd::new(self.master.get().get_ref(), PollFlags::IN)];
        let time = Timespec::try_from(time).unwrap_or_default();
        Ok(retry_on_intr(|| poll(&mut polled, Some(&time)))? > 0)
    }

    /// Reads what is there without waiting.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] if there is nothing, else as [`read`](Self::read).
    pub fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        // Asks the kernel: what the runtime has heard of may be older.
        read_some(self.master.get().get_ref(), buffer)
    }

    /// Writes a part of `bytes`, waiting until at least one byte is accepted.
    ///
    /// Cancelling it writes nothing.
    ///
    /// # Errors
    ///
    /// Whatever the kernel says; `EIO` when nobody has the other end open.
    pub async fn write_some(&self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match write_open(self.master.get().get_ref(), bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return result,
            }
            // Linux tells a writer of room that a reading program made, and not
            // of room that the line editor made by discarding what it was given.
            let copy = self.master.get().get_ref().try_clone()?;
            let watched = Watched::new(copy, Interest::WRITABLE)?;
            if let Ok(ready) = timeout(RETRY, watched.get().writable()).await {
                let _room = ready?;
            }
        }
    }

    /// Writes all of `bytes`, in as many parts as the terminal takes, until
    /// `deadline`.
    ///
    /// A terminal takes a few KiB that nobody has read yet. If the future is
    /// dropped, how much was written is not known; give a deadline instead.
    ///
    /// # Errors
    ///
    /// [`WriteError`] says how many bytes were accepted and why the rest was not.
    pub async fn write_all_with(&self, bytes: &[u8], deadline: Instant) -> Result<(), WriteError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let cause = match timeout_at(deadline, self.write_some(rest)).await {
                Ok(Ok(count)) => {
                    rest = rest.get(count..).unwrap_or_default();
                    continue;
                }
                Ok(Err(error)) if error.raw_os_error() == Some(Errno::IO.raw_os_error()) => {
                    WriteCause::Closed
                }
                Ok(Err(error)) => WriteCause::Io(error),
                Err(_elapsed) => WriteCause::Timeout,
            };
            return Err(WriteError { written: bytes.len() - rest.len(), cause });
        }
        Ok(())
    }

    /// Sets the size; programs in the foreground are told if it changed.
    ///
    /// # Errors
    ///
    /// Whatever the kernel says; none is expected on an open terminal.
    pub fn resize(&self, size: Size) -> io::Result<()> {
        open::set_size(self.master.get().get_ref(), size)
    }

    /// The size the kernel has for this terminal.
    ///
    /// # Errors
    ///
    /// Whatever the kernel says; none is expected on an open terminal.
    pub fn size(&self) -> io::Result<Size> {
        let size = tcgetwinsize(self.master.get().get_ref())?;
        Ok(Size::new(size.ws_col, size.ws_row))
    }

    /// The process group that has the terminal's foreground, if there is one.
    ///
    /// It can have ended already: a group id is only as good as its processes.
    #[must_use]
    pub fn foreground_group(&self) -> Option<u32> {
        let group = tcgetpgrp(self.master.get().get_ref()).ok()?;
        u32::try_from(group.as_raw_nonzero().get()).ok()
    }
}

/// How long a full terminal is left alone before it is asked again.
const RETRY: Duration = Duration::from_millis(10);

/// Reads until the buffer is full or nothing more is there.
fn fill(
    buffer: &mut [u8],
    mut read: impl FnMut(&mut [u8]) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match read(rest) {
            // What was read before is not lost: the next call says it again.
            Ok(0) | Err(_) if filled > 0 => break,
            Ok(0) => return Ok(0),
            Ok(count) => filled += count,
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

fn read_some(fd: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
    match retry_on_intr(|| rustix::io::read(fd, &mut *buffer)) {
        // Linux reports the last close of the other end as an IO error.
        Err(Errno::IO) => Ok(0),
        Err(errno) => Err(errno.into()),
        Ok(count) => Ok(count),
    }
}

/// Writes, unless nobody has the other end open: Linux would then accept the
/// bytes and lose them.
fn write_open(fd: &OwnedFd, bytes: &[u8]) -> io::Result<usize> {
    let mut polled = [PollFd::new(fd, PollFlags::OUT)];
    retry_on_intr(|| poll(&mut polled, Some(&Timespec::default())))?;
    if polled.iter().any(|polled| polled.revents().contains(PollFlags::HUP)) {
        return Err(Errno::IO.into());
    }
    Ok(retry_on_intr(|| rustix::io::write(fd, bytes))?)
}
