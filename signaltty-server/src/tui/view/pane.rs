//! The panes of a tab: their lines, titles and contents.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use signaltty_core::layout::{Axis, Rect as CoreRect};
use signaltty_pty::Screen;
use unicode_width::UnicodeWidthStr as _;

use super::{ACCENT, CHOSEN, Cursor, FAINT, STRONG, cells, put, wipe, words};
use crate::cli::{ago, safe};
use crate::protocol::PaneNode;
use crate::tui::areas::{Areas, arrangement, on_screen};
use crate::tui::model::{Mode, Model, Tail, is_live};
use crate::tui::scroll::Scroll;
use crate::tui::styled;
use crate::tui::update::ways;

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
            _ => tombstone(model, node, state.map(|state| &state.tail), area, buffer),
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
    if model.zoom().is_some() {
        facts.push(("zoomed".to_owned(), ACCENT));
    }
    for (text, look) in facts {
        piece(&format!("· {text}"), look);
    }
    piece("", Style::new());
}

/// A pane without a process: its last lines, what it is and what can be done.
fn tombstone(model: &Model, node: &PaneNode, tail: Option<&Tail>, area: Rect, buffer: &mut Buffer) {
    let mut foot = foot(model, node, area.width);
    // In a small pane what can be done matters more than the rest.
    let room = usize::from(area.height);
    if foot.len() > room {
        foot.drain(..foot.len() - room);
    }
    let above = area.height.saturating_sub(u16::try_from(foot.len()).unwrap_or(u16::MAX));
    let lines = match tail {
        Some(Tail::Text(text)) => last_rows(text, area.width, above),
        Some(Tail::None(why)) => {
            vec![vec![styled::Piece { text: format!("({why})"), style: FAINT }]]
        }
        _ => Vec::new(),
    };
    for (y, row) in (area.y..area.y + above).zip(&lines) {
        draw_row(row, area.x, y, area.width, buffer);
    }
    for (y, (text, style)) in (area.y + above..area.bottom()).zip(foot) {
        put(buffer, area.x, y, area.width, &text, style);
    }
}

/// The lines below a tombstone's output.
fn foot(model: &Model, node: &PaneNode, width: u16) -> Vec<(String, Style)> {
    let rule = "─".repeat(width.into());
    let mut lines = vec![(rule, FAINT)];
    let what = match node.state.as_str() {
        "resumable" => "Its process is gone; its conversation can be reopened.".to_owned(),
        "resuming" => format!("{} {}", words::spinner(model), words::state_words(node)),
        "exited" => format!("Its process ended: {}.", words::state_words(node)),
        _ => "Its process did not survive; this is what was saved.".to_owned(),
    };
    let mut add = |text: &str, style: Style| {
        lines.extend(wrap(text, width).into_iter().map(|line| (line, style)));
    };
    add(&what, STRONG);
    if let Some(agent) = &node.agent {
        let id = agent.agent_session_id.as_deref().unwrap_or("no conversation yet");
        let mut text = format!("{} {id}", agent.kind);
        if agent.interrupted {
            text.push_str(", interrupted in a turn");
        }
        add(&safe(&text), Style::new());
        if let Some(failure) = &agent.last_failure {
            let when = ago(model.now, &failure.at);
            let text = format!("{} ({when}): {}", failure.code, failure.message);
            add(&safe(&text), super::BAD);
        }
    } else if node.state != "resuming" {
        let argv = node.argv.iter().map(|word| word.0.to_string_lossy().into_owned());
        let text = format!("$ {}", argv.collect::<Vec<_>>().join(" "));
        add(&safe(&text), FAINT);
    }
    if node.state != "resuming" {
        let keys: Vec<_> =
            ways(node).iter().map(|(_, key, what)| format!("[{key}] {what}")).collect();
        add(&keys.join("  "), ACCENT.add_modifier(Modifier::BOLD));
    }
    lines
}

/// Breaks text at spaces.
pub(super) fn wrap(text: &str, width: u16) -> Vec<String> {
    let width = usize::from(width.max(1));
    let mut lines = vec![String::new()];
    for word in text.split_inclusive(' ') {
        let line = lines.last().map_or(0, |line| line.width());
        if line > 0 && line + word.trim_end().width() > width {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(word);
        }
    }
    lines
}

/// The last rows of a tail.
fn last_rows(text: &str, width: u16, height: u16) -> Vec<styled::Row> {
    let mut rows = Vec::new();
    for line in text.lines().rev() {
        if rows.len() >= usize::from(height) {
            break;
        }
        rows.extend(styled::rows(line, width).into_iter().rev());
    }
    rows.truncate(height.into());
    rows.reverse();
    rows
}

fn draw_row(row: &styled::Row, x: u16, y: u16, width: u16, buffer: &mut Buffer) {
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
