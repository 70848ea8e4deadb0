//! Request lines of a connection.
//!
//! A line is read with a bound, so a client cannot make the server hold more
//! than one request. A line over the limit is answered and skipped.

use std::io;

use bytes::{Buf as _, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// How much of an oversized line is skipped before the connection is closed.
const MAX_SKIPPED: usize = 64 * 1024 * 1024;

/// What comes next.
pub(super) enum Line {
    Whole(BytesMut),
    TooLong,
    End,
}

/// The lines, and what was read beyond the last one.
pub(super) struct Lines {
    buffer: BytesMut,
    /// So many bytes of the buffer hold no newline.
    searched: usize,
    /// Of a line that is too long.
    skipped: usize,
    max: usize,
}

impl Lines {
    pub(super) fn new(max: usize) -> Self {
        Self { buffer: BytesMut::new(), searched: 0, skipped: 0, max }
    }

    /// What was read and belongs to whoever takes the connection over.
    pub(super) fn into_rest(self) -> BytesMut {
        self.buffer
    }

    /// The next line. May be dropped while it waits without losing bytes.
    pub(super) async fn next<R: AsyncRead + Unpin>(&mut self, reader: &mut R) -> io::Result<Line> {
        loop {
            let fresh = self.buffer.iter().skip(self.searched).position(|byte| *byte == b'\n');
            match fresh.map(|at| self.searched + at) {
                Some(end) => {
                    self.searched = 0;
                    if std::mem::take(&mut self.skipped) > 0 || end > self.max {
                        self.buffer.advance(end + 1);
                        return Ok(Line::TooLong);
                    }
                    let mut line = self.buffer.split_to(end + 1);
                    line.truncate(end);
                    return Ok(Line::Whole(line));
                }
                None => self.searched = self.buffer.len(),
            }
            if self.buffer.len() > self.max {
                self.skipped += self.buffer.len();
                self.buffer.clear();
                self.searched = 0;
                if self.skipped > MAX_SKIPPED {
                    return Ok(Line::End);
                }
            }
            self.buffer.reserve(4_096);
            if reader.read_buf(&mut self.buffer).await? == 0 {
                return Ok(self.last());
            }
        }
    }

    /// What stands behind the last newline, where nothing more comes. It is a
    /// line like any other: what was cut off in the middle is no whole JSON
    /// object, and is answered as that.
    fn last(&mut self) -> Line {
        let line = self.buffer.split();
        self.searched = 0;
        if std::mem::take(&mut self.skipped) > 0 {
            return Line::TooLong;
        }
        if line.iter().all(u8::is_ascii_whitespace) { Line::End } else { Line::Whole(line) }
    }

    /// Waits for the end of the connection, while an answer is worth nothing
    /// without a client. What comes before it is kept; where that is a whole
    /// buffer the end is no longer looked for.
    pub(super) async fn ended<R: AsyncRead + Unpin>(&mut self, reader: &mut R) -> io::Result<()> {
        while self.buffer.len() <= self.max {
            self.buffer.reserve(4_096);
            if reader.read_buf(&mut self.buffer).await? == 0 {
                return Ok(());
            }
        }
        std::future::pending().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::MAX_REQUEST;

    fn lines(input: &[u8]) -> Vec<Option<usize>> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (mut reader, mut found) = (input, Lines::new(MAX_REQUEST));
            let mut out = Vec::new();
            loop {
                match found.next(&mut reader).await.unwrap() {
                    Line::Whole(line) => out.push(Some(line.len())),
                    Line::TooLong => out.push(None),
                    Line::End => return out,
                }
            }
        })
    }

    #[test]
    fn a_line_over_the_limit_is_skipped_and_the_next_one_read() {
        let mut input = vec![b'x'; 2 * MAX_REQUEST];
        input.extend(b"\nabc\n");
        assert_eq!(lines(&input), [None, Some(3)]);
        let mut exact = vec![b'x'; MAX_REQUEST];
        exact.extend(b"\n\n");
        assert_eq!(lines(&exact), [Some(MAX_REQUEST), Some(0)]);
        let mut over = vec![b'x'; MAX_REQUEST + 1];
        over.extend(b"\nnext\n");
        assert_eq!(lines(&over), [None, Some(4)]);
    }

    #[test]
    fn what_stands_behind_the_last_newline_is_a_line_too() {
        assert_eq!(lines(b"abc\nunfinished"), [Some(3), Some(10)]);
        assert_eq!(lines(b"abc\n \r"), [Some(3)]);
        assert_eq!(lines(&vec![b'x'; MAX_REQUEST + 1]), [None]);
        assert_eq!(lines(&vec![b'x'; 2 * MAX_REQUEST]), [None]);
        assert_eq!(lines(b""), []);
    }
}
