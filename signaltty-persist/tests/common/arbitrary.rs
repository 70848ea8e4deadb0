//! Arbitrary valid sessions.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use signaltty_core::env::SavedEnv;
use signaltty_core::id::{NotificationId, PaneId, TabId, WorkspaceId};
use signaltty_core::layout::{Direction, Layout, Limits, Size};
use signaltty_core::notification::{Notification, Severity};
use signaltty_core::pane::{Attention, EndCause, ExitStatus, Lifecycle, PaneEnd, SavedPane};
use signaltty_core::saved::SavedSession;
use signaltty_core::time::UnixMillis;
use signaltty_core::workspace::{Naming, SavedTab, SavedWorkspace, Switches, handle_for};

use super::agents::agent;

/// A session whose ids are counted and whose other fields are arbitrary.
pub(crate) fn session() -> impl Strategy<Value = SavedSession> {
    let tab = (vec((pane(), 0usize..64, 0u8..4), 1..6), text(), size(), 0usize..64);
    let workspace = (workspace(), vec(tab, 0..4));
    (any::<(u64, u64)>(), vec(workspace, 0..4), vec(notification(), 0..6)).prop_map(
        |((saved_at, journal_seq), workspaces, notifications)| {
            let mut session = SavedSession {
                saved_at: UnixMillis(saved_at),
                journal_seq,
                notifications: number(notifications, |n, id| {
                    n.id = NotificationId::from_random(id);
                }),
                ..SavedSession::default()
            };
            for (mut workspace, tabs) in workspaces {
                workspace.id = WorkspaceId::from_random(id(session.workspaces.len()));
                let taken = |handle: &str| session.workspaces.iter().any(|w| &*w.handle == handle);
                workspace.handle = handle_for(&workspace.name, taken);
                let mut tab_ids = Vec::new();
                for (panes, title, area, active) in tabs {
                    let tab = TabId::from_random(id(session.tabs.len()));
                    let mut layout: Option<Layout<PaneId>> = None;
                    for (mut pane, at, direction) in panes {
                        pane.id = PaneId::from_random(id(session.panes.len()));
                        pane.tab = tab;
                        match &mut layout {
                            None => layout = Some(Layout::single(pane.id)),
                            Some(layout) => {
                                let host = layout.leaves().nth(at % layout.len()).unwrap();
                                let direction = DIRECTIONS[usize::from(direction)];
                                layout
                                    .split(host, direction, pane.id, &Limits::default(), None)
                                    .unwrap();
                            }
                        }
                        session.panes.push(Arc::new(pane));
                    }
                    let layout = layout.unwrap();
                    tab_ids.push(tab);
                    session.tabs.push(Arc::new(SavedTab {
                        id: tab,
                        workspace: workspace.id,
                        title: title.as_str().into(),
                        active_pane: layout.leaves().nth(active % layout.len()).unwrap(),
                        layout,
                        area,
                        created_at: UnixMillis(saved_at / 2),
                    }));
                }
                workspace.active_tab = tab_ids.last().copied();
                session.workspaces.push(Arc::new(workspace));
            }
            session
        },
    )
}

fn id(n: usize) -> [u8; 10] {
    let mut id = [0x5a; 10];
    id[..8].copy_from_slice(&(n as u64).to_be_bytes());
    id
}

fn number<T>(items: Vec<T>, set: impl Fn(&mut T, [u8; 10])) -> Vec<Arc<T>> {
    let number = |(n, mut item)| {
        set(&mut item, id(n));
        Arc::new(item)
    };
    items.into_iter().enumerate().map(number).collect()
}

fn workspace() -> impl Strategy<Value = SavedWorkspace> {
    (text(), select(Naming::ALL), os(), any::<[bool; 4]>(), any::<u64>()).prop_map(
        |(name, naming, cwd, [auto_resume, auto_continue, history, archived], at)| SavedWorkspace {
            id: WorkspaceId::from_random([0; 10]),
            handle: "".into(),
            name: name.into(),
            naming,
            cwd: cwd.into(),
            active_tab: None,
            switches: Switches { auto_resume, auto_continue, history },
            archived,
            created_at: UnixMillis(at),
        },
    )
}

fn pane() -> impl Strategy<Value = SavedPane> {
    let words = (select(Lifecycle::ALL), select(Attention::ALL));
    let vars = vec(
        (select(&["TERM", "LANG", "SIGNALTTY_NOTE", "SIGNALTTY_X", "TOKEN", "VENV"][..]), os()),
        0..4,
    );
    let process = (os(), vec(os(), 0..4), vars, size(), option::of(end()));
    let texts = (text(), option::of(text()));
    (process, words, texts, option::of(agent()), any::<(bool, u64)>()).prop_map(
        |((cwd, argv, env, size, end), (lifecycle, attention), (title, message), agent, rest)| {
            SavedPane {
                id: PaneId::from_random([0; 10]),
                tab: TabId::from_random([0; 10]),
                title: title.into(),
                titled_by_user: rest.0,
                cwd: cwd.into(),
                argv,
                env: SavedEnv::filter(env),
                size,
                agent,
                lifecycle,
                attention,
                last_message: message.map(Into::into),
                end,
                created_at: UnixMillis(rest.1),
            }
        },
    )
}

fn end() -> impl Strategy<Value = PaneEnd> {
    let cause = select(&[EndCause::User, EndCause::Process, EndCause::Shutdown][..]);
    let status = option::of(any::<(Option<i32>, Option<i32>)>());
    (cause, status, any::<u64>()).prop_map(|(cause, status, at)| PaneEnd {
        cause,
        status: status.map(|(code, signal)| ExitStatus { code, signal }),
        at: UnixMillis(at),
    })
}

fn notification() -> impl Strategy<Value = Notification> {
    let severity = select(&[Severity::Info, Severity::Warning, Severity::Error][..]);
    (text(), text(), severity, any::<(u64, Option<u64>, Option<[u8; 10]>)>()).prop_map(
        |(title, body, severity, (at, read_at, pane))| Notification {
            id: NotificationId::from_random([0; 10]),
            pane: pane.map(PaneId::from_random),
            title: title.into(),
            body: body.into(),
            severity,
            created_at: UnixMillis(at),
            read_at: read_at.map(UnixMillis),
            from_program: at % 2 == 1,
        },
    )
}

fn size() -> impl Strategy<Value = Size> {
    any::<(u16, u16)>().prop_map(|(cols, rows)| Size { cols, rows })
}

pub(super) fn text() -> impl Strategy<Value = String> {
    prop_oneof![".{0,12}", "[\\PC\u{0}-\u{1f}\"\\\\]{0,8}", Just(String::new())]
}

/// Text of the system, often not UTF-8.
pub(super) fn os() -> impl Strategy<Value = OsString> {
    prop_oneof![text().prop_map(Into::into), vec(1u8.., 0..8).prop_map(OsString::from_vec)]
}

const DIRECTIONS: [Direction; 4] =
    [Direction::Left, Direction::Right, Direction::Up, Direction::Down];
