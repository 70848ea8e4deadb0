//! Input that waits for a program to read it.
//!
//! What a script sends has a deadline and an answer. What a person types has
//! neither: its client is not read from while too much waits, and nothing of it
//! is dropped as long as the terminal is open.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use signaltty_pty::AsyncPty;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::Instant;

/// Bytes that may wait for the program to read them; more of a script is
/// refused, and more of clients is not read. A frame always fits.
pub(crate) const INPUT_BYTES: usize = 1024 * 1024;

/// Typed input takes at least so much room, which bounds the number of pieces.
const LEAST_ROOM: usize = 64;

/// How long input of a script may wait for the program to read it.
const DEADLINE: Duration = Duration::from_secs(5);

/// Where the answer about a script's input goes.
pub(crate) type Done = oneshot::Sender<Result<(), InputError>>;

/// Why input was not taken. What was taken before stays taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InputError {
    #[error(
        "its program did not read its input within 5 s; {written} bytes were taken, send the rest later"
    )]
    Timeout { written: usize },
    #[error("{waiting} bytes wait for its program already; nothing was taken, try again later")]
    Full { waiting: usize },
    #[error("its program ended meanwhile; {written} bytes were taken")]
    Closed { written: usize },
}

/// How much room a client's input of that length takes.
pub(crate) fn room(length: usize) -> u32 {
    u32::try_from(length.clamp(LEAST_ROOM, INPUT_BYTES)).unwrap_or(u32::MAX)
}

/// Typed bytes of a client that were lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lost {
    pub(super) client: u64,
    pub(super) bytes: usize,
}

enum From {
    /// The room is given back when all of it is written.
    Client {
        id: u64,
        _room: OwnedSemaphorePermit,
    },
    Script {
        deadline: Instant,
        done: Done,
    },
    /// The server itself, in place of a terminal.
    Terminal,
}

struct Piece {
    bytes: Bytes,
    written: usize,
    from: From,
}

impl Piece {
    fn deadline(&self) -> Option<Instant> {
        match self.from {
            From::Script { deadline, .. } => Some(deadline),
            From::Client { .. } | From::Terminal => None,
        }
    }

    fn left(&self) -> usize {
        self.bytes.len() - self.written
    }

    fn end(self, error: Option<fn(usize) -> InputError>) -> Option<Lost> {
        let (written, bytes) = (self.written, self.left());
        match self.from {
            From::Client { id, .. } => error.map(|_| Lost { client: id, bytes }),
            From::Script { done, .. } => {
                let _ = done.send(error.map_or(Ok(()), |error| Err(error(written))));
                None
            }
            From::Terminal => None,
        }
    }
}

/// What waits, in order.
#[derive(Default)]
pub(super) struct InputQueue {
    pieces: VecDeque<Piece>,
    waiting: usize,
    scripts: usize,
}

impl InputQueue {
    pub(super) fn typed(&mut self, id: u64, bytes: Bytes, room: OwnedSemaphorePermit) {
        self.push(bytes, From::Client { id, _room: room });
    }

    pub(super) fn script(&mut self, bytes: Bytes, done: Done) {
        if self.waiting + bytes.len() > INPUT_BYTES {
            let _ = done.send(Err(InputError::Full { waiting: self.waiting }));
        } else if bytes.is_empty() {
            let _ = done.send(Ok(()));
        } else {
            self.scripts += 1;
            self.push(bytes, From::Script { deadline: Instant::now() + DEADLINE, done });
        }
    }

    /// Answers of the server. A program that reads nothing misses them.
    pub(super) fn terminal(&mut self, bytes: Bytes) {
        if self.waiting + bytes.len() <= INPUT_BYTES {
            self.push(bytes, From::Terminal);
        }
    }

    fn push(&mut self, bytes: Bytes, from: From) {
        if !bytes.is_empty() {
            self.waiting += bytes.len();
            self.pieces.push_back(Piece { bytes, written: 0, from });
        }
    }

    /// What is to be written next.
    pub(super) fn front(&self) -> Option<Bytes> {
        self.pieces.front().map(|piece| piece.bytes.slice(piece.written..))
    }

