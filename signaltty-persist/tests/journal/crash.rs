//! A stop, a loss of power and an error at every operation.

use signaltty_core::time::UnixMillis;
use signaltty_persist::fault::{Fault, FaultFs};
use signaltty_persist::journal::JournalError;

use crate::support::{Seen, open, try_open};

const EIO: i32 = 5;
const ENOSPC: i32 = 28;

/// A disk with a journal that was not closed, and what was seen of it.
fn used(close: bool) -> (FaultFs, Seen) {
    let (fs, mut seen) = (FaultFs::new(), Seen::default());
    let mut journal = open(&fs);
    for _ in 0..2 {
        seen.publish(&mut journal, 2, 1).unwrap();
        journal.upkeep().unwrap();
    }
    if close {
        journal.close(UnixMillis(6)).unwrap();
    }
    (fs.after_kill(), seen)
}

/// Appends, rotates, prunes, reserves at half and in need, and closes.
fn scenario(fs: &FaultFs, seen: &mut Seen) -> Result<(), JournalError> {
    let mut journal = try_open(fs)?.journal;
    for (events, passing) in
        [(1, 0), (0, 2), (3, 2_100), (4, 1), (2, 1), (0, 20_000), (5, 0), (1, 0)]
    {
        if seen.publish(&mut journal, events, passing).is_err() {
            // An error of the disk, not the end of the process: go on.
            let _ = journal.recover(UnixMillis(7));
        }
        let _ = journal.upkeep();
    }
    if journal.is_available() { journal.close(UnixMillis(8)) } else { Ok(()) }
}

fn length(base: &FaultFs, seen: &Seen) -> u64 {
    let fs = base.after_kill();
    scenario(&fs, &mut seen.clone()).unwrap();
    let log = fs.log();
    for operation in ["append", "rename", "remove", "sync", "sync_data", "update", "stat"] {
        assert!(log.contains(&operation), "no {operation} in {log:?}");
    }
    fs.operations()
}

fn assert_whole(fs: &FaultFs, seen: &Seen, context: &str) {
    let opened = try_open(fs).unwrap_or_else(|error| panic!("{context}: {error}"));
    seen.check(&opened.journal, true, context);
    // And it goes on.
    let mut journal = opened.journal;
    let mut seen = seen.clone();
    seen.publish(&mut journal, 1, 1).unwrap();
    drop(journal);
    seen.check(&open(&fs.after_kill()), true, context);
}

#[test]
fn inv_j1_s0_51_killed_at_every_operation_all_that_was_seen_is_there() {
    for close in [false, true] {
        let (base, before) = used(close);
        for n in 1..=length(&base, &before) + 1 {
            let (fs, mut seen) = (base.after_kill(), before.clone());
            fs.fail(n, Fault::Crash);
            let _ = scenario(&fs, &mut seen);
            seen.missed_after.clear();
            let context = format!("killed at {n} of {:?}", fs.log());
            assert_whole(&fs.after_kill(), &seen, &context);
        }
    }
}

#[test]
fn inv_j2_without_power_at_every_operation_all_that_was_seen_is_there() {
    let mut images = 0;
    for close in [false, true] {
        let (base, before) = used(close);
        for n in 1..=length(&base, &before) + 1 {
            let (fs, mut seen) = (base.after_kill(), before.clone());
            fs.fail(n, Fault::Crash);
            let _ = scenario(&fs, &mut seen);
            seen.missed_after.clear();
            for (image, found) in fs.after_power_loss().into_iter().enumerate() {
                let context = format!("image {image} at {n} of {:?}", fs.log());
                assert_whole(&found, &seen, &context);
                images += 1;
            }
        }
    }
    assert!(images > 1_000, "only {images} images");
}

#[test]
fn inv_j1_s0_51_the_first_start_cut_short_reuses_nothing() {
    let first = |fs: &FaultFs, seen: &mut Seen| -> Result<(), JournalError> {
        let mut journal = try_open(fs)?.journal;
        seen.publish(&mut journal, 1, 1)
    };
    let whole = FaultFs::new();
    first(&whole, &mut Seen::default()).unwrap();
    for n in 1..=whole.operations() + 1 {
        let (fs, mut seen) = (FaultFs::new(), Seen::default());
        fs.fail(n, Fault::Crash);
        let _ = first(&fs, &mut seen);
        seen.missed_after.clear();
        for image in fs.after_power_loss().iter().chain([&fs.after_kill()]) {
            assert_whole(image, &seen, &format!("at {n} of {:?}", fs.log()));
        }
    }
}

#[test]
fn inv_j4_c016_an_error_at_any_operation_claims_nothing_and_heals() {
    let (base, before) = used(false);
    let faults = [Fault::Once(EIO), Fault::Forever(EIO), Fault::Short(ENOSPC)];
    for n in 1..=length(&base, &before) {
        for fault in faults {
            let (fs, mut seen) = (base.after_kill(), before.clone());
            fs.fail(n, fault);
            let _ = scenario(&fs, &mut seen);
            let context = format!("{fault:?} at {n} of {:?}", fs.log());
            fs.heal();
            // What was published without a record is known to be missing where
            // anything could be recorded after it.
            let mut told = seen.clone();
            told.missed_after.retain(|after| *after < seen.last());
            // All that a loss of power leaves is looked at where it is the fault;
            // here some of it is enough.
            for image in fs.after_power_loss().iter().step_by(3).chain([&fs.after_kill()]) {
                let opened = try_open(image).unwrap_or_else(|error| panic!("{context}: {error}"));
                told.check(&opened.journal, false, &context);
            }
        }
    }
}
