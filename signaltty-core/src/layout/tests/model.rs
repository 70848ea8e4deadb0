//! Random edits against a model: the ordered list of leaves.

use proptest::prelude::*;

use crate::layout::{
    Axis, Closed, Direction, EditError, Layout, Limits, Size, Weight, fuzz_layout_edits, rects,
};

use super::size;

/// An edit; panes are chosen by position, modulo their number.
#[derive(Clone, Copy, Debug)]
pub(super) enum Edit {
    Split(u16, Direction),
    /// Adds a leaf that is there already.
    SplitTwice(u16, u16, Direction),
    Close(u16),
    Swap(u16, u16),
    Move(u16, u16, Direction),
    Replace(u16),
    Weigh(u16, u16),
    WeighBranch(u16, Axis, u16),
    Equalise,
}

pub(super) fn edits(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Edit>> {
    let direction = prop_oneof![
        Just(Direction::Left),
        Just(Direction::Right),
        Just(Direction::Up),
        Just(Direction::Down),
    ];
    let pane = any::<u16>();
    let axis = prop_oneof![Just(Axis::Row), Just(Axis::Column)];
    let weight = prop_oneof![1_u16..5, 1_u16..=u16::MAX];
    let edit = prop_oneof![
        6 => (pane, direction.clone()).prop_map(|(at, d)| Edit::Split(at, d)),
        1 => (pane, pane, direction.clone()).prop_map(|(at, old, d)| Edit::SplitTwice(at, old, d)),
        3 => pane.prop_map(Edit::Close),
        1 => (pane, pane).prop_map(|(a, b)| Edit::Swap(a, b)),
        2 => (pane, pane, direction).prop_map(|(a, b, d)| Edit::Move(a, b, d)),
        1 => pane.prop_map(Edit::Replace),
        2 => (pane, weight.clone()).prop_map(|(a, w)| Edit::Weigh(a, w)),
        1 => (pane, axis, weight).prop_map(|(a, x, w)| Edit::WeighBranch(a, x, w)),
        1 => Just(Edit::Equalise),
    ];
    prop::collection::vec(edit, count)
}

fn pick(layout: &Layout<u16>, choice: u16) -> u16 {
    layout.leaves().nth(usize::from(choice) % layout.len()).unwrap()
}

pub(super) fn apply(
    layout: &mut Layout<u16>,
    edit: Edit,
    new: u16,
    limits: &Limits,
    area: Option<Size>,
) -> Result<(), EditError<u16>> {
    let weight = |weight| Weight::new(weight).unwrap();
    match edit {
        Edit::Split(at, d) => layout.split(pick(layout, at), d, new, limits, area),
        Edit::SplitTwice(at, old, d) => {
            layout.split(pick(layout, at), d, pick(layout, old), limits, area)
        }
        Edit::Close(leaf) => layout.close(pick(layout, leaf)).map(drop),
        Edit::Swap(a, b) => layout.swap(pick(layout, a), pick(layout, b)),
        Edit::Move(a, b, d) => layout.move_leaf(pick(layout, a), pick(layout, b), d, limits, area),
        Edit::Replace(old) => layout.replace(pick(layout, old), new),
        Edit::Weigh(leaf, w) => layout.set_weight(pick(layout, leaf), weight(w)),
        Edit::WeighBranch(leaf, axis, w) => {
            layout.set_branch_weight(pick(layout, leaf), axis, weight(w))
        }
        Edit::Equalise => {
            layout.equalise();
            Ok(())
        }
    }
}

/// What an accepted edit does to the list of leaves.
fn apply_to_model(model: &mut Vec<u16>, edit: Edit, new: u16) {
    let index = |choice: u16, len: usize| usize::from(choice) % len;
    let behind = |d| usize::from(matches!(d, Direction::Right | Direction::Down));
    let len = model.len();
    match edit {
        Edit::Split(at, d) => model.insert(index(at, len) + behind(d), new),
        Edit::Close(_) if len == 1 => {}
        Edit::Close(leaf) => drop(model.remove(index(leaf, len))),
        Edit::Swap(a, b) => model.swap(index(a, len), index(b, len)),
        Edit::Move(a, b, d) => {
            let beside = model[index(b, len)];
            let leaf = model.remove(index(a, len));
            let at = model.iter().position(|other| *other == beside).unwrap();
            model.insert(at + behind(d), leaf);
        }
        Edit::Replace(old) => model[index(old, len)] = new,
        Edit::SplitTwice(..) => panic!("a second occurrence was accepted"),
        Edit::Weigh(..) | Edit::WeighBranch(..) | Edit::Equalise => {}
    }
}

fn check_against_model(edits: Vec<Edit>, limits: &Limits, area: Option<Size>) {
    let mut layout = Layout::single(0_u16);
    let mut model = vec![0_u16];
    for (new, edit) in (1..).zip(edits) {
        let before = layout.clone();
        match apply(&mut layout, edit, new, limits, area) {
            Ok(()) => apply_to_model(&mut model, edit, new),
            Err(_) => assert_eq!(layout, before, "refused edits change nothing"),
        }
        assert_eq!(layout.leaves().collect::<Vec<_>>(), model, "{edit:?}");
        assert_eq!(layout.check(limits), Ok(()), "{edit:?}");
        assert_eq!(Layout::parse(&layout.to_string(), limits).as_ref(), Ok(&layout));
    }
}

proptest! {
    #[test]
    fn inv_l1_l2_l3_l4_hold_after_any_edits(edits in edits(0..120)) {
        check_against_model(edits, &Limits::default(), None);
    }

    #[test]
    fn inv_l8_tight_limits_hold_after_any_edits(
        edits in edits(0..120),
        depth in 0_u8..5,
        leaves in 1_u16..20,
    ) {
        check_against_model(edits, &super::limits(depth, leaves, size(1, 1)), None);
    }

    #[test]
    fn edits_in_an_area_leave_every_new_pane_its_room(edits in edits(0..120)) {
        let limits = super::limits(32, 256, size(8, 3));
        let area = size(80, 24);
        check_against_model(edits.clone(), &limits, Some(area));
        // Closing is never refused, and rounding may take a cell from a pane.
        // Without it and without new weights all panes have room.
        let mut layout = Layout::single(0_u16);
        for (new, edit) in (1..).zip(edits) {
            if matches!(edit, Edit::Split(..) | Edit::Swap(..)) {
                apply(&mut layout, edit, new, &limits, Some(area)).ok();
            }
        }
        for (leaf, rect) in rects(&layout, area.into()) {
            prop_assert!(rect.size().holds(limits.min_pane), "{leaf} in {layout}");
        }
    }

    #[test]
    fn c086_nine_panes_survive_any_resizes(
        resizes in prop::collection::vec((any::<u16>(), 1_u16.., 1_u16..100, 1_u16..40), 500),
    ) {
        let mut layout: Layout<u16> = "v1:[[1/2/3]|[4/5/6]|[7/8/9]]".parse().unwrap();
        for (pane, weight, cols, rows) in resizes {
            let leaf = pick(&layout, pane);
            let axis = if pane % 2 == 0 { Axis::Row } else { Axis::Column };
            layout.set_branch_weight(leaf, axis, Weight::new(weight).unwrap()).unwrap();
            let rects = rects(&layout, size(cols, rows).into());
            prop_assert_eq!(rects.len(), 9);
            if cols >= 5 && rows >= 5 {
                prop_assert!(rects.iter().all(|(_, rect)| !rect.is_empty()), "room for all shows all");
            }
        }
    }

    #[test]
    fn fuzz_body_accepts_any_bytes(data in prop::collection::vec(any::<u8>(), 0..300)) {
        fuzz_layout_edits(&data);
    }
}

#[test]
fn closing_everything_ends_with_the_last_leaf() {
    let mut layout: Layout<u16> = "v1:[[1/2/[3|4]]|[5/6*7]]".parse().unwrap();
    for leaf in [4, 1, 6, 2, 3] {
        assert_eq!(layout.close(leaf), Ok(Closed::Remaining));
    }
    assert_eq!(layout.close(5), Ok(Closed::WasLast));
}
