//! Saved output: written with a save, pruned after one.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed step fails the test"
)]

mod common;

use std::fs;

use signaltty_persist::fault::{Fault, FaultFs};
use signaltty_persist::tail::{self, MAX_FILE, Tail};
use signaltty_persist::{Durability, Save};

use common::{open, open_fault, pane_id, session, synced};

#[test]
fn inv_p5_a_tail_goes_only_with_a_closed_pane_and_a_durable_snapshot_without_it() {
    let fs = FaultFs::new();
    let mut store = open_fault(&fs).store;
    let tails = [1, 2, 3].map(|n| (pane_id(n), &b"text\n"[..]));
    let all = session("api", &[1, 2, 3]);
    store.save(Save { tails: &tails, ..synced(&all) }).unwrap();
    let tails_left = || fs.files().keys().filter(|path| path.ends_with(".tail")).count();

    // Closed, but the session still has it.
    store.save(Save { closed: &[pane_id(1)], ..synced(&all) }).unwrap();
    assert_eq!(tails_left(), 3);
    // Pane 2 is gone for another reason, and its tail stays.
    let less = session("api", &[3]);
    store.save(Save { durability: Durability::Relaxed, ..synced(&less) }).unwrap();
    assert_eq!(tails_left(), 3, "the snapshot is not durable yet");
    store.save(synced(&less)).unwrap();
    assert_eq!(tails_left(), 2);
    let dir = store.dir();
    assert_eq!(tail::read(dir, pane_id(1)).unwrap(), Tail::NoSavedOutput);
    assert_eq!(tail::read(dir, pane_id(2)).unwrap(), Tail::Saved(b"text\n".into()));
}

#[test]
fn a_tail_that_fails_does_not_keep_the_session_from_being_saved() {
    let fs = FaultFs::new();
    let mut store = open_fault(&fs).store;
    store.save(synced(&session("api", &[1]))).unwrap();
    fs.fail(fs.operations() + 1, Fault::Once(28));
    let changed = session("changed", &[1]);
    let tails = [(pane_id(1), &b"text\n"[..])];
    let report = store.save(Save { tails: &tails, ..synced(&changed) }).unwrap();
    assert!(report.written && report.durable && report.tails_written == 0);
    let [failure] = &report.tail_failures[..] else { panic!("{report:?}") };
    assert_eq!((failure.pane, failure.error.reason().as_str()), (pane_id(1), "no_space"));
    let report = store.save(Save { tails: &tails, ..synced(&changed) }).unwrap();
    assert_eq!((report.written, report.tails_written), (false, 1));
}

#[test]
fn s0_10_c020_a_long_tail_is_cut_to_its_last_lines() {
    let fs = FaultFs::new();
    let mut store = open_fault(&fs).store;
    let output: Vec<u8> = (0..100_000).flat_map(|n| format!("line {n}\n").into_bytes()).collect();
    let session = session("api", &[1]);
    store.save(Save { tails: &[(pane_id(1), &output)], ..synced(&session) }).unwrap();
    let file = &fs.files()[&format!("history/{}.tail", pane_id(1))];
    assert!(file.len() <= MAX_FILE, "{}", file.len());
    let Tail::Saved(text) = tail::read(store.dir(), pane_id(1)).unwrap() else {
        panic!("not saved")
    };
    assert!(text.starts_with(b"line ") && text.ends_with(b"line 99999\n"));
}

#[test]
fn damaged_tails_are_said_to_be_and_left_alone() {
    let temporary = tempfile::tempdir().unwrap();
    let mut store = open(temporary.path()).store;
    let session = session("api", &[1]);
    store.save(Save { tails: &[(pane_id(1), b"text\n")], ..synced(&session) }).unwrap();
    let file = temporary.path().join(format!("history/{}.tail", pane_id(1)));
    let whole = fs::read(&file).unwrap();
    for bytes in
        [Vec::new(), vec![0; whole.len()], whole[..whole.len() - 1].to_vec(), vec![b'x'; 1 << 20]]
    {
        fs::write(&file, &bytes).unwrap();
        assert_eq!(tail::read(store.dir(), pane_id(1)).unwrap(), Tail::Damaged);
        assert_eq!(fs::read(&file).unwrap(), bytes);
    }
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
    assert_eq!(tail::read(store.dir(), pane_id(1)).unwrap(), Tail::Damaged);
}
