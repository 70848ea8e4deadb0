//! Small operations on the emulator's grid that it does not offer itself.

use alacritty_terminal::grid::{Dimensions, Grid};
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::{Cell, Flags};

/// The grid's name for a row of the screen.
pub(super) fn line(row: usize) -> Line {
    Line(i32::try_from(row).unwrap_or(i32::MAX))
}

/// Replaces the halves of wide characters whose other half was overwritten or
/// erased by blanks, as terminals show them.
///
/// The emulator leaves such halves behind; later writes next to one would then
/// remove characters that nobody erased.
pub(super) fn mend_row(grid: &mut Grid<Cell>, line: Line) {
    let columns = grid.columns();
    let row = &mut grid[line];
    let mut after_wide = false;
    for column in 0..columns {
        let has_other_half =
            column + 1 < columns && row[Column(column + 1)].flags.contains(Flags::WIDE_CHAR_SPACER);
        let cell = &mut row[Column(column)];
        if cell.flags.contains(Flags::WIDE_CHAR_SPACER) && !after_wide {
            cell.flags.remove(Flags::WIDE_CHAR_SPACER);
        }
        after_wide = cell.flags.contains(Flags::WIDE_CHAR);
        if after_wide && !has_other_half {
            cell.clear_wide();
            after_wide = false;
        }
    }
}

/// Mends the whole screen and puts cursors back inside it, after a resize.
pub(super) fn mend(grid: &mut Grid<Cell>) {
    for row in 0..grid.screen_lines() {
        mend_row(grid, line(row));
    }
    let last = grid.last_column();
    let bottom = grid.bottommost_line();
    for cursor in [&mut grid.cursor, &mut grid.saved_cursor] {
        cursor.point.line = cursor.point.line.clamp(Line(0), bottom);
        cursor.point.column = cursor.point.column.min(last);
        if cursor.input_needs_wrap && cursor.point.column != last {
            cursor.input_needs_wrap = false;
            cursor.point.column += 1;
        }
    }
}
