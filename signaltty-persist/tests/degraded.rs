//! A system that refuses: what is kept, what is said, and what heals.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed step fails the test"
)]

mod common;

use signaltty_persist::fault::{Fault, FaultFs};
use signaltty_persist::{LoadError, Loaded, OpenError, SaveError, StateDir, Store};

use common::{lock_fault, open_fault, owner, program, session, synced};

const EIO: i32 = 5;
const ENOSPC: i32 = 28;

/// A disk with a saved session.
fn saved() -> FaultFs {
    let fs = FaultFs::new();
    open_fault(&fs).store.save(synced(&session("old", &[1, 2]))).unwrap();
    fs.after_kill()
}

#[test]
fn c016_a_full_disk_is_named_and_the_next_save_is_whole() {
    let fs = saved();
    let mut opened = open_fault(&fs);
    fs.fail(fs.operations() + 1, Fault::Short(ENOSPC));
    let session = session("new", &[1, 3]);
    for _ in 0..3 {
        let error = opened.store.save(synced(&session)).unwrap_err();
        assert_eq!(error.reason().as_str(), "no_space", "{error}");
    }
    fs.heal();
    assert!(opened.store.save(synced(&session)).unwrap().written);
    drop(opened);
    let Loaded::Snapshot { session: found, .. } = open_fault(&fs).loaded else { panic!("lost") };
    assert_eq!(found, session);
}

#[test]
fn inv_j4_nothing_is_called_durable_after_a_failed_sync() {
    let fs = saved();
    let mut opened = open_fault(&fs);
    let session = session("new", &[1, 3]);
    let before = fs.operations();
    let probe = fs.after_kill();
    let mut other = open_fault(&probe);
    let start = probe.operations();
    other.store.save(synced(&session)).unwrap();
    let last_sync = probe.log().iter().rposition(|op| *op == "sync").unwrap() as u64 + 1;
    fs.fail(before + last_sync - start, Fault::Once(EIO));
    let error = opened.store.save(synced(&session)).unwrap_err();
    assert!(matches!(error, SaveError::NotDurable(_)), "{error}");
    let report = opened.store.save(synced(&session)).unwrap();
    assert!(report.written && report.durable, "the same content is written anew: {report:?}");
}

#[test]
fn inv_p3_a_load_with_an_error_changes_no_file() {
    let base = saved();
    let before = base.files();
    let open = |fs: &FaultFs| -> Result<(), LoadError> {
        Store::open(lock_fault(fs), program()).map(drop)
    };
    let whole = base.after_kill();
    open(&whole).unwrap();
    let mut errors = 0;
    for n in 1..=whole.operations() {
        let fs = base.after_kill();
        let dir = StateDir::lock(fs.clone(), "/state".into(), &owner()).unwrap();
        fs.fail(fs.operations() + n, Fault::Once(EIO));
        if let Err(error) = Store::open(dir, program()) {
            assert!(matches!(error, LoadError::Unreadable(_)), "{error}");
            assert_eq!(fs.files(), before);
            errors += 1;
        }
    }
    assert!(errors >= 2, "open and read can fail");
}

#[test]
fn s0_34_c007_a_damaged_file_survives_every_fault_while_it_is_set_aside() {
    let damaged = b"{\"snapshot_version\":1,\"generation\":7,\"workspaces\":[";
    let base = FaultFs::new();
    base.put("snapshot.json", damaged);
    let start = |fs: &FaultFs| {
        let dir = StateDir::lock(fs.clone(), "/state".into(), &owner()).map_err(drop)?;
        let mut opened = Store::open(dir, program()).map_err(drop)?;
        opened.store.save(synced(&session("new", &[1, 3]))).map(drop).map_err(drop)
    };
    let kept = |fs: &FaultFs| fs.files().values().any(|content| content == damaged);
    let whole = base.after_kill();
    start(&whole).unwrap();
    assert!(kept(&whole));
    for n in 1..=whole.operations() {
        for fault in [Fault::Once(EIO), Fault::Forever(ENOSPC), Fault::Crash] {
            let fs = base.after_kill();
            fs.fail(n, fault);
            let _ = start(&fs);
            fs.heal();
            assert!(kept(&fs), "{fault:?} at {n} of {:?}", fs.log());
            for image in fs.after_power_loss() {
                assert!(kept(&image), "{fault:?} at {n} of {:?}, then no power", fs.log());
            }
        }
    }
}

#[test]
fn c100_a_file_system_that_cannot_lock_is_refused_and_said_to_be() {
    const EBADF: i32 = 9;
    const ENOLCK: i32 = 37;
    const ESTALE: i32 = 116;
    for errno in [EBADF, ENOLCK, ESTALE] {
        let fs = saved();
        let before = fs.files();
        fs.fail(1, Fault::Once(errno));
        let error = StateDir::lock(fs.clone(), "/state".into(), &owner()).unwrap_err();
        assert!(matches!(error, OpenError::LocksUnsupported(_)), "{error}");
        assert_eq!(fs.files(), before);
    }
}

#[test]
fn an_owner_that_cannot_write_its_name_owns_the_directory_all_the_same() {
    let fs = saved();
    fs.fail(2, Fault::Forever(ENOSPC));
    let dir = StateDir::lock(fs.clone(), "/state".into(), &owner()).unwrap();
    assert_eq!(dir.owner_unwritten().unwrap().reason().as_str(), "no_space");
    fs.heal();
    let second = StateDir::lock(fs.clone(), "/state".into(), &owner());
    assert!(matches!(second, Err(OpenError::Held { .. })));
}
