//! An attached connection: frames both ways.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::{Bytes, BytesMut};
use serde_json::Value;
use signaltty_core::id::PaneId;
use tokio::net::UnixStream;
use tokio::sync::{Semaphore, mpsc};

use super::client_queue::{ClientSocket, client_queue};
use super::event::{ClientFact, Event};
use super::pane_clients::AttachedClient;
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
        let (queue, socket) = client_queue();
        let Self { pane, messages, room, read_only, history, .. } = self;
        let client = AttachedClient::new(id, queue, read_only);
        let attach = PaneMessage::Attach { client, history };
        if messages.send(attach).await.is_err() {
            return Err(super::asked::not_live(pane, "exited"));
        }
        Ok(Attached { pane, messages, room, read_only, id, socket })
    }
}

/// Serves frames until either side detaches or the process ends.
pub(crate) async fn serve(
    stream: UnixStream,
    buffered: BytesMut,
    attached: Attached,
    events: mpsc::Sender<Event>,
) -> io::Result<()> {
    let Attached { pane, messages, room, read_only, id, socket } = attached;
    let (read, write) = match split(stream) {
        Ok(ends) => ends,
        Err(error) => {
            let _ = messages.send(PaneMessage::Detach(id)).await;
            return Err(error);
        }
    };
    socket.open(write);
    let _ = events.send(Event::Client { pane, what: ClientFact::Seen }).await;
    let writer = write_frames(socket, id, messages.clone());
    let client = Reader { id, pane, read_only, room, messages: &messages, events: &events };
    let reader = client.serve(FrameReader::new(read, buffered));
    // Both live until the pane knows: a client that sees the end of its
    // connection no longer drives.
    tokio::pin!(writer, reader);
    let result = tokio::select! {
        result = &mut writer => result,
        result = &mut reader => result,
    };
    let _ = messages.send(PaneMessage::Detach(id)).await;
    result
}

/// Writes what waits, several frames at once. Ends after the frame that says
/// that the process ended, which it says itself where the pane no longer can.
async fn write_frames(
    mut socket: ClientSocket,
    id: u64,
    messages: mpsc::Sender<PaneMessage>,
) -> io::Result<()> {
    let mut out = BytesMut::new();
    while let Some(piece) = socket.next().await {
        let mut taken = 1;
        let mut over = piece.is_last();
        piece.encode(&mut out);
        while !over && out.len() < BATCH {
            let Some(next) = socket.another() else { break };
            taken += 1;
            over = next.is_last();
            next.encode(&mut out);
        }
        socket.write_all(&out).await?;
        // Many clients that are behind now and then would each keep their most.
        out = BytesMut::new();
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
    async fn serve(&self, mut frames: FrameReader<ReadEnd>) -> io::Result<()> {
        while let Some(frame) = frames.next().await? {
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
                Frame::Detach => return Ok(()),
                _ => {}
            }
        }
        Ok(())
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
