//! Everything that can happen to the daemon, as one closed type.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use signaltty_core::agent::{
    AgentReport, AgentSessionId, Anchor, Fingerprint, FoundAgent, ProcessMark, TurnRecord,
};
use signaltty_core::id::{InstanceId, PaneId, RequestId};
use signaltty_core::restore::Refusal;
use signaltty_core::save::SaveToken;
use signaltty_core::session::{ContinueFailure, Delivery, Forgotten, PaneFact};
use signaltty_logind::HostShutdown;
use signaltty_pty::ExitStatus;
use tokio::sync::oneshot;

use super::attach::Attachment;
use super::directory;
use super::environment::Env;
use super::leftovers::Stray;
use super::saver::SaveOutcome;
use super::spawner::Spawned;
use super::subscribe::Stream;
use crate::config::{Settings, SettingsError};
use crate::protocol::{Health, Request, WireError};

/// Who is at the other end of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer {
    pub(crate) pid: Option<u32>,
}

/// What a request comes to.
pub(crate) enum Answer {
    /// One reply.
    Value(Result<Value, WireError>),
    /// A reply, after which the connection carries frames.
    Attached(Attachment),
    /// A reply, after which the connection carries events.
    Subscribed(Stream),
}

/// An event of the loop. The queue is bounded; senders wait.
pub(crate) enum Event {
    /// A client asks for something.
    Request { peer: Peer, request: Request, respond: oneshot::Sender<Answer> },
    /// A start came to an end.
    Spawned {
        pane: PaneId,
        instance: InstanceId,
        result: Box<Result<Spawned, Refusal>>,
        /// The output of an earlier process in that pane.
        earlier: Option<Vec<u8>>,
    },
    /// A pane's process ended and was waited for.
    Ended {
        instance: InstanceId,
        status: ExitStatus,
        last_line: Option<Arc<str>>,
        /// Unless its screen was lost: what was kept before is then better.
        tail: Option<Vec<u8>>,
        /// How many lines its screen had over time; the tail ends there.
        lines: u64,
        /// Dropped once the loop knows it: then nobody asks the pane any more.
        taken: oneshot::Sender<Infallible>,
    },
    /// A pane's output told something.
    Fact { instance: InstanceId, fact: PaneFact },
    /// The directory of a pane was looked at. Looks are numbered.
    Directory { instance: InstanceId, number: u64, found: directory::Found },
    /// A pane printed, and is quiet again or has printed for a while.
    Quiet { instance: InstanceId },
    /// It is time to look at a pane, printing or not.
    LookAgain { instance: InstanceId },
    /// An agent was looked at, since it was asked for.
    Looked {
        instance: InstanceId,
        /// The process that was looked at.
        process: ProcessMark,
        reports: Vec<AgentReport>,
    },
    /// An agent was looked at after its start.
    Observed { instance: InstanceId, process: ProcessMark, reports: Vec<AgentReport> },
    /// The processes of a pane without an agent of its own were looked at.
    /// Without a result where the look did not come to an end.
    Scouted {
        instance: InstanceId,
        found: Option<Vec<FoundAgent>>,
        /// The process that had reported a session, where it is gone.
        gone: Option<ProcessMark>,
    },
    /// Preflight came to an end.
    Preflighted { pane: PaneId, request: Option<RequestId>, result: Result<Fingerprint, Refusal> },
    /// The record that a witness named was read.
    RecordRead {
        instance: InstanceId,
        witness: usize,
        named: AgentSessionId,
        result: Result<Fingerprint, Refusal>,
    },
    /// What a record says of its newest turn.
    TurnRead { pane: PaneId, record: TurnRecord },
    /// A continuation was sent, or was not.
    Continued { instance: InstanceId, result: Result<Delivery, ContinueFailure> },
    /// A conversation was anchored, with the directory in which its record says
    /// that it goes on, where that is another one than was asked for.
    Anchored {
        instance: InstanceId,
        id: AgentSessionId,
        cwd: Option<PathBuf>,
        result: Result<Anchor, Refusal>,
    },
    /// A save came to an end.
    Saved { token: SaveToken, outcome: SaveOutcome },
    /// What was to be forgotten was removed, or not all of it was.
    Forgotten { request: RequestId, result: Result<Forgotten, Arc<str>> },
    /// The host goes down. It waits while the notice's lock is held.
    HostShutdown(HostShutdown),
    /// The save took as long as the host can be made to wait.
    ReleaseHost,
    /// The hook that asked for a decision does not wait any more.
    AskerLeft { pane: PaneId, asked: RequestId },
    /// Events are recorded again, or not any more.
    Journal {
        health: Health,
        /// What a start found, a line each.
        problems: Vec<String>,
    },
    /// How the socket is that clients connect to.
    Listening(Health),
    /// SIGHUP: the configuration is to be read again.
    Reload,
    /// It was read.
    Reloaded(Box<Result<Settings, SettingsError>>),
    /// SIGTERM, SIGINT, or the caller of an embedded server.
    Terminate,
    /// The login shell printed its environment, or why it did not.
    LoginEnv(Result<Env, String>),
    /// Processes of before this start, whose environment names a pane.
    Strays(Vec<Stray>),
    /// An attached client has another size, or typed.
    Client { pane: PaneId, what: ClientFact },
}

/// What an attached client tells the session.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ClientFact {
    /// Its terminal has this size.
    Size { cols: u16, rows: u16 },
    /// Its person looks at the pane.
    Seen,
}
