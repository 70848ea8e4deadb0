//! Moving through a pane's output: what was there when it began, searched and
//! copied from. State of this client only (S0-45).

use signaltty_core::id::PaneId;

use super::styled::{self, Row};

/// A pane's output, scrolled.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scroll {
    pub(crate) pane: PaneId,
    /// Columns and rows of the pane.
    pub(crate) size: (u16, u16),
    source: Vec<String>,
    /// The lines, broken into rows, oldest first.
    rows: Vec<Row>,
    /// The cursor: row and column.
    pub(crate) row: usize,
    pub(crate) col: usize,
    /// The first row shown.
    pub(crate) top: usize,
    /// Where a selection began.
    pub(crate) mark: Option<(usize, usize)>,
    pub(crate) search: String,
    /// Rows that hold the text searched for.
    pub(crate) found: Vec<usize>,
    /// Where to go once the lines are there.
    wanted: Option<(usize, bool)>,
    /// A search that waits for the lines.
    pub(crate) loaded: bool,
}

impl Scroll {
    /// Output that is still to come. `up` lines are scrolled at once.
    pub(crate) fn waiting(pane: PaneId, size: (u16, u16), up: usize, top: bool) -> Self {
        Self {
            pane,
            size,
            source: Vec::new(),
            rows: vec![Row::new()],
            row: 0,
            col: 0,
            top: 0,
            mark: None,
            search: String::new(),
            found: Vec::new(),
            wanted: Some((up, top)),
            loaded: false,
        }
    }

    /// Takes the lines.
    pub(crate) fn load(&mut self, text: &str) {
        self.source = text.lines().map(str::to_owned).collect();
        self.loaded = true;
        self.break_lines();
        self.row = self.last();
        self.top = self.bottom_top();
        if let Some((up, _)) = self.wanted.take() {
            self.top = self.top.saturating_sub(up);
            self.row = self.row.min(self.top + self.page().saturating_sub(1));
        }
        if !self.search.is_empty() {
            let needle = self.search.clone();
            self.find(&needle);
        }
    }

    /// The pane has another size.
    pub(crate) fn resize(&mut self, size: (u16, u16)) {
        if self.size != size {
            self.size = size;
            self.break_lines();
            self.mark = None;
            self.go(self.row.min(self.last()), 0);
        }
    }

    fn break_lines(&mut self) {
        let cols = self.size.0;
        self.rows = self.source.iter().flat_map(|line| styled::rows(line, cols)).collect();
        if self.rows.is_empty() {
            self.rows.push(Row::new());
        }
    }

    /// The rows that are shown, with their numbers.
    pub(crate) fn shown(&self) -> impl Iterator<Item = (usize, &Row)> {
        self.rows.iter().enumerate().skip(self.top).take(self.page())
    }

    pub(crate) fn page(&self) -> usize {
        usize::from(self.size.1).max(1)
    }

    pub(crate) fn last(&self) -> usize {
        self.rows.len().saturating_sub(1)
    }

    fn bottom_top(&self) -> usize {
        self.rows.len().saturating_sub(self.page())
    }

    /// Whether the newest row is shown.
    pub(crate) fn at_bottom(&self) -> bool {
        self.top >= self.bottom_top()
    }

    /// How many rows are below what is shown.
    pub(crate) fn below(&self) -> usize {
        self.bottom_top().saturating_sub(self.top)
    }

    /// Moves the cursor to a row, and the view with it.
    pub(crate) fn go(&mut self, row: usize, col: usize) {
        self.row = row.min(self.last());
        self.col = col.min(usize::from(self.size.0).saturating_sub(1));
        let page = self.page();
        self.top = self.top.clamp((self.row + 1).saturating_sub(page), self.row);
        self.top = self.top.min(self.bottom_top());
    }

    /// Moves the view by so many rows; the cursor stays in it.
    pub(crate) fn scroll(&mut self, rows: isize) {
        self.top = self.top.saturating_add_signed(rows).min(self.bottom_top());
        let last = self.top + self.page().saturating_sub(1);
        self.row = self.row.clamp(self.top, last.min(self.last()));
    }

