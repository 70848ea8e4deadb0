//! What the handler does around the calls it forwards.
//!
//! Rows leave the screen only at the top of a scroll region that begins at the
//! first row, by a line feed, a wrap or `CSI S`, and by `CSI 2 J` or a reset.
//! They are logged just before, while they are still where they were. Lines
//! deleted at the top (`CSI M`) are gone, as in xterm.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::{Charsets, Cursor, Dimensions};
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::{Cell, CellExtra, Flags};
use alacritty_terminal::term::test::TermSize;
use alacritty_terminal::term::{Config, Term, TermMode};
use alacritty_terminal::vte::ansi::{
    Attr, CharsetIndex, Handler, NamedMode, NamedPrivateMode, PrivateMode,
};

use super::events::{Outbox, ScreenEvent};
use super::grid;
use super::parked::Parked;
use super::row::RowView;
use super::shadow::{Keyboard, Shadow};
use super::view::View;
use super::{Emulator, Listener};
use crate::history::History;

/// Everything a call of the parser can change.
pub(super) struct Driver<'a> {
    pub(super) term: &'a mut Emulator,
    pub(super) listener: &'a Listener,
    pub(super) shadow: &'a mut Shadow,
    pub(super) history: &'a mut History,
    pub(super) outbox: &'a mut Outbox,
    pub(super) parked: &'a mut Option<Parked>,
}

