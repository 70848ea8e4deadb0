//! Sessions and directories for the tests.
#![allow(dead_code, reason = "each test uses a part")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use signaltty_core::agent::{
    AgentKind, AgentPlace, Anchor, Continuity, Conversation, Extent, FileIdentity, SavedAgent,
    Turns,
};
use signaltty_core::env::{ConfigEnv, SavedEnv};
use signaltty_core::id::{NotificationId, PaneId, TabId, WorkspaceId};
use signaltty_core::layout::{Direction, Layout, Limits, Size};
use signaltty_core::notification::{Notification, Severity};
use signaltty_core::pane::{Attention, EndCause, ExitStatus, Lifecycle, PaneEnd, SavedPane};
use signaltty_core::restore::{FailureCode, Refusal, ResumeFailure};
use signaltty_core::saved::SavedSession;
use signaltty_core::time::UnixMillis;
use signaltty_core::workspace::{Naming, SavedTab, SavedWorkspace, Switches};
use signaltty_persist::fault::FaultFs;
use signaltty_persist::{Durability, Opened, Owner, Program, Save, StateDir, Store};

mod agents;
pub(crate) mod arbitrary;
pub(crate) mod edited;
pub(crate) mod files;

pub(crate) fn pane_id(n: u8) -> PaneId {
    PaneId::from_random([n; 10])
}

pub(crate) fn tab_id(n: u8) -> TabId {
    TabId::from_random([n; 10])
}

pub(crate) fn workspace_id(n: u8) -> WorkspaceId {
    WorkspaceId::from_random([n; 10])
}

pub(crate) fn owner() -> Owner {
    Owner {
        pid: 4242,
        started_at: UnixMillis(1),
        socket: Some("/run/user/1/signaltty.sock".into()),
    }
}

pub(crate) fn program() -> Program {
    Program { version: "0.1.0".into(), protocol: 1 }
}

pub(crate) fn open(path: &Path) -> Opened {
    let dir = StateDir::open(path, &owner()).unwrap();
    Store::open(dir, program()).unwrap()
}

pub(crate) fn lock_fault(fs: &FaultFs) -> StateDir<FaultFs> {
    StateDir::lock(fs.clone(), "/state".into(), &owner()).unwrap()
}

pub(crate) fn open_fault(fs: &FaultFs) -> Opened<FaultFs> {
    Store::open(lock_fault(fs), program()).unwrap()
}

pub(crate) fn synced(session: &SavedSession) -> Save<'_> {
    Save { session, durability: Durability::Synced, tails: &[], closed: &[], now: Duration::ZERO }
}

/// One workspace with one tab of these panes side by side, named `name`.
pub(crate) fn session(name: &str, panes: &[u8]) -> SavedSession {
    let limits = Limits::default();
    let (first, rest) = panes.split_first().unwrap();
    let mut layout = Layout::single(pane_id(*first));
    let mut last = *first;
    for pane in rest {
        layout.split(pane_id(last), Direction::Right, pane_id(*pane), &limits, None).unwrap();
        last = *pane;
    }
    SavedSession {
        saved_at: UnixMillis(1_700_000_000_000),
        journal_seq: 12,
        workspaces: vec![Arc::new(SavedWorkspace {
            id: workspace_id(1),
            handle: "api".into(),
            name: name.into(),
            naming: Naming::Done,
            cwd: "/home/user/api".into(),
            active_tab: Some(tab_id(1)),
            switches: Switches { auto_resume: true, auto_continue: false, history: true },
            archived: false,
            created_at: UnixMillis(5),
        })],
        tabs: vec![Arc::new(SavedTab {
            id: tab_id(1),
            workspace: workspace_id(1),
            title: "main".into(),
            layout,
            active_pane: pane_id(*first),
            area: Size { cols: 120, rows: 40 },
            created_at: UnixMillis(6),
        })],
        panes: panes.iter().map(|n| Arc::new(pane(*n))).collect(),
        notifications: vec![Arc::new(notification(1, 1))],
        emptied_by_user: false,
    }
}

/// A pane in tab 1 with every field filled.
pub(crate) fn pane(n: u8) -> SavedPane {
    SavedPane {
        id: pane_id(n),
        tab: tab_id(1),
        title: format!("pane {n}").into(),
        titled_by_user: true,
        cwd: "/home/user/api".into(),
        argv: vec!["claude".into(), "--verbose".into()],
        env: SavedEnv::filter([("TERM", "xterm-256color"), ("LANG", "C.UTF-8")]),
        size: Size { cols: 60, rows: 40 },
        agent: Some(SavedAgent {
            options: Default::default(),
            kind: "claude".parse::<AgentKind>().unwrap(),
            conversation: Some(Conversation {
                id: format!("11111111-1111-4111-8111-{n:012}").parse().unwrap(),
                cwd: "/home/user/api".into(),
                config_env: ConfigEnv::filter(
                    [("CLAUDE_CONFIG_DIR", "/home/user/.claude-work")],
                    &["CLAUDE_CONFIG_DIR"],
                    Path::new("/"),
                ),
                anchor: Some(Anchor {
                    record: "/home/user/.claude-work/record.jsonl".into(),
                    file: Some(FileIdentity { device: 1, inode: 2 }),
                    extent: Extent::Lines { bytes: 4096, sha256: [7; 32] },
                    last_message: Some("message-9".into()),
                    user_messages: 3,
                    base: None,
                }),
                previous: None,
            }),
            previous: None,
            previous_in_doubt: false,
            reported_argv: None,
            last_failure: Some(ResumeFailure {
                refusal: Refusal::new(FailureCode::Busy, "another process has it"),
                at: UnixMillis(8),
            }),
            interrupted: true,
            question_expired: false,
            turns: Turns::default(),
            place: AgentPlace::Own,
            continuity: Continuity::default(),
        }),
        lifecycle: Lifecycle::Working,
        attention: Attention::PermissionRequired,
        last_message: Some("running the tests".into()),
        end: Some(PaneEnd {
            cause: EndCause::Shutdown,
            status: Some(ExitStatus { code: None, signal: Some(1) }),
            at: UnixMillis(9),
        }),
        created_at: UnixMillis(7),
    }
}

pub(crate) fn notification(n: u16, pane: u8) -> Notification {
    let [high, low] = n.to_be_bytes();
    Notification {
        id: NotificationId::from_random([high, low, 0, 0, 0, 0, 0, 0, 0, 0]),
        pane: Some(pane_id(pane)),
        title: format!("title {n}").into(),
        body: "body".into(),
        severity: Severity::Warning,
        created_at: UnixMillis(u64::from(n)),
        read_at: (n % 2 == 0).then_some(UnixMillis(1000)),
        from_program: false,
    }
}
