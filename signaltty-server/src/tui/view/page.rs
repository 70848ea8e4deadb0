//! Something to read that lies over the panes: names on the left, what goes with
//! them on the right, and more of it than fits on the screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr as _;

use super::pane::wrap;
use super::{ACCENT, CHOSEN, STRONG, about, help, put, wipe};
use crate::tui::model::{Mode, Model};

/// A part of a page.
pub(super) enum Row {
    Heading(String),
    /// A name and what goes with it; one without a name goes with the last one.
    Of(String, String, Style),
    Blank,
}

/// What there is to read now; `None` in every other mode.
fn rows(model: &Model) -> Option<Vec<Row>> {
    match &model.mode {
        Mode::Help(_) => Some(help::rows(&model.gui.bindings)),
        Mode::About(pane, _) => Some(about::rows(model, *pane)),
        _ => None,
    }
}

/// The first line of the last page.
pub(crate) fn last_page(model: &Model) -> u16 {
    let lines = lines(rows(model).unwrap_or_default(), model.size.0);
    let height = model.size.1.saturating_sub(1);
    u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_sub(height)
}

/// Draws from a line on.
pub(super) fn draw(model: &Model, line: u16, buffer: &mut Buffer) {
    let (cols, height) = model.size;
    let area = Rect::new(0, 0, cols, height.saturating_sub(1));
    wipe(buffer, area, Style::new());
    let lines = lines(rows(model).unwrap_or_default(), cols);
    let last = last_page(model);
    let line = line.min(last);
    for (y, row) in (0..area.height).zip(lines.into_iter().skip(line.into())) {
        match row {
            Row::Heading(text) => {
                put(buffer, 1, y, cols.saturating_sub(1), &text, ACCENT);
            }
            Row::Of(name, text, style) => {
                let x = put(buffer, 1, y, cols.saturating_sub(1), &name, STRONG);
                let x = x.max(column(cols)) + 1;
                put(buffer, x, y, cols.saturating_sub(x), &text, style);
            }
            Row::Blank => {}
        }
    }
    let status = Rect::new(0, height.saturating_sub(1), cols, 1);
    wipe(buffer, status, CHOSEN);
    let more =
        if line < last { " Down for more, any other key goes back" } else { " Any key goes back" };
    put(buffer, 0, status.y, cols, more, CHOSEN.patch(STRONG));
}

/// Where names end.
fn column(cols: u16) -> u16 {
    match cols {
        50.. => 16,
        30.. => 9,
        _ => 3,
    }
}

/// The rows, of which none is wider than the screen.
fn lines(rows: Vec<Row>, cols: u16) -> Vec<Row> {
    let mut lines = Vec::new();
    for row in rows {
        let (name, text, style) = match row {
            Row::Of(name, text, style) => (name, text, style),
            Row::Heading(text) => {
                lines.extend(wrap(&text, cols.saturating_sub(1)).into_iter().map(Row::Heading));
                continue;
            }
            Row::Blank => {
                lines.push(row);
                continue;
            }
        };
        let names = u16::try_from(name.width()).unwrap_or(u16::MAX).saturating_add(1);
        let room = cols.saturating_sub(names.max(column(cols)).saturating_add(1));
        let mut name = Some(name);
        for text in wrap(&text, room) {
            lines.push(Row::Of(name.take().unwrap_or_default(), text, style));
        }
    }
    lines
}
