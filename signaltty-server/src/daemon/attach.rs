//! An attached connection: frames both ways.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::{Bytes, BytesMut};
use serde_json::Value;
use signaltty_core::id::PaneId;
use tokio::net::UnixStream;
use tokio::sync::{Semaphore, mpsc, oneshot};

use super::client_queue::{ClientSocket, Piece, client_queue};
use super::event::{ClientFact, Event};
use super::handover::Handover;
use super::pane_clients::{AttachedClient, Looks};
use super::pane_input;
use super::pane_task::{BUG, PaneMessage};
use crate::protocol::WireError;
use crate::protocol::frame::{Frame, FrameReader};
use crate::stream::{ReadEnd, split};

/// What a connection needs to become an attached one.
pub(crate) struct Attachment {
    pub(crate) pane: PaneId,
    pub(crate) messages: mpsc::Sender<PaneMessage>,
    /// Room for what the client types.
    pub(crate) room: Arc<Semaphore>,
    pub(crate) read_only: bool,
    pub(crate) history: usize,
    /// Whether what is for the clipboard comes along.
    pub(crate) clipboard: bool,
    /// Whether nobody says by it that they look at the pane.
    pub(crate) background: bool,
    /// The reply, after which frames begin.
    pub(crate) reply: Value,
}

/// Frames written at once, in bytes; the last of them may go beyond.
const BATCH: usize = 64 * 1024;

static NEXT_CLIENT: AtomicU64 = AtomicU64::new(1);

/// A client that the pane knows of.
pub(crate) struct Attached {
    pane: PaneId,
    messages: mpsc::Sender<PaneMessage>,
    room: Arc<Semaphore>,
    read_only: bool,
    background: bool,
    id: u64,
    socket: ClientSocket,
}

impl Attachment {
    /// Tells the pane of the client. Only then may the client be told that it is
    /// attached: from here on it learns of the end.
    ///
    /// # Errors
    ///
    /// When the process ended meanwhile.
    pub(crate) async fn begin(self) -> Result<Attached, WireError> {
        let id = NEXT_CLIENT.fetch_add(1, Ordering::Relaxed);
        let (queue, socket) = client_queue(self.clipboard);
        let Self { pane, messages, room, read_only, history, background, .. } = self;
        let client = Box::new(AttachedClient::new(id, queue, Looks::new(read_only, background)));
        let attach = PaneMessage::Attach { client, history };
        if messages.send(attach).await.is_err() {
            return Err(super::asked::not_live(pane, "exited"));
        }
        Ok(Attached { pane, messages, room, read_only, background, id, socket })
    }
}

/// Serves frames until either side detaches or the process ends.
pub(crate) async fn serve(
    stream: UnixStream,
    buffered: BytesMut,
    attached: Attached,
    events: mpsc::Sender<Event>,
) -> io::Result<()> {
    let Attached { pane, messages, room, read_only, background, id, socket } = attached;
    let (read, write) = match split(stream) {
        Ok(ends) => ends,
        Err(error) => {
            let _ = messages.send(PaneMessage::Detach(id)).await;
            return Err(error);
        }
    };
    socket.open(write);
    let seen = async || {
        if !background {
            let _ = events.send(Event::Client { pane, what: ClientFact::Seen }).await;
        }
    };
    seen().await;
    let give_back = socket.lender();
    let (lent, loan) = oneshot::channel();
    let writer = write_frames(socket, id, messages.clone(), lent);
    let client = Reader { id, pane, read_only, room, messages: &messages, events: &events };
    let reader = client.serve(FrameReader::new(read, buffered));
    // Both live until the pane knows: a client that sees the end of its
    // connection no longer drives.
    tokio::pin!(writer, reader);
    let result = tokio::select! {
        // A client that detaches says so before it takes its terminal back.
        biased;
        result = &mut reader => result,
        result = &mut writer => result.map(|()| By::Other),
        () = ended(loan) => Ok(By::Other),
    };
    // Its person has their terminal back before anything else.
    give_back();
    if matches!(result, Ok(By::Keys)) {
        // They were there until now, so they saw what happened meanwhile.
        seen().await;
    }
    let _ = messages.send(PaneMessage::Detach(id)).await;
    result.map(|_| ())
}

