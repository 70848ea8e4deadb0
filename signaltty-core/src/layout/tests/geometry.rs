//! Rectangles and separators.

use proptest::prelude::*;

use crate::layout::{Axis, Layout, Limits, Point, Rect, arrange, rects};

use super::model::{apply, edits};
use super::{layout, size};

/// Draws an arrangement; `.` are cells that nothing covers.
fn draw(text: &str, cols: u16, rows: u16) -> Vec<String> {
    let arrangement = arrange(&layout(text), size(cols, rows).into());
    let mut cells = vec![vec!['.'; usize::from(cols)]; usize::from(rows)];
    let lines = arrangement.separators.iter().map(|line| match line.axis {
        Axis::Row => ('|', line.rect),
        Axis::Column => ('-', line.rect),
    });
    for (sign, rect) in arrangement.rects.iter().copied().chain(lines) {
        for row in rect.row()..rect.row() + rect.rows() {
            for col in rect.col()..rect.col() + rect.cols() {
                let cell = &mut cells[usize::from(row)][usize::from(col)];
                assert_eq!(*cell, '.', "{text}: two things at {col},{row}");
                *cell = sign;
            }
        }
    }
    cells.into_iter().map(|row| row.into_iter().collect()).collect()
}

#[test]
fn layouts_look_as_drawn() {
    let cases: [(&str, &[&str]); 7] = [
        ("v1:a", &["aaa", "aaa"]),
        ("v1:[a|b]", &["aa|bb", "aa|bb"]),
        // The odd cell goes to the first of equals.
        ("v1:[a|b]", &["aaa|bb"]),
        // 7 cells as 1.75, 3.5 and 1.75: the largest remainders win.
        ("v1:[a|b*2|c]", &["aa|bbb|cc"]),
        ("v1:[a/b*3]", &["a", "-", "b", "b", "b"]),
        ("v1:[a*2|[b/c]]", &["aaaa|bb", "aaaa|--", "aaaa|cc"]),
        // A tiny share still shows, also the panes nested in it.
        ("v1:[a*65535|[[b|c]/d]]", &["aaaa|b|c", "aaaa|---", "aaaa|ddd"]),
    ];
    for (text, picture) in cases {
        let (cols, rows) = (picture[0].len() as u16, picture.len() as u16);
        assert_eq!(draw(text, cols, rows), picture, "{text}");
    }
}

#[test]
fn children_without_room_are_cut_from_the_end() {
    for (cols, picture) in
        [(0, ""), (1, "a"), (2, "aa"), (3, "a|b"), (4, "aa|b"), (5, "a|b|c"), (6, "aa|b|c")]
    {
        assert_eq!(draw("v1:[a|b|c]", cols, 1), [picture]);
        let leaves: Vec<char> =
            rects(&layout("v1:[a|b|c]"), size(cols, 1).into()).iter().map(|(l, _)| *l).collect();
        assert_eq!(leaves, ['a', 'b', 'c'], "cut panes are still listed");
    }
    // Nested panes that cannot all show leave a cell to each of their siblings.
    assert_eq!(draw("v1:[[[a|b|c]/d]|e]", 4, 3), ["aa|e", "--|e", "dd|e"]);
    let hidden = rects(&layout("v1:[a|b|c]"), size(3, 1).into())[2].1;
    assert!(hidden.is_empty());
    assert_eq!((hidden.col(), hidden.cols(), hidden.rows()), (3, 0, 1));
}

#[test]
fn rectangles_are_clipped_at_the_largest_coordinate() {
    let far = Rect::new(Point { col: 65_000, row: 65_535 }, size(u16::MAX, u16::MAX));
    assert_eq!((far.cols(), far.rows()), (535, 0));
    assert!(far.is_empty());
    let whole = Rect::from(size(u16::MAX, u16::MAX));
    assert!(whole.contains(Point { col: 65_534, row: 0 }));
    assert!(!whole.contains(Point { col: 65_535, row: 0 }));
}

/// The sum of cells fits, nothing overlaps, and nothing sticks out.
fn check_tiling(layout: &Layout<u16>, area: Rect) -> Result<(), TestCaseError> {
    let arrangement = arrange(layout, area);
    let lines = arrangement.separators.iter().map(|line| line.rect);
    let all: Vec<Rect> = arrangement.rects.iter().map(|(_, rect)| *rect).chain(lines).collect();
    let cells = |rect: &Rect| u64::from(rect.cols()) * u64::from(rect.rows());
    prop_assert_eq!(all.iter().map(cells).sum::<u64>(), cells(&area));
    let spans = |rect: &Rect| (rect.span(Axis::Row), rect.span(Axis::Column));
    let (area_cols, area_rows) = spans(&area);
    for (index, rect) in all.iter().enumerate() {
        let (cols, rows) = spans(rect);
        prop_assert!(cols.0 >= area_cols.0 && cols.1 <= area_cols.1);
        prop_assert!(rows.0 >= area_rows.0 && rows.1 <= area_rows.1);
        for other in all.iter().skip(index + 1).filter(|other| !other.is_empty()) {
            let (other_cols, other_rows) = spans(other);
            let apart = cols.1 <= other_cols.0
                || other_cols.1 <= cols.0
                || rows.1 <= other_rows.0
                || other_rows.1 <= rows.0;
            prop_assert!(apart || rect.is_empty(), "{rect:?} {other:?}");
        }
    }
    for line in &arrangement.separators {
        let (start, end) = line.rect.span(line.axis);
        prop_assert_eq!(end - start, 1);
    }
    let leaves: Vec<u16> = arrangement.rects.iter().map(|(leaf, _)| *leaf).collect();
    prop_assert_eq!(leaves, layout.leaves().collect::<Vec<_>>());
    Ok(())
}

/// Small and very large extents.
fn extent() -> impl Strategy<Value = u16> {
    prop_oneof![0_u16..100, Just(u16::MAX), any::<u16>()]
}

proptest! {
    #[test]
    fn inv_l6_rectangles_and_separators_tile_the_area(
        edits in edits(0..80),
        at in (extent(), extent()),
        extent in (extent(), extent()),
    ) {
        let mut layout = Layout::single(0);
        for (new, edit) in (1..).zip(edits) {
            apply(&mut layout, edit, new, &Limits::default(), None).ok();
        }
        let area = Rect::new(Point { col: at.0, row: at.1 }, size(extent.0, extent.1));
        check_tiling(&layout, area)?;
    }

    #[test]
    fn equal_children_differ_by_one_cell_at_most(panes in 2_u16..40, cols in 80_u16..400) {
        let mut layout = Layout::single(0);
        for new in 1..panes {
            layout.split(new - 1, crate::layout::Direction::Right, new, &Limits::default(), None).unwrap();
        }
        let rects = rects(&layout, size(cols, 24).into());
        let widths = || rects.iter().map(|(_, rect)| rect.cols());
        prop_assert!(widths().max().unwrap() - widths().min().unwrap() <= 1);
        // Wider ones come first.
        prop_assert!(widths().is_sorted_by(|a, b| a >= b));
    }
}
