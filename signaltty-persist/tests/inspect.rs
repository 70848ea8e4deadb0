//! Looking without owning, and going back to an older snapshot.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed step fails the test"
)]

mod common;

use std::path::Path;
use std::time::Duration;

use signaltty_core::time::UnixMillis;
use signaltty_persist::fault::{Fault, FaultFs};
use signaltty_persist::inspect::{SnapshotFound, inspect, read_only};
use signaltty_persist::journal::{Draft, Entry, Journal, Start};
use signaltty_persist::schema::from_json;
use signaltty_persist::{Replaced, RestoreError, Save, StateDir, history, restore};

use common::{files, lock_fault, open, open_fault, owner, pane_id, session, synced};

/// A directory with everything in it. Returned too: the journal's last number.
fn full(path: &Path) -> u64 {
    let mut opened = open(path);
    let (one, two) = (session("one", &[1]), session("two", &[1, 2]));
    let tails = [(pane_id(1), &b"hello\n"[..])];
    opened.store.save(Save { tails: &tails, ..synced(&one) }).unwrap();
    let later = Save { now: Duration::from_secs(1_000), ..synced(&two) };
    opened.store.save(later).unwrap();
    let mut journal = Journal::open(opened.store.dir(), Start::default()).unwrap().journal;
    let draft = Draft::new(UnixMillis(1), "pane.updated", "{}").unwrap();
    let last =
        *journal.append(&vec![Entry::State(draft); 20], UnixMillis(1)).unwrap().last().unwrap();
    journal.close(UnixMillis(2)).unwrap();
    last
}

#[test]
fn s0_38_everything_is_seen_and_nothing_is_changed() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("state");
    let last = full(&path);
    let before = files::tree(&path);
    let found = inspect(&path).unwrap();
    assert!(matches!(
        found.snapshot,
        SnapshotFound::Loaded { generation: 2, counts: [1, 1, 2], ref problems, .. }
            if problems.is_empty()
    ));
    let journal = found.journal.unwrap();
    assert_eq!((journal.last, journal.closed, journal.remarks.len()), (last + 1, true, 0));
    assert_eq!((found.tails.sound, found.tails.damaged.len()), (1, 0));
    assert_eq!(found.history.unwrap().len(), 1);
    assert!(found.held.is_none() && found.open_to_others.is_empty());
    assert_eq!(files::tree(&path), before);
}

#[test]
fn an_owner_is_seen_and_not_disturbed() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("state");
    let dir = StateDir::open(&path, &owner()).unwrap();
    assert_eq!(inspect(&path).unwrap().held.unwrap().pid, Some(owner().pid));
    drop(dir);
    assert!(inspect(&path).unwrap().held.is_none());
}

#[test]
fn damage_is_seen_and_left_alone() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("state");
    full(&path);
    let flip = |name: &str| {
        let mut bytes = std::fs::read(path.join(name)).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(path.join(name), bytes).unwrap();
    };
    flip("audit.jsonl");
    flip(&format!("history/{}.tail", pane_id(1)));
    std::fs::write(path.join("snapshot.json"), b"{").unwrap();
    let before = files::tree(&path);
    let found = inspect(&path).unwrap();
    assert!(matches!(found.snapshot, SnapshotFound::Corrupt(_)), "{:?}", found.snapshot);
    let journal = found.journal.unwrap();
    assert!(!journal.lost.is_empty() && !journal.remarks.is_empty(), "{journal:?}");
    assert_eq!(found.tails.damaged.len(), 1);
    assert_eq!(files::tree(&path), before);
    assert!(inspect(&temporary.path().join("none")).is_err());
}

#[test]
fn s0_38_going_back_keeps_the_present_one() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("state");
    full(&path);
    let present = std::fs::read(path.join("snapshot.json")).unwrap();
    let dir = StateDir::open(&path, &owner()).unwrap();
    assert!(matches!(restore(&dir, 9), Err(RestoreError::Missing { generation: 9 })));
    let Some(Replaced::Older(kept)) = restore(&dir, 1).unwrap() else { panic!("it is whole") };
    assert_eq!(std::fs::read(&kept.path).unwrap(), present);
    assert!(history(&dir).unwrap().contains(&kept), "it has a number");
    let now = from_json(&std::fs::read(path.join("snapshot.json")).unwrap()).unwrap();
    assert_eq!((now.header.generation, now.problems.len()), (3, 0));
    assert_eq!(now.session, read_only(&path).unwrap().older(1).unwrap().session);
    assert_eq!(now.session.workspaces[0].name, "one".into());
    // And back again.
    let Some(Replaced::Older(_)) = restore(&dir, kept.generation).unwrap() else { panic!() };
    let now = from_json(&std::fs::read(path.join("snapshot.json")).unwrap()).unwrap();
    assert_eq!(now.session, from_json(&present).unwrap().session);
    // One that cannot be read whole has no way back by a number.
    std::fs::write(path.join("snapshot.json"), b"{").unwrap();
    let Some(Replaced::Aside(aside)) = restore(&dir, 1).unwrap() else { panic!("it is damaged") };
    assert_eq!(std::fs::read(aside).unwrap(), b"{");
}

#[test]
fn going_back_cut_short_leaves_the_old_or_the_new() {
    let base = FaultFs::new();
    let mut opened = open_fault(&base);
    opened.store.save(synced(&session("one", &[1]))).unwrap();
    opened.store.save(synced(&session("two", &[1, 2]))).unwrap();
    drop(opened);
    let whole = base.after_kill();
    let number = history(&lock_fault(&whole)).unwrap()[0].generation;
    let from = whole.operations();
    restore(&lock_fault(&whole), number).unwrap();
    for n in from..=whole.operations() + 1 {
        let fs = base.after_kill();
        fs.fail(n, Fault::Crash);
        let done = StateDir::lock(fs.clone(), "/state".into(), &owner())
            .is_ok_and(|dir| restore(&dir, number).is_ok());
        for image in fs.after_power_loss().iter().chain([&fs.after_kill()]) {
            let files = image.files();
            let found = from_json(&files["snapshot.json"]).unwrap();
            assert!(found.problems.is_empty(), "at {n}");
            let name = &*found.session.workspaces[0].name;
            assert!(name == "one" || (name == "two" && !done), "at {n}: {name}");
            if name == "one" {
                let kept = files.iter().filter(|(path, _)| path.starts_with("snapshots/"));
                let mut names = kept.map(|(_, bytes)| from_json(bytes).unwrap().session);
                assert!(names.any(|session| &*session.workspaces[0].name == "two"), "at {n}");
            }
        }
    }
}
