//! The screen cell by cell, for a client that draws it inside its own.

use alacritty_terminal::grid::Dimensions as _;
use alacritty_terminal::term::TermMode;

use alacritty_terminal::term::cell;

use super::row::RowView;
use super::{Screen, grid};
use crate::size::Size;
use crate::style::Style;

/// A character on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cell<'a> {
    /// Its first column, from 0.
    pub col: u16,
    /// The character; a space where nothing was written.
    pub c: char,
    /// Characters that combine with it, at most 16.
    pub marks: &'a [char],
    /// Whether it takes two columns.
    pub wide: bool,
    /// How it looks.
    pub style: Style,
}

/// What a program wants to know of the mouse (modes 1000, 1002 and 1003).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Mouse {
    /// Nothing.
    #[default]
    Off,
    /// Buttons and the wheel.
    Buttons,
    /// Also movement while a button is held.
    Drag,
    /// Every movement.
    Motion,
}

/// The rows of a screen as a client has drawn them.
#[derive(Debug, Default)]
pub struct Drawn {
    rows: Vec<Vec<cell::Cell>>,
}

impl Drawn {
    /// The size of the screen that was drawn.
    #[must_use]
    pub fn size(&self) -> Size {
        let clamped = |value| u16::try_from(value).unwrap_or(u16::MAX);
        Size::new(clamped(self.rows.first().map_or(0, Vec::len)), clamped(self.rows.len()))
    }
}

impl Screen {
    /// The rows, from 0 at the top, that differ from what was drawn, which then
    /// has them. Told by comparing, so no way of writing to the screen is missed.
    pub fn changed_rows(&self, drawn: &mut Drawn) -> Vec<u16> {
        drawn.rows.resize_with(self.term.screen_lines(), Vec::new);
        let mut changed = Vec::new();
        for (number, old) in drawn.rows.iter_mut().enumerate() {
            let row = &self.term.grid()[grid::line(number)];
            if old[..] != row[..] {
                old.clear();
                old.extend_from_slice(&row[..]);
                changed.extend(u16::try_from(number));
            }
        }
        changed
    }

    /// The characters of a row, from 0 at the top. Empty below the last row.
    pub fn cells(&self, row: u16) -> impl Iterator<Item = Cell<'_>> {
        let there = usize::from(row) < self.term.screen_lines();
        let glyphs = there.then(|| RowView::new(&self.term.grid()[grid::line(row.into())]).whole());
        let mut next = 0_u16;
        glyphs.into_iter().flatten().map(move |glyph| {
            let col = next;
            next = next.saturating_add(1 + u16::from(glyph.wide));
            Cell { col, c: glyph.c, marks: glyph.marks, wide: glyph.wide, style: glyph.style }
        })
    }

    /// Column and row of the cursor; `None` while it is hidden.
    #[must_use]
    pub fn cursor(&self) -> Option<(u16, u16)> {
        let shown = self.term.mode().contains(TermMode::SHOW_CURSOR);
        let point = self.term.grid().cursor.point;
        let (col, row) = (u16::try_from(point.column.0), u16::try_from(point.line.0));
        shown.then(|| (col.unwrap_or(0), row.unwrap_or(0)))
    }

    /// The parameter of DECSCUSR that the program chose, from 1 to 6; 0 for the
    /// terminal's own cursor.
    #[must_use]
    pub fn cursor_style(&self) -> u8 {
        self.view().cursor_style()
    }

    /// What the program wants to know of the mouse.
    #[must_use]
    pub fn mouse(&self) -> Mouse {
        let has = |flag| self.term.mode().contains(flag);
        if has(TermMode::MOUSE_MOTION) {
            Mouse::Motion
        } else if has(TermMode::MOUSE_DRAG) {
            Mouse::Drag
        } else if has(TermMode::MOUSE_REPORT_CLICK) {
            Mouse::Buttons
        } else {
            Mouse::Off
        }
    }

    /// Whether the mouse is reported with numbers of any size (mode 1006).
    #[must_use]
    pub fn sgr_mouse(&self) -> bool {
        self.term.mode().contains(TermMode::SGR_MOUSE)
    }

    /// Whether the alternate screen is shown.
    #[must_use]
    pub fn alternate(&self) -> bool {
        self.term.mode().contains(TermMode::ALT_SCREEN)
    }

    /// Whether the program wants to know when its terminal gains and loses the
    /// focus (mode 1004).
    #[must_use]
    pub fn focus_reports(&self) -> bool {
        self.term.mode().contains(TermMode::FOCUS_IN_OUT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::Tint;
    use crate::{HistoryLimit, Size};

    #[test]
    fn cells_say_where_each_character_is_and_how_it_looks() {
        let mut screen = Screen::new(Size::new(8, 2), HistoryLimit::default());
        screen.advance("a日\x1b[1;31me\u{301}\x1b[0m".as_bytes());
        let cells: Vec<_> = screen.cells(0).collect();
        let placed: Vec<_> = cells.iter().map(|cell| (cell.col, cell.c, cell.wide)).collect();
        assert_eq!(
            placed[..4],
            [(0, 'a', false), (1, '日', true), (3, 'e', false), (4, ' ', false)]
        );
        assert_eq!(cells[2].marks, ['\u{301}']);
        assert!(cells[2].style.bold);
        assert_eq!(cells[2].style.fg, Tint::Named(1));
        assert_eq!(screen.cells(2).count(), 0);
        assert_eq!(screen.cursor(), Some((4, 0)));
    }

    #[test]
    fn rows_that_changed_are_told_once() {
        let mut screen = Screen::new(Size::new(8, 3), HistoryLimit::default());
        let mut drawn = Drawn::default();
        assert_eq!(screen.changed_rows(&mut drawn), [0, 1, 2]);
        assert_eq!(drawn.size(), screen.size());
        assert!(screen.changed_rows(&mut drawn).is_empty());
        screen.advance(b"ab\r\n\r\n\x1b[31mc");
        assert_eq!(screen.changed_rows(&mut drawn), [0, 2]);
        // Another colour is a change; the cursor alone is none.
        screen.advance(b"\r\x1b[32mc\x1b[1;1H");
        assert_eq!(screen.changed_rows(&mut drawn), [2]);
        screen.advance(b"\x1b[3;1H\n");
        assert_eq!(screen.changed_rows(&mut drawn), [0, 1, 2]);
        screen.resize(Size::new(9, 2));
        assert_ne!(drawn.size(), screen.size());
        assert_eq!(screen.changed_rows(&mut drawn), [0, 1]);
    }

    #[test]
    fn modes_that_a_client_has_to_follow_are_told() {
        let mut screen = Screen::new(Size::new(8, 2), HistoryLimit::default());
        assert_eq!((screen.mouse(), screen.sgr_mouse()), (Mouse::Off, false));
        screen.advance(b"\x1b[?1002h\x1b[?1006h\x1b[?25l\x1b[?1049h\x1b[?1004h\x1b[5 q");
        assert_eq!((screen.mouse(), screen.sgr_mouse()), (Mouse::Drag, true));
        assert_eq!(screen.cursor(), None);
        assert!(screen.alternate() && screen.focus_reports());
        assert_eq!(screen.cursor_style(), 5);
    }
}
