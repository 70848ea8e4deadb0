//! The help: every key, made from the bindings.

use ratatui::style::Style;

use super::page::Row;
use crate::tui::input::{ACTIONS, Bindings};

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

/// The page.
pub(super) fn rows(bindings: &Bindings) -> Vec<Row> {
    let row = |keys: &str, what: &str| Row::Of(keys.to_owned(), what.to_owned(), Style::new());
    let mut rows = vec![Row::Heading(format!("First {}, then:", bindings.prefix))];
    rows.extend(key_rows(bindings).iter().map(|(keys, what, _)| row(keys, what)));
    let prefix = bindings.prefix.to_string();
    rows.push(row(&prefix, &format!("type {prefix} into the pane")));
    for (title, keys) in [
        ("In a pane without a process:", &PAGE_KEYS[..]),
        ("While scrolling:", &SCROLL_KEYS),
        ("In the sidebar:", &SIDEBAR_KEYS),
        ("In a list of notifications or checkouts:", &LIST_KEYS),
    ] {
        rows.extend([Row::Blank, Row::Heading(title.to_owned())]);
        rows.extend(keys.iter().map(|(keys, what)| row(keys, what)));
    }
    rows
}
