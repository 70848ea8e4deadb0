//! The short way for plain text.
//!
//! Most of what programs print is runs of ASCII letters. The parser and the
//! emulator take them one by one, and look at each for its width, the margin,
//! the character set and what it overwrites. A run has one answer to all of
//! these, so its cells are written at once. Whatever is not plain goes the long
//! way, and so does the last letter of each run: the parser has to know it, for
//! the sequence that repeats it.
//!
//! A log prints more lines at once than the screen has. Most of them scroll off
//! before anybody could see them, so they go to the history as they are, and only
//! those that stay are written into cells.

use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::Column;
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::{CharsetIndex, Processor, StandardCharset, Timeout};

use super::driver::Driver;
use super::grid;
use super::row::RowView;

/// Takes text, while the parser is between sequences.
pub(super) fn advance<T: Timeout>(parser: &mut Processor<T>, driver: &mut Driver<'_>, text: &[u8]) {
    let mut rest = text;
    while rest.len() >= MANY_LINES && driver.scrolls_plainly() {
        let run = if driver.is_on_new_last_line() {
            let run = plain_lines(rest, driver.term.columns());
            let gone = driver.log_lines(rest.get(..run).unwrap_or_default());
            rest = rest.get(gone..).unwrap_or_default();
            run - gone
        } else {
            0
        };
        // Also the line that is not plain, or was begun before.
        let after = rest.get(run..).unwrap_or_default();
        let end = run + memchr::memchr(b'\n', after).map_or(after.len(), |end| end + 1);
        runs(parser, driver, rest.get(..end).unwrap_or_default());
        rest = rest.get(end..).unwrap_or_default();
    }
    runs(parser, driver, rest);
}

/// Takes text by runs of letters.
fn runs<T: Timeout>(parser: &mut Processor<T>, driver: &mut Driver<'_>, text: &[u8]) {
    let mut rest = text;
    // Where the part begins that goes the long way.
    let mut long = 0;
    let mut at = 0;
    while let Some(ahead) = rest.get(at..).filter(|ahead| !ahead.is_empty()) {
        // A run is looked at again where it wraps, so not much further than that.
        let ahead = ahead.get(..driver.term.columns()).unwrap_or(ahead);
        let run = plain_run(ahead);
        if run < WORTHWHILE {
            let other = ahead.iter().skip(run).take_while(|byte| !is_plain(byte)).count();
            at += (run + other).max(1);
            continue;
        }
        if at.checked_sub(1).and_then(|before| rest.get(before)).is_some_and(|b| !b.is_ascii()) {
            // What is before can be a broken character, of which the parser knows
            // only when it sees what follows.
            at += 1;
            continue;
        }
        parser.advance(driver, rest.get(long..at).unwrap_or_default());
        rest = rest.get(at..).unwrap_or_default();
        let written = driver.write_plain(rest.get(..run - 1).unwrap_or_default());
        // The letter that ends the run or wraps, or all of it.
        (long, at) = written.map_or((0, run), |written| (written, written + 1));
    }
    parser.advance(driver, rest.get(long..).unwrap_or_default());
}

fn is_plain(byte: &u8) -> bool {
    matches!(byte, 0x20..=0x7e)
}

/// How many bytes at the beginning of `text` are printable ASCII.
fn plain_run(text: &[u8]) -> usize {
    let blocks = text.chunks_exact(BLOCK);
    // A whole block at a time has no branches inside.
    let whole =
        blocks.take_while(|block| block.iter().fold(true, |all, b| all & is_plain(b))).count();
    let rest = text.get(whole * BLOCK..).unwrap_or_default();
    whole * BLOCK + rest.iter().take(BLOCK).take_while(|byte| is_plain(byte)).count()
}

/// How many bytes at the beginning of `text` are whole lines of printable ASCII
/// that do not reach the last column.
fn plain_lines(text: &[u8], columns: usize) -> usize {
    let mut length = 0;
    while let Some(rest) = text.get(length..) {
        let Some(end) = memchr::memchr(b'\n', rest) else { break };
        let Some(line) = rest.get(..end).and_then(|line| line.strip_suffix(b"\r")) else { break };
        if line.len() >= columns || plain_run(line) < line.len() {
            break;
        }
        length += end + 1;
    }
    length
}

