//! The panes of a tab: their lines, titles and contents.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use signaltty_core::layout::{Axis, Rect as CoreRect};
use signaltty_pty::Screen;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::{ACCENT, CHOSEN, Cursor, FAINT, STRONG, cells, put, tombstone, wipe, words};
use crate::cli::{self, Weight};
use crate::protocol::PaneNode;
use crate::tui::areas::{Areas, arrangement, on_screen};
use crate::tui::input::Action;
use crate::tui::model::{Mode, Model, is_live};
use crate::tui::scroll::Scroll;
use crate::tui::styled;

/// Draws all panes of the shown tab. Gives the cursor of the focused one.
pub(super) fn all(model: &Model, areas: &Areas, buffer: &mut Buffer) -> Option<Cursor> {
    let found = arrangement(model)?;
    let focus = model.focus();
    let top = areas.top;
    put(buffer, top.x, top.y, top.width, &"─".repeat(top.width.into()), FAINT);
    for line in &found.separators {
        let rect = on_screen(model, line.rect);
        let sign = if line.axis == Axis::Row { "│" } else { "─" };
        for position in rect.positions() {
            if let Some(cell) = buffer.cell_mut(position) {
                cell.set_symbol(sign).set_style(FAINT);
            }
        }
    }
    let mut cursor = None;
    for (pane, rect) in found.rects {
        let Some(node) = model.node(pane) else { continue };
        let focused = focus == Some(pane);
        head(model, node, rect, focused, areas, buffer);
        let area = on_screen(model, rect);
        if area.is_empty() {
            continue;
        }
        let state = model.panes.get(&pane);
        let scroll = match &model.mode {
            Mode::Scroll(scroll) if scroll.pane == pane => Some(scroll),
            _ => model.scrolled.as_ref().filter(|scroll| scroll.pane == pane),
        };
        if let Some(scroll) = scroll.filter(|scroll| scroll.loaded) {
            cursor = Some(scrolled(scroll, area, buffer));
            continue;
        }
        match state.and_then(|state| state.screen.as_ref()) {
            Some(screen) if is_live(node) => {
                cells::draw(screen, area, buffer);
                beyond(area, (screen.size().cols, screen.size().rows), buffer);
                if focused {
                    cursor = self::cursor(screen, area);
                }
            }
            // Its stream is about to begin; nothing is known of it until then.
            _ if node.state == "live" => {}
            _ => tombstone::draw(model, node, state.map(|state| &state.tail), area, buffer),
        }
    }
    cursor
}

/// The cursor of a pane's screen in its area.
pub(super) fn cursor(screen: &Screen, area: Rect) -> Option<Cursor> {
    let (col, row) = screen.cursor()?;
    let (col, row) = (area.x + col, area.y + row);
    let inside = col < area.right() && row < area.bottom();
    inside.then(|| Cursor { col, row, style: screen.cursor_style() })
}

/// Marks what lies outside of a pane that is smaller than its place.
fn beyond(area: Rect, (cols, rows): (u16, u16), buffer: &mut Buffer) {
    for position in area.positions() {
        if (position.x - area.x >= cols || position.y - area.y >= rows)
            && let Some(cell) = buffer.cell_mut(position)
        {
            cell.set_symbol("·").set_style(FAINT);
        }
    }
}

/// The title of a pane, on the line above it.
fn head(
    model: &Model,
    node: &PaneNode,
    rect: CoreRect,
    focused: bool,
    areas: &Areas,
    buffer: &mut Buffer,
) {
    let Some(y) = rect.row().checked_sub(1) else { return };
    let right = areas.panes.right();
    let width = rect.cols().min(right.saturating_sub(rect.col()));
    if width < 4 || y < areas.top.y || y >= areas.panes.bottom() {
        return;
    }
    let style = if focused { STRONG.add_modifier(Modifier::REVERSED) } else { Style::new() };
    let end = rect.col() + width;
    let mut x = rect.col() + 1;
    let mut piece = |text: &str, look: Style| {
        let text = format!(" {text}");
        if x < end {
            x = put(buffer, x, y, end - x, &text, style.patch(look));
        }
    };
    let (sign, look) = words::attention_sign(&node.attention);
    if !sign.is_empty() {
        piece(sign, look);
    }
    let spin = node.state == "resuming";
    let (sign, look) = words::state_sign(node);
    piece(if spin { words::spinner(model) } else { sign }, look);
    piece(&words::title(node), Style::new());
    let attention = words::attention_words(&node.attention);
    let mut facts = vec![(words::state_words(node), FAINT)];
    facts.extend(words::badge(node).map(|(text, look)| (text.to_owned(), look)));
    if !attention.is_empty() {
        facts.push((attention.to_owned(), words::attention_sign(&node.attention).1));
    }
    let mut notes = cli::notes(node, model.now).into_iter();
    if is_live(node) && notes.any(|note| note.weight > Weight::Fact) {
        facts.push((format!("{} tells more", model.gui.bindings.hint(Action::About)), FAINT));
    }
    if model.zoom().is_some() {
        facts.push(("zoomed".to_owned(), ACCENT));
    }
    for (text, look) in facts {
        piece(&format!("· {text}"), look);
    }
    piece("", Style::new());
}

