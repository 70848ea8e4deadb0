//! What a person has forgotten is in no file any more (D-30).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use signaltty_core::saved::SavedSession;
use signaltty_core::session::Forget;
use signaltty_persist::fault::{Fault, FaultFs};
use signaltty_persist::fs::Fs as _;
use signaltty_persist::schema::from_json;
use signaltty_persist::{Store, history};

use common::{lock_fault, open_fault, pane_id, program, session, synced, workspace_id};

const CANARY: &str = "canary-6a1f";

fn said(name: &str) -> SavedSession {
    let mut session = session(name, &[1, 2]);
    let pane = Arc::make_mut(&mut session.panes[0]);
    pane.last_message = Some(CANARY.into());
    pane.title = CANARY.into();
    pane.titled_by_user = false;
    let agent = pane.agent.as_mut().unwrap();
    agent.last_failure.as_mut().unwrap().refusal.message = CANARY.into();
    Arc::make_mut(&mut session.notifications[0]).body = CANARY.into();
    session
}

fn files_with(fs: &FaultFs, text: &str) -> Vec<String> {
    let holds = |bytes: &[u8]| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    let files: BTreeMap<_, _> = fs.files();
    files.into_iter().filter(|(_, bytes)| holds(bytes)).map(|(path, _)| path).collect()
}

fn what() -> Forget {
    Forget { panes: [pane_id(1)].into(), ..Forget::default() }
}

/// A directory that has the canary in the snapshot, in older ones, in a copy
/// that was set aside and in a tail; then a save without it.
fn told() -> (FaultFs, Store<FaultFs>) {
    let fs = FaultFs::new();
    let mut store = open_fault(&fs).store;
    let tails: [(_, &[u8]); 2] =
        [(pane_id(1), CANARY.as_bytes()), (pane_id(2), b"the other's words")];
    for (at, name) in ["one", "two", "three"].into_iter().enumerate() {
        let now = Duration::from_secs(at as u64 * 3_600);
        let session = said(name);
        let save = signaltty_persist::Save { tails: &tails, now, ..synced(&session) };
        store.save(save).unwrap();
    }
    drop(store);
    let entries = history(&lock_fault(&fs)).unwrap();
    // A whole one that was set aside, as one is after repairs.
    fs.make_dir("corrupt").unwrap();
    let aside = fs.dir("corrupt").unwrap();
    fs.link("snapshot.json", &aside, "3-1.json").unwrap();
    aside.sync().and_then(|()| fs.sync()).unwrap();
    signaltty_persist::restore(&lock_fault(&fs), entries[0].generation).unwrap();
    let mut store = open_fault(&fs).store;
    let mut quiet = said("three");
    what().silence(&mut quiet);
    store.save(synced(&quiet)).unwrap();
    assert!(files_with(&fs, CANARY).len() >= 4, "{:?}", files_with(&fs, CANARY));
    (fs, store)
}

#[test]
fn d30_what_a_pane_said_is_in_no_file_and_the_rest_is() {
    let (fs, mut store) = told();
    let removed = store.forget(&what()).unwrap();
    assert_eq!(files_with(&fs, CANARY), Vec::<String>::new());
    assert_eq!((removed.tails, removed.left.len()), (1, 0));
    assert!(removed.snapshots >= 3, "{removed:?}");
    // The other pane's words and the structure are there in every copy.
    assert_eq!(files_with(&fs, "the other's words").len(), 1);
    let copies = fs.files().into_iter().filter(|(path, _)| path.starts_with("snapshots/"));
    for (path, bytes) in copies {
        let decoded = from_json(&bytes).unwrap();
        assert!(decoded.problems.is_empty(), "{path}: {:?}", decoded.problems);
        assert_eq!(decoded.session.panes.len(), 2, "{path}");
        assert_eq!(decoded.session.panes[1].last_message.as_deref(), Some("running the tests"));
        assert_eq!(&*decoded.session.panes[0].title, "claude");
    }
    // Again, there is nothing left to do.
    let again = store.forget(&what()).unwrap();
    assert_eq!((again.tails, again.snapshots), (0, 0));
}

#[test]
fn d30_a_workspace_takes_the_panes_along_that_only_older_copies_have() {
    let fs = FaultFs::new();
    let mut store = open_fault(&fs).store;
    store.save(synced(&said("one"))).unwrap();
    // The pane that spoke was closed since.
    store.save(synced(&session("two", &[2]))).unwrap();
    assert_eq!(files_with(&fs, CANARY).len(), 1);
    let what = Forget { workspaces: [workspace_id(1)].into(), ..Forget::default() };
    let removed = store.forget(&what).unwrap();
    assert!(removed.panes.contains(&pane_id(1)));
    assert_eq!(files_with(&fs, CANARY), Vec::<String>::new());
}

#[test]
fn d30_a_copy_that_cannot_be_read_is_left_and_named() {
    let (fs, mut store) = told();
    let name = fs.files().into_keys().find(|path| path.starts_with("corrupt/")).unwrap();
    let mut bytes = fs.files()[&name].clone();
    bytes.truncate(bytes.len() - 40);
    drop(store);
    // What the copy of a damaged snapshot looks like.
    fs.put("snapshot.json", &bytes);
    store = Store::open(lock_fault(&fs), program()).unwrap().store;
    let removed = store.forget(&what()).unwrap();
    let left: Vec<_> = removed.left.iter().map(|path| path.display().to_string()).collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(left[0].starts_with("/state/corrupt/"), "{left:?}");
}

#[test]
fn d30_a_stop_at_any_point_loses_no_copy_and_the_next_try_does_the_rest() {
    let before = told().0.operations();
    let (fs, mut store) = told();
    store.forget(&what()).unwrap();
    let operations = fs.operations() - before;
    assert!(operations > 20, "{operations}");
    for at in 1..=operations {
        for fault in [Fault::Crash, Fault::Once(5), Fault::Short(28)] {
            let (fs, mut store) = told();
            let copies = |fs: &FaultFs| {
                let kept = fs
                    .files()
                    .into_iter()
                    .filter(|(path, _)| path.starts_with("snap") && !path.contains(".tmp-"));
                kept.map(|(path, bytes)| {
                    assert!(from_json(&bytes).unwrap().problems.is_empty(), "{path}");
                    path
                })
                .collect::<Vec<_>>()
            };
            let had = copies(&fs);
            fs.fail(before + at, fault);
            let outcome = store.forget(&what());
            drop(store);
            let fs = match fault {
                Fault::Crash => fs.after_kill(),
                _ => {
                    fs.heal();
                    fs
                }
            };
            assert_eq!(copies(&fs), had, "{fault:?} at {at}");
            if outcome.is_ok() {
                assert_eq!(files_with(&fs, CANARY), Vec::<String>::new(), "{fault:?} at {at}");
            }
            let mut store = open_fault(&fs).store;
            store.forget(&what()).unwrap();
            assert_eq!(files_with(&fs, CANARY), Vec::<String>::new(), "{fault:?} at {at}");
        }
    }
}
