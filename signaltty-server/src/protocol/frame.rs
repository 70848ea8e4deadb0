//! Frames of an attached connection: a type byte, a little-endian u32 length
//! and the payload. Output is never text or base64.

use std::io;

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// The longest payload in bytes.
pub const MAX_PAYLOAD: usize = 1024 * 1024;

/// Bytes before the payload.
pub const HEADER: usize = 5;

/// One frame.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Frame {
    /// From the server: what the pane printed.
    Output(Bytes),
    /// From the client: what the person typed.
    Input(Bytes),
    /// From the client: the size of its terminal.
    Resize {
        /// Columns.
        cols: u16,
        /// Rows.
        rows: u16,
    },
    /// From the server: everything that is on the screen. Replaces whatever the
    /// client shows, also after output that it could not take in time.
    Repaint(Bytes),
    /// From the server: the pane's process ended. JSON, see
    /// [`ExitNode`](super::ExitNode).
    Exit(Bytes),
    /// From the server: a line for the person.
    Notice(Bytes),
    /// From the client: please send the last so many lines of history.
    HistoryRequest {
        /// How many.
        lines: u32,
    },
    /// From the server: the lines asked for, with their styles.
    HistoryReply(Bytes),
    /// From either side: over, the pane goes on.
    Detach,
    /// From the client: its terminal, which comes along as a descriptor with
    /// this frame's first byte, and the lease.
    Terminal,
    /// From the server: what the pane prints from here on it writes to that
    /// terminal itself, once the client says so on the lease.
    TerminalTaken,
    /// Of a type that this build does not know; skipped.
    Unknown(u8),
}

impl Frame {
    fn kind(&self) -> u8 {
        match self {
            Self::Output(_) => 1,
            Self::Input(_) => 2,
            Self::Resize { .. } => 3,
            Self::Repaint(_) => 4,
            Self::Exit(_) => 5,
            Self::Notice(_) => 6,
            Self::HistoryRequest { .. } => 7,
            Self::HistoryReply(_) => 8,
            Self::Detach => 9,
            Self::Terminal => 10,
            Self::TerminalTaken => 11,
            Self::Unknown(kind) => *kind,
        }
    }

    /// Appends the frame to `out`. A payload over the limit is cut into several
    /// frames of the same type, which mean the same to the reader.
    pub fn encode(&self, out: &mut BytesMut) {
        let payload = match self {
            Self::Output(bytes)
            | Self::Input(bytes)
            | Self::Repaint(bytes)
            | Self::Exit(bytes)
            | Self::Notice(bytes)
            | Self::HistoryReply(bytes) => bytes.clone(),
            Self::Resize { cols, rows } => {
                let mut payload = BytesMut::with_capacity(4);
                payload.put_u16_le(*cols);
                payload.put_u16_le(*rows);
                payload.freeze()
            }
            Self::HistoryRequest { lines } => Bytes::copy_from_slice(&lines.to_le_bytes()),
            Self::Detach | Self::Terminal | Self::TerminalTaken | Self::Unknown(_) => Bytes::new(),
        };
        let mut kind = self.kind();
        let mut rest = payload;
        loop {
            let part = rest.split_to(rest.len().min(MAX_PAYLOAD));
            out.put_u8(kind);
            out.put_u32_le(u32::try_from(part.len()).unwrap_or(u32::MAX));
            out.extend_from_slice(&part);
            if rest.is_empty() {
                return;
            }
            // The rest of a repaint goes on where its first frame ended.
            if matches!(self, Self::Repaint(_)) {
                kind = Self::Output(Bytes::new()).kind();
            }
        }
    }
}

/// What stands before the payload of output of `length` bytes, which is at most
/// [`MAX_PAYLOAD`].
#[cfg(feature = "daemon")]
pub(crate) fn output_header(length: usize) -> [u8; HEADER] {
    let [a, b, c, d] = u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
    [Frame::Output(Bytes::new()).kind(), a, b, c, d]
}

/// Bytes that a read asks for at least, and where much comes.
const LEAST_ROOM: usize = 2 * 1024;
const MOST_ROOM: usize = 64 * 1024;

/// Reads frames from a connection. Never holds more than one frame.
#[derive(Debug)]
pub struct FrameReader<R> {
    reader: R,
    buffer: BytesMut,
    /// How much a read asks for: more once so much came.
    room: usize,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    /// Reads from `reader`; `buffered` are bytes that were read from it before.
    pub fn new(reader: R, buffered: BytesMut) -> Self {
        Self { reader, buffer: buffered, room: LEAST_ROOM }
    }

    /// The next frame; `None` at the end of the connection. May be dropped while
    /// it waits without losing bytes.
    ///
    /// # Errors
    ///
    /// When the connection fails, ends inside a frame, or announces a payload
    /// over the limit.
    pub async fn next(&mut self) -> io::Result<Option<Frame>> {
        loop {
            if let Some(frame) = self.take()? {
                return Ok(Some(frame));
            }
            self.buffer.reserve(self.room);
            let read = self.reader.read_buf(&mut self.buffer).await?;
            if read >= self.room {
                self.room = MOST_ROOM;
            }
            if read == 0 {
                return self.end();
            }
        }
    }
}

