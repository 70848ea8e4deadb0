//! The screen of a terminal, its history, and what programs tell it.
//!
//! The emulator library is named in this folder only. It holds the cells of the
//! two screens and nothing else: rows that leave the primary screen go to the
//! [`History`], titles and answers are ours, and what the emulator hides is
//! followed beside it. Everything a program can grow is bounded (invariant T3).
//!
//! Synchronized updates (mode 2026) are not held back: their bytes take effect
//! as they arrive, so an update that never ends costs nothing. A repaint made in
//! the middle of one shows its first half; the rest follows in the live bytes.
//!
//! A screen that is not needed for a while can be [put to sleep](Screen::sleep):
//! its cells are dropped, and drawn again from what a repaint would send.

mod answers;
mod cells;
mod driver;
mod events;
mod filter;
mod forget;
mod grid;
mod handler;
mod osc;
mod parked;
mod row;
mod shadow;
mod since;
mod sleep;
#[cfg(test)]
mod tests;
mod text;
mod view;

use std::fmt;
use std::time::Duration;

use alacritty_terminal::Term;
use alacritty_terminal::grid::{Dimensions, Grid};
use alacritty_terminal::index::Line;
use alacritty_terminal::term::test::TermSize;
use alacritty_terminal::term::{Config, Osc52, TermMode};
use alacritty_terminal::vte::ansi::{Handler, Processor, Timeout};

use self::answers::Listener;
use self::driver::Driver;
use self::events::Outbox;
use self::filter::{Filter, Piece};
use self::parked::{Parked, render};
use self::shadow::Shadow;
use crate::history::{History, HistoryLimit};
use crate::line::{self, LineBuilder};
use crate::repaint;
use crate::size::Size;

pub use self::cells::{Cell, Drawn, Mouse};
pub use self::events::ScreenEvent;
pub(crate) use self::row::{Glyph, Link, RowView};
pub use self::since::{Mark, Since};
pub use self::sleep::Asleep;
pub(crate) use self::view::{Caret, View};

type Emulator = Term<Listener>;

/// A terminal's screen with its history.
///
/// Feed it everything that was read from the terminal. The same bytes give the
/// same screen, however they are split.
pub struct Screen {
    term: Emulator,
    parser: Processor<Immediate>,
    filter: Filter,
    listener: Listener,
    shadow: Shadow,
    history: History,
    outbox: Outbox,
    parked: Option<Parked>,
}

impl Screen {
    /// An empty screen, with nobody attached.
    ///
    /// Sizes outside 2 to 1000 columns and 1 to 500 rows are taken as the
    /// nearest that is inside.
    #[must_use]
    pub fn new(size: Size, limit: HistoryLimit) -> Self {
        let size = emulated(size);
        let config = Config { scrolling_history: 0, osc52: Osc52::Disabled, ..Config::default() };
        let listener = Listener::default();
        Self {
            term: Term::new(config, &size, listener.clone()),
            parser: Processor::new(),
            filter: Filter::default(),
            listener,
            shadow: Shadow::new(size.columns, size.screen_lines),
            history: History::new(limit),
            outbox: Outbox::default(),
            parked: None,
        }
    }

    /// Takes what a program wrote.
    pub fn advance(&mut self, bytes: &[u8]) {
        let Self { term, parser, filter, listener, shadow, history, outbox, parked } = self;
        let mut driver = Driver { term, listener, shadow, history, outbox, parked };
        filter.advance(bytes, &mut |piece| match piece {
            Piece::Pass(bytes) => parser.advance(&mut driver, bytes),
            Piece::Text(text) => text::advance(parser, &mut driver, text),
            Piece::Mute(bytes) => parser.advance(&mut Deaf, bytes),
            Piece::SoftReset => driver.soft_reset(),
            Piece::Modes { restore, numbers } => driver.keep_modes(restore, numbers),
            Piece::Command(payload) => {
                if let Some(event) = osc::event(payload, &mut driver.outbox.begun) {
                    driver.outbox.post(event);
                }
            }
        });
    }

