//! What a session tells whoever listens.

use std::sync::Arc;

use crate::agent::{AgentSessionId, TurnId};
use crate::id::{NotificationId, PaneId, TabId, WorkspaceId};
use crate::notification::Severity;
use crate::pane::{Attention, ExitStatus, Lifecycle};
use crate::restore::Refusal;
use crate::session::{QuestionId, VerdictWord};

macro_rules! events {
    ($($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident: $type:ty,)* } = $text:literal,)*) => {
        /// A change that others may want to know of.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Event { $($(#[$doc])* $name { $($(#[$fdoc])* $field: $type,)* },)* }

        impl Event {
            /// Every name.
            pub const NAMES: &[&str] = &[$($text),*];

            /// The name on the wire.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$name { .. } => $text,)* }
            }
        }
    };
}

events! {
    /// A workspace was made.
    WorkspaceCreated {
        /// Which.
        workspace: WorkspaceId,
    } = "workspace.created",
    /// A workspace has another name or other switches.
    WorkspaceUpdated {
        /// Which.
        workspace: WorkspaceId,
    } = "workspace.updated",
    /// A workspace was closed.
    WorkspaceClosed {
        /// Which.
        workspace: WorkspaceId,
    } = "workspace.closed",
    /// A tab was made.
    TabCreated {
        /// Which.
        tab: TabId,
    } = "tab.created",
    /// A tab has another title, layout or area.
    TabUpdated {
        /// Which.
        tab: TabId,
    } = "tab.updated",
    /// A tab was closed.
    TabClosed {
        /// Which.
        tab: TabId,
    } = "tab.closed",
    /// A pane was made.
    PaneCreated {
        /// Which.
        pane: PaneId,
    } = "pane.created",
    /// A pane has another title or directory.
    PaneUpdated {
        /// Which.
        pane: PaneId,
    } = "pane.updated",
    /// A pane was closed.
    PaneClosed {
        /// Which.
        pane: PaneId,
    } = "pane.closed",
    /// A pane changed its state.
    PaneState {
        /// Which.
        pane: PaneId,
        /// The state.
        state: &'static str,
    } = "pane.state",
    /// The process of a pane ended.
    PaneExited {
        /// Which.
        pane: PaneId,
        /// How.
        status: ExitStatus,
    } = "pane.exited",
    /// What an agent is doing changed.
    AgentLifecycle {
        /// Its pane.
        pane: PaneId,
        /// Now.
        lifecycle: Lifecycle,
        /// Before.
        previous: Lifecycle,
    } = "agent.lifecycle",
    /// How much a pane wants a person changed.
    AttentionChanged {
        /// Which.
        pane: PaneId,
        /// Now.
        attention: Attention,
    } = "attention.changed",
    /// A pane holds another conversation now.
    AgentBound {
        /// Its pane.
        pane: PaneId,
        /// The conversation.
        id: AgentSessionId,
    } = "agent.bound",
    /// Two panes have the same conversation open.
    ConversationShared {
        /// Which came to it.
        pane: PaneId,
        /// Which had it.
        other: PaneId,
    } = "conversation.shared",
    /// A resume went on to its next stage.
    ResumeStage {
        /// Which pane.
        pane: PaneId,
        /// The stage.
        stage: &'static str,
    } = "resume.stage",
    /// A verdict about the conversation in a pane.
    ResumeVerdict {
        /// Which pane.
        pane: PaneId,
        /// The verdict.
        verdict: VerdictWord,
        /// The evidence.
        evidence: Vec<Arc<str>>,
    } = "resume.verdict",
    /// A resume did not succeed.
    ResumeFailed {
        /// Which pane.
        pane: PaneId,
        /// Why.
        refusal: Refusal,
    } = "resume.failed",
    /// An interrupted turn will not go on by itself.
    TurnSettled {
        /// Which pane.
        pane: PaneId,
        /// Why, for scripts.
        reason: &'static str,
    } = "turn.settled",
    /// The agent took up an interrupted turn.
    ContinuationAccepted {
        /// Which pane.
        pane: PaneId,
        /// The turn that it works on now.
        turn: TurnId,
    } = "continuation.accepted",
    /// An interrupted turn was to go on, and does not.
    ContinuationFailed {
        /// Which pane.
        pane: PaneId,
        /// Why.
        refusal: Refusal,
    } = "continuation.failed",
    /// There is a notification.
    NotificationCreated {
        /// Which.
        notification: NotificationId,
        /// The pane that it is about.
        pane: Option<PaneId>,
        /// How bad it is.
        severity: Severity,
    } = "notification.created",
    /// A person read a notification.
    NotificationRead {
        /// Which.
        notification: NotificationId,
    } = "notification.read",
    /// An agent waits for a decision.
    DecisionAsked {
        /// Its pane.
        pane: PaneId,
        /// Which question.
        question: QuestionId,
    } = "decision.asked",
    /// It does not wait any more.
    DecisionEnded {
        /// Its pane.
        pane: PaneId,
        /// Which question.
        question: QuestionId,
    } = "decision.ended",
    /// Running turns were marked, to go on after a planned restart.
    TurnsMarked {
        /// How many.
        turns: usize,
    } = "turns.marked",
    /// The server is stopping.
    ServerStopping {} = "server.stopping",
}