impl Driver<'_> {
    fn alternate(&self) -> bool {
        self.term.mode().contains(TermMode::ALT_SCREEN)
    }

    pub(super) fn row(&self) -> usize {
        usize::try_from(self.term.grid().cursor.point.line.0).unwrap_or(0)
    }

    /// A row as the emulator counts it when origin mode may be on.
    fn relative(&self, row: i64) -> i32 {
        let origin = self.term.mode().contains(TermMode::ORIGIN);
        let top = if origin { self.shadow.region.0 } else { 0 };
        let row = row - i64::try_from(top).unwrap_or(0);
        i32::try_from(row.max(0)).unwrap_or(i32::MAX)
    }

    /// The cursor's row, moved down by `rows` or up by a negative number.
    pub(super) fn moved(&self, rows: i64) -> i32 {
        self.relative(i64::from(self.term.grid().cursor.point.line.0) + rows)
    }

    pub(super) fn column(&self) -> usize {
        self.term.grid().cursor.point.column.0
    }

    /// Logs the rows that scrolling by `count` takes off the primary screen.
    pub(super) fn leave(&mut self, count: usize) {
        let (top, bottom) = self.shadow.region;
        if top != 0 || self.alternate() {
            return;
        }
        let grid = self.term.grid();
        for row in 0..count.min(bottom) {
            self.history.push_row(&RowView::new(&grid[grid::line(row)]));
        }
    }

    /// To be called before a line feed.
    pub(super) fn before_linefeed(&mut self) {
        if self.row() + 1 == self.shadow.region.1 {
            self.leave(1);
        }
    }

    /// To be called before the cursor's line wraps. The emulator marks the cell
    /// itself, but in a region of one row too late for the log.
    pub(super) fn before_wrap(&mut self, filler: bool) {
        if !self.term.mode().contains(TermMode::LINE_WRAP) {
            return;
        }
        if self.row() + 1 == self.shadow.region.1 {
            let cell = self.term.grid_mut().cursor_cell();
            if filler {
                *cell = Cell::default();
                cell.flags.insert(Flags::LEADING_WIDE_CHAR_SPACER);
            }
            cell.flags.insert(Flags::WRAPLINE);
            if filler {
                // It can have been half of a wide character.
                self.mend();
            }
            self.leave(1);
        }
    }

    /// Logs the whole primary screen before it is cleared, unless it looks as
    /// it did when it was last cleared: programs clear and draw the same again.
    pub(super) fn leave_all(&mut self) {
        if self.alternate() {
            return;
        }
        let view = View { term: self.term, shadow: self.shadow };
        let used = view.rows().collect::<Vec<_>>();
        let used = used.iter().rposition(|row| !row.is_blank());
        let Some(last) = used else { return };
        let mut hasher = DefaultHasher::new();
        for row in view.rows().take(last + 1) {
            for glyph in row.whole() {
                (glyph.c, glyph.marks).hash(&mut hasher);
            }
            row.wrapped().hash(&mut hasher);
        }
        let fingerprint = Some(hasher.finish());
        if self.shadow.last_cleared != fingerprint {
            for row in view.rows().take(last + 1) {
                self.history.push_row(&row);
            }
        }
        self.history.close();
        self.shadow.last_cleared = fingerprint;
    }

    /// Repairs the cursor's row after cells were moved or erased in it.
    pub(super) fn mend(&mut self) {
        let line = self.term.grid().cursor.point.line;
        grid::mend_row(self.term.grid_mut(), line);
    }

    /// Forwards a question and takes the emulator's answer.
    pub(super) fn ask(&mut self, question: impl FnOnce(&mut Emulator)) {
        question(self.term);
        self.outbox.answer(self.listener.take().as_bytes());
    }

    pub(super) fn keyboard(&mut self) -> &mut Keyboard {
        let [primary, alternate] = &mut self.shadow.keyboards;
        if self.term.mode().contains(TermMode::ALT_SCREEN) { alternate } else { primary }
    }

    pub(super) fn show_title(&mut self, title: Option<String>) {
        if self.shadow.title != title {
            self.shadow.title.clone_from(&title);
            self.outbox.post(ScreenEvent::Title(title));
        }
    }

    /// Writes a character that may wrap first or combine with another.
    pub(super) fn input_carefully(&mut self, c: char) {
        let columns = self.term.columns();
        let cursor = &self.term.grid().cursor;
        let wraps = cursor.input_needs_wrap;
        let at_end = cursor.point.column.0 + 1 >= columns;
        if at_end {
            let width = if c.is_ascii() { 1 } else { width(c) };
            if width > 0 && (wraps || width > 1) {
                self.before_wrap(!wraps);
            }
        }
        let crowded = self.crowded_cell();
        self.term.input(c);
        if let Some((line, column, extra)) = crowded {
            let cell = &mut self.term.grid_mut()[line][column];
            if cell.zerowidth().is_some_and(|marks| marks.len() > MAX_MARKS) {
                cell.extra = extra;
            }
        }
        if self.term.mode().contains(TermMode::INSERT) {
            self.mend();
        }
    }

    /// The cell a combining mark would go to, if it must not get another one.
    fn crowded_cell(&self) -> Option<CrowdedCell> {
        let grid = self.term.grid();
        let cursor = &grid.cursor;
        let line = cursor.point.line;
        let mut column = cursor.point.column;
        if !cursor.input_needs_wrap {
            column.0 = column.0.saturating_sub(1);
        }
        if grid[line][column].flags.contains(Flags::WIDE_CHAR_SPACER) {
            column.0 = column.0.saturating_sub(1);
        }
        let cell = &grid[line][column];
        let full = cell.zerowidth().is_some_and(|marks| marks.len() >= MAX_MARKS);
        full.then(|| (line, column, cell.extra.clone()))
    }

    /// Puts the cursor where it was saved; with origin mode inside the scroll
    /// region, as xterm does. No sequence could put it back outside of it.
    pub(super) fn restore_cursor(&mut self) {
        self.term.restore_cursor_position();
        self.stay_in_region();
    }

    /// With lines counted from the region's top no position outside of it can be
    /// said, so none is kept from before.
    fn stay_in_region(&mut self) {
        if self.term.mode().contains(TermMode::ORIGIN) {
            let (top, bottom) = self.shadow.region;
            let inside = self.row().clamp(top, bottom - 1);
            if inside != self.row() {
                let cursor = &mut self.term.grid_mut().cursor;
                cursor.point.line = grid::line(inside);
                cursor.input_needs_wrap = false;
            }
        }
    }

    /// Shows the alternate screen, or the primary one again.
    pub(super) fn switch_screen(&mut self, alternate: bool) {
        if self.alternate() != alternate {
            *self.parked = None;
            if alternate {
                let view = View { term: self.term, shadow: self.shadow };
                *self.parked = Some(Parked::new(view, self.history));
            }
            self.term.swap_alt();
            if alternate {
                // What an earlier visit had saved is not this one's.
                let grid = self.term.grid_mut();
                grid.saved_cursor = grid.cursor.clone();
                let [_, keyboard] = &mut self.shadow.keyboards;
                *keyboard = Keyboard::default();
            }
            self.stay_in_region();
        }
    }

    /// Resets what programs expect of a soft reset: modes that change how output
    /// and keys work, styles, margins, character sets and the saved cursor.
    pub(super) fn soft_reset(&mut self) {
        let place = self.term.grid().cursor.point;
        self.shadow.region = (0, self.term.screen_lines());
        self.shadow.shifted = false;
        let term = &mut *self.term;
        term.unset_mode(NamedMode::Insert.into());
        term.unset_private_mode(NamedPrivateMode::Origin.into());
        term.unset_private_mode(NamedPrivateMode::CursorKeys.into());
        term.set_private_mode(NamedPrivateMode::LineWrap.into());
        term.set_private_mode(NamedPrivateMode::ShowCursor.into());
        term.unset_keypad_application_mode();
        term.set_scrolling_region(1, None);
        term.terminal_attribute(Attr::Reset);
        term.set_active_charset(CharsetIndex::G0);
        let grid = term.grid_mut();
        grid.cursor.charsets = Charsets::default();
        grid.cursor.point = place;
        grid.saved_cursor = Cursor::default();
    }

    /// Saves private modes (`CSI ? s`) or restores them (`CSI ? r`). Which screen is
    /// shown is not among them: restoring it would lose what the other one shows.
    pub(super) fn keep_modes(&mut self, restore: bool, numbers: &[u8]) {
        for number in numbers.split(|byte| *byte == b';') {
            let number = std::str::from_utf8(number).ok().and_then(|text| text.parse().ok());
            let Some((number, on)) = number.and_then(|number| Some((number, self.mode(number)?)))
            else {
                continue;
            };
            if !restore {
                self.shadow.saved_modes.insert(number, on);
            } else if let Some(saved) = self.shadow.saved_modes.get(&number).copied() {
                let mode = private_mode(number);
                if saved { self.set_private_mode(mode) } else { self.unset_private_mode(mode) }
            }
        }
    }

    /// Whether a private mode is on, of those that can be saved.
    fn mode(&self, number: u16) -> Option<bool> {
        let modes = View { term: self.term, shadow: self.shadow }.modes();
        Some(match number {
            6 => modes.origin,
            7 => modes.wrap,
            25 => modes.show_cursor,
            _ => match modes.private.iter().find(|(known, ..)| *known == number) {
                Some((_, on, _)) => *on,
                None => self.shadow.passive_mode(number)?,
            },
        })
    }

    /// Changing the number of columns is not for programs; the rest of what the
    /// mode does is.
    pub(super) fn column_mode(&mut self) {
        self.shadow.region = (0, self.term.screen_lines());
        self.term.set_private_mode(NamedPrivateMode::ColumnMode.into());
    }
}

/// A mode that can be saved, as the parser would name it.
fn private_mode(number: u16) -> PrivateMode {
    use NamedPrivateMode as Named;
    let named = match number {
        1 => Named::CursorKeys,
        6 => Named::Origin,
        7 => Named::LineWrap,
        25 => Named::ShowCursor,
        1000 => Named::ReportMouseClicks,
        1002 => Named::ReportCellMouseMotion,
        1003 => Named::ReportAllMouseMotion,
        1004 => Named::ReportFocusInOut,
        1005 => Named::Utf8Mouse,
        1006 => Named::SgrMouse,
        1007 => Named::AlternateScroll,
        1042 => Named::UrgencyHints,
        2004 => Named::BracketedPaste,
        other => return PrivateMode::Unknown(other),
    };
    named.into()
}

type CrowdedCell = (Line, Column, Option<Arc<CellExtra>>);

/// How many columns a character takes, as the emulator counts it.
fn width(c: char) -> usize {
    let mut ruler = Term::new(Config::default(), &TermSize::new(4, 1), VoidListener);
    ruler.input(c);
    ruler.grid().cursor.point.column.0
}

/// Combining marks that a cell can hold.
const MAX_MARKS: usize = 16;
