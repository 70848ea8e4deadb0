//! What the rest of the crate may see of the emulator, in its own words.

use alacritty_terminal::grid::{Cursor, Dimensions};
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::Cell;
use alacritty_terminal::vte::ansi::{CharsetIndex, CursorShape, NamedColor, Rgb, StandardCharset};

use super::row::{Glyph, Link, RowView, style};
use super::shadow::Shadow;
use super::{Emulator, grid};
use crate::style::Style;

/// The screen that is shown, with the state around it.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(super) term: &'a Emulator,
    pub(crate) shadow: &'a Shadow,
}

/// A cursor, the current or the saved one.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Caret {
    pub(crate) row: usize,
    pub(crate) col: usize,
    /// The last column was written; the next character wraps first.
    pub(crate) pending_wrap: bool,
    pub(crate) style: Style,
    pub(crate) link: Option<Link>,
    /// Which of G0 to G3 are the line-drawing set.
    pub(crate) line_drawing: [bool; 4],
}

/// The modes that the emulator acts on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Modes {
    pub(crate) alternate: bool,
    pub(crate) origin: bool,
    pub(crate) insert: bool,
    pub(crate) newline: bool,
    pub(crate) wrap: bool,
    pub(crate) show_cursor: bool,
    pub(crate) app_keypad: bool,
    /// Other private modes: number, whether on, whether on by default.
    pub(crate) private: [(u16, bool, bool); 10],
}

impl<'a> View<'a> {
    pub(crate) fn rows(self) -> impl ExactSizeIterator<Item = RowView<'a>> {
        let grid = self.term.grid();
        (0..grid.screen_lines()).map(move |row| RowView::new(&grid[grid::line(row)]))
    }

    pub(crate) fn caret(self) -> Caret {
        caret(&self.term.grid().cursor)
    }

    pub(crate) fn saved_caret(self) -> Caret {
        caret(&self.term.grid().saved_cursor)
    }

    /// The glyph in the last column of a row, which a pending wrap stands on.
    pub(crate) fn last_glyph(self, row: usize) -> Option<Glyph<'a>> {
        self.rows().nth(row)?.whole().last()
    }

    pub(crate) fn modes(self) -> Modes {
        let mode = self.term.mode();
        let has = |flag| mode.contains(flag);
        Modes {
            alternate: has(TermMode::ALT_SCREEN),
            origin: has(TermMode::ORIGIN),
            insert: has(TermMode::INSERT),
            newline: has(TermMode::LINE_FEED_NEW_LINE),
            wrap: has(TermMode::LINE_WRAP),
            show_cursor: has(TermMode::SHOW_CURSOR),
            app_keypad: has(TermMode::APP_KEYPAD),
            private: [
                (1, has(TermMode::APP_CURSOR), false),
                (1000, has(TermMode::MOUSE_REPORT_CLICK), false),
                (1002, has(TermMode::MOUSE_DRAG), false),
                (1003, has(TermMode::MOUSE_MOTION), false),
                (1004, has(TermMode::FOCUS_IN_OUT), false),
                (1005, has(TermMode::UTF8_MOUSE), false),
                (1006, has(TermMode::SGR_MOUSE), false),
                (1007, has(TermMode::ALTERNATE_SCROLL), true),
                (1042, has(TermMode::URGENCY_HINTS), true),
                (2004, has(TermMode::BRACKETED_PASTE), false),
            ],
        }
    }

    /// The parameter of the cursor style sequence; 0 for the terminal's own.
    pub(crate) fn cursor_style(self) -> u8 {
        if !self.shadow.styled_cursor {
            return 0;
        }
        let style = self.term.cursor_style();
        match (style.shape, style.blinking) {
            (CursorShape::Underline, blinking) => 4 - u8::from(blinking),
            (CursorShape::Beam, blinking) => 6 - u8::from(blinking),
            (_, true) => 1,
            (_, false) => 2,
        }
    }

    /// Palette entries the program changed: indexes below 256, and 256, 257 and
    /// 258 for foreground, background and cursor.
    pub(crate) fn colors(self) -> impl Iterator<Item = (usize, (u8, u8, u8))> {
        let colors = self.term.colors();
        (0..=NamedColor::Cursor as usize)
            .filter_map(move |index| colors[index].map(|Rgb { r, g, b }| (index, (r, g, b))))
    }
}

fn caret(cursor: &Cursor<Cell>) -> Caret {
    let set = |index| cursor.charsets[index] != StandardCharset::Ascii;
    Caret {
        row: usize::try_from(cursor.point.line.0).unwrap_or(0),
        col: cursor.point.column.0,
        pending_wrap: cursor.input_needs_wrap,
        style: style(&cursor.template),
        link: cursor.template.hyperlink().map(Link::new),
        line_drawing: [
            set(CharsetIndex::G0),
            set(CharsetIndex::G1),
            set(CharsetIndex::G2),
            set(CharsetIndex::G3),
        ],
    }
}