/// What ended an attached connection.
enum By {
    /// The keys of its person.
    Keys,
    Other,
}

/// Waits until a client takes back the terminal that it lent.
async fn ended(loan: oneshot::Receiver<Handover>) {
    match loan.await {
        Ok(loan) => loan.ends().await,
        Err(_) => std::future::pending().await,
    }
}

/// Writes what waits, several frames at once. Ends after the frame that says
/// that the process ended, which it says itself where the pane no longer can.
async fn write_frames(
    mut socket: ClientSocket,
    id: u64,
    messages: mpsc::Sender<PaneMessage>,
    lent: oneshot::Sender<Handover>,
) -> io::Result<()> {
    // For the socket, and for the terminal on loan, which comes first: the last
    // frame says that there is nothing more to show.
    let (mut out, mut shown) = (BytesMut::new(), BytesMut::new());
    let mut lent = Some(lent);
    while let Some(first) = socket.next().await {
        let (mut taken, mut over) = (0, false);
        let mut next = Some(first);
        while let Some(piece) = next {
            taken += 1;
            over = piece.is_last();
            match piece {
                // One terminal for each client.
                Piece::Handover(terminal) => {
                    if let Some(lent) = lent.take() {
                        Frame::TerminalTaken.encode(&mut out);
                        socket.write_all(&out.split()).await?;
                        if socket.lend(terminal.clone()).await {
                            let _ = lent.send(terminal);
                        }
                    }
                }
                Piece::Frame(Frame::Output(bytes) | Frame::Repaint(bytes)) | Piece::Rest(bytes)
                    if socket.is_lent() =>
                {
                    shown.extend_from_slice(&bytes);
                }
                Piece::Frame(frame) => frame.encode(&mut out),
                Piece::Rest(bytes) => out.extend_from_slice(&bytes),
            }
            let full = over || out.len() + shown.len() >= BATCH;
            next = if full { None } else { socket.another() };
        }
        socket.show_all(&shown).await?;
        socket.write_all(&out).await?;
        // Many clients that are behind now and then would each keep their most.
        (out, shown) = (BytesMut::new(), BytesMut::new());
        if over {
            socket.close();
            return Ok(());
        }
        if socket.written(taken) {
            let _ = messages.send(PaneMessage::Drained(id)).await;
        }
    }
    // Else the pane says the end itself. Its process is being ended.
    Frame::Notice(Bytes::from(BUG)).encode(&mut out);
    Frame::Exit(Bytes::from_static(br#"{"code":null,"signal":null}"#)).encode(&mut out);
    socket.write_all(&out).await?;
    socket.close();
    Ok(())
}

/// Who reads what a client sends.
struct Reader<'a> {
    id: u64,
    pane: PaneId,
    read_only: bool,
    room: Arc<Semaphore>,
    messages: &'a mpsc::Sender<PaneMessage>,
    events: &'a mpsc::Sender<Event>,
}

impl Reader<'_> {
    async fn serve(&self, mut frames: FrameReader<ReadEnd>) -> io::Result<By> {
        let mut passed = Vec::new();
        while let Some(frame) = frames.next_with(&mut passed).await? {
            // A process that ended takes nothing any more. The connection goes on
            // until its client has been told so.
            match frame {
                Frame::Input(bytes) if !self.read_only => self.typed(bytes).await,
                Frame::Resize { cols, rows } if !self.read_only => {
                    let what = ClientFact::Size { cols, rows };
                    let _ = self.events.send(Event::Client { pane: self.pane, what }).await;
                }
                Frame::HistoryRequest { lines } => {
                    let lines = usize::try_from(lines).unwrap_or(usize::MAX);
                    let _ = self.messages.send(PaneMessage::History { id: self.id, lines }).await;
                }
                Frame::Terminal => match Handover::new(std::mem::take(&mut passed)) {
                    Ok(terminal) => {
                        let id = self.id;
                        let _ = self.messages.send(PaneMessage::HandOver { id, terminal }).await;
                    }
                    // It goes on with frames.
                    Err(error) => tracing::debug!("a terminal was not taken: {error}"),
                },
                Frame::Detach => return Ok(By::Keys),
                _ => {}
            }
        }
        Ok(By::Other)
    }

    /// Passes on what the person typed once there is room for it, however long
    /// that takes: nothing of it is dropped, and this client alone waits.
    async fn typed(&self, bytes: Bytes) {
        let room = Arc::clone(&self.room).acquire_many_owned(pane_input::room(bytes.len()));
        // Nobody closes it.
        if let Ok(room) = room.await {
            let _ = self.messages.send(PaneMessage::Typed { id: self.id, bytes, room }).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream as Lease;

    use rustix::fs::{Mode, OFlags, open};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

    use super::*;

    /// A raw terminal: where it is read, and what a client lends.
    fn terminal(flags: OFlags) -> (std::fs::File, OwnedFd) {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let device = open(&name, OFlags::RDWR | OFlags::NOCTTY | flags, Mode::empty()).unwrap();
        let mut modes = tcgetattr(&device).unwrap();
        modes.make_raw();
        tcsetattr(&device, OptionalActions::Now, &modes).unwrap();
        (master.into(), device)
    }

    #[test]
    fn output_goes_over_to_a_terminal_without_a_gap() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let local = tokio::task::LocalSet::new();
        runtime.block_on(local.run_until(async {
            let (ours, theirs) = UnixStream::pair().unwrap();
            let (mut queue, socket) = client_queue(true);
            let (_read, write) = split(ours).unwrap();
            socket.open(write);
            let (mut screen, device) = terminal(OFlags::NONBLOCK);
            let (mut lease, lent) = Lease::pair().unwrap();
            let handover = Handover::new(vec![device, lent.into()]).unwrap();
            let (messages, _inbox) = mpsc::channel(8);
            let (lent, mut loan) = oneshot::channel();
            tokio::task::spawn_local(write_frames(socket, 7, messages, lent));
            let mut frames = FrameReader::new(theirs, BytesMut::new());

            let mut printed = Vec::new();
            for text in ["as a frame;", "another;"] {
                queue.output(text.as_bytes(), &mut None).unwrap();
                printed.extend_from_slice(text.as_bytes());
                queue.send(Frame::Notice(Bytes::from_static(b"between"))).unwrap();
            }
            // The last is printed while the client still shows what came before.
            queue.hand_over(&handover).unwrap();
            queue.output(b"meanwhile;", &mut None).unwrap();
            printed.extend_from_slice(b"meanwhile;");
            let mut shown = Vec::new();
            loop {
                match frames.next().await.unwrap().unwrap() {
                    Frame::Output(bytes) => shown.extend_from_slice(&bytes),
                    Frame::TerminalTaken => break,
                    _ => {}
                }
            }
            assert_eq!(shown, b"as a frame;another;");
            assert!(loan.try_recv().is_err(), "not before the client says so");
            lease.write_all(b"1").unwrap();
            let loan = loan.await.unwrap();
            for n in 0..100 {
                let text = format!("straight {n};");
                while queue.output(text.as_bytes(), &mut None).is_err() {
                    tokio::task::yield_now().await;
                }
                printed.extend_from_slice(text.as_bytes());
                tokio::task::yield_now().await;
            }
            while shown.len() < printed.len() {
                let mut piece = [0; 4096];
                let count = screen.read(&mut piece).unwrap();
                shown.extend_from_slice(&piece[..count]);
                tokio::task::yield_now().await;
            }
            assert_eq!(String::from_utf8(shown).unwrap(), String::from_utf8(printed).unwrap());

            // Taken back: nothing more comes, and the client is told.
            drop(lease.shutdown(std::net::Shutdown::Write));
            loan.ends().await;
            loan.give_back();
            assert_eq!(lease.read(&mut [0]).unwrap(), 0);
        }));
    }

    #[test]
    fn only_terminals_that_hold_nobody_up_are_taken() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let lease = || OwnedFd::from(Lease::pair().unwrap().0);
            let (_waits, blocking) = terminal(OFlags::empty());
            let (_pipe, pipe) = io::pipe().unwrap();
            let (_master, good) = terminal(OFlags::NONBLOCK);
            for passed in [
                vec![],
                vec![good.try_clone().unwrap()],
                vec![blocking, lease()],
                vec![pipe.into(), lease()],
                vec![good.try_clone().unwrap(), good.try_clone().unwrap()],
            ] {
                assert!(Handover::new(passed).is_err());
            }
            Handover::new(vec![good, lease()]).unwrap();
        });
    }
}
