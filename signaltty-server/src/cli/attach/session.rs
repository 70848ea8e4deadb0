//! An attached pane from its first screen to its end.

use std::io;

use bytes::Bytes;
use rustix::io::Errno;
use tokio::net::unix::OwnedReadHalf;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::detach::DetachKeys;
use super::terminal::{self, RawTerminal};
use crate::cli::{Failure, Signals};
use crate::client::{Attached, FrameWriter};
use crate::protocol::frame::{Frame, FrameReader};

/// How the person wants it.
#[derive(Debug)]
pub(super) struct Session {
    /// What detaches.
    pub(super) keys: DetachKeys,
    /// Whether nothing that is typed goes out.
    pub(super) read_only: bool,
    /// Whether history was asked for.
    pub(super) history: bool,
    /// Lines of the server for the person. They would spoil the screen, so
    /// they are shown after it.
    pub(super) notices: Vec<String>,
}

/// Why it ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// The person pressed the keys, or their terminal is gone.
    Detached,
    /// The server ended it; the pane goes on.
    DetachedByServer,
    /// The pane's process ended, as this JSON says.
    Exited(Bytes),
    /// The connection ended.
    ServerGone,
    /// A signal asked this client to end.
    Signal(&'static str),
}

impl Session {
    /// Shows the pane until something ends it. The terminal is itself again
    /// afterwards.
    pub(super) async fn run(mut self, attached: Attached) -> Result<(Ended, Vec<String>), Failure> {
        // Signals first: from here on none may end the process by itself.
        let mut signals = Signals::new().map_err(|error| Failure::Io("wait for signals", error))?;
        let raw = RawTerminal::enter().map_err(|error| Failure::Io("set the terminal", error))?;
        let typed = typed().map_err(|error| Failure::Io("start a thread", error))?;
        let Attached { frames, writer, .. } = attached;
        // Each side goes on while another one waits: a server that does not
        // read must not keep this client from reading, or both wait for ever.
        let Self { keys, read_only, history, notices } = &mut self;
        let ended = tokio::select! {
            ended = send(writer, typed, keys, *read_only) => ended,
            ended = show(frames, *history, notices) => ended,
            name = signals.next() => Ok(Ended::Signal(name)),
        };
        drop(raw);
        Ok((ended?, self.notices))
    }
}

/// Sends what is typed, and the size of the terminal whenever it changes.
async fn send(
    mut writer: FrameWriter,
    mut typed: mpsc::Receiver<Vec<u8>>,
    keys: &mut DetachKeys,
    read_only: bool,
) -> Result<Ended, Failure> {
    let mut resized = signal(SignalKind::window_change())
        .map_err(|error| Failure::Io("wait for signals", error))?;
    loop {
        tokio::select! {
            bytes = typed.recv() => {
                let now = bytes.as_deref().map(|bytes| keys.feed(bytes));
                let input = now.as_ref().map(|now| now.input.clone()).unwrap_or_default();
                if !input.is_empty() && !read_only {
                    deliver(&mut writer, &Frame::Input(input.into())).await;
                }
                if now.is_none_or(|now| now.detach) {
                    deliver(&mut writer, &Frame::Detach).await;
                    return Ok(Ended::Detached);
                }
            }
            _ = resized.recv() => {
                if let Ok((cols, rows)) = terminal::size() {
                    deliver(&mut writer, &Frame::Resize { cols, rows }).await;
                }
            }
        }
    }
}

/// Sends one frame. Where the connection is gone, waits for ever: what came
/// before its end says why, and that is still to be read.
async fn deliver(writer: &mut FrameWriter, frame: &Frame) {
    if writer.send(frame).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Shows what comes.
async fn show(
    mut frames: FrameReader<OwnedReadHalf>,
    mut history: bool,
    notices: &mut Vec<String>,
) -> Result<Ended, Failure> {
    loop {
        let frame = match frames.next().await {
            Ok(Some(frame)) => frame,
            Ok(None) => return Ok(Ended::ServerGone),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(Failure::Io("understand the server", error));
            }
            Err(_) => return Ok(Ended::ServerGone),
        };
        let shown = match frame {
            Frame::Output(bytes) | Frame::Repaint(bytes) => terminal::write(&bytes),
            Frame::HistoryReply(lines) if history => {
                history = false;
                terminal::write_history(&lines)
            }
            Frame::Notice(line) => {
                notices.push(String::from_utf8_lossy(&line).into_owned());
                let surplus = notices.len().saturating_sub(MAX_NOTICES);
                notices.drain(..surplus);
                Ok(())
            }
            Frame::Exit(status) => return Ok(Ended::Exited(status)),
            Frame::Detach => return Ok(Ended::DetachedByServer),
            _ => Ok(()),
        };
        shown.map_err(|error| Failure::Io("write to the terminal", error))?;
    }
}

/// What is typed, read by a thread of its own: not every standard input can be
/// waited for, and a read that waits must not hold up the rest. At most
/// [`MAX_TYPED`] pieces wait; the terminal keeps what comes after them.
fn typed() -> io::Result<mpsc::Receiver<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel(MAX_TYPED);
    let read = move || {
        let mut buffer = [0; 4096];
        loop {
            match rustix::io::read(io::stdin(), &mut buffer) {
                Ok(length @ 1..) => {
                    let bytes = buffer.get(..length).unwrap_or_default().to_vec();
                    if sender.blocking_send(bytes).is_err() {
                        return;
                    }
                }
                Err(Errno::INTR) => {}
                Ok(_) | Err(_) => return,
            }
        }
    };
    let thread = std::thread::Builder::new().name("terminal".to_owned());
    thread.spawn(read).map(|_| receiver)
}

const MAX_NOTICES: usize = 16;

const MAX_TYPED: usize = 16;