    /// Searches, without regard to case unless there is a capital letter, and
    /// goes to the newest place above the cursor.
    pub(crate) fn find(&mut self, needle: &str) {
        self.search = needle.to_owned();
        let exact = needle.chars().any(char::is_uppercase);
        let fold = |text: String| if exact { text } else { text.to_lowercase() };
        let holds = |row: &Row| fold(styled::text(row)).contains(needle);
        let rows = self.rows.iter().enumerate();
        self.found = match needle {
            "" => Vec::new(),
            _ => rows.filter(|(_, row)| holds(row)).map(|(index, _)| index).collect(),
        };
        let above = self.found.iter().rev().find(|row| **row <= self.row);
        if let Some(row) = above.or(self.found.last()).copied() {
            self.go(row, 0);
        }
    }

    /// The next place above or below, around the ends.
    pub(crate) fn next(&mut self, up: bool) {
        let found = &self.found;
        let row = if up {
            found.iter().rev().find(|row| **row < self.row).or(found.last())
        } else {
            found.iter().find(|row| **row > self.row).or(found.first())
        };
        if let Some(row) = row.copied() {
            self.go(row, 0);
        }
    }

    /// First and last cell of the selection, in order.
    pub(crate) fn selection(&self) -> Option<((usize, usize), (usize, usize))> {
        let mark = self.mark?;
        let here = (self.row, self.col);
        Some((mark.min(here), mark.max(here)))
    }

    /// The text that is selected, or the cursor's row.
    pub(crate) fn selected(&self) -> String {
        let (from, to) =
            self.selection().unwrap_or(((self.row, 0), (self.row, usize::from(self.size.0))));
        let rows = self.rows.iter().enumerate().skip(from.0).take(to.0 + 1 - from.0);
        let lines = rows.map(|(index, row)| {
            let start = if index == from.0 { from.1 } else { 0 };
            let end = if index == to.0 { to.1 } else { usize::MAX };
            columns(&styled::text(row), start, end).trim_end().to_owned()
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// The characters in columns from `start` to `end`, both included.
fn columns(text: &str, start: usize, end: usize) -> String {
    use unicode_width::UnicodeWidthChar as _;
    let mut col = 0;
    let placed = text.chars().map(|c| {
        let own = col;
        col += c.width().unwrap_or(0);
        (own, c)
    });
    placed.filter(|(col, _)| (start..=end).contains(col)).map(|(_, c)| c).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scroll() -> Scroll {
        let mut scroll = Scroll::waiting(PaneId::from_random([1; 10]), (10, 3), 0, false);
        scroll.load("one\ntwo\nThree\nfour\ntwo five\n日本語\n");
        scroll
    }

    #[test]
    fn s0_45_searching_moves_to_the_nearest_place_and_around() {
        let mut scroll = scroll();
        assert_eq!((scroll.row, scroll.top), (5, 3));
        scroll.find("two");
        assert_eq!((scroll.row, scroll.found.clone()), (4, vec![1, 4]));
        scroll.next(true);
        assert_eq!((scroll.row, scroll.top), (1, 1));
        scroll.next(true);
        assert_eq!(scroll.row, 4);
        scroll.find("three");
        assert_eq!(scroll.found, [2]);
        scroll.find("THREE");
        assert!(scroll.found.is_empty());
    }

    #[test]
    fn what_is_selected_is_copied_without_blanks_at_ends() {
        let mut scroll = scroll();
        assert_eq!(scroll.selected(), "日本語");
        scroll.go(4, 4);
        scroll.mark = Some((4, 4));
        scroll.go(5, 2);
        assert_eq!(scroll.selected(), "five\n日本");
        scroll.scroll(-10);
        assert_eq!((scroll.top, scroll.row), (0, 2));
        scroll.resize((4, 3));
        assert_eq!(scroll.last(), 8);
    }
}
