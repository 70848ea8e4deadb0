//! An attached pane from its first screen to its end.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::timeout;

use super::detach::DetachKeys;
use super::terminal::{self, RawTerminal};
use super::typing::Typing;
use crate::cli::suspend::{Asked, JobControl};
use crate::cli::{Failure, Signals};
use crate::client::{Attached, FrameWriter, ReadEnd};
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
    /// Whether the server may write this terminal itself.
    pub(super) lend: bool,
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
    /// Job control asked for something.
    Job(Asked),
}

impl Session {
    /// Shows the pane until something ends it. The terminal is itself again
    /// afterwards.
    pub(super) async fn run(
        mut self,
        attached: Attached,
        jobs: &mut JobControl,
    ) -> Result<(Ended, Vec<String>), Failure> {
        // Signals first: from here on none may end the process by itself.
        let mut signals = Signals::new().map_err(|error| Failure::Io("wait for signals", error))?;
        let raw = RawTerminal::enter().map_err(|error| Failure::Io("set the terminal", error))?;
        let typed = Typing::new().map_err(|error| Failure::Io("start a thread", error))?;
        let Attached { frames, mut writer, .. } = attached;
        if self.lend {
            // Where it has no name to be opened by, frames do.
            let _ = raw.lend(&mut writer);
        }
        // Each side goes on while another one waits: a server that does not
        // read must not keep this client from reading, or both wait for ever.
        let Self { keys, read_only, history, notices, .. } = &mut self;
        let mut lost = 0;
        let ended = tokio::select! {
            ended = send(writer, typed, keys, *read_only, &mut lost) => ended,
            ended = show(frames, &raw, *history, notices) => ended,
            name = signals.next() => Ok(Ended::Signal(name)),
            asked = jobs.next() => Ok(Ended::Job(asked)),
        };
        if matches!(ended, Ok(Ended::Exited(_) | Ended::ServerGone)) {
            // Who typed on did not see that it ended.
            raw.discard_typed();
        }
        drop(raw);
        if lost > 0 {
            notices.push(format!(
                "about {lost} typed bytes did not get to the program, which reads nothing"
            ));
        }
        Ok((ended?, self.notices))
    }
}

/// Sends what is typed, and the size of the terminal whenever it changes.
///
/// The keys that detach are seen however much waits to be sent: a program that
/// reads nothing must not hold its person.
async fn send(
    mut writer: FrameWriter,
    mut typed: Typing,
    keys: &mut DetachKeys,
    read_only: bool,
    lost: &mut usize,
) -> Result<Ended, Failure> {
    let mut resized = signal(SignalKind::window_change())
        .map_err(|error| Failure::Io("wait for signals", error))?;
    loop {
        tokio::select! {
            flushed = writer.flush(), if writer.waiting() > 0 => {
                if flushed.is_err() {
                    // What came before the end of the connection says why, and
                    // that is still to be read.
                    std::future::pending::<()>().await;
                }
            }
            bytes = typed.next() => {
                // What came with the keys that detach is not stuck, as what waits
                // from before is.
                let stuck = writer.waiting() > 0;
                let now = bytes.as_deref().map(|bytes| keys.feed(bytes));
                let input = now.as_ref().map(|now| now.input.clone()).unwrap_or_default();
                if !input.is_empty() && !read_only {
                    if writer.waiting() + input.len() > MAX_WAITING {
                        *lost += input.len();
                    } else {
                        writer.queue(&Frame::Input(input.into()));
                    }
                }
                if now.is_none_or(|now| now.detach) {
                    // Where something waits already, the end of the connection
                    // says it.
                    if !stuck {
                        writer.queue(&Frame::Detach);
                        let _ = timeout(LAST_WORDS, writer.flush()).await;
                    }
                    *lost += writer.waiting();
                    return Ok(Ended::Detached);
                }
            }
            _ = resized.recv() => {
                if let Ok((cols, rows)) = terminal::size() {
                    writer.queue(&Frame::Resize { cols, rows });
                }
            }
        }
    }
}

/// Shows what comes.
async fn show(
    mut frames: FrameReader<ReadEnd>,
    raw: &RawTerminal,
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
            // Everything that came before is shown.
            Frame::TerminalTaken => raw.begin_loan(),
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

/// How long what was typed with the keys that detach may take to be sent.
const LAST_WORDS: Duration = Duration::from_secs(1);

const MAX_NOTICES: usize = 16;

/// Bytes that may wait to be sent. A person's paste fits; what comes after is
/// counted and not sent.
const MAX_WAITING: usize = 16 * 1024 * 1024;