#[cfg(feature = "daemon")]
impl FrameReader<crate::stream::ReadEnd> {
    /// As [`next`](Self::next); descriptors that come along with the frame's
    /// bytes are then in `passed`.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next).
    pub(crate) async fn next_with(
        &mut self,
        passed: &mut Vec<std::os::fd::OwnedFd>,
    ) -> io::Result<Option<Frame>> {
        let mut room = [0; LEAST_ROOM];
        loop {
            if let Some(frame) = self.take()? {
                return Ok(Some(frame));
            }
            let read = self.reader.receive(&mut room, passed).await?;
            if read == 0 {
                return self.end();
            }
            self.buffer.extend_from_slice(room.get(..read).unwrap_or_default());
        }
    }
}

impl<R> FrameReader<R> {
    fn end(&self) -> io::Result<Option<Frame>> {
        if self.buffer.is_empty() {
            return Ok(None);
        }
        Err(io::Error::new(io::ErrorKind::UnexpectedEof, "connection ended in a frame"))
    }

    fn take(&mut self) -> io::Result<Option<Frame>> {
        let mut header = self.buffer.as_ref();
        if header.remaining() < HEADER {
            return Ok(None);
        }
        let kind = header.get_u8();
        let length = usize::try_from(header.get_u32_le()).unwrap_or(usize::MAX);
        if length > MAX_PAYLOAD {
            let message = format!("frame of {length} bytes, the limit is {MAX_PAYLOAD}");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        if header.remaining() < length {
            self.buffer.reserve(HEADER + length - self.buffer.len());
            return Ok(None);
        }
        self.buffer.advance(HEADER);
        let payload = self.buffer.split_to(length).freeze();
        decode(kind, payload).map(Some)
    }
}

fn decode(kind: u8, mut payload: Bytes) -> io::Result<Frame> {
    let short =
        || io::Error::new(io::ErrorKind::InvalidData, "frame with a payload of the wrong size");
    Ok(match kind {
        1 => Frame::Output(payload),
        2 => Frame::Input(payload),
        3 => Frame::Resize {
            cols: payload.try_get_u16_le().map_err(|_| short())?,
            rows: payload.try_get_u16_le().map_err(|_| short())?,
        },
        4 => Frame::Repaint(payload),
        5 => Frame::Exit(payload),
        6 => Frame::Notice(payload),
        7 => Frame::HistoryRequest { lines: payload.try_get_u32_le().map_err(|_| short())? },
        8 => Frame::HistoryReply(payload),
        9 => Frame::Detach,
        10 => Frame::Terminal,
        11 => Frame::TerminalTaken,
        other => Frame::Unknown(other),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
    }

    #[test]
    fn frames_round_trip_at_any_chunk_size() {
        let frames = [
            Frame::Output(Bytes::from_static(b"hello")),
            Frame::Resize { cols: 300, rows: 100 },
            Frame::Detach,
            Frame::HistoryRequest { lines: 70_000 },
            Frame::Notice(Bytes::new()),
        ];
        let mut wire = BytesMut::new();
        frames.iter().for_each(|frame| frame.encode(&mut wire));
        for split in 0..wire.len() {
            let (first, second) = wire.split_at(split);
            let mut reader = FrameReader::new(second, BytesMut::from(first));
            for frame in &frames {
                assert_eq!(block_on(reader.next()).unwrap().as_ref(), Some(frame));
            }
            assert_eq!(block_on(reader.next()).unwrap(), None);
        }
    }

    #[test]
    fn malformed_frames_are_errors_not_allocations() {
        let huge = [1, 0xff, 0xff, 0xff, 0xff];
        let mut reader = FrameReader::new(&huge[..], BytesMut::new());
        assert!(block_on(reader.next()).unwrap_err().to_string().contains("the limit"));
        let short = [3, 1, 0, 0, 0, 9];
        assert!(block_on(FrameReader::new(&short[..], BytesMut::new()).next()).is_err());
        let cut = [1, 9, 0, 0, 0, 1];
        assert!(block_on(FrameReader::new(&cut[..], BytesMut::new()).next()).is_err());
        let unknown = [77, 2, 0, 0, 0, 1, 1];
        let mut reader = FrameReader::new(&unknown[..], BytesMut::new());
        assert_eq!(block_on(reader.next()).unwrap(), Some(Frame::Unknown(77)));
    }

    #[test]
    fn a_payload_over_the_limit_is_cut() {
        let payload = Bytes::from(vec![b'x'; MAX_PAYLOAD + 10]);
        let mut wire = BytesMut::new();
        Frame::Repaint(payload).encode(&mut wire);
        let mut reader = FrameReader::new(&wire[..], BytesMut::new());
        let Some(Frame::Repaint(first)) = block_on(reader.next()).unwrap() else { panic!() };
        let Some(Frame::Output(second)) = block_on(reader.next()).unwrap() else { panic!() };
        assert_eq!((first.len(), second.len()), (MAX_PAYLOAD, 10));
    }
}
