//! Bodies of fuzz targets, as plain functions that a test can run too.

use super::{
    Axis, Closed, Direction, EditError, Layout, Limits, Rect, Size, Weight, arrange, neighbour,
};

/// Reads the bytes as edits and applies them, three bytes an edit.
///
/// # Panics
///
/// If an edit leaves an invalid layout, a refused edit changes something, the
/// leaves are not those that the edits imply, or the text form is not exact.
pub fn fuzz_layout_edits(data: &[u8]) {
    let limits = Limits::default();
    let mut layout = Layout::single(0_u16);
    let mut fresh = 1_u16;
    for step in data.chunks_exact(3) {
        let &[operation, first, second] = step else {
            continue;
        };
        let before = layout.clone();
        let result = apply(&mut layout, operation, pick(&before, first), second, fresh, &limits);
        fresh = fresh.saturating_add(1);
        if result.is_err() {
            assert_eq!(layout, before, "a refused edit changes nothing");
        }
        assert_eq!(layout.check(&limits), Ok(()));
        assert_eq!(layout.to_string().parse().as_ref(), Ok(&layout));
        let area = Rect::from(Size { cols: u16::from(first), rows: u16::from(second) });
        let arrangement = arrange(&layout, area);
        let cells: u64 = arrangement.rects.iter().map(|(_, rect)| area_of(*rect)).sum();
        let lines: u64 = arrangement.separators.iter().map(|line| area_of(line.rect)).sum();
        assert_eq!(cells + lines, area_of(area), "the area is tiled");
        let from = pick(&layout, second);
        assert_ne!(neighbour(&arrangement.rects, from, direction(operation), None), Some(from));
    }
}

/// Reads the bytes as the text of a layout, strictly and leniently.
///
/// # Panics
///
/// If a parsed or repaired layout is invalid or does not survive printing.
pub fn fuzz_layout_text(data: &[u8]) {
    let limits = Limits::default();
    let text = String::from_utf8_lossy(data);
    let strict = Layout::<u16>::parse(&text, &limits);
    let lenient = Layout::<u16>::parse_lenient(&text, &limits);
    if let Ok(layout) = &strict {
        assert_eq!(layout.check(&limits), Ok(()));
        assert_eq!(layout.to_string().parse().as_ref(), Ok(layout));
        let lenient = lenient.as_ref().ok();
        assert_eq!(lenient.and_then(|found| found.layout.as_ref()), Some(layout));
        assert_eq!(lenient.map(|found| found.problems.len()), Some(0));
    }
    if let Some(layout) = lenient.ok().and_then(|found| found.layout) {
        assert_eq!(layout.check(&limits), Ok(()));
        assert_eq!(layout.to_string().parse(), Ok(layout));
    }
}

fn apply(
    layout: &mut Layout<u16>,
    operation: u8,
    at: u16,
    argument: u8,
    fresh: u16,
    limits: &Limits,
) -> Result<(), EditError<u16>> {
    let other = pick(layout, argument);
    let weight = Weight::new(u16::from(argument) * 257).unwrap_or_default();
    let area = (argument % 2 == 1).then(Size::default);
    match operation % 8 {
        0 | 1 => layout.split(at, direction(argument), fresh, limits, area),
        2 => layout.close(at).map(|closed| {
            assert_eq!(closed == Closed::WasLast, layout.contains(at));
        }),
        3 => layout.swap(at, other),
        4 => layout.move_leaf(at, other, direction(operation / 8), limits, area),
        5 => layout.set_weight(at, weight),
        6 => layout.set_branch_weight(at, Axis::Column, weight),
        _ => layout.replace(at, fresh),
    }
}

fn pick(layout: &Layout<u16>, choice: u8) -> u16 {
    let index = usize::from(choice) % layout.len();
    layout.leaves().nth(index).unwrap_or_else(|| layout.first())
}

fn direction(choice: u8) -> Direction {
    match choice % 4 {
        0 => Direction::Left,
        1 => Direction::Right,
        2 => Direction::Up,
        _ => Direction::Down,
    }
}

fn area_of(rect: Rect) -> u64 {
    u64::from(rect.cols()) * u64::from(rect.rows())
}
