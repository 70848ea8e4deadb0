//! Older snapshots: how many, how far apart, and never torn.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed step fails the test"
)]

mod common;

use std::fs;
use std::time::Duration;

use signaltty_core::saved::SavedSession;
use signaltty_core::time::UnixMillis;
use signaltty_persist::fault::{Fault, FaultFs};
use signaltty_persist::schema::from_json;
use signaltty_persist::{Durability, HistoryEntry, Save, Store, history};

use common::{open, open_fault, session, synced};

const MINUTE: u64 = 60;

fn minutes(n: u64) -> Duration {
    Duration::from_secs(n * MINUTE)
}

/// Saves a session that differs from every other, at this minute by both
/// clocks, and says whether the wall clock is off.
fn save_at(store: &mut Store<FaultFs>, minute: u64, wall_minutes: u64) {
    let mut session = session(&format!("minute {minute}"), &[1]);
    session.saved_at = UnixMillis(wall_minutes * MINUTE * 1000);
    let report = store.save(Save { now: minutes(minute), ..synced(&session) }).unwrap();
    assert!(report.written && report.history_failure.is_none());
}

fn entries(fs: &FaultFs) -> Vec<HistoryEntry> {
    history(open_fault(fs).store.dir()).unwrap()
}

#[test]
fn s0_37_a_day_leaves_48_entries_at_least_15_minutes_apart() {
    let fs = FaultFs::new();
    let mut store = open_fault(&fs).store;
    for minute in 0..24 * 60 {
        save_at(&mut store, minute, 1_000_000 + minute);
    }
    let mut empty = SavedSession { emptied_by_user: true, ..SavedSession::default() };
    let kept = history(store.dir()).unwrap();
    assert_eq!(kept.len(), 48);
    for pair in kept.windows(2) {
        assert!(pair[1].saved_at.0 - pair[0].saved_at.0 >= 15 * MINUTE * 1000);
        assert!(pair[1].generation > pair[0].generation);
    }
    // Empty sessions add nothing and evict nothing.
    for minute in 24 * 60..48 * 60 {
        empty.saved_at = UnixMillis(minute);
        empty.journal_seq = minute;
        store.save(Save { now: minutes(minute), ..synced(&empty) }).unwrap();
    }
    let after = history(store.dir()).unwrap();
    assert_eq!(after, kept);
    for entry in after {
        let path = entry.path.strip_prefix("/state").unwrap().to_str().unwrap().to_owned();
        let decoded = from_json(&fs.files()[&path]).unwrap();
        assert_eq!(decoded.problems, []);
        assert!(!decoded.session.is_empty());
        assert_eq!(decoded.header.generation, entry.generation);
    }
}

#[test]
fn c017_a_wall_clock_that_jumps_changes_nothing() {
    let kept = |wall: &dyn Fn(u64) -> u64| {
        let fs = FaultFs::new();
        let mut store = open_fault(&fs).store;
        for minute in 0..2000 {
            save_at(&mut store, minute, wall(minute));
        }
        drop(store);
        entries(&fs).into_iter().map(|entry| entry.generation).collect::<Vec<_>>()
    };
    let steady = kept(&|minute| 10_000_000 + minute);
    assert_eq!(steady.len(), 48);
    assert_eq!(kept(&|minute| 10_000_000 - minute), steady, "backwards");
    assert_eq!(kept(&|minute| if minute % 2 == 0 { 0 } else { 10_000_000 }), steady, "1970");
}

#[test]
fn many_restarts_do_not_push_out_what_is_older() {
    let fs = FaultFs::new();
    for start in 0..60 {
        // Each start has a monotonic clock of its own.
        let mut store = open_fault(&fs).store;
        save_at(&mut store, 0, 1000 + start);
        save_at(&mut store, 1, 1000 + start);
    }
    let kept = entries(&fs);
    assert!(kept.len() <= 60 / 15 + 1, "{kept:?}");
}

#[test]
fn an_older_snapshot_is_synced_before_it_is_kept() {
    let fs = FaultFs::new();
    let mut store = open_fault(&fs).store;
    for minute in [0, 20, 40] {
        let session = session(&format!("minute {minute}"), &[1]);
        let save =
            Save { durability: Durability::Relaxed, now: minutes(minute), ..synced(&session) };
        store.save(save).unwrap();
    }
    assert_eq!(history(store.dir()).unwrap().len(), 2);
    for image in fs.after_power_loss() {
        let files = image.files();
        let kept: Vec<_> = files
            .iter()
            .filter(|(path, _)| path.starts_with("snapshots/") && !path.contains(".tmp-"))
            .collect();
        assert_eq!(kept.len(), 2);
        for (path, bytes) in kept {
            assert_eq!(from_json(bytes).unwrap().problems, [], "{path}");
        }
    }
}

#[test]
fn without_hard_links_a_copy_is_kept() {
    const EPERM: i32 = 1;
    let fs = FaultFs::new();
    let mut store = open_fault(&fs).store;
    save_at(&mut store, 0, 0);
    let probe = fs.after_kill();
    let mut other = open_fault(&probe).store;
    let start = probe.operations();
    save_at(&mut other, 20, 20);
    let link = probe.log().iter().position(|op| *op == "link").unwrap() as u64 + 1;
    drop(store);
    let mut store = open_fault(&fs).store;
    fs.fail(fs.operations() + link - start, Fault::Once(EPERM));
    save_at(&mut store, 20, 20);
    assert_eq!(history(store.dir()).unwrap().len(), 1);
    drop(store);
    for image in fs.after_power_loss() {
        let files = image.files();
        let copy = files.iter().find(|(path, _)| path.starts_with("snapshots/")).unwrap();
        assert_eq!(from_json(copy.1).unwrap().problems, []);
    }
}

#[test]
fn a_history_that_fails_does_not_keep_the_session_from_being_saved() {
    let temporary = tempfile::tempdir().unwrap();
    fs::write(temporary.path().join("snapshots"), "in the way").unwrap();
    let mut store = open(temporary.path()).store;
    store.save(synced(&session("first", &[1]))).unwrap();
    let second = session("second", &[1]);
    let report = store.save(Save { now: minutes(20), ..synced(&second) }).unwrap();
    assert!(report.written && report.durable);
    assert!(report.history_failure.unwrap().to_string().contains("snapshots"));
}

#[test]
fn s0_38_an_entry_is_a_snapshot_that_can_be_put_back() {
    let temporary = tempfile::tempdir().unwrap();
    let mut store = open(temporary.path()).store;
    store.save(synced(&session("first", &[1]))).unwrap();
    let second = session("second", &[1]);
    store.save(Save { now: minutes(20), ..synced(&second) }).unwrap();
    let kept = history(store.dir()).unwrap();
    drop(store);
    fs::copy(&kept[0].path, temporary.path().join("snapshot.json")).unwrap();
    let signaltty_persist::Loaded::Snapshot { session: found, problems, .. } =
        open(temporary.path()).loaded
    else {
        panic!("not loaded")
    };
    assert_eq!((&*found.workspaces[0].name, problems.len()), ("first", 0));
}
