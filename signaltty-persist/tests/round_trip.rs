//! What is saved comes back equal.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed step fails the test"
)]

mod common;

use proptest::prelude::*;
use signaltty_persist::Loaded;
use signaltty_persist::fault::FaultFs;
use signaltty_persist::schema::{DecodeError, Header, from_json, to_json};

use common::{arbitrary, lock_fault, notification, open_fault, session, synced};

fn header() -> Header {
    Header { generation: 9, server_version: "0.1.0".into(), protocol: 3 }
}

proptest! {
    #[test]
    fn s0_7_s0_8_s0_9_sessions_come_back_equal(session in arbitrary::session()) {
        let bytes = to_json(&session, &header()).unwrap();
        let decoded = from_json(&bytes).unwrap();
        prop_assert_eq!(decoded.problems, []);
        prop_assert_eq!(decoded.header, header());
        prop_assert_eq!(decoded.session, session);
    }

    #[test]
    fn inv_p2_arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(matches!(from_json(&bytes), Err(DecodeError::Corrupt(_))));
    }

    /// Text that looks like a snapshot gets further in.
    #[test]
    fn inv_p2_arbitrary_members_never_panic(
        members in proptest::collection::vec("(\"(workspaces|tabs|panes|crc|generation)\":(\\[(\\{\\}|1|\\{\"id\":\"pane_aaaaaaaaaaaaaaaa\",\"cwd\":\"/\"\\})?\\]|7|null))", 0..4)
    ) {
        let text = format!("{{\"snapshot_version\":1,{}}}", members.join(","));
        if let Ok(decoded) = from_json(text.as_bytes()) {
            prop_assert!(!decoded.problems.is_empty());
        }
    }
}

#[test]
fn s0_11_the_newest_200_notifications_remain() {
    let mut session = session("api", &[1]);
    session.notifications = (0..250).map(|n| notification(n, 1).into()).collect();
    let decoded = from_json(&to_json(&session, &header()).unwrap()).unwrap();
    assert_eq!(decoded.problems, []);
    assert_eq!(decoded.session.notifications, session.notifications[50..]);
}

#[test]
fn inv_r10_saving_and_loading_again_gives_the_same() {
    let session = session("api", &[1, 2, 3]);
    let fs = FaultFs::new();
    for round in 0..3 {
        let mut opened = open_fault(&fs);
        if round > 0 {
            let Loaded::Snapshot { session: found, problems, .. } = &opened.loaded else {
                panic!("{:?}", opened.loaded)
            };
            assert_eq!((found, problems.as_slice()), (&session, &[][..]));
        }
        opened.store.save(synced(&session)).unwrap();
    }
}

#[test]
fn generations_grow_across_restarts() {
    let fs = FaultFs::new();
    let mut last = 0;
    for round in 0..4 {
        let mut opened = open_fault(&fs);
        let report = opened.store.save(synced(&session(&format!("{round}"), &[1]))).unwrap();
        assert!(report.generation > last);
        last = report.generation;
    }
    drop(lock_fault(&fs));
}
