//! A connection that carries a pane.

use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};

use bytes::{Buf as _, BytesMut};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use super::ClientError;
use super::line::LineReader;
use crate::protocol::frame::{Frame, FrameReader};
use crate::stream::{ReadEnd, WriteEnd, split};

/// An attached pane: what it prints comes in, what is typed goes out.
#[derive(Debug)]
pub struct Attached {
    /// Frames from the server, the screen first.
    pub frames: FrameReader<ReadEnd>,
    /// Frames to the server.
    pub writer: FrameWriter,
    /// Columns and rows of the pane's terminal, where the server says so. The
    /// screen comes for this size.
    pub size: Option<(u16, u16)>,
}

/// Sends frames.
#[derive(Debug)]
pub struct FrameWriter {
    socket: PathBuf,
    writer: WriteEnd,
    buffer: BytesMut,
}

impl Attached {
    pub(super) fn new(
        socket: PathBuf,
        lines: LineReader<OwnedReadHalf>,
        writer: OwnedWriteHalf,
        size: Option<(u16, u16)>,
    ) -> Result<Self, ClientError> {
        let (reader, buffered) = lines.into_parts();
        let whole = reader.reunite(writer).map_err(io::Error::other);
        let (reader, writer) = whole
            .and_then(split)
            .map_err(|source| ClientError::io("attach over", &socket, source))?;
        Ok(Self {
            frames: FrameReader::new(reader, buffered),
            writer: FrameWriter { socket, writer, buffer: BytesMut::new() },
            size,
        })
    }
}

impl FrameWriter {
    /// Sends one frame. Waits while the server does not read.
    ///
    /// # Errors
    ///
    /// When the connection is gone.
    pub async fn send(&mut self, frame: &Frame) -> Result<(), ClientError> {
        self.queue(frame);
        self.flush().await
    }

    /// Puts a frame behind those that wait, to be sent by [`flush`](Self::flush).
    pub fn queue(&mut self, frame: &Frame) {
        frame.encode(&mut self.buffer);
    }

    /// Lends the server a terminal to write what the pane prints, as
    /// docs/protocol.md says. `lease` is one end of a pair of stream sockets; the
    /// caller keeps the other one.
    ///
    /// # Errors
    ///
    /// When something waits to be sent, or the connection is gone.
    pub fn lend(&mut self, terminal: BorrowedFd<'_>, lease: BorrowedFd<'_>) -> io::Result<()> {
        if !self.buffer.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let mut frame = BytesMut::new();
        Frame::Terminal.encode(&mut frame);
        let sent = self.writer.try_pass(&frame, &[terminal, lease])?;
        frame.advance(sent);
        self.buffer = frame;
        Ok(())
    }

    /// How many bytes wait to be sent.
    pub fn waiting(&self) -> usize {
        self.buffer.len()
    }

    /// Sends what waits. May be dropped while it waits: what was sent is known.
    ///
    /// # Errors
    ///
    /// When the connection is gone.
    pub async fn flush(&mut self) -> Result<(), ClientError> {
        let sent = self.flush_io().await;
        sent.map_err(|source| ClientError::io("write to", &self.socket, source))
    }

    async fn flush_io(&mut self) -> io::Result<()> {
        while !self.buffer.is_empty() {
            match self.writer.try_write(&[IoSlice::new(&self.buffer)]) {
                Ok(count) => self.buffer.advance(count),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.writer.writable().await?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Where the server listens.
    pub fn socket(&self) -> &Path {
        &self.socket
    }
}
