//! Lists that lie over the panes.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::pane::wrap;
use super::{ACCENT, BAD, CHOSEN, FAINT, STRONG, URGENT, put, wipe};
use crate::cli::{self, ago, safe};
use crate::protocol::{NotificationNode, WorktreeNode};
use crate::tui::board::{Board, Kind, unread};
use crate::tui::list;
use crate::tui::model::Model;

pub(super) fn draw(model: &Model, board: &Board, buffer: &mut Buffer) {
    let (cols, rows) = model.size;
    let area = Rect::new(0, 0, cols, rows.saturating_sub(1));
    wipe(buffer, area, Style::new());
    let title = match &board.kind {
        Kind::Inbox => format!("Notifications, {} unread", unread(model)),
        Kind::Checkouts(root) => format!("Checkouts of {}", safe(&root.to_string_lossy())),
    };
    put(buffer, 1, 0, cols.saturating_sub(1), &title, ACCENT);
    // Below the list is all of what the chosen line says.
    let more = detail(model, board, cols.saturating_sub(2));
    let room = area.height.saturating_sub(1);
    let below = u16::try_from(more.len()).unwrap_or(u16::MAX).min(room / 2);
    let count = board.len(model);
    if count == 0 {
        put(buffer, 1, 1.min(room), cols.saturating_sub(1), "nothing", FAINT);
    }
    let height = room - below;
    let top = list::top(count, board.cursor, height);
    for (y, line) in (1..=height).zip(top..count) {
        let chosen = line == board.cursor;
        let row = Rect::new(0, y, cols, 1);
        match &board.kind {
            Kind::Inbox => {
                if let Some(node) = model.inbox.get(line) {
                    notification(model, node, chosen, row, buffer);
                }
            }
            Kind::Checkouts(root) => {
                if let Some(node) = model.checkouts.of(root).get(line) {
                    checkout(node, chosen, row, buffer);
                }
            }
        }
        if chosen {
            buffer.set_style(row.intersection(buffer.area), CHOSEN);
        }
    }
    for (y, line) in (area.bottom() - below..area.bottom()).zip(more) {
        put(buffer, 1, y, cols.saturating_sub(2), &line, STRONG);
    }
    let keys = match board.kind {
        Kind::Inbox => " Enter go there  d read  D all read  Esc back",
        Kind::Checkouts(_) => " Enter open  n new  x remove  Esc back",
    };
    let status = Rect::new(0, rows.saturating_sub(1), cols, 1);
    wipe(buffer, status, CHOSEN);
    // What went wrong matters more than the keys.
    match model.message.as_ref().filter(|message| !message.text.is_empty()) {
        Some(message) => {
            let style = if message.bad { BAD } else { Style::new() };
            put(buffer, 0, status.y, cols, &format!(" {}", message.text), CHOSEN.patch(style));
        }
        None => {
            put(buffer, 0, status.y, cols, keys, CHOSEN.add_modifier(Modifier::BOLD));
        }
    }
}

/// Read ones are told apart without colour, too.
fn notification(
    model: &Model,
    node: &NotificationNode,
    chosen: bool,
    area: Rect,
    buffer: &mut Buffer,
) {
    let (sign, look) = match node.severity.as_str() {
        "error" => ("E", BAD),
        "warning" => ("W", URGENT),
        _ => ("i", Style::new()),
    };
    let (mark, style) = if node.read_at.is_some() { (" ", FAINT) } else { ("*", STRONG) };
    let start = if chosen { ">" } else { " " };
    let mut x = put(buffer, area.x, area.y, area.width, start, STRONG);
    let pane = node.pane_id.as_ref().and_then(|pane| model.place(pane.parse().ok()?));
    let place = pane.map(|(workspace, ..)| format!("{}: ", workspace.name)).unwrap_or_default();
    // Anybody's text can be printed: that it was is said where it is read.
    let whose = if node.from_program { " (its program)" } else { "" };
    for (text, style) in [
        (mark.to_owned(), STRONG),
        (sign.to_owned(), look),
        (" ".to_owned(), Style::new()),
        (safe(&place), style),
        (safe(&node.title), style),
        (whose.to_owned(), FAINT),
        (format!("  {}", ago(model.now, &node.created_at)), FAINT),
    ] {
        x = put(buffer, x, area.y, area.right().saturating_sub(x), &text, style);
    }
}

fn checkout(node: &WorktreeNode, chosen: bool, area: Rect, buffer: &mut Buffer) {
    let line = cli::worktree_line(node);
    let start = if chosen { "> " } else { "  " };
    let style = if node.workspaces.is_empty() { Style::new() } else { STRONG };
    let text = format!("{start}{}", line.trim_end());
    put(buffer, area.x, area.y, area.width, &text, style);
}

fn detail(model: &Model, board: &Board, width: u16) -> Vec<String> {
    let Some(node) = board.notification(model) else { return Vec::new() };
    let whose = cli::told_by(node).map(|whose| format!("({whose})"));
    let lines = node.body.lines().map(safe).chain(whose);
    lines.flat_map(|line| wrap(&line, width)).collect()
}