    /// Changes the size. Wrapped lines of the primary screen are wrapped anew;
    /// what no longer fits goes to the history, and nothing comes back from it.
    pub fn resize(&mut self, size: Size) {
        let size = emulated(size);
        let (old_cols, old_rows) = (self.term.columns(), self.term.screen_lines());
        if (size.columns, size.screen_lines) == (old_cols, old_rows) {
            return;
        }
        // For the time of the change the primary screen may overflow.
        let overflow = old_rows * (old_cols.div_ceil(size.columns) + 1);
        let alternate = self.term.mode().contains(TermMode::ALT_SCREEN);
        self.shadow.resize(size.columns, size.screen_lines);
        if alternate {
            self.with_primary(|screen| screen.term.grid_mut().update_history(overflow));
            self.term.resize(size);
            grid::mend(self.term.grid_mut());
            self.with_primary(|screen| {
                screen.settle();
                screen.parked = Some(Parked::new(screen.view(), &screen.history));
            });
        } else {
            self.term.grid_mut().update_history(overflow);
            self.term.resize(size);
            self.settle();
        }
    }

    /// The size of the emulated screen.
    #[must_use]
    pub fn size(&self) -> Size {
        let clamped = |value| u16::try_from(value).unwrap_or(u16::MAX);
        Size::new(clamped(self.term.columns()), clamped(self.term.screen_lines()))
    }

