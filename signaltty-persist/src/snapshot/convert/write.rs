//! From the core's records to those of the file.

use std::ffi::OsStr;
use std::sync::Arc;

use signaltty_core::agent::{
    AgentPlace, Anchor, Continuity, Conversation, Extent, FileIdentity, LaunchOptions, SavedAgent,
    TurnId, Turns,
};
use signaltty_core::layout::Size;
use signaltty_core::notification::Notification;
use signaltty_core::pane::{EndCause, PaneEnd, SavedPane};
use signaltty_core::restore::ResumeFailure;
use signaltty_core::time::UnixMillis;
use signaltty_core::workspace::{SavedTab, SavedWorkspace, Switches};

use super::super::part::Part;
use super::super::records::{
    AgentV1, AnchorV1, ContinuityV1, ConversationV1, EndV1, ExtentV1, FailureV1, FileV1, MarkerV1,
    NotificationV1, OptionV1, OptionsV1, PaneV1, SizeV1, StatusV1, SwitchesV1, TabV1, TurnsV1,
    WorkspaceV1,
};
use crate::os_text::{OsText, to_hex};
use crate::redact::{redact, without_keys};

impl From<&SavedWorkspace> for WorkspaceV1 {
    fn from(workspace: &SavedWorkspace) -> Self {
        Self {
            id: workspace.id.to_string(),
            handle: workspace.handle.as_ref().into(),
            name: workspace.name.as_ref().into(),
            naming: Some(workspace.naming.as_str().into()),
            cwd: Some(workspace.cwd.as_path().into()),
            active_tab: workspace.active_tab.map(|tab| tab.to_string()),
            switches: workspace.switches.into(),
            archived: workspace.archived,
            created_at: workspace.created_at.0,
        }
    }
}

impl From<Switches> for SwitchesV1 {
    fn from(switches: Switches) -> Self {
        Self {
            auto_resume: Some(Part::Read(switches.auto_resume)),
            auto_continue: Some(Part::Read(switches.auto_continue)),
            history: Some(Part::Read(switches.history)),
        }
    }
}

impl From<&SavedTab> for TabV1 {
    fn from(tab: &SavedTab) -> Self {
        Self {
            id: tab.id.to_string(),
            workspace: tab.workspace.to_string(),
            title: tab.title.as_ref().into(),
            layout: tab.layout.to_string(),
            active_pane: tab.active_pane.to_string(),
            area: Some(tab.area.into()),
            created_at: tab.created_at.0,
        }
    }
}

impl From<Size> for SizeV1 {
    fn from(size: Size) -> Self {
        Self { cols: size.cols, rows: size.rows }
    }
}

impl From<&SavedPane> for PaneV1 {
    fn from(pane: &SavedPane) -> Self {
        Self {
            id: pane.id.to_string(),
            tab: pane.tab.to_string(),
            title: pane.title.as_ref().into(),
            titled_by_user: pane.titled_by_user,
            cwd: Some(pane.cwd.as_path().into()),
            argv: texts(&pane.argv),
            env: pane.env.iter().map(variable).collect(),
            env_left_out: pane.env.left_out().map(str::to_owned).collect(),
            size: Some(pane.size.into()),
            agent: pane.agent.as_ref().map(|agent| Part::Read(agent.into())),
            lifecycle: Some(pane.lifecycle.as_str().into()),
            attention: Some(pane.attention.as_str().into()),
            last_message: pane.last_message.as_ref().map(text),
            end: pane.end.as_ref().map(|end| Part::Read(end.into())),
            created_at: pane.created_at.0,
        }
    }
}

impl From<&PaneEnd> for EndV1 {
    fn from(end: &PaneEnd) -> Self {
        Self {
            cause: match end.cause {
                EndCause::User => USER.into(),
                EndCause::Process => PROCESS.into(),
                EndCause::Shutdown => SHUTDOWN.into(),
            },
            status: end.status.map(|status| StatusV1 { code: status.code, signal: status.signal }),
            at: end.at.0,
        }
    }
}

impl From<&SavedAgent> for AgentV1 {
    fn from(agent: &SavedAgent) -> Self {
        Self {
            kind: agent.kind.as_str().into(),
            conversation: agent.conversation.as_ref().map(|c| Part::Read(c.into())),
            previous: agent.previous.as_ref().map(|c| Part::Read(c.into())),
            previous_in_doubt: agent.previous_in_doubt,
            reported_argv: agent.reported_argv.as_ref().map(|argv| texts(&argv.0)),
            last_failure: agent.last_failure.as_ref().map(FailureV1::from),
            interrupted: agent.interrupted,
            question_expired: agent.question_expired,
            turns: turns(&agent.turns),
            place: (agent.place != AgentPlace::Own).then(|| agent.place.as_str().to_owned()),
            continuity: continuity(agent.continuity),
            options: options(&agent.options),
        }
    }
}

