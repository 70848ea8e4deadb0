//! Why a client got no result.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::StartError;
use crate::protocol::WireError;

/// Why a client got no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// Nobody listens on the socket.
    #[error("no server listens on {}; start one with `signaltty-server`", .socket.display())]
    NoServer {
        /// Where one was looked for.
        socket: PathBuf,
    },
    /// A server could not be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The server refuses the request.
    #[error(transparent)]
    Wire(WireError),
    /// The connection ended where an answer was due. Nobody knows whether what was
    /// asked for was done.
    #[error(
        "the server on {} went away before it answered {method}; whether that was done is not \
         known", .socket.display()
    )]
    Closed {
        /// Where the server listened.
        socket: PathBuf,
        /// What was asked for.
        method: String,
    },
    /// What came is not what the protocol says.
    #[error("{what} ({})", .socket.display())]
    Protocol {
        /// Where the other side listens.
        socket: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// This client did not read its events in time, and some were dropped.
    #[error("events were missed: {0}")]
    Behind(String),
    /// No answer came in time.
    #[error("{what} did not come within {limit:?}")]
    TimedOut {
        /// What was waited for.
        what: String,
        /// How long.
        limit: Duration,
    },
    /// The operating system refused something.
    #[error("cannot {operation} {}: {source}", .path.display())]
    Io {
        /// What was tried.
        operation: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

impl ClientError {
    pub(super) fn connecting(socket: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                Self::NoServer { socket: socket.to_owned() }
            }
            _ => Self::io("connect to", socket, source),
        }
    }

    pub(super) fn io(operation: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { operation, path: path.to_owned(), source }
    }

    pub(super) fn timed_out(what: &str, limit: Duration) -> Self {
        Self::TimedOut { what: what.to_owned(), limit }
    }

    /// What became of a request that could not be written.
    pub(super) fn writing(socket: &Path, method: &str, source: io::Error) -> Self {
        match is_end(&source) {
            true => Self::closed(socket, method),
            false => Self::io("write to", socket, source),
        }
    }

    pub(super) fn closed(socket: &Path, method: &str) -> Self {
        Self::Closed { socket: socket.to_owned(), method: method.to_owned() }
    }

    /// Whether the connection ended before anything was answered on it.
    pub(crate) fn is_end(&self) -> bool {
        match self {
            Self::Closed { .. } => true,
            Self::Io { source, .. } => is_end(source),
            _ => false,
        }
    }

    /// Whether the server refused with this code.
    pub fn has_code(&self, code: &str) -> bool {
        matches!(self, Self::Wire(error) if error.code == code)
    }
}

/// Whether an error of a connection is no more than its end, as the end of the
/// other side gives it.
pub(super) fn is_end(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset};
    matches!(error.kind(), BrokenPipe | ConnectionReset)
}