    /// The title the program gave, without control characters.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.shadow.title.as_deref()
    }

    /// Whether the program wants pastes framed (mode 2004).
    #[must_use]
    pub fn bracketed_paste(&self) -> bool {
        self.term.mode().contains(TermMode::BRACKETED_PASTE)
    }

    /// Whether arrow keys are sent in application mode (DECCKM).
    #[must_use]
    pub fn application_cursor(&self) -> bool {
        self.term.mode().contains(TermMode::APP_CURSOR)
    }

    /// What the program told its terminal since the last call.
    ///
    /// At most a few dozen events are kept: a newer title, bell or directory
    /// replaces the older one, and the oldest notifications are dropped.
    pub fn take_events(&mut self) -> Vec<ScreenEvent> {
        self.outbox.take_events()
    }

    /// What the program's questions want written back to it, such as device
    /// attributes. Always empty while a client is attached.
    pub fn take_answers(&mut self) -> Vec<u8> {
        self.outbox.take_answers()
    }

    /// Says whether a client is attached. While one is, its terminal answers
    /// the program's questions; answers not taken yet are discarded.
    pub fn set_attached(&mut self, attached: bool) {
        self.outbox.set_attached(attached);
    }

    /// The lines that have left the primary screen.
    #[must_use]
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Puts the lines of an earlier [`tail`](Self::tail) into the history, then
    /// `separator`. Meant for a new screen, before its program writes.
    pub fn seed(&mut self, tail: &[u8], separator: &str) {
        self.history.seed(tail, separator);
    }

    /// The last `count` lines as plain text: history, then the screen without
    /// trailing empty lines. Wrapped rows are joined. While the alternate screen
    /// is shown, it follows the primary one.
    #[must_use]
    pub fn lines(&self, count: usize) -> Vec<String> {
        let shown = self.shown_lines();
        let all = self.history.lines().chain(shown.iter().map(String::as_str));
        let skip = (self.history.len() + shown.len()).saturating_sub(count);
        all.skip(skip).map(line::plain).collect()
    }

    /// The same lines with their styles, as many of the last ones as fit in
    /// `max_bytes`, each ended by a line feed.
    ///
    /// The text begins at a line's start and ends in the default style. The last
    /// line alone, if it is too long, is cut at a character and marked.
    #[must_use]
    pub fn tail(&self, max_bytes: usize) -> String {
        let shown = self.shown_lines();
        let newest_first = shown.iter().rev().map(String::as_str).chain(self.history.lines().rev());
        let mut room = max_bytes;
        let mut picked = Vec::new();
        for line in newest_first {
            let Some(left) = room.checked_sub(line.len() + 1) else {
                if picked.is_empty() {
                    let short = line::cut(line, room.saturating_sub(1));
                    picked.extend(Some(short).filter(|short| !short.is_empty()));
                }
                break;
            };
            room = left;
            picked.push(line.to_owned());
        }
        let mut tail = String::with_capacity(max_bytes - room);
        for line in picked.iter().rev().filter(|line| room > 0 || !line.is_empty()) {
            tail.push_str(line);
            tail.push('\n');
        }
        tail
    }

    /// Bytes that make any terminal of the same size show this screen: contents,
    /// styles, title, cursor and modes, and the primary screen beneath the
    /// alternate one. The terminal's own scrollback is left alone. A sequence that
    /// is not complete yet is at the end, so that further bytes complete it.
    ///
    /// Not in it are the wrap mark of a row in whose last column a cursor waits,
    /// which only another size would show, and the letter that `CSI b` repeats: a
    /// client that joins between a letter and its repetition shows another one
    /// until the line is drawn again.
    #[must_use]
    pub fn repaint(&self) -> Vec<u8> {
        let below = self.parked.as_ref().map(|parked| parked.repaint.as_str());
        let mut bytes = repaint::screen(self.view(), below).into_bytes();
        bytes.extend_from_slice(self.filter.unfinished());
        bytes
    }

    fn view(&self) -> View<'_> {
        View { term: &self.term, shadow: &self.shadow }
    }

    /// The lines on the screens, with their styles.
    fn shown_lines(&self) -> Vec<String> {
        match &self.parked {
            Some(parked) => {
                let mut lines = parked.lines.clone();
                lines.extend(render(self.view(), LineBuilder::default()));
                lines
            }
            None => render(self.view(), self.history.open_line().clone()),
        }
    }

    /// Runs `change` with the primary screen shown while the alternate one is.
    ///
    /// The emulator gives no access to the hidden screen, and showing the
    /// primary one clears the other; so that is taken out and put back.
    fn with_primary(&mut self, change: impl FnOnce(&mut Self)) {
        let stand_in = Grid::new(self.term.screen_lines(), self.term.columns(), 0);
        let alternate = std::mem::replace(self.term.grid_mut(), stand_in);
        self.term.swap_alt();
        change(self);
        self.term.swap_alt();
        *self.term.grid_mut() = alternate;
    }

    /// Takes what overflowed in a resize into the history.
    fn settle(&mut self) {
        let overflow = i32::try_from(self.term.history_size()).unwrap_or(i32::MAX);
        for row in (1..=overflow).rev() {
            self.history.push_row(&RowView::new(&self.term.grid()[Line(-row)]));
        }
        let grid = self.term.grid_mut();
        grid.update_history(0);
        grid.truncate();
        grid::mend(grid);
    }
}

impl fmt::Debug for Screen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Contents are what people type and read, and do not belong in logs.
        f.debug_struct("Screen")
            .field("size", &self.size())
            .field("history", &self.history.len())
            .finish_non_exhaustive()
    }
}

fn emulated(size: Size) -> TermSize {
    TermSize::new(size.cols.clamp(2, 1000).into(), size.rows.clamp(1, 500).into())
}

/// Makes synchronized updates take effect at once.
#[derive(Debug, Default)]
struct Immediate;

impl Timeout for Immediate {
    fn set_timeout(&mut self, _: Duration) {}

    fn clear_timeout(&mut self) {}

    fn pending_timeout(&self) -> bool {
        false
    }
}

/// Ignores everything: takes the end of a command that was cut.
struct Deaf;

impl Handler for Deaf {}
