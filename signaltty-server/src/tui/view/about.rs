//! All that is known of a pane: what `pane info` says, on the screen.

use ratatui::style::Style;
use signaltty_core::id::PaneId;

use super::page::Row;
use super::words;
use crate::cli::{self, Weight};
use crate::tui::model::Model;

pub(super) fn rows(model: &Model, pane: PaneId) -> Vec<Row> {
    let Some((workspace, tab, node)) = model.place(pane) else {
        return vec![Row::Heading("This pane is not there any more.".to_owned())];
    };
    let place = format!("{}, tab {}", workspace.name, tab.title);
    let mut rows = vec![Row::Heading(words::title(node)), Row::Blank];
    let mut row = |name: &str, text: String, style| {
        rows.push(Row::Of(name.to_owned(), text, style));
    };
    row("workspace", cli::safe(&place), Style::new());
    for (name, value) in cli::facts(node).into_iter().filter(|(name, _)| *name != "title") {
        row(name, value, Style::new());
    }
    for note in cli::notes(node, model.now) {
        row("note", note.text, style(note.weight));
    }
    rows
}

/// How a note looks.
pub(super) fn style(weight: Weight) -> Style {
    match weight {
        Weight::Grave => super::BAD,
        Weight::Hint => super::STRONG,
        Weight::Fact => Style::new(),
    }
}
