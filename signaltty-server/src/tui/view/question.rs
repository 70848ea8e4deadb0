//! Questions, in a box over everything else.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr as _;

use super::pane::wrap;
use super::{ACCENT, BAD, CHOSEN, Cursor, FAINT, STRONG, put, wipe, words};
use crate::cli::safe;
use crate::tui::dialog::{Dialog, Open};
use crate::tui::field::Field;
use crate::tui::model::Model;

/// A line of a box.
enum Row<'a> {
    Text(String, Style),
    /// A field with its label; whether it has the cursor.
    Field(&'static str, &'a Field, bool),
    /// A text in the place of a field.
    Chosen(&'static str, String, bool),
}

pub(super) fn draw(model: &Model, dialog: &Dialog, buffer: &mut Buffer) -> Option<Cursor> {
    let (cols, rows) = model.size;
    // On a small screen the whole width: half a box would be hard to read.
    let width = if cols < 50 { cols } else { (cols - 2).min(64) };
    let inner = width.saturating_sub(2);
    let content = content(model, dialog, inner);
    let most = rows.saturating_sub(1).max(1);
    let height = u16::try_from(content.len()).unwrap_or(u16::MAX).saturating_add(2).min(most);
    let area = Rect::new((cols - width) / 2, (most - height) / 2, width, height);
    wipe(buffer, area, Style::new());
    // A box without room for its frame is drawn without.
    let framed = height > 3 && usize::from(height) >= content.len() + 2;
    if framed {
        frame(area, buffer);
    }
    let (mut y, left) = (area.y + u16::from(framed), area.x + 1);
    // What does not fit is cut at the top: the last lines say what to press.
    let room = usize::from(height) - if framed { 2 } else { 0 };
    let skip = content.len().saturating_sub(room);
    let mut cursor = None;
    for row in content.into_iter().skip(skip) {
        match row {
            Row::Text(text, style) => {
                put(buffer, left, y, inner, &text, style);
            }
            Row::Chosen(label, text, here) => {
                let x = put(buffer, left, y, inner, label, FAINT);
                let style = if here { CHOSEN } else { Style::new() };
                put(buffer, x, y, (left + inner).saturating_sub(x), &text, style);
            }
            Row::Field(label, field, here) => {
                let x = put(buffer, left, y, inner, label, FAINT);
                let room = (left + inner).saturating_sub(x);
                let (shown, at) = window(field, room);
                put(buffer, x, y, room, &shown, if here { STRONG } else { Style::new() });
                if here {
                    cursor = Some(Cursor { col: x + at, row: y, style: 0 });
                }
            }
        }
        y += 1;
    }
    cursor
}

/// The part of a field around its cursor, and where the cursor is in it.
fn window(field: &Field, room: u16) -> (String, u16) {
    let room = usize::from(room).saturating_sub(1);
    let mut before = field.before();
    while before.width() > room {
        let mut chars = before.chars();
        chars.next();
        before = chars.as_str();
    }
    let after = field.text().get(field.before().len()..).unwrap_or_default();
    (safe(&format!("{before}{after}")), u16::try_from(before.width()).unwrap_or(0))
}

fn content<'a>(model: &Model, dialog: &'a Dialog, width: u16) -> Vec<Row<'a>> {
    let text = |text: &str, style: Style| {
        wrap(text, width).into_iter().map(move |line| Row::Text(line, style))
    };
    let mut rows = Vec::new();
    match dialog {
        Dialog::Open(open) => return opening(model, open, width),
        Dialog::Line(line) => {
            rows.push(Row::Text(line.title.clone(), STRONG));
            rows.push(Row::Field("> ", &line.field, true));
            rows.push(Row::Text("Enter does it, Esc does not".to_owned(), FAINT));
        }
        Dialog::Confirm(confirm) => {
            rows.extend(confirm.text.iter().flat_map(|line| text(line, Style::new())));
            rows.push(Row::Text("[y] yes  [n] no".to_owned(), ACCENT));
        }
        Dialog::Over(why) => {
            rows.extend(text(why, STRONG));
            rows.push(Row::Text("any key goes on".to_owned(), FAINT));
        }
        Dialog::Answer(asked) => {
            let title = model.node(asked.pane).map(words::title).unwrap_or_default();
            rows.extend(text(&format!("{title} asks for permission:"), STRONG));
            rows.extend(asked.text.lines().flat_map(|line| text(&safe(line), Style::new())));
            rows.push(Row::Text("[y] allow once  [n] deny  Esc leave it".to_owned(), ACCENT));
        }
    }
    rows
}

fn opening<'a>(model: &Model, open: &'a Open, width: u16) -> Vec<Row<'a>> {
    let title = if open.beside.is_some() { "New pane" } else { "New workspace" };
    let mut rows = vec![Row::Text(title.to_owned(), STRONG)];
    rows.push(Row::Field("Directory ", &open.cwd, !open.on_command));
    match open.choice {
        Some(choice) => {
            let agent = choice.checked_sub(1).and_then(|at| model.agents.get(at));
            let name = agent.map_or("your shell", String::as_str);
            rows.push(Row::Chosen("Run       ", format!("< {} >", safe(name)), open.on_command));
        }
        None => rows.push(Row::Field("Run       ", &open.command, open.on_command)),
    }
    if let Some(error) = &open.error {
        rows.extend(wrap(&safe(error), width).into_iter().map(|line| Row::Text(line, BAD)));
    }
    let hint = match (open.on_command, open.choice) {
        (true, Some(_)) => "Left, Right choose or type a command; Enter opens",
        (false, _) if open.far && open.cwd.text().is_empty() => {
            "Nothing: your home there. Tab goes on, Enter opens, Esc leaves"
        }
        _ => "Tab goes on, Enter opens, Esc leaves it",
    };
    rows.push(Row::Text(hint.to_owned(), FAINT));
    rows
}

fn frame(area: Rect, buffer: &mut Buffer) {
    let line = "─".repeat(usize::from(area.width.saturating_sub(2)));
    put(buffer, area.x, area.y, area.width, &format!("┌{line}┐"), ACCENT);
    put(buffer, area.x, area.bottom() - 1, area.width, &format!("└{line}┘"), ACCENT);
    for y in area.y + 1..area.bottom() - 1 {
        put(buffer, area.x, y, 1, "│", ACCENT);
        put(buffer, area.right() - 1, y, 1, "│", ACCENT);
    }
}
