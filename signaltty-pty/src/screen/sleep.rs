//! A screen without its cells.
//!
//! Most panes are quiet most of the time, and the cells of a screen take a
//! hundred times what it takes to draw them. So a quiet screen is kept as the
//! bytes of its repaint, and is drawn into a new emulator when it is needed.
//! The parser, the history and all state beside the emulator are kept as they
//! are.

use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::Column;
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::vte::ansi::Processor;

use super::events::Outbox;
use super::filter::Filter;
use super::parked::Parked;
use super::shadow::Shadow;
use super::{Immediate, Screen, grid};
use crate::history::History;
use crate::repaint;
use crate::size::Size;

/// A [`Screen`] that was put to sleep.
pub struct Asleep {
    size: Size,
    /// Draws the screen that was shown, and the one beneath.
    repaint: Box<str>,
    /// What no drawing can set: which rows of the shown and of the hidden screen
    /// go on in the next one.
    wrapped: [Wrapped; 2],
    parser: Processor<Immediate>,
    filter: Filter,
    shadow: Shadow,
    history: History,
    outbox: Outbox,
    parked: Option<Parked>,
}

/// Rows that go on in the next one, and whether their last column is free.
type Wrapped = Vec<(usize, bool)>;

impl Screen {
    /// Drops the cells, which [`Asleep::wake`] draws again. Everything that can be
    /// asked of the screen afterwards is the same as before.
    ///
    /// # Errors
    ///
    /// Gives the screen back while a sequence or a character has begun and not
    /// ended: what follows belongs to it, so the screen is not quiet.
    pub fn sleep(mut self) -> Result<Asleep, Box<Self>> {
        if !self.filter.unfinished().is_empty() {
            return Err(Box::new(self));
        }
        let shown = self.wrapped();
        let mut hidden = Vec::new();
        if self.term.mode().contains(TermMode::ALT_SCREEN) {
            self.with_primary(|screen| hidden = screen.wrapped());
        }
        let below = self.parked.as_ref().map(|parked| parked.repaint.as_str());
        let repaint = repaint::screen(self.view(), below).into_boxed_str();
        let size = self.size();
        let Self { parser, filter, shadow, mut history, outbox, parked, .. } = self;
        history.settle();
        let wrapped = [shown, hidden];
        Ok(Asleep { size, repaint, wrapped, parser, filter, shadow, history, outbox, parked })
    }

    fn wrapped(&self) -> Wrapped {
        let rows = self.view().rows().enumerate();
        rows.filter(|(_, row)| row.wrapped()).map(|(at, row)| (at, row.has_filler())).collect()
    }

    fn wrap(&mut self, wrapped: &Wrapped) {
        let last = Column(self.term.columns() - 1);
        let grid = self.term.grid_mut();
        for row in 0..grid.screen_lines() {
            let line = grid::line(row);
            grid[line][last].flags.remove(Flags::WRAPLINE);
        }
        for &(row, filler) in wrapped {
            let flags = &mut grid[grid::line(row)][last].flags;
            flags.insert(Flags::WRAPLINE);
            flags.set(Flags::LEADING_WIDE_CHAR_SPACER, filler);
        }
    }
}

impl Asleep {
    /// The screen as it was.
    #[must_use]
    pub fn wake(self) -> Screen {
        let Self { size, repaint, wrapped, parser, filter, shadow, history, outbox, parked } = self;
        let mut screen = Screen::new(size, history.limit());
        screen.advance(repaint.as_bytes());
        let [shown, hidden] = &wrapped;
        screen.wrap(shown);
        if screen.term.mode().contains(TermMode::ALT_SCREEN) {
            screen.with_primary(|screen| screen.wrap(hidden));
        }
        // Drawing was no output of the program.
        Screen { parser, filter, shadow, history, outbox, parked, ..screen }
    }
}

impl std::fmt::Debug for Asleep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Contents are what people type and read, and do not belong in logs.
        f.debug_struct("Asleep").field("size", &self.size).finish_non_exhaustive()
    }
}
