//! What comes out of a session.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use super::{Answer, CommandError, Event, Forget, Forgotten};
use crate::agent::{
    AgentKind, AgentSessionId, Conversation, FoundAgent, Receipt, ReportedArgv, WitnessSource,
};
use crate::env::ConfigEnv;
use crate::id::{InstanceId, NotificationId, PaneId, RequestId, TabId, WorkspaceId};
use crate::layout::Size;
use crate::pane::PaneSignal;
use crate::restore::{Continuation, OfficialCommand};
use crate::save::{Durability, SaveToken};
use crate::time::UnixMillis;

/// Something to be done. Effects are performed in order; what they lead to
/// comes back as an [`Input`](super::Input).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// Start a process, then give [`Input::Spawned`](super::Input::Spawned).
    Spawn {
        /// The pane.
        pane: PaneId,
        /// The name of this run.
        instance: InstanceId,
        /// What to start.
        command: SpawnCommand,
        /// The size of its terminal.
        size: Size,
        /// The request that wants it, whose client's environment is used.
        request: Option<RequestId>,
    },
    /// Give a process another terminal size. Comes only after the start of the
    /// process was reported.
    Resize {
        /// Which.
        instance: InstanceId,
        /// The size.
        size: Size,
    },
    /// Send a signal to the program of an instance.
    Signal {
        /// Which.
        instance: InstanceId,
        /// What.
        signal: PaneSignal,
    },
    /// Stop a process and everything in its session, by the stop ladder; then
    /// give [`Input::Exited`](super::Input::Exited). Comes only after the start
    /// of the process was reported; may come again while it is being stopped.
    Kill {
        /// Which.
        instance: InstanceId,
    },
    /// Look for a conversation's own record before anything starts, then give
    /// [`Input::Preflighted`](super::Input::Preflighted).
    Preflight {
        /// The pane.
        pane: PaneId,
        /// The resume's request; none where the server began it.
        request: Option<RequestId>,
        /// Which agent.
        kind: AgentKind,
        /// The saved conversation.
        conversation: Conversation,
    },
    /// From now on this is the agent of an instance that was started with
    /// something else; or none is. What another one shows or reports is no
    /// longer of this instance.
    Follow {
        /// Which instance.
        instance: InstanceId,
        /// The agent.
        agent: Option<FoundAgent>,
    },
    /// Read what the agent's record says of its newest turn, while no process
    /// of ours writes it or before a person continues it, then give
    /// [`Input::TurnRead`](super::Input::TurnRead).
    ReadTurn {
        /// The pane.
        pane: PaneId,
        /// Which agent.
        kind: AgentKind,
        /// The saved conversation, with its anchor.
        conversation: Conversation,
    },
    /// Let the interrupted turn go on, once; then give
    /// [`Input::Continued`](super::Input::Continued). The proof names the
    /// process. Nothing is typed where a person typed before, where the agent is
    /// not in the foreground, or where its screen does not come to rest.
    Continue {
        /// Which agent.
        kind: AgentKind,
        /// The proof and the turn. Shared only so that an effect can be logged.
        continuation: Arc<Continuation>,
        /// A person asked for it, so what they typed before is no objection.
        by_hand: bool,
    },
    /// Look at what an instance shows and report it. Carries no expected id.
    Observe {
        /// Which.
        instance: InstanceId,
        /// Which agent's adapter looks.
        kind: AgentKind,
    },
    /// Read the record that a witness named, after it, then give
    /// [`Input::RecordRead`](super::Input::RecordRead).
    ReadRecord {
        /// The instance of the witness.
        instance: InstanceId,
        /// Which witness, to be given back.
        witness: usize,
        /// Which agent.
        kind: AgentKind,
        /// Where the witness comes from; a channel's record is read through it.
        source: WitnessSource,
        /// The conversation that the witness named, with what preflight found
        /// as the anchor to compare with. For an addressed channel, which names
        /// none: the saved one.
        named: Conversation,
    },
    /// Anchor a live conversation, then give
    /// [`Input::Anchored`](super::Input::Anchored).
    Anchor {
        /// The instance that has it open.
        instance: InstanceId,
        /// Which agent.
        kind: AgentKind,
        /// The conversation, with its anchor so far.
        conversation: Conversation,
    },
    /// Save the session as it is now, then give
    /// [`Input::Saved`](super::Input::Saved).
    Save {
        /// Names this save.
        token: SaveToken,
        /// How safe it must be.
        durability: Durability,
    },
    /// The user closed this pane: its tail may go once a snapshot without it is
    /// in place (P5).
    ForgetTail {
        /// The pane.
        pane: PaneId,
    },
    /// Once the next save is durable, remove saved output, recorded texts and
    /// older copies of these, then give
    /// [`Input::Forgotten`](super::Input::Forgotten). What is on the screens of
    /// live panes goes at once, or it would be saved again.
    Forget {
        /// The request that wants it.
        request: RequestId,
        /// What; the panes are those that the session knows.
        what: Forget,
    },
    /// Tell whoever listens.
    Publish(Event),
    /// Answer a command.
    Reply {
        /// Which.
        request: RequestId,
        /// The answer.
        result: Result<Reply, CommandError>,
    },
    /// Stop: the last save is over.
    Stop,
}

