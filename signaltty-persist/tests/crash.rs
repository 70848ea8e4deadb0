//! A fault at every operation: killed, without power, or refused by the system.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed step fails the test"
)]

mod common;

use std::time::Duration;

use signaltty_core::saved::SavedSession;
use signaltty_persist::fault::{Fault, FaultFs};
use signaltty_persist::schema::from_json;
use signaltty_persist::tail::{self, Tail};
use signaltty_persist::{Durability, Loaded, Save, StateDir, Store};

use common::{lock_fault, open_fault, owner, pane_id, program, session, synced};

const EIO: i32 = 5;
const ENOSPC: i32 = 28;

/// A disk with a saved session of panes 1 and 2, both with tails.
fn saved() -> FaultFs {
    let fs = FaultFs::new();
    let mut opened = open_fault(&fs);
    let tails = [(pane_id(1), &b"one\n"[..]), (pane_id(2), b"two\n")];
    let session = session("old", &[1, 2]);
    opened.store.save(Save { tails: &tails, ..synced(&session) }).unwrap();
    drop(opened);
    fs.after_kill()
}

fn new_session() -> SavedSession {
    session("new", &[1, 3])
}

/// Starts on a disk, changes the session, closes pane 2. Says whether the save
/// was confirmed as durable.
fn scenario(fs: &FaultFs, durability: Durability) -> Result<bool, ()> {
    let dir = StateDir::lock(fs.clone(), "/state".into(), &owner()).map_err(drop)?;
    let mut opened = Store::open(dir, program()).map_err(drop)?;
    let session = new_session();
    let tails = [(pane_id(1), &b"one\nmore\n"[..]), (pane_id(3), b"three\n")];
    let save = Save {
        session: &session,
        durability,
        tails: &tails,
        closed: &[pane_id(2)],
        now: Duration::ZERO,
    };
    let report = opened.store.save(save).map_err(drop)?;
    Ok(report.durable && report.tail_failures.is_empty())
}

/// How many operations the scenario takes.
fn length(base: &FaultFs, durability: Durability) -> u64 {
    let fs = base.after_kill();
    scenario(&fs, durability).unwrap();
    fs.operations()
}

/// What a start finds: `None` for nothing.
fn found(fs: &FaultFs, context: &str) -> Option<SavedSession> {
    let opened = open_fault(fs);
    assert!(opened.sweep_failure.is_none());
    let stray: Vec<_> = fs.files().into_keys().filter(|path| path.contains(".tmp-")).collect();
    assert!(stray.is_empty(), "{context}: {stray:?}");
    match opened.loaded {
        Loaded::Missing => None,
        Loaded::Snapshot { session, problems, .. } => {
            assert_eq!(problems, [], "{context}");
            Some(session)
        }
        other => panic!("{context}: {other:?}"),
    }
}

fn assert_old_or_new(fs: &FaultFs, confirmed: bool, context: &str) {
    let found = found(fs, context).unwrap_or_else(|| panic!("{context}: lost"));
    let (old, new) = (session("old", &[1, 2]), new_session());
    assert!(found == new || (found == old && !confirmed), "{context}: {found:?}");
    for (path, bytes) in fs.files().iter().filter(|(path, _)| path.starts_with("snapshots/")) {
        let kept = from_json(bytes).unwrap();
        assert_eq!(kept.problems, [], "{context}: {path}");
        assert!(kept.session == old || kept.session == new, "{context}: {path}");
    }
    let dir = lock_fault(fs);
    let tail = |n| tail::read(&dir, pane_id(n)).unwrap();
    let one = tail(1);
    let texts = [&b"one\n"[..], b"one\nmore\n"].map(|text| Tail::Saved(text.into()));
    assert!(texts.contains(&one), "{context}: {one:?}");
    if found == old {
        assert_eq!(tail(2), Tail::Saved(b"two\n".into()), "{context}: the pane is still there");
    }
    if confirmed {
        assert_eq!(one, texts[1], "{context}");
        assert_eq!(tail(3), Tail::Saved(b"three\n".into()), "{context}");
    }
}