    /// When the next script is to be told that its input waited too long. It may
    /// wait behind what was typed, so it need not be the first.
    pub(super) fn deadline(&self) -> Option<Instant> {
        if self.scripts == 0 {
            return None;
        }
        self.pieces.iter().find_map(Piece::deadline)
    }

    pub(super) fn expire(&mut self, now: Instant) {
        let pieces = std::mem::take(&mut self.pieces);
        let late = |piece: &Piece| piece.deadline().is_some_and(|deadline| deadline <= now);
        let (late, rest): (VecDeque<_>, _) = pieces.into_iter().partition(late);
        self.pieces = rest;
        for piece in late {
            self.end(piece, Some(|written| InputError::Timeout { written }));
        }
    }

    /// The first piece was written, in part or whole, or cannot be.
    pub(super) fn written(&mut self, written: std::io::Result<usize>) -> Option<Lost> {
        let front = self.pieces.front_mut()?;
        if let Ok(count) = written {
            front.written += count;
            self.waiting = self.waiting.saturating_sub(count);
            if front.left() > 0 {
                return None;
            }
        }
        let piece = self.pieces.pop_front()?;
        let closed: fn(usize) -> InputError = |written| InputError::Closed { written };
        self.end(piece, written.is_err().then_some(closed))
    }

    /// The terminal is gone, and everybody knows that.
    pub(super) fn close(&mut self) {
        for piece in std::mem::take(&mut self.pieces) {
            self.end(piece, Some(|written| InputError::Closed { written }));
        }
    }

    fn end(&mut self, piece: Piece, error: Option<fn(usize) -> InputError>) -> Option<Lost> {
        self.waiting = self.waiting.saturating_sub(piece.left());
        if piece.deadline().is_some() {
            self.scripts = self.scripts.saturating_sub(1);
        }
        piece.end(error)
    }
}

/// Writes what comes next; waits while there is nothing or the program does not
/// read.
pub(super) async fn write(pty: &AsyncPty, front: Option<&Bytes>) -> std::io::Result<usize> {
    let Some(bytes) = front else {
        return Ok(0);
    };
    // Writes that succeed at once would else never let other tasks run.
    tokio::task::consume_budget().await;
    pty.write_some(bytes).await
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::Semaphore;

    use super::*;

    #[test]
    fn a_script_behind_what_was_typed_is_told_in_time() {
        let room = Arc::new(Semaphore::new(INPUT_BYTES));
        let mut queue = InputQueue::default();
        let taken = Arc::clone(&room).try_acquire_many_owned(super::room(5)).unwrap();
        queue.typed(7, Bytes::from_static(b"typed"), taken);
        assert_eq!(queue.deadline(), None);
        let (done, mut answer) = oneshot::channel();
        queue.script(Bytes::from_static(b"script"), done);
        let deadline = queue.deadline().unwrap();
        queue.expire(deadline);
        assert_eq!(answer.try_recv().unwrap(), Err(InputError::Timeout { written: 0 }));
        assert_eq!((queue.deadline(), queue.waiting), (None, 5));

        // What was typed goes on, and gives its room back at its end.
        assert_eq!(queue.front().unwrap(), "typed");
        assert_eq!(queue.written(Ok(2)), None);
        assert_eq!(queue.front().unwrap(), "ped");
        assert!(room.available_permits() < INPUT_BYTES);
        // Nothing goes without a word.
        let closed = Err(std::io::ErrorKind::BrokenPipe.into());
        assert_eq!(queue.written(closed), Some(Lost { client: 7, bytes: 3 }));
        assert_eq!((room.available_permits(), queue.waiting), (INPUT_BYTES, 0));
    }

    #[test]
    fn a_script_is_refused_while_too_much_waits() {
        let room = Arc::new(Semaphore::new(INPUT_BYTES));
        let mut queue = InputQueue::default();
        let taken = room.try_acquire_many_owned(super::room(INPUT_BYTES)).unwrap();
        queue.typed(7, Bytes::from(vec![b'x'; INPUT_BYTES]), taken);
        let (done, mut answer) = oneshot::channel();
        queue.script(Bytes::from_static(b"x"), done);
        let full = InputError::Full { waiting: INPUT_BYTES };
        assert_eq!(answer.try_recv().unwrap(), Err(full));
        queue.close();
        assert_eq!(queue.waiting, 0);
    }
}
