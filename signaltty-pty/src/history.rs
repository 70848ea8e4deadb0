//! The log of lines that have left the screen.
//!
//! Lines are encoded once, when they leave: text and style changes, trailing
//! blanks trimmed, wrapped rows joined. Links and the tool's own escape
//! sequences are not kept. The log is bounded by a number of lines and a number
//! of bytes; the oldest lines go first (invariant T3).

use crate::blocks::Blocks;
use crate::line::{self, LineBuilder};
use crate::screen::RowView;

/// How much a [`History`] keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryLimit {
    /// At most this many lines.
    pub lines: usize,
    /// At most about this many bytes of text, styles included.
    pub bytes: usize,
}

impl Default for HistoryLimit {
    /// 10,000 lines in 4 MiB.
    fn default() -> Self {
        Self { lines: 10_000, bytes: 4 * 1024 * 1024 }
    }
}

/// A bounded log of rendered lines, oldest first.
#[derive(Debug, Clone)]
pub struct History {
    lines: Blocks,
    open: LineBuilder,
    limit: HistoryLimit,
    dropped: u64,
}

impl History {
    /// An empty log.
    #[must_use]
    pub fn new(limit: HistoryLimit) -> Self {
        Self { lines: Blocks::default(), open: LineBuilder::default(), limit, dropped: 0 }
    }

    /// How many complete lines there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there is no complete line.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.len() == 0
    }

    /// The complete line at a position, 0 for the oldest.
    pub(crate) fn line(&self, at: usize) -> Option<&str> {
        self.lines.get(at)
    }

    /// How many lines are not there any more: dropped at the old end, or
    /// forgotten.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The complete lines with their styles, oldest first. The part of a line
    /// whose end is still on the screen is not among them.
    pub fn lines(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.lines.iter()
    }

    /// Positions of the lines whose plain text contains `needle`, oldest first.
    pub fn search<'a>(&'a self, needle: &'a str) -> impl Iterator<Item = usize> + 'a {
        let matching = move |line: &str| line::plain(line).contains(needle);
        self.lines().enumerate().filter(move |(_, line)| matching(line)).map(|(index, _)| index)
    }

    /// Puts the lines of an earlier tail at the new end, then `separator`.
    ///
    /// The tail is taken as untrusted: anything but text and styles is removed.
    /// An empty tail adds nothing, not even the separator.
    pub fn seed(&mut self, tail: &[u8], separator: &str) {
        let tail = tail.strip_suffix(b"\n").unwrap_or(tail);
        if tail.is_empty() {
            return;
        }
        self.close();
        for bytes in tail.split(|&byte| byte == b'\n') {
            self.push(&line::sanitize(bytes));
        }
        self.push(&line::sanitize(separator.as_bytes()));
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.dropped += u64::try_from(self.lines.len()).unwrap_or(u64::MAX);
        self.lines = Blocks::default();
        self.open = LineBuilder::default();
    }

    /// How much it keeps.
    pub(crate) fn limit(&self) -> HistoryLimit {
        self.limit
    }

    /// Gives back memory that further lines might need.
    pub(crate) fn settle(&mut self) {
        self.lines.settle();
        self.open.settle();
    }

    /// Appends a row that has left the screen.
    pub(crate) fn push_row(&mut self, row: &RowView<'_>) {
        // Apart from the rest while the rest takes the line.
        let mut open = std::mem::take(&mut self.open);
        open.push_row_to(row, |line| self.push(line));
        self.open = open;
    }

    /// Appends a line of printable ASCII in the default style that was never on
    /// the screen. No line may be open.
    pub(crate) fn push_plain(&mut self, line: &str) {
        debug_assert_eq!(self.open.len(), 0, "it would be joined with another line");
        self.push(line.trim_end_matches(' '));
    }

    /// Ends the line that was left open by a wrapped row.
    pub(crate) fn close(&mut self) {
        if let Some(line) = self.open.finish() {
            self.push(&line);
        }
    }

    /// The part of a line whose end has not left the screen yet.
    pub(crate) fn open_line(&self) -> &LineBuilder {
        &self.open
    }

    fn push(&mut self, line: &str) {
        self.lines.push_back(line);
        while self.lines.len() > self.limit.lines
            || self.lines.bytes() + self.open.len() > self.limit.bytes
        {
            if !self.lines.pop_front() {
                break;
            }
            self.dropped += 1;
        }
    }
}
