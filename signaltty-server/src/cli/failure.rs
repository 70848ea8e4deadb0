//! How a command ends: exit codes, and errors for people and for scripts.

use std::io;

use serde_json::{Value, json};

use super::link;
use super::text::{safe, safe_lines};
use crate::client::{ClientError, StartError};
use crate::config::PathsError;
use crate::protocol::{WireError, code};

/// The exit codes of the command line. Scripts rely on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// It failed.
    Failed = 1,
    /// The arguments make no sense.
    Usage = 2,
    /// No server listens.
    NoServer = 3,
    /// It took too long.
    TimedOut = 4,
    /// The conversation could not be proven.
    Unproven = 5,
    /// A server would not touch the state, or found it locked.
    Refused = 6,
    /// What was waited for was replaced by something else.
    Replaced = 7,
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The server said so, or could not be asked.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// There is no place for a server.
    #[error(transparent)]
    Paths(#[from] PathsError),
    /// The arguments make no sense.
    #[error("{0}")]
    Usage(String),
    /// The command itself cannot be done.
    #[error("{0}")]
    Failed(WireError),
    /// Something on this side of the socket failed.
    #[error("cannot {0}: {1}")]
    Io(&'static str, io::Error),
    /// Whoever reads the output has gone.
    #[error("nobody reads the output")]
    Unread,
}

impl Failure {
    /// A failure of the command itself.
    pub(crate) fn new(code: &str, message: impl Into<String>) -> Self {
        Self::Failed(WireError::new(code, message))
    }

    /// A failed write to standard output.
    pub(crate) fn writing(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::Unread;
        }
        Self::Io(OUTPUT, error)
    }

    /// The same over a link to another machine, where the end of a connection is
    /// that of the link.
    pub(crate) fn over(self, host: Option<&str>) -> Self {
        match (host, &self) {
            (Some(host), Self::Client(ClientError::Protocol { what, .. })) => {
                link::ended(host, what)
            }
            (Some(host), Self::Client(error @ ClientError::Closed { .. })) => {
                link::ended(host, &error.to_string())
            }
            (Some(host), Self::Client(ClientError::Io { source, .. })) => {
                link::ended(host, &source.to_string())
            }
            _ => self,
        }
    }

    /// Whether a connection ended, and nothing was refused.
    pub(crate) fn is_link(&self) -> bool {
        match self {
            Self::Client(
                ClientError::Closed { .. } | ClientError::Protocol { .. } | ClientError::Io { .. },
            ) => true,
            Self::Failed(error) => error.code == NO_SERVER,
            _ => false,
        }
    }

    /// The exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Client(ClientError::NoServer { .. } | ClientError::Closed { .. }) => {
                Exit::NoServer
            }
            Self::Client(ClientError::Start(error)) if error.is_refusal() => Exit::Refused,
            Self::Client(ClientError::Start(StartError::NoPlace { .. })) => Exit::Usage,
            Self::Client(ClientError::TimedOut { .. }) => Exit::TimedOut,
            Self::Client(ClientError::Wire(error)) | Self::Failed(error) => of_code(&error.code),
            Self::Paths(_) | Self::Usage(_) => Exit::Usage,
            Self::Unread => Exit::Done,
            _ => Exit::Failed,
        }
    }

    /// For scripts.
    pub(crate) fn wire(&self) -> WireError {
        let code = match self {
            Self::Client(ClientError::Wire(error)) | Self::Failed(error) => return error.clone(),
            Self::Client(ClientError::NoServer { .. } | ClientError::Closed { .. }) => NO_SERVER,
            Self::Client(ClientError::Start(error)) if error.is_refusal() => "STATE_REFUSED",
            Self::Client(ClientError::Start(StartError::NoPlace { .. })) => "USAGE",
            Self::Client(ClientError::Start(_)) => "START_FAILED",
            Self::Client(ClientError::TimedOut { .. }) => code::TIMEOUT,
            Self::Client(ClientError::Protocol { .. }) => "PROTOCOL",
            Self::Client(_) | Self::Io(..) | Self::Unread => code::IO_ERROR,
            Self::Paths(_) | Self::Usage(_) => USAGE,
        };
        WireError::new(code, self.to_string())
    }

    /// The same as one line of JSON.
    pub(crate) fn json(&self) -> Value {
        let mut error = self.wire();
        if error.details.is_null() {
            error.details = json!({});
        }
        json!({ "error": error })
    }

    /// For people; several lines.
    pub(crate) fn human(&self) -> String {
        let mut text = format!("signaltty: {}\n", safe_lines(&self.to_string()));
        let error = self.wire();
        for seen in texts(&error.details, &["evidence"]) {
            text.push_str(&format!("  seen: {seen}\n"));
        }
        if error.code == code::UNKNOWN_METHOD {
            // What this program asks for is known to a server of its version.
            text.push_str(&format!(
                "  the server is older than this program, which is {}; `signaltty status` shows \
                 its version; end it with `signaltty shutdown` to have a new one started\n",
                env!("CARGO_PKG_VERSION")
            ));
        }
        let mut near = texts(&error.details, &["near", "candidates", "matches"]);
        near.retain(|id| !text.contains(id.as_str()));
        if !near.is_empty() {
            text.push_str(&format!("  did you mean {}?\n", near.join(", ")));
        }
        text
    }
}

