//! Bodies of fuzz targets, as plain functions that a test can run too.

use crate::{HistoryLimit, Screen, Size};

/// Feeds the bytes to a screen, draws it into another halfway, and feeds both
/// the rest. A letter repeated with `CSI b` is left out: see [`Screen::repaint`].
///
/// # Panics
///
/// If the two differ at any point, or a tail is longer than was asked for.
pub fn screen(data: &[u8]) {
    let data: Vec<u8> = data.iter().map(|byte| if *byte == b'b' { b'B' } else { *byte }).collect();
    let size = Size::new(20, 6);
    let limit = HistoryLimit { lines: 50, bytes: 4_096 };
    let mut first = Screen::new(size, limit);
    let (before, after) = data.split_at(data.len() / 2);
    first.advance(before);
    let mut second = Screen::new(size, limit);
    second.advance(&first.repaint());
    assert_eq!(second.repaint(), first.repaint(), "a repaint draws the same screen");
    first.advance(after);
    second.advance(after);
    assert_eq!(second.repaint(), first.repaint(), "and both go on the same");
    assert!(first.tail(1_024).len() <= 1_024);
}
