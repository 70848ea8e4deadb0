//! Streams of the panes that are shown: a task and two bounded queues for each.
//!
//! A pane that prints faster than this client draws fills its own queue and
//! nobody else's; its task then does not read, and the server drops the backlog
//! and sends the whole screen once there is room again.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use bytes::Bytes;
use signaltty_core::id::PaneId;
use tokio::sync::{Notify, mpsc};
use tokio::task::AbortHandle;

use crate::cli::Context;
use crate::client::{Attached, Client, ClientError};
use crate::protocol::PaneAttach;
use crate::protocol::frame::Frame;
use crate::tui::msg::FromStream;

/// Pieces of output that may wait for the loop.
const PIECES: usize = 4;

/// Pieces of input that may wait for the server. Beyond that the person is told
/// that the program does not read.
const TYPED: usize = 1024;

/// Lines of history that are asked for: all that a server keeps by default.
const HISTORY: u32 = 10_000;

pub(super) struct Streams {
    context: Context,
    open: HashMap<PaneId, Stream>,
    notify: Arc<Notify>,
    /// What this side has to say itself.
    own: Vec<(PaneId, u64, FromStream)>,
}

struct Stream {
    number: u64,
    pieces: mpsc::Receiver<FromStream>,
    frames: mpsc::Sender<Frame>,
    task: AbortHandle,
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Streams {
    pub(super) fn new(context: Context) -> Self {
        Self { context, open: HashMap::new(), notify: Arc::default(), own: Vec::new() }
    }

    /// Follows a pane; a stream that there was ends.
    pub(super) fn open(&mut self, pane: PaneId, number: u64, (cols, rows): (u16, u16)) {
        let (sender, pieces) = mpsc::channel(PIECES);
        let (frames, queue) = mpsc::channel(TYPED);
        let ask = PaneAttach {
            pane: pane.to_string(),
            cols,
            rows,
            read_only: false,
            history: 0,
            clipboard: false,
            background: true,
        };
        let out = Pieces { sender, notify: Arc::clone(&self.notify) };
        let context = self.context.clone();
        let task = tokio::spawn(async move {
            if let Err(error) = follow(&context, &ask, queue, &out).await {
                out.send(FromStream::Failed(context.told(error).to_string())).await;
            }
        });
        let stream = Stream { number, pieces, frames, task: task.abort_handle() };
        self.open.insert(pane, stream);
    }

    pub(super) fn shut(&mut self, pane: PaneId) {
        self.open.remove(&pane);
    }

    pub(super) fn send(&mut self, pane: PaneId, bytes: Vec<u8>) {
        self.frame(pane, Frame::Input(Bytes::from(bytes)));
    }

    pub(super) fn history(&mut self, pane: PaneId) {
        self.frame(pane, Frame::HistoryRequest { lines: HISTORY });
    }

    fn frame(&mut self, pane: PaneId, frame: Frame) {
        let Entry::Occupied(stream) = self.open.entry(pane) else { return };
        let number = stream.get().number;
        if let Err(mpsc::error::TrySendError::Full(_)) = stream.get().frames.try_send(frame) {
            let text = "the program in this pane does not read; what you typed was dropped";
            self.own.push((pane, number, FromStream::Notice(text.to_owned())));
            self.notify.notify_one();
        }
    }

    /// Whether a piece of the pane with the focus is there, or of another one.
    pub(super) fn ready(&self, focus: Option<PaneId>) -> (bool, bool) {
        let there = |focused: bool| {
            let mut open = self.open.iter().filter(|(pane, _)| (Some(**pane) == focus) == focused);
            open.any(|(_, stream)| !stream.pieces.is_empty())
        };
        (!self.own.is_empty() || there(true), there(false))
    }

    /// Waits for a piece.
    pub(super) async fn wait(&self) {
        self.notify.notified().await;
    }

    /// All that is there of the pane with the focus.
    pub(super) fn focused(&mut self, focus: Option<PaneId>) -> Vec<(PaneId, u64, FromStream)> {
        let mut taken = std::mem::take(&mut self.own);
        let pane = focus.and_then(|pane| Some((pane, self.open.get_mut(&pane)?)));
        if let Some((pane, stream)) = pane {
            while let Ok(piece) = stream.pieces.try_recv() {
                taken.push((pane, stream.number, piece));
                if taken.len() > PIECES {
                    break;
                }
            }
        }
        taken
    }

    /// One piece of each other pane.
    pub(super) fn others(&mut self, focus: Option<PaneId>) -> Vec<(PaneId, u64, FromStream)> {
        let others = self.open.iter_mut().filter(|(pane, _)| Some(**pane) != focus);
        let piece = |(pane, stream): (&PaneId, &mut Stream)| {
            Some((*pane, stream.number, stream.pieces.try_recv().ok()?))
        };
        others.filter_map(piece).collect()
    }
}

/// A task's way to the loop.
struct Pieces {
    sender: mpsc::Sender<FromStream>,
    notify: Arc<Notify>,
}

impl Pieces {
    async fn send(&self, piece: FromStream) {
        // The loop that is gone needs no piece.
        if self.sender.send(piece).await.is_ok() {
            self.notify.notify_one();
        }
    }
}

async fn follow(
    context: &Context,
    ask: &PaneAttach,
    mut queue: mpsc::Receiver<Frame>,
    out: &Pieces,
) -> Result<(), ClientError> {
    let client = Client::connect(&context.paths).await?;
    let Attached { mut frames, mut writer, size } = client.attach(ask).await?;
    let (cols, rows) = size.unwrap_or((ask.cols, ask.rows));
    out.send(FromStream::Begun { cols, rows }).await;
    let send = async {
        while let Some(frame) = queue.recv().await {
            if writer.send(&frame).await.is_err() {
                // What came before the end says why, and is still to be read.
                break;
            }
        }
        std::future::pending::<()>().await;
    };
    let show = async {
        loop {
            let piece = match frames.next().await {
                Ok(Some(Frame::Output(bytes))) => FromStream::Output(bytes),
                Ok(Some(Frame::Repaint(bytes))) => FromStream::Repaint(bytes),
                Ok(Some(Frame::HistoryReply(lines))) => FromStream::History(lines),
                Ok(Some(Frame::Notice(text))) => {
                    FromStream::Notice(String::from_utf8_lossy(&text).into_owned())
                }
                Ok(Some(Frame::Exit(_) | Frame::Detach) | None) | Err(_) => {
                    return out.send(FromStream::Ended).await;
                }
                Ok(Some(_)) => continue,
            };
            out.send(piece).await;
        }
    };
    // Each side goes on while the other one waits.
    tokio::select! {
        () = send => {}
        () = show => {}
    }
    Ok(())
}
