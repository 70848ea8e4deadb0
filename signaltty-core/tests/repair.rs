//! Any saved value becomes a valid session, and nothing is lost silently.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    unreachable_pub,
    dead_code
)]

#[path = "support/mod.rs"]
mod support;

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use signaltty_core::id::{PaneId, ServerEpoch, TabId, WorkspaceId};
use signaltty_core::layout::{Direction, Layout, Limits, RawNode, Size};
use signaltty_core::pane::SavedPane;
use signaltty_core::restore::RepairProblem;
use signaltty_core::saved::SavedSession;
use signaltty_core::session::{Config, Session};
use signaltty_core::workspace::{SavedTab, SavedWorkspace};

use support::{World, pane, shell, tab, ws};

/// One valid record of each kind, to be changed.
fn records() -> (SavedWorkspace, SavedTab, SavedPane) {
    let mut world = World::new();
    world.workspace(1, shell());
    let saved = world.saved();
    ((*saved.workspaces[0]).clone(), (*saved.tabs[0]).clone(), (*saved.panes[0]).clone())
}

fn restore(saved: SavedSession) -> (Session, Vec<RepairProblem>) {
    let now = World::new().clock();
    let (session, problems) = Session::restore(saved, ServerEpoch(9), Config::default(), now);
    assert_eq!(session.check(), Ok(()));
    (session, problems)
}

fn layout(panes: &[u8]) -> Layout<PaneId> {
    let mut wide = Limits::default();
    wide.depth = u8::MAX;
    let mut layout = Layout::single(pane(panes[0]));
    for (n, id) in panes.iter().enumerate().skip(1) {
        let side = if n % 2 == 0 { Direction::Down } else { Direction::Right };
        let _ = layout.split(pane(panes[n - 1]), side, pane(*id), &wide, None);
    }
    layout
}

prop_compose! {
    fn malformed()(
        workspaces in vec((0..4u8, "[a-z -]{0,4}", prop::option::of(0..4u8)), 0..4),
        tabs in vec((0..4u8, 0..4u8, vec(0..12u8, 1..60), 0..12u8, 0..200u16), 0..5),
        panes in vec((0..12u8, 0..6u8), 0..14),
    ) -> SavedSession {
        let (workspace, one, slot) = records();
        SavedSession {
            workspaces: workspaces.into_iter().map(|(id, handle, active)| {
                let (id, active_tab) = (ws(id), active.map(tab));
                Arc::new(SavedWorkspace { id, handle: handle.into(), active_tab, ..workspace.clone() })
            }).collect(),
            tabs: tabs.into_iter().map(|(id, of, leaves, active, cols)| Arc::new(SavedTab {
                id: tab(id),
                workspace: ws(of),
                layout: layout(&leaves),
                active_pane: pane(active),
                area: Size { cols, rows: 24 },
                ..one.clone()
            })).collect(),
            panes: panes.into_iter().map(|(id, of)| {
                Arc::new(SavedPane { id: pane(id), tab: tab(of), ..slot.clone() })
            }).collect(),
            ..SavedSession::default()
        }
    }
}

proptest! {
    #[test]
    fn c089_w13_anything_becomes_a_valid_session_that_keeps_every_pane(saved in malformed()) {
        let wanted: BTreeSet<_> = saved.panes.iter().map(|pane| pane.id).collect();
        let count = saved.panes.len();
        let (session, problems) = restore(saved.clone());
        prop_assert_eq!(&session.pane_ids().collect::<BTreeSet<_>>(), &wanted);
        // Nothing is dropped without a word.
        let said = problems.iter().filter(|problem| {
            matches!(problem, RepairProblem::RecordLeftOut { list: "panes", .. })
        });
        prop_assert_eq!(said.count(), count - wanted.len());
        // What came out is valid, and the same again.
        let now = World::new().clock();
        let once = session.saved(now);
        let (again, nothing) = restore(once.clone());
        prop_assert_eq!(nothing, []);
        prop_assert_eq!(again.saved(now), once);
        prop_assert_eq!(restore(saved).1, problems);
    }
}

