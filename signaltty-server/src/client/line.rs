//! Lines of bounded length from a connection.
//!
//! Bytes after a line stay in the buffer, for the next line or for whoever
//! takes the connection over.

use std::io;
use std::path::Path;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::ClientError;
use super::error::is_end;

/// Reads lines.
#[derive(Debug)]
pub(super) struct LineReader<R> {
    reader: R,
    buffer: BytesMut,
    /// So many bytes of the buffer hold no newline.
    searched: usize,
    limit: usize,
}

/// Why there is no line.
#[derive(Debug)]
pub(super) enum LineError {
    /// It has more bytes than allowed.
    TooLong(usize),
    /// The connection failed.
    Io(io::Error),
}

impl LineError {
    pub(super) fn at(self, socket: &Path) -> ClientError {
        let what = match self {
            Self::TooLong(limit) => format!("the server sent a line of more than {limit} bytes"),
            Self::Io(source) => return ClientError::io("read from", socket, source),
        };
        ClientError::Protocol { socket: socket.to_owned(), what }
    }
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(super) fn new(reader: R, limit: usize) -> Self {
        Self { reader, buffer: BytesMut::with_capacity(FIRST_READ), searched: 0, limit }
    }

    /// The next line without its newline; `None` at the end of the connection,
    /// also where that comes inside a line, or as a reset, which a server that is
    /// killed with something unread leaves. May be dropped while it waits without
    /// losing bytes.
    pub(super) async fn next(&mut self) -> Result<Option<BytesMut>, LineError> {
        loop {
            let mut fresh = self.buffer.iter().skip(self.searched);
            if let Some(at) = fresh.position(|byte| *byte == b'\n') {
                let mut line = self.buffer.split_to(self.searched + at + 1);
                line.truncate(self.searched + at);
                self.searched = 0;
                return Ok(Some(line));
            }
            self.searched = self.buffer.len();
            if self.searched > self.limit {
                return Err(LineError::TooLong(self.limit));
            }
            match self.reader.read_buf(&mut self.buffer).await {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(error) if is_end(&error) => return Ok(None),
                Err(error) => return Err(LineError::Io(error)),
            }
        }
    }

    /// The connection, and what was read from it already.
    pub(super) fn into_parts(self) -> (R, BytesMut) {
        (self.reader, self.buffer)
    }
}

const FIRST_READ: usize = 16 * 1024;
