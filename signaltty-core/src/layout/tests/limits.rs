//! Limits on depth, number of panes and room.

use crate::layout::Direction::{Down, Right};
use crate::layout::{EditError, Layout, LayoutViolation, Limits, Size};

use super::{layout, limits, numbers, size};

#[test]
fn inv_l8_depth_and_count_stop_at_the_limit() {
    let limits = Limits::default();
    let mut deep = Layout::single(0_u32);
    for new in 1..=32 {
        let direction = if new % 2 == 0 { Down } else { Right };
        deep.split(new - 1, direction, new, &limits, None).unwrap();
    }
    assert_eq!(deep.depth(), 32);
    assert_eq!(deep.split(32, Right, 33, &limits, None), Err(EditError::TooDeep { limit: 32 }));
    assert_eq!(deep.check(&limits), Ok(()));
    let tight = super::limits(31, 256, Size::default());
    assert_eq!(deep.check(&tight), Err(LayoutViolation::TooDeep { limit: 31 }));

    let mut wide = Layout::single(0_u32);
    for new in 1..256 {
        wide.split(new - 1, Right, new, &limits, None).unwrap();
    }
    assert_eq!(wide.len(), 256);
    assert_eq!(wide.split(0, Down, 256, &limits, None), Err(EditError::TooMany { limit: 256 }));
    // What an edit makes, a load accepts.
    for layout in [deep, wide] {
        assert_eq!(numbers(&layout.to_string()), layout);
    }
}

#[test]
fn c086_splits_in_a_row_are_refused_when_the_room_is_used_up() {
    for (direction, fits) in [(Right, 40), (Down, 12)] {
        let mut edited = Layout::single(0_u32);
        for new in 1..64 {
            let last = edited.leaves().last().unwrap();
            let before = edited.clone();
            match edited.split(last, direction, new, &Limits::default(), Some(size(80, 24))) {
                Ok(()) => assert!(edited.len() <= fits),
                Err(EditError::NoRoom { min, .. }) => {
                    assert_eq!((edited.len(), min), (fits, size(1, 1)));
                    assert_eq!(edited, before);
                }
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!(edited.len(), fits);
    }
}

#[test]
fn panes_that_are_cramped_already_do_not_block_an_edit_elsewhere() {
    let wanted = limits(32, 256, size(10, 5));
    let mut edited = layout("v1:[a*9|b]");
    let area = Some(size(80, 24));
    // `b` has 8 columns, fewer than wanted.
    edited.split('a', Down, 'c', &wanted, area).unwrap();
    assert_eq!(
        edited.split('b', Down, 'd', &wanted, area),
        Err(EditError::NoRoom { leaf: 'd', min: size(10, 5) })
    );
}

#[test]
fn a_layout_made_under_wider_limits_can_be_edited_but_not_grow() {
    let narrow = limits(1, 3, size(1, 1));
    let mut edited = layout("v1:[a|[b/[c|d]]]");
    edited.move_leaf('a', 'c', Right, &narrow, None).unwrap();
    assert_eq!(edited, layout("v1:[b/[c|a|d]]"));
    let mut edited = layout("v1:[a|[b/[c|d]]]");
    edited.move_leaf('a', 'd', Down, &limits(2, 3, size(1, 1)), None).unwrap();
    assert_eq!(edited, layout("v1:[b/[c|[d/a]]]"));
    let grow = edited.split('a', Down, 'e', &narrow, None);
    assert_eq!(grow, Err(EditError::TooMany { limit: 3 }));
    let one_level = limits(1, 9, size(1, 1));
    edited.move_leaf('b', 'a', Right, &one_level, None).unwrap();
    assert_eq!(edited, layout("v1:[c|[d/[a|b]]]"));
    let deepen = edited.split('a', Down, 'e', &one_level, None);
    assert_eq!(deepen, Err(EditError::TooDeep { limit: 1 }));
}