#[test]
fn a_valid_session_has_no_problems_and_stays_as_it_is() {
    let mut world = World::new();
    world.workspace(1, shell());
    world.split(1, 2, shell());
    let saved = world.saved();
    let (session, problems) = restore(saved.clone());
    assert_eq!(problems, []);
    assert_eq!(session.saved(World::new().clock()).panes, saved.panes);
}

#[test]
fn a_pane_whose_tab_is_lost_gets_a_recovery_tab() {
    let (_, _, slot) = records();
    let orphan = SavedPane { id: pane(5), tab: tab(9), ..slot };
    let saved = SavedSession { panes: vec![Arc::new(orphan)], ..SavedSession::default() };
    let (session, problems) = restore(saved);
    let id = WorkspaceId::named_after(tab(9));
    assert_eq!(
        problems,
        [
            RepairProblem::TabRecovered { tab: tab(9), panes: 1 },
            RepairProblem::WorkspaceRecovered { workspace: id },
            RepairProblem::PartReplaced {
                record: id.to_string(),
                part: "the active tab",
                why: "it is not in the workspace".into(),
            },
            RepairProblem::PartReplaced {
                record: id.to_string(),
                part: "the handle",
                why: "it is missing, malformed or taken".into(),
            },
        ]
    );
    // And the size that a tab for itself gives it.
    assert_eq!(session.pane(pane(5)).unwrap().record.size, Size { cols: 80, rows: 24 });
}

#[test]
fn more_panes_than_a_tab_may_have_move_on_even_where_ids_collide() {
    let (workspace, one, slot) = records();
    let id = |n: u16| {
        let [a, b] = n.to_be_bytes();
        PaneId::from_random([a, b, 0, 0, 0, 0, 0, 0, 0, 0])
    };
    let mut panes: Vec<_> = (0..600).map(|n| SavedPane { id: id(n), ..slot.clone() }).collect();
    // A tab that has the name which the recovery tab would get.
    let taken = TabId::named_after(id(256));
    panes.push(SavedPane { id: pane(9), tab: taken, ..slot.clone() });
    let tabs = [
        SavedTab { layout: Layout::single(id(0)), active_pane: id(0), ..one.clone() },
        SavedTab { id: taken, layout: Layout::single(pane(9)), active_pane: pane(9), ..one },
    ];
    let saved = SavedSession {
        workspaces: vec![Arc::new(workspace)],
        tabs: tabs.into_iter().map(Arc::new).collect(),
        panes: panes.into_iter().map(Arc::new).collect(),
        ..SavedSession::default()
    };
    let (session, _) = restore(saved);
    let mut sizes: Vec<_> =
        session.tab_ids().map(|tab| session.tab(tab).unwrap().record.layout.len()).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [1, 88, 256, 256]);
}

#[test]
fn c083_weights_that_make_no_sense_never_get_in() {
    use signaltty_core::layout::{Axis, RawChild, RawWeight};
    for weight in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300, 1.5] {
        let children = [
            RawChild::new(weight, RawNode::Leaf(pane(1))),
            RawChild::new(RawWeight::Unreadable, RawNode::Leaf(pane(2))),
        ];
        let repaired = Layout::repair(RawNode::split(Axis::Row, children), &Limits::default());
        let layout = repaired.layout.unwrap();
        assert_eq!(layout.len(), 2, "{weight}");
        assert_eq!(layout.check(&Limits::default()), Ok(()));
    }
}

#[test]
fn c089_ten_thousand_levels_are_flattened_and_keep_their_panes() {
    use signaltty_core::layout::{Axis, RawChild};
    let mut node = RawNode::Leaf(0_u32);
    for n in 1..10_000 {
        let axis = if n % 2 == 0 { Axis::Row } else { Axis::Column };
        let leaf = RawChild::new(1, RawNode::Leaf(n % 200));
        node = RawNode::split(axis, [RawChild::new(1, node), leaf]);
    }
    let repaired = Layout::repair(node, &Limits::default());
    let layout = repaired.layout.unwrap();
    assert_eq!((layout.len(), layout.check(&Limits::default())), (200, Ok(())));
}
