//! Export and apply.

use crate::layout::{Layout, LayoutViolation, Limits, MapError, RawNode};

use super::layout;

#[test]
fn leaves_are_translated_and_the_shape_stays() {
    let mapped = layout("v1:[a*2|[b/c]]").try_map(|leaf| Ok::<_, ()>(u32::from(leaf)));
    assert_eq!(mapped.unwrap().to_string(), "v1:[97*2|[98/99]]");
}

#[test]
fn a_failed_translation_is_reported() {
    let tree = layout("v1:[a*2|[b/c]]");
    let missing = tree.try_map(|leaf| if leaf == 'b' { Err("no such pane") } else { Ok(leaf) });
    assert_eq!(missing, Err(MapError::Leaf("no such pane")));
    let merged = tree.try_map(|leaf| Ok::<_, ()>(if leaf == 'c' { 'a' } else { leaf }));
    assert_eq!(merged, Err(MapError::DuplicateLeaf('a')));
}

/// What to start in a pane; two panes may start the same.
#[derive(Debug)]
struct Launch(&'static str);

#[test]
fn an_exported_tab_is_applied_with_new_ids() {
    let tab = layout("v1:[a*2|[b/c]]");
    let exported =
        tab.try_export(|leaf| Ok::<_, ()>(Launch(if leaf == 'a' { "top" } else { "sh" }))).unwrap();

    // The shape is checked over positions before any pane is started.
    let mut launches = Vec::new();
    let positions = exported.try_map(|launch| {
        launches.push(launch);
        Ok::<_, ()>(launches.len() - 1)
    });
    let shape = Layout::from_raw(positions.unwrap(), &Limits::default()).unwrap();
    assert_eq!(launches.iter().map(|launch| launch.0).collect::<Vec<_>>(), ["top", "sh", "sh"]);
    let ids = ['x', 'y', 'z'];
    let applied = shape.try_map(|position| ids.get(position).copied().ok_or(()));
    assert_eq!(applied, Ok(layout("v1:[x*2|[y/z]]")));
}

#[test]
fn a_layout_survives_the_way_through_an_unchecked_tree() {
    for text in ["v1:a", "v1:[a*2|[b/c*65535]]"] {
        let raw = RawNode::from(&layout(text));
        assert_eq!(Layout::from_raw(raw, &Limits::default()), Ok(layout(text)));
    }
}

#[test]
fn the_first_error_ends_the_translation_of_an_unchecked_tree() {
    let raw = RawNode::from(&layout("v1:[a|b|c]"));
    let mut seen = String::new();
    let result = raw.try_map(|leaf| {
        seen.push(leaf);
        if leaf == 'b' { Err(leaf) } else { Ok(leaf) }
    });
    assert_eq!((result.map(drop), seen.as_str()), (Err('b'), "ab"));
    let empty: Result<Layout<char>, _> =
        Layout::from_raw(super::split(crate::layout::Axis::Row, []), &Limits::default());
    assert_eq!(empty, Err(LayoutViolation::FewChildren { found: 0 }));
}
