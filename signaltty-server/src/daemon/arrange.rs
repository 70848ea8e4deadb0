//! Methods that arrange panes, tabs and workspaces.

use serde_json::Value;
use signaltty_core::id::PaneId;
use signaltty_core::layout::{Axis, Direction, Layout, Size, Weight};
use signaltty_core::session::{Command, Session};

use super::dispatch::parse;
use super::{panes, resolve};
use crate::protocol::{self as wire, LayoutText, WireError, code};

/// The command that such a method stands for.
pub(crate) fn command(
    session: &Session,
    method: &str,
    params: Value,
) -> Result<Command, WireError> {
    Ok(match method {
        "pane.move" => {
            let ask: wire::PaneMove = parse(params)?;
            Command::MovePane {
                pane: resolve::pane(session, &ask.pane)?,
                beside: resolve::pane(session, &ask.beside)?,
                direction: direction(ask.direction),
            }
        }
        "pane.swap" => {
            let ask: wire::PaneSwap = parse(params)?;
            let other = resolve::pane(session, &ask.other)?;
            Command::SwapPanes(resolve::pane(session, &ask.pane)?, other)
        }
        "pane.weight" => weight(session, &parse(params)?)?,
        "pane.focus" => {
            let ask: wire::PaneRef = parse(params)?;
            Command::FocusPane(resolve::pane(session, &ask.pane)?)
        }
        "pane.seen" => {
            let ask: wire::PaneRef = parse(params)?;
            Command::MarkSeen(resolve::pane(session, &ask.pane)?)
        }
        "tab.area" => {
            let ask: wire::TabArea = parse(params)?;
            let size = panes::terminal_size(ask.cols, ask.rows);
            let area = Size { cols: size.cols, rows: size.rows };
            let tab = resolve::tab(session, &ask.tab)?;
            Command::SetArea { tab, area, zoomed: ask.zoomed }
        }
        "tab.equalise" => {
            let ask: wire::TabRef = parse(params)?;
            Command::Equalise(resolve::tab(session, &ask.tab)?)
        }
        "tab.move" => {
            let ask: wire::TabMove = parse(params)?;
            let tab = resolve::tab(session, &ask.tab)?;
            Command::MoveTab { tab, position: ask.position }
        }
        "workspace.move" => {
            let ask: wire::WorkspaceMove = parse(params)?;
            let workspace = resolve::workspace(session, &ask.workspace)?;
            Command::MoveWorkspace { workspace, position: ask.position }
        }
        _ => set_layout(session, &parse(params)?)?,
    })
}

/// The layout of a tab as text.
pub(crate) fn layout(session: &Session, ask: &wire::TabLayout) -> Result<LayoutText, WireError> {
    let tab = resolve::tab(session, &ask.tab)?;
    let gone = || WireError::new(code::NO_SUCH_TAB, format!("there is no tab {tab}"));
    let view = session.tab(tab).ok_or_else(gone)?;
    Ok(LayoutText { tab_id: tab.to_string(), layout: view.record.layout.to_string() })
}

fn set_layout(session: &Session, ask: &wire::TabLayout) -> Result<Command, WireError> {
    let tab = resolve::tab(session, &ask.tab)?;
    let text = ask.layout.as_deref().unwrap_or_default();
    let layout: Layout<PaneId> = text.parse().map_err(|error| {
        let message =
            format!("`layout`: {error}; `signaltty tab layout {tab}` prints the present one");
        WireError::new(code::BAD_PARAMS, message)
    })?;
    Ok(Command::SetLayout { tab, layout })
}

fn weight(session: &Session, ask: &wire::PaneWeight) -> Result<Command, WireError> {
    let none = || WireError::new(code::BAD_PARAMS, "`weight` must be from 1 to 65535, not 0");
    Ok(Command::SetWeight {
        pane: resolve::pane(session, &ask.pane)?,
        axis: ask.axis.map(|axis| match axis {
            wire::SplitAxis::Row => Axis::Row,
            wire::SplitAxis::Column => Axis::Column,
        }),
        weight: Weight::new(ask.weight).ok_or_else(none)?,
    })
}

pub(crate) fn direction(direction: wire::SplitDirection) -> Direction {
    match direction {
        wire::SplitDirection::Left => Direction::Left,
        wire::SplitDirection::Right => Direction::Right,
        wire::SplitDirection::Up => Direction::Up,
        wire::SplitDirection::Down => Direction::Down,
    }
}