/// A process to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpawnCommand {
    /// What to run.
    pub program: Program,
    /// Where, in the spelling to use.
    pub cwd: PathBuf,
    /// Identity variables of the agent, which win over the environment.
    pub config_env: ConfigEnv,
}

/// What to run in a pane.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Program {
    /// What a person asked for.
    Argv {
        /// Program and arguments.
        argv: Vec<OsString>,
        /// The agent that it starts, so that it can be wired up.
        agent: Option<AgentKind>,
    },
    /// The official command to reopen a conversation; the agent's adapter
    /// builds it from the id.
    Official(Box<OfficialCommand>),
    /// A command that was reported for the pane; by hand only.
    Reported {
        /// The command.
        argv: ReportedArgv,
        /// The agent that reported it, so that it can be wired up if that is
        /// what the command starts.
        agent: AgentKind,
    },
}

/// The answer to a command that succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply {
    /// It is done.
    Done,
    /// A pane was made.
    Created {
        /// Its workspace.
        workspace: WorkspaceId,
        /// Its tab.
        tab: TabId,
        /// The pane.
        pane: PaneId,
    },
    /// What was said is forgotten.
    Forgotten(Forgotten),
    /// People were told.
    Notified {
        /// The notification.
        notification: NotificationId,
    },
    /// A person decided.
    Decided(Answer),
    /// The agent took up the interrupted turn.
    Continued {
        /// The pane.
        pane: PaneId,
        /// The conversation's id.
        id: AgentSessionId,
        /// The last tool call before the interruption, where the record has one.
        receipt: Option<Receipt>,
    },
    /// A conversation was reopened.
    Resumed {
        /// The pane.
        pane: PaneId,
        /// The conversation's id as the agent shows it now, where it has one.
        id: Option<AgentSessionId>,
        /// Whether it was proven to be the saved one.
        verdict: PaneVerdict,
    },
}

/// What is known about the conversation in a pane, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaneVerdict {
    /// The verdict.
    pub word: VerdictWord,
    /// The evidence, a line each.
    pub evidence: Vec<Arc<str>>,
    /// When it was made.
    pub at: UnixMillis,
}

/// A verdict as people and scripts see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VerdictWord {
    /// Proven to be the saved conversation.
    Verified,
    /// Neither proven nor disproven.
    Unconfirmed,
    /// Another one.
    Contradicted,
}

impl VerdictWord {
    /// The text form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Unconfirmed => "unconfirmed",
            Self::Contradicted => "contradicted",
        }
    }
}
