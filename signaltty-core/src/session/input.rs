//! What goes into a session.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Command, Config, ContinueFailure, Delivery, Forgotten};
use crate::agent::{
    AgentReport, AgentSessionId, Anchor, Fingerprint, FoundAgent, ProcessMark, TurnRecord,
};
use crate::env::ConfigEnv;
use crate::id::{InstanceId, NotificationId, PaneId, RequestId};
use crate::pane::ExitStatus;
use crate::restore::Refusal;
use crate::save::{SaveFailure, SaveToken};

/// A command, a fact, or the passing of time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Input {
    /// Somebody wants something. Gets exactly one reply (S2).
    Command {
        /// Ties the reply to it.
        request: RequestId,
        /// What is wanted.
        command: Command,
    },
    /// The server is up after a restore: what may start by itself is started,
    /// and what may not go on is settled. Counts once (S1-3).
    Begin,
    /// An agent reported, or was looked at.
    Report {
        /// The instance that it is about.
        instance: InstanceId,
        /// What was understood.
        report: AgentReport,
    },
    /// The processes of a pane that was started with something else than an
    /// agent were looked at (D-22).
    AgentsFound {
        /// The instance in whose tree they are.
        instance: InstanceId,
        /// All agents among them, parents first.
        found: Vec<FoundAgent>,
    },
    /// The process that [reported](super::Session::reporter) a session was looked
    /// for and is gone.
    ReporterGone {
        /// The instance in whose tree it was.
        instance: InstanceId,
        /// Which.
        process: ProcessMark,
    },
    /// The agent of a pane that was started with it keeps its records elsewhere
    /// than its launch was given: a program around it set that.
    AgentMoved {
        /// The instance that it runs in.
        instance: InstanceId,
        /// Where it keeps them.
        env: ConfigEnv,
    },
    /// A process was started, or could not be.
    Spawned {
        /// The instance of the [`Spawn`](super::Effect::Spawn).
        instance: InstanceId,
        /// Why it could not be started.
        result: Result<(), Refusal>,
    },
    /// A process ended and was waited for.
    Exited {
        /// Which.
        instance: InstanceId,
        /// How.
        status: ExitStatus,
        /// The last line on its screen, for the reason of a failed resume.
        last_line: Option<Arc<str>>,
    },
    /// Preflight came to an end.
    Preflighted {
        /// The pane.
        pane: PaneId,
        /// The request of the resume that asked for it, as in the effect.
        request: Option<RequestId>,
        /// What it found.
        result: Result<Fingerprint, Refusal>,
    },
    /// What a record says of its newest turn was read.
    TurnRead {
        /// The pane.
        pane: PaneId,
        /// What was found; empty where nothing could be read.
        record: TurnRecord,
    },
    /// A continuation was sent, or was not. That an agent takes it is otherwise
    /// its own report.
    Continued {
        /// The process.
        instance: InstanceId,
        /// What became of it.
        result: Result<Delivery, ContinueFailure>,
    },
    /// The record that a witness named was read again.
    RecordRead {
        /// The instance of the witness.
        instance: InstanceId,
        /// Which witness, as given in the effect.
        witness: usize,
        /// The conversation whose record was read.
        named: AgentSessionId,
        /// What was found.
        result: Result<Fingerprint, Refusal>,
    },
    /// The record of a conversation that an instance has open says that it goes
    /// on in another directory than the one in which its agent was started. Comes
    /// before [`Anchored`](Self::Anchored).
    WorksIn {
        /// The instance that has it open.
        instance: InstanceId,
        /// The conversation.
        id: AgentSessionId,
        /// Its directory.
        cwd: PathBuf,
    },
    /// A live conversation was anchored.
    Anchored {
        /// The instance that has it open.
        instance: InstanceId,
        /// The conversation.
        id: AgentSessionId,
        /// Its anchor; refused while nobody has said anything in it.
        result: Result<Anchor, Refusal>,
    },
    /// A pane's output told something.
    Fact {
        /// The instance that printed it.
        instance: InstanceId,
        /// What.
        fact: PaneFact,
    },
    /// A save came to an end.
    Saved {
        /// Which.
        token: SaveToken,
        /// Why it failed.
        result: Result<(), SaveFailure>,
    },
    /// The configuration was read again. Counts for what happens from now on.
    Configured(Box<Config>),
    /// What was to be forgotten was removed, or not all of it was.
    Forgotten {
        /// The request of the [`Forget`](super::Effect::Forget).
        request: RequestId,
        /// What was removed; else what went wrong, for people.
        result: Result<Forgotten, Arc<str>>,
    },
    /// The server must go.
    Shutdown(ShutdownCause),
    /// A deadline may have passed.
    Tick,
}

/// Something that a pane's output says about the pane.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PaneFact {
    /// It printed something since the last save.
    Printed,
    /// The program set the title (OSC 0 and 2). Empty resets it.
    Title(Arc<str>),
    /// The program told its working directory (OSC 7), or the process has it.
    Cwd(PathBuf),
    /// The bell rang.
    Bell,
    /// The program wants to notify its person (OSC 9, 99 or 777).
    Notification {
        /// For what is made of it.
        id: NotificationId,
        /// A title, where it gave one.
        title: Option<Arc<str>>,
        /// The text.
        body: Arc<str>,
    },
}

/// Why the server must go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShutdownCause {
    /// A signal.
    Terminate,
    /// The host goes down.
    Host,
}
