//! A connection that carries events.

use std::path::PathBuf;

use serde::Deserialize;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use super::ClientError;
use super::line::LineReader;
use crate::protocol::EventLine;

/// Events as they happen. A client that does not read in time is told so by
/// the server, never served late.
#[derive(Debug)]
pub struct Events {
    socket: PathBuf,
    lines: LineReader<OwnedReadHalf>,
    /// Kept open: a server takes its end for the client's.
    _writer: OwnedWriteHalf,
}

impl Events {
    pub(super) fn new(
        socket: PathBuf,
        lines: LineReader<OwnedReadHalf>,
        writer: OwnedWriteHalf,
    ) -> Self {
        Self { socket, lines, _writer: writer }
    }

    /// The next event; `None` when the server is gone. May be dropped while it
    /// waits without losing one.
    ///
    /// # Errors
    ///
    /// [`ClientError::Behind`] where events were missed; the other variants
    /// where the connection fails, or a line is no event.
    pub async fn next(&mut self) -> Result<Option<EventLine>, ClientError> {
        let Some(line) = self.lines.next().await.map_err(|e| e.at(&self.socket))? else {
            return Ok(None);
        };
        serde_json::from_slice(&line).map(Some).map_err(|error| {
            if let Ok(Missed { event, payload }) = serde_json::from_slice(&line)
                && event == MISSED
            {
                return ClientError::Behind(payload.message);
            }
            ClientError::Protocol {
                socket: self.socket.clone(),
                what: format!("the server sent a line that is no event: {error}"),
            }
        })
    }
}

/// The last line of a subscription that fell behind. It has no number.
#[derive(Deserialize)]
struct Missed {
    event: String,
    payload: Why,
}

#[derive(Deserialize)]
struct Why {
    message: String,
}

const MISSED: &str = "events.missed";