/// What failed where the output could not be written, so that it is no use to
/// say that there.
pub(crate) const OUTPUT: &str = "write to standard output";

/// The code of an error in the arguments.
pub(crate) const USAGE: &str = "USAGE";

/// The code where no server listens, or the one that did is gone.
pub(crate) const NO_SERVER: &str = "NO_SERVER";

/// The code where the link to another machine ended.
pub(crate) const LINK_LOST: &str = "LINK_LOST";

fn of_code(code: &str) -> Exit {
    match code {
        LINK_LOST => Exit::NoServer,
        // Whether this program or the server found it: the arguments make no sense.
        USAGE | code::BAD_PARAMS => Exit::Usage,
        // One that is about to go is as good as none.
        NO_SERVER | code::STOPPING => Exit::NoServer,
        code::TIMEOUT => Exit::TimedOut,
        "RESUME_REFUSED" | "NOT_PROVEN" => Exit::Unproven,
        "STATE_REFUSED" | "STATE_LOCKED" => Exit::Refused,
        "REPLACED" | "IDENTITY_CHANGED" => Exit::Replaced,
        _ => Exit::Failed,
    }
}

/// Texts in the details of an error, as far as the server tells any.
fn texts(details: &Value, names: &[&str]) -> Vec<String> {
    let lists = names.iter().filter_map(|name| details.get(name)?.as_array());
    let texts = lists.flatten().filter_map(Value::as_str);
    texts.take(MAX_TEXTS).map(safe).collect()
}

const MAX_TEXTS: usize = 8;

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use super::*;

    fn wire(code: &str) -> Failure {
        Failure::Client(ClientError::Wire(WireError::new(code, "m")))
    }

    #[test]
    fn every_failure_has_its_exit_code() {
        let socket = PathBuf::from("/s");
        let limit = Duration::from_secs(1);
        let timed_out = ClientError::TimedOut { what: "x".into(), limit };
        let closed = ClientError::Closed { socket: socket.clone(), method: "pane.wait".into() };
        let no_server = ClientError::NoServer { socket };
        let cases = [
            (Failure::Client(no_server), Exit::NoServer, "NO_SERVER"),
            (Failure::Client(timed_out), Exit::TimedOut, "TIMEOUT"),
            (Failure::Usage("x".into()), Exit::Usage, "USAGE"),
            (Failure::Paths(PathsError::SocketTooLong("/x".into())), Exit::Usage, "USAGE"),
            (wire("RESUME_REFUSED"), Exit::Unproven, "RESUME_REFUSED"),
            (wire("TIMEOUT"), Exit::TimedOut, "TIMEOUT"),
            (wire("REPLACED"), Exit::Replaced, "REPLACED"),
            (wire("STATE_LOCKED"), Exit::Refused, "STATE_LOCKED"),
            (wire("NO_SUCH_PANE"), Exit::Failed, "NO_SUCH_PANE"),
            (wire("NOT_RESUMABLE"), Exit::Failed, "NOT_RESUMABLE"),
            (wire("BAD_PARAMS"), Exit::Usage, "BAD_PARAMS"),
            (wire("FORBIDDEN"), Exit::Failed, "FORBIDDEN"),
            (wire("STOPPING"), Exit::NoServer, "STOPPING"),
            (Failure::Client(closed), Exit::NoServer, "NO_SERVER"),
        ];
        for (failure, exit, code) in cases {
            assert_eq!(failure.exit(), exit, "{failure:?}");
            assert_eq!(failure.json()["error"]["code"], code);
        }
    }

    #[test]
    fn near_ids_and_evidence_are_shown_as_far_as_the_server_tells() {
        let details = json!({ "near": ["pane_a", "pane_\u{1b}b"], "evidence": ["it lists 3"] });
        let error = WireError::new("NO_SUCH_PANE", "there is no pane x").with_details(details);
        let text = Failure::Failed(error).human();
        assert!(text.contains("did you mean pane_a, pane_\\x1bb?"), "{text:?}");
        assert!(text.contains("seen: it lists 3"), "{text:?}");
        let older = Failure::new("UNKNOWN_METHOD", "there is no method \"pane.fly\"").human();
        assert!(older.contains("the server is older than this program"), "{older}");
        let plain = Failure::new("X", "m").human();
        assert_eq!(plain, "signaltty: m\n");
    }
}
