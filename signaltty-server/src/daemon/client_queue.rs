//! The way from a pane to one of its clients.
//!
//! What a program prints goes to the client's socket from the pane's own task,
//! as long as the socket takes it and nothing waits: no other task is woken
//! between a program and a terminal. What does not fit waits in a bounded queue,
//! which the connection's task writes. One of the two writes at a time: the pane
//! only while nothing is queued or being written, the connection only then.
//!
//! Where the client lends its terminal, output goes there in place of frames.
//! Whatever is said besides output still goes to the socket.

use std::borrow::Cow;
use std::io::{self, IoSlice};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::{Bytes, BytesMut};
use tokio::sync::mpsc;

use super::clipboard::Clipboard;
use super::handover::Handover;
use crate::protocol::frame::{Frame, HEADER, output_header};
use crate::stream::WriteEnd;

/// Frames that may wait for a client. When it is full the client's backlog is
/// dropped and replaced by a repaint.
pub(crate) const CLIENT_FRAMES: usize = 64;

/// Bytes of output that may wait for a client, with the same end. A terminal that
/// takes ten megabytes a second shows them in a fortieth of a second.
const CLIENT_BYTES: usize = 256 * 1024;

/// What waits for a client.
#[derive(Debug)]
pub(crate) enum Piece {
    Frame(Frame),
    /// The end of what was taken in part: of a frame by the socket, or of output
    /// by the terminal.
    Rest(Bytes),
    /// From here on output goes to this terminal.
    Handover(Handover),
}

impl Piece {
    /// Whether nothing comes after it.
    pub(crate) fn is_last(&self) -> bool {
        matches!(self, Self::Frame(Frame::Exit(_) | Frame::Detach))
    }

    /// Bytes of output that it has.
    fn output(&self) -> usize {
        match self {
            Self::Frame(Frame::Output(bytes)) | Self::Rest(bytes) => bytes.len(),
            Self::Frame(_) | Self::Handover(_) => 0,
        }
    }
}

/// What the pane and the client's connection tell each other.
#[derive(Debug, Default)]
struct Shared {
    /// Output was dropped. The connection then says when there is room again.
    behind: AtomicBool,
    /// Bytes of output in the queue.
    waiting: AtomicUsize,
    /// Pieces that were queued and are not yet with the socket.
    unwritten: AtomicUsize,
    /// Where the client reads, once its connection carries frames.
    socket: OnceLock<WriteEnd>,
    /// The client's terminal, while it is lent.
    loan: Mutex<Option<Handover>>,
}

impl Shared {
    fn loan(&self) -> MutexGuard<'_, Option<Handover>> {
        self.loan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes no more to the client's terminal, and says so.
    fn give_back(&self) {
        if let Some(loan) = self.loan().take() {
            loan.give_back();
        }
    }
}

/// The pane's end.
#[derive(Debug)]
pub(crate) struct ClientQueue {
    pieces: mpsc::Sender<Piece>,
    shared: Arc<Shared>,
    /// Leaves out what is for the clipboard, unless the client wants that.
    clipboard: Option<Clipboard>,
}

/// The end of the client's connection.
#[derive(Debug)]
pub(crate) struct ClientSocket {
    pieces: mpsc::Receiver<Piece>,
    shared: Arc<Shared>,
}

/// Why a client did not get something.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotSent {
    /// There is no room.
    Full,
    /// The client is gone.
    Gone,
}

/// A queue; `clipboard` says whether what is for the clipboard comes along.
pub(crate) fn client_queue(clipboard: bool) -> (ClientQueue, ClientSocket) {
    let (sender, receiver) = mpsc::channel(CLIENT_FRAMES);
    let shared = Arc::new(Shared::default());
    let clipboard = (!clipboard).then(Clipboard::default);
    let queue = ClientQueue { pieces: sender, shared: Arc::clone(&shared), clipboard };
    (queue, ClientSocket { pieces: receiver, shared })
}

impl ClientQueue {
    /// Passes on what the program printed. `copy` is made where it has to wait,
    /// once for all clients.
    pub(crate) fn output(&mut self, chunk: &[u8], copy: &mut Option<Bytes>) -> Result<(), NotSent> {
        match self.clipboard.as_mut().map(|clipboard| clipboard.without(chunk)) {
            None | Some(Cow::Borrowed(_)) => self.pass(chunk, copy),
            Some(Cow::Owned(rest)) if rest.is_empty() => Ok(()),
            Some(Cow::Owned(rest)) => self.pass(&rest, &mut None),
        }
    }

