//! What a save writes, and what it refuses to write.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed step fails the test"
)]

mod common;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use signaltty_core::env::{ConfigEnv, SavedEnv};
use signaltty_core::saved::SavedSession;
use signaltty_persist::fault::FaultFs;
use signaltty_persist::schema::from_json;
use signaltty_persist::{Durability, Loaded, Save, SaveError};

use common::{lock_fault, open, open_fault, pane, pane_id, session, synced};

#[test]
fn s0_2_a_reader_never_sees_half_a_snapshot() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("state");
    let mut store = open(&path).store;
    let save = |store: &mut signaltty_persist::Store, n: usize| {
        let session = session(&"x".repeat(n * 7 % 5000), &[1, 2, 3]);
        let save = Save { durability: Durability::Relaxed, ..synced(&session) };
        assert!(store.save(save).unwrap().written);
    };
    save(&mut store, 0);
    let done = AtomicBool::new(false);
    let reads = thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut reads = 0;
            while !done.load(Ordering::Relaxed) {
                let bytes = fs::read(path.join("snapshot.json")).unwrap();
                assert_eq!(from_json(&bytes).unwrap().problems, []);
                reads += 1;
            }
            reads
        });
        for n in 1..=1000 {
            save(&mut store, n);
        }
        done.store(true, Ordering::Relaxed);
        reader.join().unwrap()
    });
    assert!(reads > 0);
    let names: Vec<_> =
        fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().starts_with(".tmp")), "{names:?}");
}

#[test]
fn s0_3_a_session_that_was_loaded_is_written_when_it_changes() {
    let fs = FaultFs::new();
    let saved = session("api", &[1, 2]);
    open_fault(&fs).store.save(synced(&saved)).unwrap();
    let before = fs.files();
    for _ in 0..2 {
        let mut opened = open_fault(&fs);
        let report = opened.store.save(synced(&saved)).unwrap();
        assert!(!report.written && report.durable, "{report:?}");
        assert_eq!(report.generation, 1);
    }
    assert_eq!(fs.files(), before);
    assert!(fs.log().contains(&"sync_data"), "what is called durable was synced");
    let mut opened = open_fault(&fs);
    let report = opened.store.save(synced(&session("other", &[1, 2]))).unwrap();
    assert!(report.written);
}

#[test]
fn d5_c008_a_file_that_was_read_in_part_stays_until_the_rest_changes() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("state");
    open(&path).store.save(synced(&session("api", &[1, 2]))).unwrap();
    let file = path.join("snapshot.json");
    let mut value: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    value["panes"][1]["id"] = 5.into();
    let damaged = value.to_string();
    fs::write(&file, &damaged).unwrap();
    for _ in 0..2 {
        let mut opened = open(&path);
        let Loaded::Snapshot { session, problems, .. } = opened.loaded else { panic!() };
        assert!(problems.len() > 1, "{problems:?}");
        // A start adds what it makes of it.
        let mut restored = session.clone();
        Arc::make_mut(&mut restored.panes[0]).title = "restored".into();
        opened.store.stands_for(&restored);
        for durability in [Durability::Relaxed, Durability::Synced] {
            let report = opened.store.save(Save { durability, ..synced(&restored) }).unwrap();
            assert!(!report.written);
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), damaged);
    }
    let mut opened = open(&path);
    let Loaded::Snapshot { session, .. } = opened.loaded else { panic!() };
    opened.store.stands_for(&session);
    let mut renamed = session;
    Arc::make_mut(&mut renamed.panes[0]).title = "by a person".into();
    assert!(opened.store.save(synced(&renamed)).unwrap().written);
    let kept = signaltty_persist::inspect::read_only(&path).unwrap().set_aside().unwrap();
    let kept: Vec<_> = kept.iter().map(|kept| fs::read_to_string(kept).unwrap()).collect();
    assert_eq!(kept, [damaged], "it is kept once");
    drop(opened.store);
    // A file that is gone stands for nothing.
    let mut opened = open(&path);
    fs::remove_file(&file).unwrap();
    assert!(opened.store.save(synced(&renamed)).unwrap().written);
}

#[test]
fn inv_p9_c005_an_empty_session_replaces_a_full_one_only_by_a_person() {
    let fs = FaultFs::new();
    let mut store = open_fault(&fs).store;
    store.save(synced(&session("api", &[1]))).unwrap();
    drop(store);
    let mut store = open_fault(&fs).store;
    let before = fs.files();
    let mut empty = SavedSession::default();
    for durability in [Durability::Synced, Durability::Relaxed] {
        let save = Save {
            durability,
            tails: &[(pane_id(1), b"x")],
            closed: &[pane_id(1)],
            ..synced(&empty)
        };
        let error = store.save(save).unwrap_err();
        assert!(matches!(error, SaveError::EmptyOverFull), "{error}");
        assert_eq!(error.reason().as_str(), "refused");
    }
    assert_eq!(fs.files(), before);
    empty.emptied_by_user = true;
    assert!(store.save(synced(&empty)).unwrap().written);
    empty.emptied_by_user = false;
    assert!(!store.save(synced(&empty)).unwrap().written, "empty over empty is no loss");
    drop(store);
    let Loaded::Snapshot { session, .. } = open_fault(&fs).loaded else { panic!("not there") };
    assert!(session.is_empty());
}

