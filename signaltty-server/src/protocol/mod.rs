//! `signaltty/1`: one JSON object a line over a Unix socket.
//!
//! A request is `{"v":"signaltty/1","id":"…","method":"pane.split","params":{…}}`
//! and gets one reply, `{"id":"…","result":{…}}` or `{"id":"…","error":{…}}`.
//! Unknown fields are ignored; an unknown method, a wrong type and another
//! version are errors. `pane.attach` turns its connection into a stream of
//! [frames](frame), `events.subscribe` into a stream of events.

pub mod code;
mod event;
pub mod frame;
#[cfg(any(test, feature = "testing"))]
pub mod fuzz;
mod keys;
mod method;
mod os;
mod params;
mod reply;
#[cfg(feature = "schema")]
mod schema;
mod tree;
mod worktree;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use event::{
    AcceptedEvent, AttentionEvent, BoundEvent, DecisionEvent, EventLine, FailureEvent,
    LifecycleEvent, MarkedEvent, MissedEvent, NotificationEvent, NotificationReadEvent, PaneEvent,
    PaneExitedEvent, PaneStateEvent, SettledEvent, SharedEvent, StageEvent, TabEvent, VerdictEvent,
    WorkspaceEvent,
};
pub use keys::{KeyError, key_bytes};
pub use method::{EVENTS, METHODS};
pub use os::WireOs;
pub use params::{
    AgentHook, AgentSession, Answer, Empty, EventCursor, EventsSubscribe, NotificationList,
    NotificationNew, NotificationRead, PaneAgain, PaneAnswer, PaneAttach, PaneKeys, PaneMove,
    PaneRead, PaneRef, PaneRename, PaneResume, PaneSend, PaneSignal, PaneSpawn, PaneSpawnBy,
    PaneSplit, PaneSwap, PaneWait, PaneWeight, SessionForget, Shutdown, SplitAxis, SplitDirection,
    TabArea, TabLayout, TabMove, TabNew, TabRef, TabRename, WorkspaceMove, WorkspaceNew,
    WorkspaceRef, WorkspaceRename, WorkspaceSet,
};
pub use reply::{
    Arranged, Attaching, ContinueOutcome, Continued, Created, Decided, Forgotten, Health,
    HookAnswer, LayoutText, Next, NotificationNode, Notifications, Notified, PaneText, PlanNode,
    Remarks, RestorePlan, Resumed, Status, StatusCounts, Subscribed, Waited, Written,
};
#[cfg(feature = "schema")]
pub use schema::schema;
pub use tree::{
    AgentNode, ExitNode, FailureNode, PaneInfo, PaneNode, TabNode, Tree, WorkspaceNode,
};
pub use worktree::{
    WorktreeCreate, WorktreeList, WorktreeNode, WorktreeRef, WorktreeRemoved, WorktreeWorkspace,
    Worktrees,
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
