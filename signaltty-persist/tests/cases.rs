//! Faults that users of such tools reported, one test each.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod common;

use std::fs;

use signaltty_core::saved::SavedSession;
use signaltty_persist::{Loaded, SaveError, history};

use common::{open, session, synced};

#[test]
fn c005_a_store_that_was_drained_never_replaces_a_full_one() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("state");
    let mut store = open(&path).store;
    store.save(synced(&session("api", &[1, 2, 3, 4]))).unwrap();
    let file = path.join("snapshot.json");
    let before = fs::read(&file).unwrap();
    // The teardown took everything; nobody closed anything.
    let drained = SavedSession::default();
    for _ in 0..2 {
        let error = store.save(synced(&drained)).unwrap_err();
        assert!(matches!(error, SaveError::EmptyOverFull), "{error}");
        assert!(error.to_string().contains("empty"), "{error}");
        assert_eq!(fs::read(&file).unwrap(), before);
    }
    // Nor after a start that found it full.
    drop(store);
    let mut store = open(&path).store;
    assert!(store.save(synced(&drained)).is_err());
    assert_eq!(fs::read(&file).unwrap(), before);
    // A person who closes the last workspace empties it.
    let closed = SavedSession { emptied_by_user: true, ..SavedSession::default() };
    store.save(synced(&closed)).unwrap();
    assert_ne!(fs::read(&file).unwrap(), before);
    // And what was there before is kept.
    assert_eq!(history(store.dir()).unwrap().len(), 1);
}

#[test]
fn c023_the_oldest_file_loads_whatever_version_wrote_it() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("state");
    drop(open(&path));
    let fixture = fs::read_to_string("tests/fixtures/v1.json").unwrap();
    assert!(fixture.contains("\"server_version\":\"0.1.0\""));
    let body = fixture.replace("\"server_version\":\"0.1.0\"", "\"server_version\":\"0.0.1\"");
    let covered = body.rsplit_once(",\"crc\"").unwrap().0;
    let file = format!("{covered},\"crc\":\"{:08x}\"}}\n", crc32fast::hash(covered.as_bytes()));
    fs::write(path.join("snapshot.json"), &file).unwrap();
    let mut opened = open(&path);
    let Loaded::Snapshot { session, problems, .. } = &opened.loaded else {
        panic!("{:?}", opened.loaded);
    };
    assert_eq!(problems.len(), 0, "{problems:?}");
    let panes = session.panes.len();
    assert!(panes > 0);
    // The file as the older version wrote it is kept, byte for byte, when it is
    // replaced for the first time.
    let mut changed = session.clone();
    changed.saved_at.0 += 60_000;
    let pane = std::sync::Arc::make_mut(&mut changed.panes[0]);
    pane.title = "changed".into();
    opened.store.save(synced(&changed)).unwrap();
    let kept = history(opened.store.dir()).unwrap();
    assert_eq!(kept.len(), 1);
    assert_eq!(fs::read_to_string(&kept[0].path).unwrap(), file);
    assert_eq!(changed.panes.len(), panes);
}
