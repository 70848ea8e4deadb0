//! The client library: one connection to a server, and how to get one.
//!
//! A [`Client`] asks one thing at a time and waits for the answer. For events
//! and for an attached pane the connection changes its kind: [`Client::events`]
//! and [`Client::attach`] consume the client. Whatever is read is bounded. A
//! client never retries by itself, since it cannot know whether a request took
//! effect; [`connect_live`] asks for something that has none, first.

mod attached;
mod error;
mod events;
mod line;
mod log;
mod pipeline;
mod start;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

pub use crate::stream::ReadEnd;
pub use attached::{Attached, FrameWriter};
pub use error::ClientError;
pub use events::Events;
pub(crate) use log::Log;
pub use pipeline::{Replies, Requests};
pub(crate) use start::{LONGEST_STOP, Reached, command, reach, wait};
pub use start::{StartError, connect_live, connect_or_start, start_server};

use crate::config::Paths;
use crate::protocol::{
    EventsSubscribe, MAX_REQUEST, Outcome, PaneAttach, Reply, Request, Subscribed, VERSION,
    WireError,
};
use line::LineReader;

/// The longest reply or event line in bytes: a server with its 10,000 panes
/// answers with less.
pub const MAX_REPLY: usize = 64 * 1024 * 1024;

/// A connection to a server.
#[derive(Debug)]
pub struct Client {
    socket: PathBuf,
    lines: LineReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    requests: u64,
}

impl Client {
    /// Connects to the server of these paths, without a word to it. Starts none;
    /// see [`connect_or_start`].
    ///
    /// # Errors
    ///
    /// [`ClientError::NoServer`] where nobody listens.
    pub async fn connect(paths: &Paths) -> Result<Self, ClientError> {
        let stream = UnixStream::connect(&paths.socket)
            .await
            .map_err(|source| ClientError::connecting(&paths.socket, source))?;
        Ok(Self::over(stream, paths.socket.clone(), MAX_REPLY))
    }

    fn over(stream: UnixStream, socket: PathBuf, max_reply: usize) -> Self {
        let (reader, writer) = stream.into_split();
        Self { socket, lines: LineReader::new(reader, max_reply), writer, requests: 0 }
    }

    /// Asks for `method` and waits for its result, however long it takes.
    ///
    /// # Errors
    ///
    /// [`ClientError::Wire`] where the server refuses; the other variants where
    /// no answer came. After those the client is of no more use.
    pub async fn call<P, R>(&mut self, method: &str, params: &P) -> Result<R, ClientError>
    where
        P: Serialize + ?Sized,
        R: DeserializeOwned,
    {
        self.requests += 1;
        let id = self.requests.to_string();
        let mut line = self.request_line(&id, method, params)?;
        line.push(b'\n');
        // A server that refuses a connection answers before it reads, so the
        // answer is looked for even where writing failed.
        let written = self.writer.write_all(&line).await;
        let answer = match (self.lines.next().await, written) {
            (Ok(Some(answer)), _) => answer,
            (Err(error), Ok(())) => return Err(error.at(&self.socket)),
            (Ok(None), Ok(())) => return Err(ClientError::closed(&self.socket, method)),
            (_, Err(source)) => return Err(ClientError::writing(&self.socket, method, source)),
        };
        let reply: Reply = serde_json::from_slice(&answer)
            .map_err(|error| self.broken(format!("the answer to {method} is no reply: {error}")))?;
        match reply.outcome {
            Outcome::Error(error) => Err(ClientError::Wire(error)),
            Outcome::Result(_) if reply.id != id => {
                Err(self.broken(format!("got the reply to another request than {method}")))
            }
            Outcome::Result(value) => serde_json::from_value(value).map_err(|error| {
                self.broken(format!("the result of {method} has another shape: {error}"))
            }),
        }
    }

    /// The same as [`call`](Self::call), with a time limit.
    ///
    /// # Errors
    ///
    /// [`ClientError::TimedOut`], and those of `call`.
    pub async fn call_within<P, R>(
        &mut self,
        limit: Duration,
        method: &str,
        params: &P,
    ) -> Result<R, ClientError>
    where
        P: Serialize + ?Sized,
        R: DeserializeOwned,
    {
        tokio::time::timeout(limit, self.call(method, params))
            .await
            .unwrap_or_else(|_| Err(ClientError::timed_out(method, limit)))
    }

