//! `signaltty/1`: one JSON object a line over a Unix socket.
//!
//! A request is `{"v":"signaltty/1","id":"…","method":"pane.split","params":{…}}`
//! and gets one reply, `{"id":"…","result":{…}}` or `{"id":"…","error":{…}}`.
//! Unknown fields are ignored; an unknown method, a wrong type and another
//! version are errors. `pane.attach` turns its connection into a stream of
//! [frames](frame), `events.subscribe` into a stream of events.

pub mod frame;
#[cfg(any(test, feature = "testing"))]
pub mod fuzz;
mod keys;
mod os;
mod params;
mod reply;
mod tree;
mod worktree;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use keys::{KeyError, key_bytes};
pub use os::WireOs;
pub use params::{
    AgentHook, AgentSession, Answer, Empty, EventCursor, EventsSubscribe, NotificationList,
    NotificationNew, NotificationRead, PaneAnswer, PaneAttach, PaneKeys, PaneMove, PaneRead,
    PaneRef, PaneRename, PaneResume, PaneSend, PaneSignal, PaneSpawn, PaneSpawnBy, PaneSplit,
    PaneSwap, PaneWait, PaneWeight, SessionForget, Shutdown, SplitAxis, SplitDirection, TabArea,
    TabLayout, TabMove, TabNew, TabRef, TabRename, WorkspaceMove, WorkspaceNew, WorkspaceRef,
    WorkspaceRename, WorkspaceSet,
};
pub use reply::{
    Continued, Created, Decided, Forgotten, Health, HookAnswer, LayoutText, Next, NotificationNode,
    Notifications, Notified, PaneText, PlanNode, Remarks, RestorePlan, Resumed, Status,
    StatusCounts, Subscribed, Waited,
};
pub use tree::{
    AgentNode, ExitNode, FailureNode, PaneInfo, PaneNode, TabNode, Tree, WorkspaceNode,
};
pub use worktree::{
    WorktreeCreate, WorktreeList, WorktreeNode, WorktreeRef, WorktreeWorkspace, Worktrees,
};

/// The version that this build speaks.
pub const VERSION: &str = "signaltty/1";

/// The longest request line in bytes, its newline not counted.
pub const MAX_REQUEST: usize = 1024 * 1024;

/// One request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Request {
    /// The protocol's version.
    pub v: String,
    /// Given back with the reply.
    pub id: String,
    /// `group.verb`.
    pub method: String,
    /// Depends on the method.
    #[serde(default)]
    pub params: Value,
}

/// One reply.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Reply {
    /// The request's; `?` where it could not be read.
    pub id: String,
    /// What it came to.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// What a request came to.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It succeeded.
    Result(Value),
    /// It did not.
    Error(WireError),
}

/// An error as scripts see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct WireError {
    /// A stable code.
    pub code: String,
    /// What happened, to what, and what to do next.
    pub message: String,
    /// More for scripts.
    #[serde(default)]
    pub details: Value,
}

impl WireError {
    /// An error without details.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            message: message.into(),
            details: Value::Object(serde_json::Map::new()),
        }
    }

    /// The same error with details.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = details;
        self
    }
}

/// One event.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EventLine {
    /// Its name.
    pub event: String,
    /// Its number; numbers only rise. Absent where the event could not be
    /// recorded; then it is no cursor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// When, in RFC 3339.
    pub at: String,
    /// Depends on the event.
    pub payload: Value,
}

/// Codes that the protocol itself answers with.
pub mod code {
    /// The line is not a request, or a parameter is missing or of a wrong type.
    pub const BAD_PARAMS: &str = "BAD_PARAMS";
    /// The request speaks another version.
    pub const BAD_PROTOCOL: &str = "BAD_PROTOCOL";
    /// The method is not known.
    pub const UNKNOWN_METHOD: &str = "UNKNOWN_METHOD";
    /// The line is too long.
    pub const TOO_LARGE: &str = "TOO_LARGE";
    /// A prefix fits more than one id.
    pub const AMBIGUOUS: &str = "AMBIGUOUS";
    /// The caller may not do this.
    pub const FORBIDDEN: &str = "FORBIDDEN";
    /// Too many connections.
    pub const RATE_LIMITED: &str = "RATE_LIMITED";
    /// It took too long.
    pub const TIMEOUT: &str = "TIMEOUT";
    /// The operating system refused something.
    pub const IO_ERROR: &str = "IO_ERROR";
    /// What was waited for was replaced by something else.
    pub const IDENTITY_CHANGED: &str = "IDENTITY_CHANGED";
    /// A bug.
    pub const INTERNAL: &str = "INTERNAL";
}
