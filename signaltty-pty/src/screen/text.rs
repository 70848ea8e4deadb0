//! The short way for plain text.
//!
//! Most of what programs print is runs of ASCII letters. The parser and the
//! emulator take them one by one, and look at each for its width, the margin,
//! the character set and what it overwrites. A run has one answer to all of
//! these, so its cells are written at once. Whatever is not plain goes the long
//! way, and so does the last letter of each run: the parser has to know it, for
//! the sequence that repeats it.

use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::Column;
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::vte::ansi::{CharsetIndex, Processor, StandardCharset, Timeout};

use super::driver::Driver;

/// Takes text, while the parser is between sequences.
pub(super) fn advance<T: Timeout>(parser: &mut Processor<T>, driver: &mut Driver<'_>, text: &[u8]) {
    let mut rest = text;
    // Where the part begins that goes the long way.
    let mut long = 0;
    let mut at = 0;
    while let Some(ahead) = rest.get(at..).filter(|ahead| !ahead.is_empty()) {
        // A run is looked at again where it wraps, so not much further than that.
        let ahead = ahead.get(..driver.term.columns()).unwrap_or(ahead);
        let run = plain_run(ahead);
        if run < WORTHWHILE {
            at += run.max(1);
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

/// How many bytes at the beginning of `text` are printable ASCII.
fn plain_run(text: &[u8]) -> usize {
    let plain = |byte: &u8| matches!(byte, 0x20..=0x7e);
    let blocks = text.chunks_exact(BLOCK);
    // A whole block at a time has no branches inside.
    let whole = blocks.take_while(|block| block.iter().fold(true, |all, b| all & plain(b))).count();
    let rest = text.get(whole * BLOCK..).unwrap_or_default();
    whole * BLOCK + rest.iter().take(BLOCK).take_while(|byte| plain(byte)).count()
}

impl Driver<'_> {
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