    /// Subscribes to events. Those that happen after this returned are not
    /// missed.
    ///
    /// # Errors
    ///
    /// Those of [`call`](Self::call).
    pub async fn events(self) -> Result<Events, ClientError> {
        self.subscribe(&EventsSubscribe::default()).await
    }

    /// Subscribes to some events, from the past on if that is asked for.
    ///
    /// # Errors
    ///
    /// [`ClientError::Wire`] with the code `HISTORY_LOST`, `TRUNCATED`,
    /// `UNAVAILABLE` or `CURSOR_AHEAD` where the past is not complete: the state
    /// has to be read again. The other variants are those of [`call`](Self::call).
    pub async fn subscribe(mut self, ask: &EventsSubscribe) -> Result<Events, ClientError> {
        let reply: Value = self.call("events.subscribe", ask).await?;
        if reply.get("subscribed").and_then(Value::as_bool) == Some(false) {
            let text = |name: &str| reply.get(name).and_then(Value::as_str).unwrap_or_default();
            let (code, message) = (text("replay").to_uppercase(), text("message").to_owned());
            return Err(ClientError::Wire(WireError::new(&code, message).with_details(reply)));
        }
        let reply: Subscribed = serde_json::from_value(reply).map_err(|error| {
            self.broken(format!("the result of events.subscribe has another shape: {error}"))
        })?;
        Ok(Events::new(self.socket, self.lines, self.writer, reply, ask.from.as_ref()))
    }

    /// Attaches to a pane.
    ///
    /// # Errors
    ///
    /// Those of [`call`](Self::call); the code is `PANE_NOT_LIVE` where nothing
    /// runs in the pane.
    pub async fn attach(mut self, params: &PaneAttach) -> Result<Attached, ClientError> {
        let reply: Value = self.call("pane.attach", params).await?;
        let number = |name: &str| u16::try_from(reply.get(name)?.as_u64()?).ok();
        let size = number("cols").zip(number("rows"));
        Attached::new(self.socket, self.lines, self.writer, size)
    }

    /// Splits the connection, for many requests whose replies come later, in
    /// order.
    pub fn pipeline(self) -> (Requests, Replies) {
        let Self { socket, lines, writer, requests } = self;
        let requests = Requests { socket: socket.clone(), writer, requests };
        (requests, Replies { socket, lines })
    }

    /// Waits until the server closes the connection, as it does when it ends.
    ///
    /// # Errors
    ///
    /// [`ClientError::TimedOut`] where it does not within the limit.
    pub async fn closed(mut self, limit: Duration) -> Result<(), ClientError> {
        let ended = async { while let Ok(Some(_)) = self.lines.next().await {} };
        tokio::time::timeout(limit, ended)
            .await
            .map_err(|_| ClientError::timed_out("the end of the server", limit))
    }

    fn request_line<P: Serialize + ?Sized>(
        &self,
        id: &str,
        method: &str,
        params: &P,
    ) -> Result<Vec<u8>, ClientError> {
        request_line(&self.socket, id, method, params)
    }

    fn broken(&self, what: String) -> ClientError {
        ClientError::Protocol { socket: self.socket.clone(), what }
    }
}

/// A request without its newline.
fn request_line<P: Serialize + ?Sized>(
    socket: &Path,
    id: &str,
    method: &str,
    params: &P,
) -> Result<Vec<u8>, ClientError> {
    let no_json = |error| ClientError::Protocol {
        socket: socket.to_owned(),
        what: format!("{method} cannot be written as JSON: {error}"),
    };
    let request = Request {
        v: VERSION.to_owned(),
        id: id.to_owned(),
        method: method.to_owned(),
        params: serde_json::to_value(params).map_err(no_json)?,
    };
    let line = serde_json::to_vec(&request).map_err(no_json)?;
    if line.len() > MAX_REQUEST {
        let message = format!(
            "{method} would take {} bytes, a request may have {MAX_REQUEST}; is the \
                 environment or an argument very long?",
            line.len()
        );
        return Err(ClientError::Wire(WireError::new(crate::protocol::code::TOO_LARGE, message)));
    }
    Ok(line)
}
