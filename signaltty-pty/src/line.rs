//! Rendered lines: text in which the only escape sequences are style changes.
//!
//! A line stands alone: it begins in the default style and ends in it. So a
//! text made of lines can be cut before any of them.

use std::str;

use crate::screen::RowView;
use crate::style::{RESET, Style};

/// Builds one line from the rows of the screen that it was wrapped over.
#[derive(Debug, Clone, Default)]
pub(crate) struct LineBuilder {
    text: StyledText,
    open: bool,
}

/// Text with styles, which knows where its trailing blanks begin.
#[derive(Debug, Clone, Default)]
pub(crate) struct StyledText {
    text: String,
    pen: Style,
    /// Whether a space in the pen's style can be seen.
    inked: bool,
    /// The length of the text without trailing blanks, and the pen there.
    trimmed: (usize, Style),
}

impl LineBuilder {
    /// Adds a row; returns the line if the row was its last.
    ///
    /// A line that never ends is handed out in parts of about [`MAX_LINE`].
    pub(crate) fn push_row(&mut self, row: &RowView<'_>) -> Option<String> {
        let mut line = None;
        self.push_row_to(row, |text| line = Some(text.to_owned()));
        line
    }

    /// Adds a row; gives the line to `take` if the row was its last.
    pub(crate) fn push_row_to(&mut self, row: &RowView<'_>, take: impl FnOnce(&str)) {
        self.open = true;
        row.write_to(&mut self.text);
        if !row.wrapped() || self.len() >= MAX_LINE {
            self.finish_to(take);
        }
    }

    /// Ends the line, if one was begun.
    pub(crate) fn finish(&mut self) -> Option<String> {
        let mut line = None;
        self.finish_to(|text| line = Some(text.to_owned()));
        line
    }

    /// Ends the line and gives it to `take`, if one was begun. Its memory is kept
    /// for the next one, unless it is more than most lines need.
    fn finish_to(&mut self, take: impl FnOnce(&str)) {
        if !self.open {
            return;
        }
        let StyledText { mut text, trimmed: (length, pen), .. } = std::mem::take(self).text;
        text.truncate(length);
        if pen != Style::default() {
            text.push_str(RESET);
        }
        take(&text);
        if text.capacity() <= KEPT {
            text.clear();
            self.text.text = text;
        }
    }

    /// Gives back memory that further rows might need.
    pub(crate) fn settle(&mut self) {
        self.text.text.shrink_to_fit();
    }

    /// How many bytes the unfinished line holds.
    pub(crate) fn len(&self) -> usize {
        self.text.text.len()
    }
}

impl StyledText {
    pub(crate) fn set_style(&mut self, style: Style) {
        if style != self.pen {
            style.write_to(&mut self.text);
            self.pen = style;
            self.inked = !style.blank();
        }
    }

    /// Appends characters of the pen's style that nothing combines with.
    pub(crate) fn extend(&mut self, characters: impl Iterator<Item = char>) {
        let before = self.text.len();
        self.text.extend(characters);
        if self.inked {
            self.trimmed = (self.text.len(), self.pen);
        } else {
            // Of what was added only: what is before it was looked at already.
            let added = self.text.get(before..).unwrap_or_default();
            let used = added.trim_end_matches(' ').len();
            if used > 0 {
                self.trimmed = (before + used, self.pen);
            }
        }
    }

    /// Appends a character and the marks that combine with it.
    pub(crate) fn push(&mut self, c: char, marks: Option<&[char]>) {
        self.text.push(c);
        let marks = marks.unwrap_or_default();
        self.text.extend(marks);
        if c != ' ' || self.inked || !marks.is_empty() {
            self.trimmed = (self.text.len(), self.pen);
        }
    }
}

/// The text of a line without its styles.
pub(crate) fn plain(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, sequence)) = rest.split_once('\x1b') {
        text.push_str(before);
        rest = sequence.split_once('m').map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    text
}

/// Makes a line of untrusted bytes, such as a tail read from a file.
///
/// Only text and well-formed style changes stay; bytes that are not UTF-8
/// become U+FFFD, and styles are ended.
pub(crate) fn sanitize(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut line = String::with_capacity(text.len());
    let mut styled = false;
    let mut rest = text.as_ref();
    while let Some(c) = rest.chars().next() {
        if let Some(sequence) = style_sequence(rest) {
            line.push_str(sequence);
            styled = sequence != RESET;
            rest = rest.get(sequence.len()..).unwrap_or("");
            continue;
        }
        if !c.is_control() {
            line.push(c);
        } else if c == '\t' {
            line.push(' ');
        }
        rest = rest.get(c.len_utf8()..).unwrap_or("");
        if line.len() >= MAX_LINE {
            break;
        }
    }
    if styled {
        line.push_str(RESET);
    }
    line
}

/// The beginning of a line, in at most `budget` bytes, with a mark at the cut.
///
/// The cut is never inside a character or a sequence. A budget too small for
/// even the mark gives an empty line.
pub(crate) fn cut(line: &str, budget: usize) -> String {
    let Some(room) = budget.checked_sub(MARK.len() + RESET.len()) else {
        return String::new();
    };
    let mut end = 0;
    while let Some(rest) = line.get(end..) {
        let Some(c) = rest.chars().next() else { break };
        let step = style_sequence(rest).map_or(c.len_utf8(), str::len);
        if end + step > room {
            break;
        }
        end += step;
    }
    let mut short = line.get(..end).unwrap_or("").to_owned();
    let styled = short.contains('\x1b');
    short.push_str(MARK);
    if styled {
        short.push_str(RESET);
    }
    short
}

/// The style change that `text` begins with, if it does.
fn style_sequence(text: &str) -> Option<&str> {
    let parameters = text.strip_prefix("\x1b[")?;
    let length = parameters.bytes().take(MAX_SEQUENCE).position(|byte| byte == b'm')?;
    let valid = |byte: u8| byte.is_ascii_digit() || byte == b';' || byte == b':';
    if parameters.bytes().take(length).all(valid) { text.get(..length + 3) } else { None }
}

/// A line longer than this is split.
pub(crate) const MAX_LINE: usize = 64 * 1024;

/// Bytes that are kept for the next line.
const KEPT: usize = 512;

/// Stands where a line was cut.
const MARK: &str = "…";

/// No style change of ours is longer.
const MAX_SEQUENCE: usize = 96;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_drops_styles_only() {
        assert_eq!(plain("a\x1b[0;1mb\x1b[0m ü"), "ab ü");
    }

    #[test]
    fn c073_sanitize_keeps_text_and_styles_and_nothing_else() {
        for (bytes, expected) in [
            (&b"plain"[..], "plain"),
            (b"\x1b[0;38;2;255;10;10mred", "\x1b[0;38;2;255;10;10mred\x1b[0m"),
            (b"a\x1b[2Jb\x07c", "a[2Jbc"),
            (b"\x1b]0;title\x07x", "]0;titlex"),
            (b"cut \xf0\x9f", "cut \u{fffd}"),
        ] {
            assert_eq!(sanitize(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn d11_a_cut_is_at_a_character_and_marked() {
        let line = "\x1b[0;1m家家家\x1b[0m";
        for budget in 0..40 {
            let short = cut(line, budget);
            assert!(short.len() <= budget, "{budget}");
            assert!(short.is_empty() || short.contains(MARK), "{budget}");
            assert!(!plain(&short).contains('['), "{budget}: {short:?}");
        }
        assert_eq!(cut("abcdef", 9), "ab…");
    }
}
