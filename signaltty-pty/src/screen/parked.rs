//! The hidden primary screen, and the lines of a screen.

use super::view::View;
use crate::history::History;
use crate::line::LineBuilder;
use crate::repaint;

/// The primary screen while the alternate one is shown.
#[derive(Debug)]
pub(super) struct Parked {
    /// The bytes that draw it.
    pub(super) repaint: String,
    /// Its lines, the first one continuing the history.
    pub(super) lines: Vec<String>,
}

impl Parked {
    pub(super) fn new(view: View<'_>, history: &History) -> Self {
        Self { repaint: repaint::primary(view), lines: render(view, history.open_line().clone()) }
    }
}

/// The lines of a screen, the first one continuing `builder`.
pub(super) fn render(view: View<'_>, mut builder: LineBuilder) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for row in view.rows() {
        lines.extend(builder.push_row(&row));
    }
    lines.extend(builder.finish());
    let used = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    lines.truncate(used);
    lines
}
