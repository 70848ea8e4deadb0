//! The help: every key, made from the bindings.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::{ACCENT, CHOSEN, STRONG, put, wipe};
use crate::tui::input::{ACTIONS, Bindings};
use crate::tui::model::Model;

/// Keys of a pane without a process.
pub(crate) const PAGE_KEYS: [(&str, &str); 8] = [
    ("r", "resume its conversation"),
    ("!", "resume it although something differs"),
    ("c", "continue the turn that was interrupted"),
    ("n", "start the agent anew here"),
    ("Enter", "run the saved command again"),
    ("x", "close it"),
    ("R", "resume all (while the line at the bottom offers it; also C and A)"),
    ("Esc", "take that line away"),
];

/// Keys while scrolling.
pub(crate) const SCROLL_KEYS: [(&str, &str); 7] = [
    ("k j Up Down", "line up, line down"),
    ("PageUp PageDown C-u C-d", "page, half a page"),
    ("g G", "first line, last line"),
    ("/ n N", "search, next above, next below"),
    ("v", "begin or end a selection"),
    ("y Enter", "copy to the terminal's clipboard (OSC 52)"),
    ("q Esc", "back"),
];

/// Keys in the sidebar.
pub(crate) const SIDEBAR_KEYS: [(&str, &str); 7] = [
    ("k j Up Down", "line up, line down"),
    ("Enter l", "open"),
    ("p", "show one project, or all"),
    ("w", "open a workspace"),
    ("r R", "resume this one, resume all"),
    ("x", "close the pane"),
    ("Esc h", "back to the pane"),
];

/// Keys in the lists over the panes.
pub(crate) const LIST_KEYS: [(&str, &str); 5] = [
    ("Enter", "go to the pane, or open the checkout"),
    ("d D", "mark the notification as read, all of them"),
    ("n", "make a checkout and open it"),
    ("x", "remove the checkout; its branch stays"),
    ("Esc q", "back"),
];

/// What keys do after the prefix, as in `bindings`.
pub(crate) fn key_rows(bindings: &Bindings) -> Vec<(String, &'static str, &'static str)> {
    let mut rows: Vec<_> = ACTIONS
        .iter()
        .map(|entry| (bindings.keys(entry.action).join(" "), entry.what, entry.name))
        .collect();
    rows.push(("1 … 9".to_owned(), "tab with this number", ""));
    rows
}

pub(super) fn draw(model: &Model, line: u16, buffer: &mut Buffer) {
    let (cols, rows) = model.size;
    let area = Rect::new(0, 0, cols, rows.saturating_sub(1));
    wipe(buffer, area, Style::new());
    let bindings = &model.gui.bindings;
    let mut lines: Vec<(String, String, Style)> =
        vec![(String::new(), format!("First {}, then:", bindings.prefix), ACCENT)];
    lines.extend(
        key_rows(bindings).into_iter().map(|(keys, what, _)| (keys, what.to_owned(), Style::new())),
    );
    lines.push((
        bindings.prefix.to_string(),
        format!("type {} into the pane", bindings.prefix),
        Style::new(),
    ));
    for (title, keys) in [
        ("In a pane without a process:", &PAGE_KEYS[..]),
        ("While scrolling:", &SCROLL_KEYS),
        ("In the sidebar:", &SIDEBAR_KEYS),
        ("In a list of notifications or checkouts:", &LIST_KEYS),
    ] {
        lines.push((String::new(), String::new(), Style::new()));
        lines.push((String::new(), title.to_owned(), ACCENT));
        lines.extend(
            keys.iter().map(|(k, what)| ((*k).to_owned(), (*what).to_owned(), Style::new())),
        );
    }
    let hidden = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_sub(area.height);
    let line = line.min(hidden);
    let column = if cols >= 50 { 16 } else { 9 };
    for (y, (keys, what, style)) in (0..area.height).zip(lines.into_iter().skip(line.into())) {
        let x = put(buffer, 1, y, cols.saturating_sub(1), &keys, STRONG);
        let x = if keys.is_empty() { 1 } else { x.max(column) + 1 };
        put(buffer, x, y, cols.saturating_sub(x), &what, style);
    }
    let status = Rect::new(0, rows.saturating_sub(1), cols, 1);
    wipe(buffer, status, CHOSEN);
    let more = if line < hidden {
        " Down for more, any other key goes back"
    } else {
        " Any key goes back"
    };
    put(buffer, 0, status.y, cols, more, CHOSEN.patch(STRONG));
}