    fn pass(&self, chunk: &[u8], copy: &mut Option<Bytes>) -> Result<(), NotSent> {
        let piece = match self.straight(chunk) {
            Some(rest) if rest.is_empty() => return Ok(()),
            Some(rest) => Piece::Rest(rest),
            None => {
                if self.shared.waiting.load(Ordering::Acquire) >= CLIENT_BYTES {
                    return Err(if self.is_gone() { NotSent::Gone } else { NotSent::Full });
                }
                let copy = copy.get_or_insert_with(|| Bytes::copy_from_slice(chunk));
                Piece::Frame(Frame::Output(copy.clone()))
            }
        };
        self.queue(piece)
    }

    /// Queues any other frame.
    pub(crate) fn send(&mut self, frame: Frame) -> Result<(), NotSent> {
        if let (Frame::Repaint(_), Some(clipboard)) = (&frame, &mut self.clipboard) {
            // A screen is drawn anew, whatever came before.
            clipboard.restart();
        }
        self.queue(Piece::Frame(frame))
    }

    /// Queues that output goes to the client's terminal from here on.
    pub(crate) fn hand_over(&self, terminal: &Handover) -> Result<(), NotSent> {
        self.queue(Piece::Handover(terminal.clone()))
    }

    /// Queues a frame once there is room; `false` if the client is gone.
    pub(crate) async fn send_later(&self, frame: Frame) -> bool {
        self.shared.unwritten.fetch_add(1, Ordering::AcqRel);
        self.pieces.send(Piece::Frame(frame)).await.is_ok()
    }

    /// What is left of output after what could go at once; `None` where nothing
    /// of it may go yet, or nothing is taken.
    fn straight(&self, chunk: &[u8]) -> Option<Bytes> {
        let socket = self.shared.socket.get()?;
        if self.shared.unwritten.load(Ordering::Acquire) != 0 {
            return None;
        }
        // What failed, the connection or the terminal, is found out by the
        // connection's own task.
        if let Some(loan) = &*self.shared.loan() {
            let sent = loan.try_write(chunk).ok()?;
            return Some(Bytes::copy_from_slice(chunk.get(sent..).unwrap_or_default()));
        }
        let header = output_header(chunk.len());
        let sent = socket.try_write(&[IoSlice::new(&header), IoSlice::new(chunk)]).ok()?;
        if sent == HEADER + chunk.len() {
            return Some(Bytes::new());
        }
        let mut rest = BytesMut::from(&header[..]);
        rest.extend_from_slice(chunk);
        Some(rest.freeze().slice(sent..))
    }

    fn queue(&self, piece: Piece) -> Result<(), NotSent> {
        let output = piece.output();
        // Before it is there to be taken.
        self.shared.unwritten.fetch_add(1, Ordering::AcqRel);
        self.shared.waiting.fetch_add(output, Ordering::AcqRel);
        self.pieces.try_send(piece).map_err(|error| {
            self.shared.unwritten.fetch_sub(1, Ordering::AcqRel);
            self.shared.waiting.fetch_sub(output, Ordering::AcqRel);
            match error {
                mpsc::error::TrySendError::Full(_) => NotSent::Full,
                mpsc::error::TrySendError::Closed(_) => NotSent::Gone,
            }
        })
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.pieces.is_closed()
    }

    pub(crate) fn is_behind(&self) -> bool {
        self.shared.behind.load(Ordering::Acquire)
    }

    /// Says whether the client has everything that was printed, or will have.
    pub(crate) fn caught_up(&self, up: bool) {
        self.shared.behind.store(!up, Ordering::Release);
    }

    /// Marks a client that could not take something. Whether its queue is empty
    /// by now, so that nobody else will say so.
    pub(crate) fn falls_behind(&self) -> bool {
        self.caught_up(false);
        // The connection looks for the mark after it has emptied the queue, which
        // it may have done just before the mark.
        fence(Ordering::SeqCst);
        self.pieces.capacity() == CLIENT_FRAMES
    }
}

impl ClientSocket {
    /// The connection carries frames from now on.
    pub(crate) fn open(&self, socket: WriteEnd) {
        let _ = self.shared.socket.set(socket);
    }

    /// The next piece; `None` once the pane has forgotten the client.
    pub(crate) async fn next(&mut self) -> Option<Piece> {
        let piece = self.pieces.recv().await?;
        self.shared.waiting.fetch_sub(piece.output(), Ordering::AcqRel);
        Some(piece)
    }

    /// Another one that is there already.
    pub(crate) fn another(&mut self) -> Option<Piece> {
        let piece = self.pieces.try_recv().ok()?;
        self.shared.waiting.fetch_sub(piece.output(), Ordering::AcqRel);
        Some(piece)
    }

    /// Says that so many pieces are with the socket. Whether the client is
    /// behind and has taken everything, which the pane is to be told.
    pub(crate) fn written(&self, pieces: usize) -> bool {
        self.shared.unwritten.fetch_sub(pieces, Ordering::AcqRel);
        // The other half of the fence in `falls_behind`.
        fence(Ordering::SeqCst);
        self.shared.behind.load(Ordering::Acquire) && self.pieces.is_empty()
    }