#[test]
fn inv_p1_s0_2_killed_at_every_operation_the_old_or_the_new_is_there() {
    let base = saved();
    for durability in [Durability::Synced, Durability::Relaxed] {
        for n in 1..=length(&base, durability) + 1 {
            let fs = base.after_kill();
            fs.fail(n, Fault::Crash);
            let confirmed = scenario(&fs, durability) == Ok(true);
            let context = format!("{durability:?}, killed at {n} of {:?}", fs.log());
            assert_old_or_new(&fs.after_kill(), confirmed, &context);
        }
    }
}

#[test]
fn inv_p2_d6_without_power_at_every_operation_the_old_or_the_new_is_there() {
    let base = saved();
    let mut images = 0;
    for n in 1..=length(&base, Durability::Synced) + 1 {
        let fs = base.after_kill();
        fs.fail(n, Fault::Crash);
        let confirmed = scenario(&fs, Durability::Synced) == Ok(true);
        for (image, found) in fs.after_power_loss().into_iter().enumerate() {
            let context = format!("image {image} at {n} of {:?}", fs.log());
            assert_old_or_new(&found, confirmed, &context);
            images += 1;
        }
    }
    assert!(images > 200, "only {images} images");
}

#[test]
fn c010_inv_p2_the_first_save_is_there_or_missing() {
    let first = |fs: &FaultFs| -> Result<bool, ()> {
        let dir = StateDir::lock(fs.clone(), "/state".into(), &owner()).map_err(drop)?;
        let mut opened = Store::open(dir, program()).map_err(drop)?;
        // The first save is synced whatever was asked for.
        let session = new_session();
        let save = Save { durability: Durability::Relaxed, ..synced(&session) };
        Ok(opened.store.save(save).map_err(drop)?.durable)
    };
    let whole = FaultFs::new();
    assert_eq!(first(&whole), Ok(true));
    for n in 1..=whole.operations() + 1 {
        let fs = FaultFs::new();
        fs.fail(n, Fault::Crash);
        let confirmed = first(&fs) == Ok(true);
        for image in fs.after_power_loss().iter().chain([&fs.after_kill()]) {
            let context = format!("at {n} of {:?}", fs.log());
            let found = found(image, &context);
            assert!(found == Some(new_session()) || (found.is_none() && !confirmed), "{context}");
        }
    }
}

#[test]
fn inv_p2_without_syncs_a_loss_of_power_is_never_misread() {
    let base = saved();
    let fs = base.after_kill();
    assert_eq!(scenario(&fs, Durability::Relaxed), Ok(false));
    let mut damaged = 0;
    for image in fs.after_power_loss() {
        let before = image.files().get("snapshot.json").cloned();
        match open_fault(&image).loaded {
            Loaded::Snapshot { session: found, problems, .. } => {
                assert_eq!(problems, []);
                assert!(found == new_session() || found == session("old", &[1, 2]));
            }
            Loaded::Corrupt { backup, .. } | Loaded::EmptyFile { backup } => {
                let path = backup.strip_prefix("/state").unwrap().to_str().unwrap().to_owned();
                assert_eq!(image.files().get(&path), before.as_ref());
                damaged += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(damaged > 0, "the model lost nothing");
}

#[test]
fn inv_p1_c016_an_error_at_any_operation_leaves_the_old_or_the_new_and_heals() {
    let base = saved();
    let length = length(&base, Durability::Synced);
    for errno in [EIO, ENOSPC] {
        for n in 1..=length {
            for fault in [Fault::Once(errno), Fault::Forever(errno), Fault::Short(errno)] {
                let fs = base.after_kill();
                fs.fail(n, fault);
                let confirmed = scenario(&fs, Durability::Synced) == Ok(true);
                let context = format!("{fault:?} at {n} of {:?}", fs.log());
                fs.heal();
                assert_old_or_new(&fs.after_kill(), confirmed, &context);
                for image in fs.after_power_loss() {
                    assert_old_or_new(&image, confirmed, &context);
                }
                assert_eq!(scenario(&fs, Durability::Synced), Ok(true), "{context}");
                assert_old_or_new(&fs, true, &context);
            }
        }
    }
}
