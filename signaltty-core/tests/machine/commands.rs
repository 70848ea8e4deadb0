//! Random commands.

use signaltty_core::id::NotificationId;
use signaltty_core::layout::{Direction, Size};
use signaltty_core::notification::Severity;
use signaltty_core::session::{Answer, Command, SwitchChange};

use crate::support::{agent, new_workspace, pane, shell, split, tab, ws};

pub fn command(what: u8, a: u8, b: u8) -> Command {
    let spec = match b % 3 {
        0 => shell(),
        1 => agent("claude"),
        _ => agent("codex"),
    };
    match what {
        0 | 1 => new_workspace(b, spec),
        2 | 3 => split(a, b, spec),
        4 => Command::ClosePane(pane(b)),
        5 if a < 2 => Command::CloseTab(tab(b)),
        6 => Command::Restart { pane: pane(b), config_env: Default::default() },
        7 => Command::Terminate(pane(b)),
        8 if a == 0 => Command::CloseWorkspace(ws(b)),
        16 => Command::MovePane { pane: pane(a + 1), beside: pane(b), direction: side(b) },
        17 => Command::SwapPanes(pane(a + 1), pane(b)),
        18 => arrangement(a, b),
        19 => Command::ApplyLayout {
            workspace: ws(a),
            tab: tab(b),
            title: None,
            layout: format!("v1:[{}|{}]", pane(b), pane(b + 1)).parse().unwrap(),
            specs: vec![(pane(b + 1), shell()), (pane(b), spec)],
        },
        20 | 21 => Command::SetSwitches {
            workspace: ws(b),
            change: SwitchChange {
                auto_resume: Some(a != 0),
                auto_continue: Some(a > 1),
                archived: (b == 5).then_some(a == 3),
                ..SwitchChange::default()
            },
        },
        22 | 23 => Command::Continue(pane(b)),
        24 if b == 1 => Command::Shutdown { force: a == 1, continue_turns: a == 0 },
        25 => Command::Notify {
            id: NotificationId::from_random([a * 8 + b; 10]),
            pane: Some(pane(b)),
            title: "look".into(),
            body: "at this".into(),
            severity: Severity::Info,
        },
        26 => Command::MarkRead((a > 0).then(|| NotificationId::from_random([a * 8 + b; 10]))),
        27 => Command::RenamePane { pane: pane(b), title: "a name".into() },
        28 => Command::RenameWorkspace { workspace: ws(b), name: "a name".into() },
        29 => Command::GenerateName(ws(b)),
        30 => Command::NameGenerated {
            workspace: ws(b),
            name: (a > 0).then(|| "a generated name".into()),
        },
        31 => Command::MarkSeen(pane(b)),
        8 => Command::SetArea {
            tab: tab(b),
            area: Size { cols: u16::from(a) * 30, rows: 24 },
            zoomed: a == 3,
        },
        _ => Command::Resume {
            pane: pane(b),
            anyway: a == 0,
            previous: a == 2,
            cwd: (a == 1).then(|| "/moved".into()),
        },
    }
}

fn arrangement(a: u8, b: u8) -> Command {
    let weight = signaltty_core::layout::Weight::new(u16::from(b)).unwrap();
    match a {
        0 => Command::FocusPane(pane(b)),
        1 => Command::MoveTab { tab: tab(b), position: 1 },
        2 if b < 3 => Command::MoveWorkspace { workspace: ws(b), position: 0 },
        2 => {
            let question = format!("q{b:08x}").parse().unwrap();
            Command::Decide { pane: pane(b - 2), question, answer: Answer::Deny }
        }
        _ if b % 2 == 0 => Command::Equalise(tab(b)),
        _ => Command::SetWeight { pane: pane(b), axis: None, weight },
    }
}

fn side(n: u8) -> Direction {
    use Direction::{Down, Left, Right, Up};
    [Left, Right, Up, Down][usize::from(n % 4)]
}
