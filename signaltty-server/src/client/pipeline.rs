//! Many requests on one connection, whose replies come in order.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use super::line::LineReader;
use super::{ClientError, request_line};
use crate::protocol::{Outcome, Reply, WireError};

/// The side that asks.
#[derive(Debug)]
pub struct Requests {
    pub(super) socket: PathBuf,
    pub(super) writer: OwnedWriteHalf,
    pub(super) requests: u64,
}

/// The side that is answered. Must be read while requests are sent: a server
/// stops reading from a client that does not.
#[derive(Debug)]
pub struct Replies {
    pub(super) socket: PathBuf,
    pub(super) lines: LineReader<OwnedReadHalf>,
}

impl Requests {
    /// Sends a request.
    ///
    /// # Errors
    ///
    /// When it could not be written, or is too long.
    pub async fn send<P>(&mut self, method: &str, params: &P) -> Result<(), ClientError>
    where
        P: Serialize + ?Sized,
    {
        self.requests += 1;
        let mut line = request_line(&self.socket, &self.requests.to_string(), method, params)?;
        line.push(b'\n');
        let written = self.writer.write_all(&line).await;
        written.map_err(|source| ClientError::writing(&self.socket, method, source))
    }
}

impl Replies {
    /// The reply to the first request that has none yet; `None` at the end of
    /// the connection.
    ///
    /// # Errors
    ///
    /// When the connection fails, or a line is no reply.
    pub async fn next(&mut self) -> Result<Option<Result<Value, WireError>>, ClientError> {
        let Some(line) = self.lines.next().await.map_err(|error| error.at(&self.socket))? else {
            return Ok(None);
        };
        let reply: Reply = serde_json::from_slice(&line).map_err(|error| {
            let what = format!("the server sent a line that is no reply: {error}");
            ClientError::Protocol { socket: self.socket.clone(), what }
        })?;
        Ok(Some(match reply.outcome {
            Outcome::Result(value) => Ok(value),
            Outcome::Error(error) => Err(error),
        }))
    }
}
