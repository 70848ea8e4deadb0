//! A connection that carries events.

use std::path::PathBuf;

use serde::Deserialize;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use super::ClientError;
use super::line::LineReader;
use crate::protocol::{EventCursor, EventLine, Subscribed};

/// Events as they happen. A client that does not read in time is told so by
/// the server, never served late.
#[derive(Debug)]
pub struct Events {
    socket: PathBuf,
    lines: LineReader<OwnedReadHalf>,
    /// Kept open: a server takes its end for the client's.
    _writer: OwnedWriteHalf,
    journal_id: Option<String>,
    seq: u64,
    /// How many events of the past are still to come.
    past: usize,
}

impl Events {
    pub(super) fn new(
        socket: PathBuf,
        lines: LineReader<OwnedReadHalf>,
        writer: OwnedWriteHalf,
        reply: Subscribed,
        from: Option<&EventCursor>,
    ) -> Self {
        let seq = from.map_or(reply.seq, |from| from.seq);
        let (journal_id, past) = (reply.journal_id, reply.replayed);
        Self { socket, lines, _writer: writer, journal_id, seq, past }
    }

    /// Where a later subscription goes on without a gap, and without an event
    /// that was returned here; `None` while the server has no journal.
    ///
    /// Save it after each event that was dealt with.
    pub fn cursor(&self) -> Option<EventCursor> {
        let journal_id = Some(self.journal_id.clone()?);
        Some(EventCursor { journal_id, seq: self.seq })
    }

    /// Whether all that happened before the subscription was returned.
    pub fn is_present(&self) -> bool {
        self.past == 0
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
        let event = serde_json::from_slice::<EventLine>(&line);
        if let Ok(event) = &event {
            self.past = self.past.saturating_sub(1);
            self.seq = event.seq.unwrap_or(self.seq);
        }
        event.map(Some).map_err(|error| {
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
