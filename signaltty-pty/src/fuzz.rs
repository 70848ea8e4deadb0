//! Bodies of fuzz targets, as plain functions that a test can run too.

use crate::{HistoryLimit, Screen, Size};

/// Feeds the bytes to a screen, draws it into another halfway, and feeds both
/// the rest. `CSI b` is left out, since the letter that it repeats is not drawn.
///
/// # Panics
///
/// If the two show anything else at either point, or a tail is longer than was
/// asked for.
pub fn screen(data: &[u8]) {
    let data: Vec<u8> = data.iter().map(|byte| if *byte == b'b' { b'B' } else { *byte }).collect();
    let size = Size::new(20, 6);
    let limit = HistoryLimit { lines: 50, bytes: 4_096 };
    let mut first = Screen::new(size, limit);
    let (before, after) = data.split_at(data.len() / 2);
    first.advance(before);
    let mut second = Screen::new(size, limit);
    second.advance(&first.repaint());
    assert_eq!(shown(&second), shown(&first), "a repaint draws the same screen");
    first.advance(after);
    second.advance(after);
    assert_eq!(shown(&second), shown(&first), "and both go on the same");
    assert!(first.tail(1_024).len() <= 1_024);
}

/// Each row's cells, then what else a client can see.
fn shown(screen: &Screen) -> Vec<String> {
    let row = |row| {
        let cells = screen.cells(row).map(|cell| format!("{cell:?}"));
        cells.collect::<Vec<_>>().join(" ")
    };
    let mut shown: Vec<String> = (0..screen.size().rows).map(row).collect();
    shown.push(format!(
        "{:?} {} {:?} {:?} {} {} {} {} {}",
        screen.cursor(),
        screen.cursor_style(),
        screen.title(),
        screen.mouse(),
        screen.sgr_mouse(),
        screen.alternate(),
        screen.focus_reports(),
        screen.bracketed_paste(),
        screen.application_cursor(),
    ));
    shown
}
