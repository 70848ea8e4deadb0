//! The two ends of a connection that carries frames, watched for reading only.
//!
//! A socket that is watched as usual wakes its thread also each time its peer has
//! read something, to say that there is room: after every frame, and for nothing.
//! So room is waited for only once a write has found none.

use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll};

use rustix::io::retry_on_intr;
use rustix::net::{SendAncillaryBuffer, SendFlags, Shutdown, sendmsg, shutdown};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

/// Where a connection is read.
#[derive(Debug)]
pub struct ReadEnd {
    // Takes any descriptor and watches it for reading alone.
    watched: pipe::Receiver,
}

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