fn continuity(continuity: Continuity) -> Option<Part<ContinuityV1>> {
    let Continuity { resumed, proven_at, rewritten_at, starts, in_doubt } = continuity;
    let (proven_at, rewritten_at) = (proven_at.map(|at| at.0), rewritten_at.map(|at| at.0));
    let saved = ContinuityV1 { resumed, proven_at, rewritten_at, starts, in_doubt };
    (continuity != Continuity::default()).then_some(Part::Read(saved))
}

fn options(options: &LaunchOptions) -> Option<Part<OptionsV1>> {
    let safe = without_keys(options);
    let carried = safe.kept().iter().map(|option| OptionV1 {
        name: option.name().to_owned(),
        value: option.value().map(Into::into),
    });
    let dropped = safe.dropped().iter().map(text);
    let saved = OptionsV1 { carried: carried.collect(), dropped: dropped.collect() };
    (!options.is_empty()).then_some(Part::Read(saved))
}

fn turns(turns: &Turns) -> Option<Part<TurnsV1>> {
    let marker = turns.marker().map(|marker| MarkerV1 {
        turn: marker.turn.get(),
        origin: marker.origin.as_str().into(),
        prepared: marker.prepared,
        sent: marker.sent,
    });
    let saved = TurnsV1 {
        newest: turns.newest(),
        active: turns.active().map(TurnId::get),
        marker: marker.map(Part::Read),
        attempts: turns.attempts(),
    };
    (*turns != Turns::default()).then_some(Part::Read(saved))
}

impl From<&ResumeFailure> for FailureV1 {
    fn from(failure: &ResumeFailure) -> Self {
        Self {
            code: failure.refusal.code.as_str().into(),
            message: failure.refusal.message.as_ref().into(),
            at: failure.at.0,
        }
    }
}

impl From<&Conversation> for ConversationV1 {
    fn from(conversation: &Conversation) -> Self {
        Self {
            id: conversation.id.as_str().into(),
            cwd: conversation.cwd.as_path().into(),
            config_env: Part::Read(conversation.config_env.iter().map(variable).collect()),
            anchor: conversation.anchor.as_ref().map(|anchor| Part::Read(anchor.into())),
            previous: conversation.previous.as_ref().map(|id| id.as_str().into()),
        }
    }
}

impl From<&Anchor> for AnchorV1 {
    fn from(anchor: &Anchor) -> Self {
        Self {
            record: anchor.record.as_path().into(),
            file: anchor.file.map(|FileIdentity { device, inode }| FileV1 { device, inode }),
            extent: extent(&anchor.extent),
            last_message: anchor.last_message.as_ref().map(text),
            user_messages: anchor.user_messages,
            base: anchor.base.as_deref().map(|base| Box::new(base.into())),
        }
    }
}

impl From<&Notification> for NotificationV1 {
    fn from(notification: &Notification) -> Self {
        Self {
            id: notification.id.to_string(),
            pane: notification.pane.map(|pane| pane.to_string()),
            title: notification.title.as_ref().into(),
            body: notification.body.as_ref().into(),
            severity: Some(notification.severity.as_str().into()),
            created_at: notification.created_at.0,
            read_at: notification.read_at.map(|UnixMillis(at)| at),
            from_program: notification.from_program,
        }
    }
}

fn extent(extent: &Extent) -> Option<ExtentV1> {
    match extent {
        Extent::Lines { bytes, sha256 } => {
            Some(ExtentV1::Lines { bytes: *bytes, sha256: to_hex(sha256) })
        }
        Extent::Rows { messages } => Some(ExtentV1::Rows { messages: *messages }),
        // A kind that the core gained and this format did not: without it the
        // anchor reads as damaged, and the conversation is not resumed.
        _ => None,
    }
}

fn texts(argv: &[std::ffi::OsString]) -> Vec<OsText> {
    redact(argv).into_iter().map(OsText).collect()
}

fn variable((name, value): (&str, &OsStr)) -> (String, OsText) {
    (name.to_owned(), value.into())
}

fn text(text: &Arc<str>) -> String {
    text.as_ref().to_owned()
}

/// Words for who ended a process.
pub(in super::super) const USER: &str = "user";
pub(in super::super) const PROCESS: &str = "process";
pub(in super::super) const SHUTDOWN: &str = "shutdown";
