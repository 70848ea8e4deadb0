//! Events, and what each says.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ExitNode;

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

macro_rules! payloads {
    ($($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident: $type:ty,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
            #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
            pub struct $name { $($(#[$fdoc])* pub $field: $type,)* }
        )*
    };
}

payloads! {
    /// Something happened to a workspace.
    WorkspaceEvent {
        /// Which.
        workspace_id: String,
    }
    /// Something happened to a tab.
    TabEvent {
        /// Which.
        tab_id: String,
    }
    /// Something happened to a pane.
    PaneEvent {
        /// Which.
        pane_id: String,
    }
    /// A pane changed its state.
    PaneStateEvent {
        /// Which.
        pane_id: String,
        /// `live`, `restored`, `resumable`, `resuming` or `exited`.
        state: String,
    }
    /// The process of a pane ended.
    PaneExitedEvent {
        /// Which.
        pane_id: String,
        /// How.
        exit: ExitNode,
    }
    /// What an agent is doing changed.
    LifecycleEvent {
        /// Its pane.
        pane_id: String,
        /// Now.
        lifecycle: String,
        /// Before.
        prev: String,
    }
    /// How much a pane wants a person changed.
    AttentionEvent {
        /// Which.
        pane_id: String,
        /// Now.
        attention: String,
    }
    /// A pane holds another conversation now.
    BoundEvent {
        /// Its pane.
        pane_id: String,
        /// The conversation.
        agent_session_id: String,
    }
    /// An agent asks for a decision, or does not any more.
    DecisionEvent {
        /// Its pane.
        pane_id: String,
        /// Which question: an answer names it.
        decision_id: String,
    }
    /// Two panes have the same conversation open.
    SharedEvent {
        /// The one that came to it.
        pane_id: String,
        /// The one that had it.
        with_pane_id: String,
    }
    /// A resume went on to its next stage.
    StageEvent {
        /// Which pane.
        pane_id: String,
        /// The stage.
        stage: String,
    }
    /// A verdict about the conversation in a pane.
    VerdictEvent {
        /// Which pane.
        pane_id: String,
        /// `verified`, `unconfirmed` or `contradicted`.
        verdict: String,
        /// What it rests on. Absent in a replay where the workspace keeps no
        /// history.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        evidence: Option<Vec<String>>,
    }
    /// A resume or a continuation did not succeed.
    FailureEvent {
        /// Which pane.
        pane_id: String,
        /// Why, for scripts.
        code: String,
        /// Why. Absent in a replay where the workspace keeps no history.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    }
    /// An interrupted turn will not go on by itself.
    SettledEvent {
        /// Which pane.
        pane_id: String,
        /// Why, for scripts.
        reason: String,
    }
    /// The agent took up an interrupted turn.
    AcceptedEvent {
        /// Which pane.
        pane_id: String,
        /// The turn that it works on now.
        turn: u64,
    }
    /// There is a notification.
    NotificationEvent {
        /// Which.
        notification_id: String,
        /// The pane that it is about.
        pane_id: Option<String>,
        /// `info`, `warning` or `error`.
        severity: String,
    }
    /// A person read a notification.
    NotificationReadEvent {
        /// Which.
        notification_id: String,
    }
    /// Running turns were marked, to go on after a planned restart.
    MarkedEvent {
        /// How many.
        turns: usize,
    }
    /// This subscriber fell behind; the last line. It has neither number nor time.
    MissedEvent {
        /// How many events it did not get, as far as that is known.
        missed: u64,
        /// What to do.
        message: String,
    }
}
