//! Which methods and events there are, with the types of what they carry. The
//! dispatcher's list, the schema and the tests are made from these tables.

// Only the schema needs the types; the names are there without it.
#[cfg(feature = "schema")]
use super::*;

/// For each row of a table: its name and its types.
macro_rules! methods {
    ($($name:literal: $params:ty => $result:ty,)*) => {
        /// Every method.
        pub const METHODS: &[&str] = &[$($name),*];

        /// Adds the types of every method.
        #[cfg(feature = "schema")]
        pub(super) fn method_types(into: &mut impl super::schema::Types) {
            $(into.method::<$params, $result>($name);)*
        }
    };
}

macro_rules! events {
    ($($name:literal: $payload:ty,)*) => {
        /// Every event.
        pub const EVENTS: &[&str] = &[$($name),*];

        /// Adds the types of every event.
        #[cfg(feature = "schema")]
        pub(super) fn event_types(into: &mut impl super::schema::Types) {
            $(into.event::<$payload>($name);)*
        }
    };
}

methods! {
    "agent.ask": AgentHook => Decided,
    "agent.hook": AgentHook => HookAnswer,
    "agent.report_session": AgentSession => Empty,
    "events.subscribe": EventsSubscribe => Subscribed,
    "notification.list": NotificationList => Notifications,
    "notification.new": NotificationNew => Notified,
    "notification.read": NotificationRead => Empty,
    "pane.answer": PaneAnswer => Empty,
    "pane.attach": PaneAttach => Attaching,
    "pane.close": PaneRef => Empty,
    "pane.continue": PaneAgain => ContinueOutcome,
    "pane.focus": PaneRef => Empty,
    "pane.info": PaneRef => PaneInfo,
    "pane.keys": PaneKeys => Written,
    "pane.move": PaneMove => Empty,
    "pane.next": Empty => Next,
    "pane.read": PaneRead => PaneText,
    "pane.rename": PaneRename => Empty,
    "pane.restart": PaneAgain => Empty,
    "pane.resume": PaneResume => Resumed,
    "pane.seen": PaneRef => Empty,
    "pane.send": PaneSend => Written,
    "pane.signal": PaneSignal => Empty,
    "pane.spawn": PaneSpawnBy => Created,
    "pane.split": PaneSplit => Created,
    "pane.swap": PaneSwap => Empty,
    "pane.terminate": PaneRef => Empty,
    "pane.wait": PaneWait => Waited,
    "pane.weight": PaneWeight => Empty,
    "restore.plan": Empty => RestorePlan,
    "server.ping": Empty => Empty,
    "server.shutdown": Shutdown => Empty,
    "server.status": Empty => Status,
    "session.forget": SessionForget => Forgotten,
    "session.list": Empty => Tree,
    "tab.area": TabArea => Empty,
    "tab.close": TabRef => Empty,
    "tab.equalise": TabRef => Empty,
    "tab.layout": TabLayout => Arranged,
    "tab.move": TabMove => Empty,
    "tab.new": TabNew => Created,
    "tab.rename": TabRename => Empty,
    "workspace.close": WorkspaceRef => Empty,
    "workspace.list": Empty => Tree,
    "workspace.move": WorkspaceMove => Empty,
    "workspace.new": WorkspaceNew => Created,
    "workspace.rename": WorkspaceRename => Empty,
    "workspace.set": WorkspaceSet => Remarks,
    "worktree.create": WorktreeCreate => WorktreeNode,
    "worktree.list": WorktreeList => Worktrees,
    "worktree.open": WorktreeRef => Created,
    "worktree.remove": WorktreeRef => WorktreeRemoved,
}

events! {
    "agent.bound": BoundEvent,
    "agent.lifecycle": LifecycleEvent,
    "attention.changed": AttentionEvent,
    "continuation.accepted": AcceptedEvent,
    "continuation.failed": FailureEvent,
    "conversation.shared": SharedEvent,
    "decision.asked": DecisionEvent,
    "decision.ended": DecisionEvent,
    "events.missed": MissedEvent,
    "notification.created": NotificationEvent,
    "notification.read": NotificationReadEvent,
    "pane.closed": PaneEvent,
    "pane.created": PaneEvent,
    "pane.exited": PaneExitedEvent,
    "pane.state": PaneStateEvent,
    "pane.updated": PaneEvent,
    "resume.failed": FailureEvent,
    "resume.stage": StageEvent,
    "resume.verdict": VerdictEvent,
    "server.stopping": Empty,
    "tab.closed": TabEvent,
    "tab.created": TabEvent,
    "tab.updated": TabEvent,
    "turn.settled": SettledEvent,
    "turns.marked": MarkedEvent,
    "workspace.closed": WorkspaceEvent,
    "workspace.created": WorkspaceEvent,
    "workspace.updated": WorkspaceEvent,
}
