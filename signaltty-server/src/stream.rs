//! The two ends of a connection that carries frames, watched for reading only.
//!
//! A socket that is watched as usual wakes its thread also each time its peer has
//! read something, to say that there is room: after every frame, and for nothing.
//! So room is waited for only once a write has found none.

#[cfg(feature = "daemon")]
use std::io::IoSliceMut;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
#[cfg(feature = "daemon")]
use std::os::fd::AsFd as _;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll};

use rustix::io::retry_on_intr;
#[cfg(feature = "daemon")]
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::net::{
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, Shutdown, sendmsg, shutdown,
};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

/// Where a connection is read.
#[derive(Debug)]
pub struct ReadEnd {
    // Takes any descriptor and watches it for reading alone.
    watched: pipe::Receiver,
}

/// Descriptors that may come along with bytes; the kernel closes what is more.
const PASSED: usize = 2;

/// Where a connection is written. The peer sees its end when it is dropped.
#[derive(Debug)]
pub(crate) struct WriteEnd {
    socket: OwnedFd,
}

/// Parts a connection.
///
/// # Errors
///
/// When the system has no descriptor left for the second end.
pub(crate) fn split(stream: UnixStream) -> io::Result<(ReadEnd, WriteEnd)> {
    let socket = OwnedFd::from(stream.into_std()?);
    let watched = pipe::Receiver::from_owned_fd_unchecked(socket.try_clone()?)?;
    Ok((ReadEnd { watched }, WriteEnd { socket }))
}

impl AsyncRead for ReadEnd {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.watched).poll_read(context, buffer)
    }
}

#[cfg(feature = "daemon")]
impl ReadEnd {
    /// Reads bytes, and the descriptors that were passed along with them, which
    /// take the place of those in `passed`. 0 at the end. May be dropped while it
    /// waits.
    ///
    /// # Errors
    ///
    /// When the connection fails.
    pub(crate) async fn receive(
        &self,
        room: &mut [u8],
        passed: &mut Vec<OwnedFd>,
    ) -> io::Result<usize> {
        loop {
            self.watched.readable().await?;
            match self.watched.try_io(|| receive(self.watched.as_fd(), room, passed)) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
    }
}

#[cfg(feature = "daemon")]
fn receive(
    socket: BorrowedFd<'_>,
    room: &mut [u8],
    passed: &mut Vec<OwnedFd>,
) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(PASSED))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    let mut parts = [IoSliceMut::new(room)];
    let read = retry_on_intr(|| recvmsg(socket, &mut parts, &mut control, flags))?.bytes;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            *passed = descriptors.collect();
        }
    }
    Ok(read)
}

impl WriteEnd {
    /// Writes what fits at once.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] where nothing does, and whatever is wrong with
    /// the connection.
    pub(crate) fn try_write(&self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        let send = || sendmsg(&self.socket, parts, &mut SendAncillaryBuffer::default(), flags);
        Ok(retry_on_intr(send)?)
    }

    /// Writes as [`try_write`](Self::try_write), and passes descriptors along.
    pub(crate) fn try_pass(&self, bytes: &[u8], passed: &[BorrowedFd<'_>]) -> io::Result<usize> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(PASSED))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(passed));
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        let parts = [IoSlice::new(bytes)];
        Ok(retry_on_intr(|| sendmsg(&self.socket, &parts, &mut control, flags))?)
    }

    /// Waits until something may fit.
    ///
    /// # Errors
    ///
    /// When it cannot be watched.
    pub(crate) async fn writable(&self) -> io::Result<()> {
        pipe::Sender::from_owned_fd_unchecked(self.socket.try_clone()?)?.writable().await
    }

    /// Ends what the peer reads.
    pub(crate) fn close(&self) {
        // One that is gone has its end already.
        let _ = shutdown(&self.socket, Shutdown::Write);
    }
}

impl Drop for WriteEnd {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[test]
    fn everything_arrives_however_full_it_is_and_then_the_end() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (ours, mut theirs) = UnixStream::pair().unwrap();
            let (mut read, write) = split(ours).unwrap();
            theirs.write_all(b"hello").await.unwrap();
            let mut hello = [0; 5];
            read.read_exact(&mut hello).await.unwrap();
            let sent: Vec<u8> = (0..2_000_000_u32).flat_map(u32::to_le_bytes).collect();
            let sending = async {
                let (mut rest, mut waits) = (sent.as_slice(), 0);
                while !rest.is_empty() {
                    match write.try_write(&[IoSlice::new(rest)]) {
                        Ok(count) => rest = &rest[count..],
                        Err(error) => {
                            assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
                            waits += 1;
                            write.writable().await.unwrap();
                        }
                    }
                }
                assert!(waits > 0, "it was never full");
                drop(write);
            };
            let mut got = Vec::new();
            tokio::join!(sending, async { theirs.read_to_end(&mut got).await.unwrap() });
            assert!(got == sent);
            drop(theirs);
            assert_eq!(read.read(&mut hello).await.unwrap(), 0);
        });
    }
}