    /// Lets the server write this terminal, once the client has shown what it
    /// got before; `false` where the client takes it back instead.
    pub(crate) async fn lend(&self, terminal: Handover) -> bool {
        let begins = terminal.begins().await;
        if begins {
            *self.shared.loan() = Some(terminal);
        } else {
            terminal.give_back();
        }
        begins
    }

    /// Whether output goes to the client's terminal.
    pub(crate) fn is_lent(&self) -> bool {
        self.shared.loan().is_some()
    }

    /// Who gives the terminal back, also while this end is in use.
    pub(crate) fn lender(&self) -> impl Fn() + use<> {
        let shared = Arc::clone(&self.shared);
        move || shared.give_back()
    }

    /// Writes all of it to the terminal on loan, however long that takes.
    ///
    /// # Errors
    ///
    /// Where the terminal is gone or was given back.
    pub(crate) async fn show_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let written = {
                let loan = self.shared.loan();
                let loan = loan.as_ref().ok_or(io::ErrorKind::NotConnected)?;
                loan.try_write(bytes).map_err(|error| (error, loan.clone()))
            };
            match written {
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err((error, loan)) if error.kind() == io::ErrorKind::WouldBlock => {
                    loan.writable().await?;
                }
                Err((error, _)) => return Err(error),
            }
        }
        Ok(())
    }

    /// Writes all of it, however long the client takes.
    pub(crate) async fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        let socket = self.shared.socket.get().ok_or(io::ErrorKind::NotConnected)?;
        while !bytes.is_empty() {
            match socket.try_write(&[IoSlice::new(bytes)]) {
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    socket.writable().await?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Ends what the client reads, also where the pane still knows it.
    pub(crate) fn close(&self) {
        self.shared.give_back();
        if let Some(socket) = self.shared.socket.get() {
            socket.close();
        }
    }
}

impl Drop for ClientSocket {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;
    use tokio::net::UnixStream;

    use super::*;
    use crate::protocol::frame::FrameReader;
    use crate::stream::split;

    /// What a client that reads slowly gets is what was printed, in order,
    /// whichever of the two ways each piece of it took.
    #[test]
    fn output_arrives_whole_and_in_order_by_both_ways() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (ours, theirs) = UnixStream::pair().unwrap();
            let (mut queue, mut socket) = client_queue(true);
            let (_read, write) = split(ours).unwrap();
            assert_eq!(queue.output(b"before;", &mut None), Ok(()), "it waits for the reply");
            socket.open(write);
            let mut printed = b"before;".to_vec();
            let mut got = Vec::new();
            let mut client = FrameReader::new(theirs, BytesMut::new());
            let mut kinds = [0; 3];
            for round in 0..200_u32 {
                let chunk = round.to_le_bytes().repeat(997 + usize::try_from(round).unwrap());
                let before = queue.shared.unwritten.load(Ordering::Acquire);
                match queue.output(&chunk, &mut None) {
                    Ok(()) => printed.extend_from_slice(&chunk),
                    Err(error) => {
                        assert_eq!(error, NotSent::Full);
                        kinds[2] += 1;
                    }
                }
                kinds[usize::from(queue.shared.unwritten.load(Ordering::Acquire) > before)] += 1;
                if round % 100 == 99 {
                    // What waits is written while the client reads.
                    let write = async {
                        while let Some(piece) = socket.another() {
                            let mut out = BytesMut::new();
                            match piece {
                                Piece::Frame(frame) => frame.encode(&mut out),
                                Piece::Rest(bytes) => out.extend_from_slice(&bytes),
                                Piece::Handover(_) => panic!("no terminal"),
                            }
                            socket.write_all(&out).await.unwrap();
                            socket.written(1);
                        }
                    };
                    let read = async {
                        while got.len() < printed.len() {
                            let Ok(Some(Frame::Output(bytes))) = client.next().await else {
                                panic!("no output");
                            };
                            got.extend_from_slice(&bytes);
                        }
                    };
                    tokio::join!(write, read);
                }
            }
            assert!(got == printed);
            assert!(kinds.iter().all(|count| *count > 0), "both ways, and too much: {kinds:?}");
        });
    }

    #[test]
    fn a_client_sees_the_end_although_the_pane_still_knows_it() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (ours, mut theirs) = UnixStream::pair().unwrap();
            let (mut queue, socket) = client_queue(true);
            let (read, write) = split(ours).unwrap();
            socket.open(write);
            drop((read, socket));
            assert_eq!(theirs.read(&mut [0; 8]).await.unwrap(), 0);
            assert!(queue.is_gone());
            assert_eq!(queue.output(b"late", &mut None), Err(NotSent::Gone));
        });
    }
}
