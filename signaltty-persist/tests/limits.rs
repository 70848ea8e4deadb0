//! Whatever is saved can be loaded.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed step fails the test"
)]

mod common;

use std::sync::Arc;

use signaltty_core::agent::Anchor;
use signaltty_persist::SaveError;
use signaltty_persist::fault::FaultFs;
use signaltty_persist::schema::{Header, MAX_PANES, from_json, to_json};

use common::{open_fault, session, synced};

#[test]
fn inv_p8_more_than_can_be_loaded_is_refused() {
    let fs = FaultFs::new();
    let mut store = open_fault(&fs).store;
    let base = session("api", &[1]);
    store.save(synced(&base)).unwrap();
    let before = fs.files();

    let mut many = base.clone();
    many.panes = vec![Arc::clone(&base.panes[0]); MAX_PANES + 1];
    let mut large = base.clone();
    Arc::make_mut(&mut large.workspaces[0]).name = "x".repeat(64 << 20).into();
    let mut deep = base.clone();
    let conversation = &mut Arc::make_mut(&mut deep.panes[0]).agent.as_mut().unwrap().conversation;
    let anchor: &mut Option<Anchor> = &mut conversation.as_mut().unwrap().anchor;
    for _ in 0..40 {
        let mut above = anchor.clone().unwrap();
        above.base = anchor.take().map(Box::new);
        *anchor = Some(above);
    }
    for session in [many, large, deep] {
        let error = store.save(synced(&session)).unwrap_err();
        assert!(matches!(error, SaveError::Limit { .. }), "{error}");
        assert_eq!(error.reason().as_str(), "too_large");
    }
    assert_eq!(fs.files(), before);
    assert!(store.save(synced(&session("next", &[1]))).unwrap().written);
}

#[test]
fn inv_p8_the_deepest_anchors_that_are_saved_are_loaded() {
    let mut session = session("api", &[1]);
    let agent = Arc::make_mut(&mut session.panes[0]).agent.as_mut().unwrap();
    let anchor: &mut Option<Anchor> = &mut agent.conversation.as_mut().unwrap().anchor;
    for _ in 0..31 {
        let mut above = anchor.clone().unwrap();
        above.base = anchor.take().map(Box::new);
        *anchor = Some(above);
    }
    let decoded = from_json(&to_json(&session, &Header::default()).unwrap()).unwrap();
    assert_eq!((decoded.session, decoded.problems), (session, vec![]));
}
