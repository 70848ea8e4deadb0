//! What the mouse does: it chooses panes and lines of the sidebar, moves the
//! lines between panes, scrolls, selects, and goes to programs that want it.

use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use signaltty_core::layout::{Axis, Rect};

use super::{Effects, actions, keys, places, scrolling};
use crate::tui::areas::{Areas, before, pane_at, separator_at};
use crate::tui::input::encode;
use crate::tui::list;
use crate::tui::model::{Dirty, Held, Link, Mode, Model};
use crate::tui::scroll::Scroll;

const WHEEL: usize = 3;

pub(super) fn mouse(model: &mut Model, event: &MouseEvent, out: &mut Effects) {
    if model.link != Link::Up || matches!(model.mode, Mode::Dialog(_) | Mode::Board(_)) {
        return;
    }
    if matches!(event.kind, MouseEventKind::Down(_)) {
        model.flow.ends();
    }
    if let Some(held) = model.held.clone() {
        match event.kind {
            MouseEventKind::Drag(_) => return drag(model, &held, event, out),
            MouseEventKind::Up(_) => {
                model.held = None;
                model.draw(Dirty::Foreground);
                let scrolled = matches!(&model.mode, Mode::Scroll(scroll) if scroll.mark.is_some());
                if matches!(held, Held::Selection { .. }) && scrolled {
                    scrolling::copy(model, out);
                }
                return;
            }
            _ => {}
        }
    }
    let areas = Areas::of(model);
    let (col, row) = (event.column, event.row);
    if areas.sidebar.contains((col, row).into()) {
        return in_sidebar(model, event, &areas, out);
    }
    let left = event.kind == MouseEventKind::Down(MouseButton::Left);
    if left && let Some(line) = separator_at(model, col, row) {
        // The titles of panes are on the lines above them.
        let is_row = line.axis == Axis::Row;
        if let Some(pane) = before(model, &line, col, row) {
            let at = if is_row { col } else { row };
            model.held = Some(Held::Border { pane, row: is_row, at });
        }
        return;
    }
    if let Some((pane, rect)) = pane_at(model, col, row) {
        in_pane(model, pane, rect, event, out);
    }
}

fn in_sidebar(model: &mut Model, event: &MouseEvent, areas: &Areas, out: &mut Effects) {
    let lines = list::lines(model);
    let top = list::top(lines.len(), model.sidebar.cursor, areas.sidebar.height);
    match event.kind {
        MouseEventKind::Down(MouseButton::Left) => {
            let at = top + usize::from(event.row);
            if let Some(line) = lines.get(at).filter(|line| line.selectable()) {
                model.sidebar.cursor = at;
                keys::open(model, line, out);
            }
        }
        MouseEventKind::ScrollUp => {
            model.sidebar.cursor = model.sidebar.cursor.saturating_sub(WHEEL);
        }
        MouseEventKind::ScrollDown => {
            model.sidebar.cursor =
                (model.sidebar.cursor + WHEEL).min(lines.len().saturating_sub(1));
        }
        _ => return,
    }
    model.draw(Dirty::Foreground);
}

fn in_pane(
    model: &mut Model,
    pane: signaltty_core::id::PaneId,
    rect: Rect,
    event: &MouseEvent,
    out: &mut Effects,
) {
    let pressed = matches!(event.kind, MouseEventKind::Down(_));
    if pressed && model.focus() != Some(pane) {
        let tab = model.shown().map(|(_, tab)| tab.id.clone());
        if let Some(tab) = tab {
            places::focus(model, &tab, pane, out);
        }
    }
    if pressed {
        model.sidebar.focused = false;
        model.draw(Dirty::Foreground);
    }
    let (col, row) = (event.column - rect.col(), event.row - rect.row());
    let scrolled = matches!(&model.mode, Mode::Scroll(scroll) if scroll.pane == pane);
    let screen = model.panes.get(&pane).and_then(|state| state.screen.as_ref());
    // With Shift the mouse is the client's own, whatever the program wants.
    if let Some(screen) =
        screen.filter(|_| !scrolled && !event.modifiers.contains(KeyModifiers::SHIFT))
    {
        let bytes = encode::mouse(event, col, row, screen.mouse(), screen.sgr_mouse());
        if screen.mouse() != signaltty_pty::Mouse::Off {
            return keys::typed(model, pane, bytes, out);
        }
        // Pagers without a mouse are scrolled by their own keys.
        let arrow = match event.kind {
            MouseEventKind::ScrollUp => "Up",
            MouseEventKind::ScrollDown => "Down",
            _ => "",
        };
        if screen.alternate()
            && let Ok(arrow) = arrow.parse()
        {
            let bytes = encode::key(arrow, screen.application_cursor()).repeat(WHEEL);
            return keys::typed(model, pane, bytes, out);
        }
    }
    match event.kind {
        MouseEventKind::ScrollUp if !scrolled => scrolling::start(model, pane, WHEEL, out),
        MouseEventKind::ScrollUp => wheel(model, -1),
        MouseEventKind::ScrollDown if scrolled => wheel(model, 1),
        MouseEventKind::Down(MouseButton::Left) => {
            model.held = Some(Held::Selection { pane, from: (col, row) });
        }
        _ => {}
    }
}

fn wheel(model: &mut Model, by: isize) {
    let Mode::Scroll(scroll) = &mut model.mode else { return };
    let rows = isize::try_from(WHEEL).unwrap_or(1);
    scroll.scroll(by * rows);
    // Below everything is the live screen.
    if by > 0 && scroll.at_bottom() && scroll.mark.is_none() {
        model.mode = Mode::Normal;
    }
    model.draw(Dirty::Foreground);
}

fn drag(model: &mut Model, held: &Held, event: &MouseEvent, out: &mut Effects) {
    match held {
        Held::Border { pane, row, at } => {
            let now = if *row { event.column } else { event.row };
            let axis = if *row { Axis::Row } else { Axis::Column };
            let cells = i32::from(now) - i32::from(*at);
            if cells != 0 && actions::move_border(model, *pane, axis, cells, out) {
                model.held = Some(Held::Border { pane: *pane, row: *row, at: now });
                model.draw(Dirty::Foreground);
            }
        }
        Held::Selection { pane, from } => {
            if !matches!(&model.mode, Mode::Scroll(scroll) if scroll.pane == *pane) {
                scrolling::start(model, *pane, 0, out);
            }
            let Some((_, rect)) = pane_at(model, event.column, event.row).filter(|f| f.0 == *pane)
            else {
                return;
            };
            let (col, row) = (event.column - rect.col(), event.row - rect.row());
            if let Mode::Scroll(scroll) = &mut model.mode {
                select(scroll, *from, (col, row));
            }
            model.draw(Dirty::Foreground);
        }
    }
}

/// Selects from one cell of the pane to another. The screen as it was when the
/// lines came is at the end of them.
fn select(scroll: &mut Scroll, from: (u16, u16), to: (u16, u16)) {
    if !scroll.loaded {
        return;
    }
    let cell = |(col, row): (u16, u16)| (scroll.top + usize::from(row), usize::from(col));
    let (start, end) = (cell(from), cell(to));
    scroll.mark.get_or_insert(start);
    scroll.go(end.0, end.1);
}
