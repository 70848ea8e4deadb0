//! What the rest of the crate may see of the emulator, in its own words.

use alacritty_terminal::grid::{Dimensions, Row};
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::{Cell, Flags, Hyperlink};
use alacritty_terminal::vte::ansi::{
    CharsetIndex, Color, CursorShape, NamedColor, Rgb, StandardCharset,
};

use super::shadow::Shadow;
use super::{Emulator, grid};
use crate::style::{Style, Tint, Underline};

/// The screen that is shown, with the state around it.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(super) term: &'a Emulator,
    pub(crate) shadow: &'a Shadow,
}

/// One row of a screen.
#[derive(Clone, Copy)]
pub(crate) struct RowView<'a> {
    row: &'a Row<Cell>,
}

/// A character in its cell or two cells.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Glyph<'a> {
    pub(crate) c: char,
    pub(crate) marks: &'a [char],
    pub(crate) style: Style,
    pub(crate) link: Option<Link>,
    pub(crate) wide: bool,
}

/// A hyperlink.
#[derive(Debug, Clone)]
pub(crate) struct Link(Hyperlink);

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
        (0..grid.screen_lines()).map(move |row| RowView {
            row: &grid[grid::line(row)],
        })
    }

    pub(crate) fn caret(self) -> Caret {
        caret(&self.term.grid().cursor)
    }

    pub(crate) fn saved_caret(self) -> Caret {
        caret(&self.term.grid().saved_cursor)
    }

    /// The glyph in the last column of a row, which a pending wrap stands on.
    pub(crate) fn last_glyph(self, row: usize) -> Option<Glyph<'a>> {
        let row = self.rows().nth(row)?;
        glyphs(row.row[..].iter()).last()
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

impl<'a> RowView<'a> {
    pub(super) fn new(row: &'a Row<Cell>) -> Self {
        Self { row }
    }

    /// Whether the text goes on in the next row.
    pub(crate) fn wrapped(self) -> bool {
        self.row[..]
            .last()
            .is_some_and(|cell| cell.flags.contains(Flags::WRAPLINE))
    }

    /// Whether the last column was left free by a wide character that did not
    /// fit and went to the next row.
    pub(crate) fn has_filler(self) -> bool {
        self.wrapped()
            && self.row[..]
                .last()
                .is_some_and(|cell| cell.flags.contains(Flags::LEADING_WIDE_CHAR_SPACER))
    }

    /// The glyphs up to the last one that can be seen; all if the row wraps.
    pub(crate) fn visible(self) -> impl Iterator<Item = Glyph<'a>> {
        let cells = &self.row[..];
        let length = if self.has_filler() {
            cells.len().saturating_sub(1)
        } else if self.wrapped() {
            cells.len()
        } else {
            cells
                .iter()
                .rposition(|cell| !looks_blank(cell))
                .map_or(0, |last| last + 1)
        };
        glyphs(cells.iter().take(length))
    }

    /// All glyphs.
    pub(crate) fn whole(self) -> impl Iterator<Item = Glyph<'a>> {
        glyphs(self.row[..].iter())
    }

    /// The glyphs up to the last one that differs from an untouched cell.
    pub(crate) fn exact(self) -> impl Iterator<Item = Glyph<'a>> {
        let cells = &self.row[..];
        let touched = |cell: &Cell| {
            !(looks_blank(cell) && style(cell) == Style::default() && cell.hyperlink().is_none())
        };
        glyphs(
            cells
                .iter()
                .take(cells.iter().rposition(touched).map_or(0, |last| last + 1)),
        )
    }
}

impl Link {
    /// The id the program gave, if it gave one.
    pub(crate) fn id(&self) -> Option<&str> {
        Some(self.0.id()).filter(|id| !id.ends_with(GENERATED_ID))
    }

    pub(crate) fn uri(&self) -> &str {
        self.0.uri()
    }
}

impl PartialEq for Link {
    fn eq(&self, other: &Self) -> bool {
        self.uri() == other.uri() && self.id() == other.id()
    }
}

fn glyphs<'a>(cells: impl Iterator<Item = &'a Cell>) -> impl Iterator<Item = Glyph<'a>> {
    cells
        .filter(|cell| !cell.flags.contains(Flags::WIDE_CHAR_SPACER))
        .map(|cell| Glyph {
            // The emulator marks where a tab was written; to the eye it is a space.
            c: if cell.c == '\t' { ' ' } else { cell.c },
            marks: cell.zerowidth().unwrap_or_default(),
            style: style(cell),
            link: cell.hyperlink().map(Link),
            wide: cell.flags.contains(Flags::WIDE_CHAR),
        })
}

fn looks_blank(cell: &Cell) -> bool {
    matches!(cell.c, ' ' | '\t')
        && cell.bg == Color::Named(NamedColor::Background)
        && !cell.flags.intersects(
            Flags::INVERSE | Flags::ALL_UNDERLINES | Flags::STRIKEOUT | Flags::WIDE_CHAR_SPACER,
        )
        && cell.zerowidth().is_none_or(<[char]>::is_empty)
}

fn caret(cursor: &alacritty_terminal::grid::Cursor<Cell>) -> Caret {
    let set = |index| cursor.charsets[index] != StandardCharset::Ascii;
    Caret {
        row: usize::try_from(cursor.point.line.0).unwrap_or(0),
        col: cursor.point.column.0,
        pending_wrap: cursor.input_needs_wrap,
        style: style(&cursor.template),
        link: cursor.template.hyperlink().map(Link),
        line_drawing: [
            set(CharsetIndex::G0),
            set(CharsetIndex::G1),
            set(CharsetIndex::G2),
            set(CharsetIndex::G3),
        ],
    }
}

fn style(cell: &Cell) -> Style {
    let has = |flag| cell.flags.contains(flag);
    let underline = [
        (Flags::UNDERLINE, Underline::Single),
        (Flags::DOUBLE_UNDERLINE, Underline::Double),
        (Flags::UNDERCURL, Underline::Curly),
        (Flags::DOTTED_UNDERLINE, Underline::Dotted),
        (Flags::DASHED_UNDERLINE, Underline::Dashed),
    ];
    let underline = underline.into_iter().find(|(flag, _)| has(*flag));
    Style {
        fg: tint(cell.fg),
        bg: tint(cell.bg),
        underline: underline.map_or(Underline::None, |(_, kind)| kind),
        underline_tint: cell.underline_color().map_or(Tint::Default, tint),
        bold: has(Flags::BOLD),
        dim: has(Flags::DIM),
        italic: has(Flags::ITALIC),
        inverse: has(Flags::INVERSE),
        hidden: has(Flags::HIDDEN),
        strike: has(Flags::STRIKEOUT),
    }
}

fn tint(color: Color) -> Tint {
    match color {
        Color::Named(name) => match u8::try_from(name as usize) {
            Ok(index @ 0..16) => Tint::Named(index),
            _ => Tint::Default,
        },
        Color::Indexed(index) => Tint::Indexed(index),
        Color::Spec(Rgb { r, g, b }) => Tint::Rgb(r, g, b),
    }
}

/// How the emulator ends the ids of links that had none.
const GENERATED_ID: &str = "_alacritty";
