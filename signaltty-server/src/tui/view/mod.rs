//! What the screen shows. A function of the model and nothing else, so that
//! screens are tested as text.

mod about;
mod bar;
mod board;
mod cells;
mod help;
mod page;
mod pane;
mod printed;
mod question;
mod sidebar;
mod tombstone;
mod words;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::Widget as _;

use super::areas::Areas;
use super::model::{Link, Mode, Model};

pub(crate) use page::last_page;
pub(crate) use printed::Printed;

#[cfg(test)]
pub(crate) use help::{LIST_KEYS, PAGE_KEYS, SCROLL_KEYS, SIDEBAR_KEYS, key_rows};

/// Where the cursor is, and its shape as DECSCUSR counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) col: u16,
    pub(crate) row: u16,
    pub(crate) style: u8,
}

/// Draws everything.
pub(crate) fn view(model: &Model, buffer: &mut Buffer) -> Option<Cursor> {
    let (cols, rows) = model.size;
    if cols == 0 || rows == 0 {
        return None;
    }
    let areas = Areas::of(model);
    let mut cursor = None;
    match (&model.link, model.shown()) {
        (Link::Gone(why), _) => words::gone(model, why, areas.panes, buffer),
        (Link::Starting, _) => words::starting(model, areas.panes, buffer),
        (Link::Up, None) => words::welcome(model, areas.panes, buffer),
        (Link::Up, Some(_)) => cursor = pane::all(model, &areas, buffer),
    }
    if areas.sidebar.width > 0 && model.link == Link::Up {
        sidebar::draw(model, &areas, buffer);
    }
    bar::draw(model, areas.status, buffer);
    match &model.mode {
        Mode::Dialog(dialog) => cursor = question::draw(model, dialog, buffer),
        Mode::Board(board) => {
            board::draw(model, board, buffer);
            cursor = None;
        }
        Mode::Help(line) | Mode::About(_, line) => {
            page::draw(model, *line, buffer);
            cursor = None;
        }
        _ if model.sidebar.focused => cursor = None,
        _ => {}
    }
    cursor.filter(|cursor| cursor.col < cols && cursor.row < rows)
}

/// Writes a line, cut at the width.
fn put(buffer: &mut Buffer, x: u16, y: u16, width: u16, text: &str, style: Style) -> u16 {
    let area = Rect::new(x, y, width, 1).intersection(buffer.area);
    if area.is_empty() {
        return x;
    }
    buffer.set_stringn(x, y, text, usize::from(area.width), style).0
}

/// Fills a rectangle with blanks.
fn wipe(buffer: &mut Buffer, area: Rect, style: Style) {
    let area = area.intersection(buffer.area);
    for row in area.rows() {
        let blank = " ".repeat(usize::from(row.width));
        buffer.set_string(row.x, row.y, blank, style);
    }
}

/// Lines in the middle of an area.
fn centred(buffer: &mut Buffer, area: Rect, lines: &[Line<'_>]) {
    let height = u16::try_from(lines.len()).unwrap_or(u16::MAX).min(area.height);
    let width = lines.iter().map(Line::width).max().unwrap_or(0);
    let width = u16::try_from(width).unwrap_or(u16::MAX).min(area.width);
    let x = area.x + (area.width - width) / 2;
    let first = area.y + (area.height - height) / 2;
    for (y, line) in (first..first + height).zip(lines) {
        line.render(Rect::new(x, y, width, 1), buffer);
    }
}

// Looks that tell things apart without colours too.
const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
const FAINT: Style = Style::new().add_modifier(Modifier::DIM);
const CHOSEN: Style = Style::new().add_modifier(Modifier::REVERSED);
const BAD: Style = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD);
const GOOD: Style = Style::new().fg(Color::Green);
const URGENT: Style = Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD);
const ACCENT: Style = Style::new().fg(Color::Cyan);

#[cfg(test)]
mod tests;
