//! Bodies of fuzz targets, as plain functions that a test can run too.
//!
//! Bytes that no checksum covers are refused early, so each body also takes them
//! with the right one.

#![allow(clippy::panic, reason = "a body that fails says so by a panic")]

use signaltty_core::id::PaneId;
use signaltty_core::time::UnixMillis;

use crate::fault::FaultFs;
use crate::journal::{Cursor, Draft, Entry, Journal, Replay, Start, View};
use crate::schema::{from_json, to_json};
use crate::{Durability, Loaded, Owner, Program, Save, StateDir, Store, tail};

/// A snapshot of any bytes is refused or taken; what is taken can be saved and
/// taken again as the same, also by a store.
///
/// # Panics
///
/// If that does not hold.
pub fn snapshot(data: &[u8]) {
    for bytes in [data.to_vec(), sealed(data)] {
        let Ok(decoded) = from_json(&bytes) else { continue };
        let json = to_json(&decoded.session, &decoded.header);
        let Ok(json) = json else { panic!("what was loaded cannot be saved") };
        let Ok(again) = from_json(&json) else { panic!("what was saved cannot be loaded") };
        assert_eq!(again.session, decoded.session);
        assert!(again.problems.is_empty(), "{:?}", again.problems);
    }
    let fs = FaultFs::new();
    fs.put("snapshot.json", data);
    let Ok(mut opened) = Store::open(lock(&fs), Program::default()) else { return };
    let Loaded::Snapshot { session, .. } = &opened.loaded else { return };
    let save = Save {
        session,
        durability: Durability::Synced,
        tails: &[],
        closed: &[],
        now: std::time::Duration::ZERO,
    };
    assert!(opened.store.save(save).is_ok());
}

/// A tail of any bytes is shown only if it is whole.
///
/// # Panics
///
/// If that does not hold.
pub fn tail(data: &[u8]) {
    let pane = PaneId::from_random([1; 10]);
    for bytes in [data.to_vec(), [tail::header(pane, 7, data).as_bytes(), data].concat()] {
        let fs = FaultFs::new();
        assert!(crate::fs::Fs::make_dir(&fs, tail::HISTORY).is_ok());
        let Ok(history) = crate::fs::Fs::dir(&fs, tail::HISTORY) else { return };
        let Ok(mut file) = crate::fs::Fs::create(&history, &tail::file_name(pane)) else { return };
        assert!(crate::fs::write_all(&mut file, &bytes).is_ok());
        match tail::read(&lock(&fs), pane) {
            Ok(tail::Tail::Saved(text)) => assert!(bytes.ends_with(&text)),
            Ok(tail::Tail::NoSavedOutput) => panic!("there is a file"),
            Ok(tail::Tail::Damaged) | Err(_) => {}
        }
    }
    assert!(tail::fitting(data).len() <= tail::CAPACITY);
}

/// A journal whose newest file has any bytes goes on above all numbers in it.
///
/// # Panics
///
/// If it does not.
pub fn journal(data: &[u8]) {
    for lines in [data.to_vec(), data.split(|b| *b == b'\n').flat_map(sealed).collect()] {
        let fs = good();
        fs.put("audit.jsonl", &lines);
        goes_on(&fs);
    }
}

/// The same with the file of reserved numbers.
///
/// # Panics
///
/// If it does not.
pub fn sequence(data: &[u8]) {
    small("event-sequence.json", data);
}

/// The same with the evidence.
///
/// # Panics
///
/// If it does not.
pub fn retention(data: &[u8]) {
    small("audit-retention.json", data);
}

fn small(name: &str, data: &[u8]) {
    for bytes in [data.to_vec(), sealed(data)] {
        let fs = good();
        fs.put(name, &bytes);
        goes_on(&fs);
    }
}

/// The bytes with a checksum behind them, in the place of the last brace.
fn sealed(data: &[u8]) -> Vec<u8> {
    let body = data.strip_suffix(b"\n").unwrap_or(data);
    let body = body.strip_suffix(b"}").unwrap_or(body);
    let end = format!(",\"crc\":\"{:08x}\"}}\n", crc32fast::hash(body));
    [body, end.as_bytes()].concat()
}

/// A disk with a journal that a killed server left.
fn good() -> FaultFs {
    let fs = FaultFs::new();
    let Ok(mut opened) = Journal::open(&lock(&fs), start()) else { panic!("a new journal") };
    assert!(opened.journal.append(&[event(), event()], UnixMillis(2)).is_ok());
    drop(opened);
    fs.after_kill()
}

fn goes_on(fs: &FaultFs) {
    let Ok(mut opened) = Journal::open(&lock(fs), start()) else {
        // A newer format is left alone.
        return;
    };
    let before = opened.journal.head();
    let Ok(numbers) = opened.journal.append(&[event()], UnixMillis(3)) else {
        panic!("it does not go on")
    };
    let Some(number) = numbers.first().copied() else { panic!("no number") };
    assert!(number > before && number > opened.last);
    assert!(opened.journal.forget(&["pane_a".to_owned()], "{}").is_ok());
    let cursor = |seq| Cursor { journal_id: opened.journal.id().to_owned(), seq };
    for seq in [0, 1, before, number, u64::MAX] {
        let _ = opened.journal.view().map(|view| View::replay(view, &cursor(seq), |_| true));
    }
    let view = opened.journal.view().map(|view| View::replay(view, &cursor(number), |_| true));
    assert_eq!(view.ok(), Some(Replay::Complete(Vec::new())));
    let id = opened.journal.id().to_owned();
    drop(opened);
    let Ok(again) = Journal::open(&lock(&fs.after_kill()), start()) else { panic!("again") };
    assert!(again.journal.head() > number);
    assert_eq!(again.journal.id(), id);
}

fn lock(fs: &FaultFs) -> StateDir<FaultFs> {
    let owner = Owner { pid: 1, started_at: UnixMillis(1), socket: None };
    match StateDir::lock(fs.clone(), "/state".into(), &owner) {
        Ok(dir) => dir,
        Err(error) => panic!("{error}"),
    }
}

fn start() -> Start {
    Start { fresh_id: [7; 8], floor: 0, at: UnixMillis(1), ..Start::default() }
}

fn event() -> Entry {
    match Draft::new(UnixMillis(1), "pane.created", "{\"pane_id\":\"pane_a\"}") {
        Ok(draft) => Entry::State(draft),
        Err(error) => panic!("{error}"),
    }
}