impl Driver<'_> {
    /// Whether a line feed at the bottom moves the whole primary screen up, and
    /// letters are written as they come and without a style.
    fn scrolls_plainly(&self) -> bool {
        let mode = self.term.mode();
        let cursor = &self.term.grid().cursor;
        let set = if self.shadow.shifted { CharsetIndex::G1 } else { CharsetIndex::G0 };
        self.shadow.region == (0, self.term.screen_lines())
            && !mode.intersects(TermMode::ALT_SCREEN | TermMode::INSERT)
            && cursor.charsets[set] == StandardCharset::Ascii
            && cursor.template == Cell::default()
    }

    /// Whether the cursor is at the beginning of a last line that is empty, and
    /// the line above is not one that goes on in it.
    fn is_on_new_last_line(&self) -> bool {
        let grid = self.term.grid();
        let point = grid.cursor.point;
        let (last, untouched) = (self.term.screen_lines() - 1, Cell::default());
        point.column.0 == 0
            && last > 0
            && point.line == grid::line(last)
            && grid[point.line][..].iter().all(|cell| *cell == untouched)
            && !RowView::new(&grid[grid::line(last - 1)]).wrapped()
    }

    /// Takes those of the plain lines at the cursor that will have left the screen
    /// when all of them are written; says how many bytes of them. The cursor is
    /// then at the top of an empty screen, which the others fill.
    fn log_lines(&mut self, lines: &[u8]) -> usize {
        let stay = self.term.screen_lines() - 1;
        let (first, blank) = (memchr::memrchr_iter(b'\n', lines).nth(stay), |byte: &u8| {
            matches!(byte, b'\r' | b'\n')
        });
        let Some((gone, rest)) = first.map(|end| lines.split_at(end + 1)) else {
            return 0;
        };
        // The parser has to know the last letter of all.
        if gone.len() < MANY_LINES || rest.iter().all(blank) {
            return 0;
        }
        let Ok(text) = std::str::from_utf8(gone) else { return 0 };
        self.leave(stay);
        for line in text.lines() {
            self.history.push_plain(line);
        }
        let grid = self.term.grid_mut();
        let untouched = Cell::default();
        for row in 0..=stay {
            grid[grid::line(row)].reset(&untouched);
        }
        grid.cursor.point.line = grid::line(0);
        gone.len()
    }

    /// Writes letters where the cursor is, as many as the long way would write
    /// without wrapping; says how many. `None` where these are not for the short
    /// way at all.
    fn write_plain(&mut self, letters: &[u8]) -> Option<usize> {
        let columns = self.term.columns();
        if self.term.mode().contains(TermMode::INSERT) {
            return None;
        }
        let shifted = self.shadow.shifted;
        let grid = self.term.grid_mut();
        let cursor = &grid.cursor;
        let set = if shifted { CharsetIndex::G1 } else { CharsetIndex::G0 };
        if cursor.charsets[set] != StandardCharset::Ascii {
            return None;
        }
        if cursor.input_needs_wrap {
            return Some(0);
        }
        let start = cursor.point.column.0;
        let count = letters.len().min((columns - 1).saturating_sub(start));
        let line = cursor.point.line;
        let template = cursor.template.clone();
        let cells = &mut grid[line][Column(start)..Column(start + count)];
        let wide = Flags::WIDE_CHAR | Flags::WIDE_CHAR_SPACER;
        if cells.iter().any(|cell| cell.flags.intersects(wide)) {
            return None;
        }
        for (cell, letter) in cells.iter_mut().zip(letters) {
            cell.c = char::from(*letter);
            cell.fg = template.fg;
            cell.bg = template.bg;
            cell.flags = template.flags;
            if cell.extra.is_some() || template.extra.is_some() {
                cell.extra.clone_from(&template.extra);
            }
        }
        grid.cursor.point.column += count;
        Some(count)
    }
}

/// Fewer bytes are not worth looking for lines that scroll off.
const MANY_LINES: usize = 512;

/// Shorter runs are not worth leaving the parser for.
const WORTHWHILE: usize = 4;

const BLOCK: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_before_the_first_byte_that_is_not_plain() {
        for length in 0..70 {
            let mut text = vec![b'x'; length];
            assert_eq!(plain_run(&text), length);
            for other in [b'\n', 0x7f, 0xc3, 0x1f] {
                text.push(other);
                text.extend_from_slice(b"yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy");
                assert_eq!(plain_run(&text), length);
                text.truncate(length);
            }
        }
    }
}