pub(super) fn draw_row(row: &styled::Row, x: u16, y: u16, width: u16, buffer: &mut Buffer) {
    let end = x + width;
    let mut x = x;
    for piece in row {
        x = put(buffer, x, y, end.saturating_sub(x), &piece.text, piece.style);
    }
}

/// Output that a person moves through.
fn scrolled(scroll: &Scroll, area: Rect, buffer: &mut Buffer) -> Cursor {
    wipe(buffer, area, Style::new());
    let selection = scroll.selection();
    for (y, (number, row)) in (area.y..area.bottom()).zip(scroll.shown()) {
        draw_row(row, area.x, y, area.width, buffer);
        if scroll.found.binary_search(&number).is_ok() {
            mark(scroll, row, area, y, buffer);
        }
        let Some((from, to)) = selection.filter(|(from, to)| (from.0..=to.0).contains(&number))
        else {
            continue;
        };
        let start = if number == from.0 { from.1 } else { 0 };
        let end = if number == to.0 { to.1 } else { usize::MAX };
        for x in 0..area.width {
            if (start..=end).contains(&usize::from(x))
                && let Some(cell) = buffer.cell_mut((area.x + x, y))
            {
                cell.set_style(CHOSEN);
            }
        }
    }
    let below = scroll.below();
    let note = if below > 0 { format!(" {below} lines below ") } else { " scrolled ".to_owned() };
    let width = u16::try_from(note.width()).unwrap_or(0);
    if area.height > 1 && area.width > width {
        put(buffer, area.right() - width, area.y, width, &note, CHOSEN);
    }
    Cursor {
        col: area.x + u16::try_from(scroll.col).unwrap_or(0).min(area.width.saturating_sub(1)),
        row: area.y + u16::try_from(scroll.row.saturating_sub(scroll.top)).unwrap_or(0),
        style: 2,
    }
}

/// Marks where a row holds what was searched for.
fn mark(scroll: &Scroll, row: &styled::Row, area: Rect, y: u16, buffer: &mut Buffer) {
    let text = styled::text(row);
    let exact = scroll.search.chars().any(char::is_uppercase);
    let text = if exact { text } else { text.to_lowercase() };
    for (at, found) in text.match_indices(&scroll.search) {
        let start = text.get(..at).map_or(0, |before| before.width());
        for x in start..start + found.width() {
            let x = area.x.saturating_add(u16::try_from(x).unwrap_or(u16::MAX));
            if x < area.right()
                && let Some(cell) = buffer.cell_mut((x, y))
            {
                cell.set_style(Style::new().add_modifier(Modifier::REVERSED | Modifier::BOLD));
            }
        }
    }
}

/// Breaks text at spaces, and a word that is wider than a line wherever it must.
pub(super) fn wrap(text: &str, width: u16) -> Vec<String> {
    let width = usize::from(width.max(1));
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split_inclusive(' ') {
        let shown = word.trim_end().width();
        if used > 0 && used + shown > width {
            lines.push(String::new());
            used = 0;
        }
        if shown <= width {
            used += word.width();
            lines.last_mut().unwrap_or(&mut String::new()).push_str(word);
            continue;
        }
        for character in word.chars() {
            let wide = character.width().unwrap_or(0);
            if used > 0 && used + wide > width && character != ' ' {
                lines.push(String::new());
                used = 0;
            }
            used += wide;
            lines.last_mut().unwrap_or(&mut String::new()).push(character);
        }
    }
    lines
}