#[test]
fn d24_an_unchanged_session_writes_nothing() {
    let fs = FaultFs::new();
    let mut store = open_fault(&fs).store;
    let mut session = session("api", &[1]);
    let tails = [(pane_id(1), &b"text\n"[..])];
    let first = store.save(Save { tails: &tails, ..synced(&session) }).unwrap();
    assert!(first.written && first.durable);
    session.saved_at.0 += 60_000;
    session.journal_seq += 7;
    let before = (fs.operations(), fs.files());
    for durability in [Durability::Relaxed, Durability::Synced] {
        let report = store.save(Save { durability, tails: &tails, ..synced(&session) }).unwrap();
        assert!(!report.written && report.durable);
        assert_eq!((report.generation, report.tails_written), (first.generation, 0));
    }
    assert_eq!(fs.files(), before.1);
    assert_eq!(fs.operations() - before.0, 2, "a look at the file for each");
}

#[test]
fn c005_a_file_that_somebody_removed_or_emptied_is_written_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = open(dir.path()).store;
    let session = session("api", &[1]);
    let path = dir.path().join("snapshot.json");
    assert!(store.save(synced(&session)).unwrap().written);
    let whole = fs::read(&path).unwrap().len();
    for damage in [
        |path: &Path| fs::remove_file(path).unwrap(),
        |path: &Path| fs::write(path, "").unwrap(),
        |path: &Path| {
            fs::remove_file(path).unwrap();
            fs::write(path, "{}").unwrap();
        },
    ] {
        assert!(!store.save(synced(&session)).unwrap().written);
        damage(&path);
        let report = store.save(synced(&session)).unwrap();
        assert!(report.written && report.durable && report.history_failure.is_none());
        assert_eq!(fs::read(&path).unwrap().len(), whole);
    }
}

#[test]
fn d6_a_barrier_is_synced_even_if_nothing_changed_since_a_relaxed_save() {
    let fs = FaultFs::new();
    let mut store = open_fault(&fs).store;
    store.save(synced(&session("first", &[1]))).unwrap();
    let changed = session("second", &[1]);
    let relaxed = Save { durability: Durability::Relaxed, ..synced(&changed) };
    assert!(!store.save(relaxed).unwrap().durable);
    assert!(!store.save(relaxed).unwrap().written);
    let report = store.save(synced(&changed)).unwrap();
    assert!(report.written && report.durable);
    drop(store);
    for image in fs.after_power_loss() {
        let Loaded::Snapshot { session, .. } = open_fault(&image).loaded else { panic!("lost") };
        assert_eq!(session, changed);
    }
}

#[test]
fn temporaries_of_a_killed_process_are_swept_by_the_next_owner() {
    let fs = FaultFs::new();
    fs.put(".tmp-1-7", b"half a snapsh");
    fs.put("notes.txt", b"not ours");
    drop(open_fault(&fs));
    assert_eq!(
        fs.files().keys().map(String::as_str).collect::<Vec<_>>(),
        ["notes.txt", "server.lock"]
    );
    drop(lock_fault(&fs));
}

#[test]
fn s0_41_s0_12_inv_p4_no_secret_reaches_a_file() {
    let temporary = tempfile::tempdir().unwrap();
    let mut store = open(temporary.path()).store;
    let vars = [
        ("ANTHROPIC_API_KEY", "CANARY-1"),
        ("SIGNALTTY_LAUNCH", "CANARY-2"),
        ("AWS_SECRET_ACCESS_KEY", "CANARY-3"),
        ("SIGNALTTY_NOTE", "kept"),
        ("TERM", "xterm-kept"),
    ];
    let mut session = session("api", &[1]);
    let mut pane = pane(1);
    pane.env = SavedEnv::filter(vars);
    let agent = pane.agent.as_mut().unwrap();
    agent.conversation.as_mut().unwrap().config_env =
        ConfigEnv::filter(vars, &["CODEX_HOME"], "/".as_ref());
    session.panes = vec![Arc::new(pane)];
    store.save(Save { tails: &[(pane_id(1), b"text")], ..synced(&session) }).unwrap();
    let mut files = vec![temporary.path().to_owned()];
    let mut text = String::new();
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            text.push_str(&String::from_utf8_lossy(&fs::read(path).unwrap()));
        }
    }
    assert!(!text.contains("CANARY"), "{text}");
    assert!(text.contains("xterm-kept") && text.contains("\"SIGNALTTY_NOTE\":\"kept\""));
}
