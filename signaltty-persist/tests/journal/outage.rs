//! A journal that cannot be written for a while.

use signaltty_core::time::UnixMillis;
use signaltty_persist::fault::{Fault, FaultFs};
use signaltty_persist::journal::Replay;

use crate::support::{Seen, open, replay, try_open};

const EIO: i32 = 5;
const ENOSPC: i32 = 28;

#[test]
fn inv_j4_a_failed_sync_is_final_for_its_file_and_the_batch_is_written_anew() {
    let (fs, mut seen) = (FaultFs::new(), Seen::default());
    let mut journal = open(&fs);
    seen.publish(&mut journal, 2, 0).unwrap();
    let at = fs.operations();
    let before = fs.files()["audit.jsonl"].clone();
    // The write is the first operation of a batch, the sync the second.
    fs.fail(at + 2, Fault::Once(EIO));
    seen.publish(&mut journal, 2, 0).unwrap();
    assert_eq!(fs.log()[usize::try_from(at).unwrap() + 1], "sync_data");
    assert!(journal.take_incident().unwrap().contains("given up"));
    let old = &fs.files()["audit-1.jsonl"];
    assert!(old.starts_with(&before) && old.len() > before.len());
    seen.check_in_place(&journal, "same process");
    for image in fs.after_power_loss() {
        seen.check(&open(&image), true, "later");
    }
}

#[test]
fn s0_51_c016_published_without_a_record_is_a_gap_forever() {
    for fault in [Fault::Forever(EIO), Fault::Forever(ENOSPC), Fault::Short(ENOSPC)] {
        let (fs, mut seen) = (FaultFs::new(), Seen::default());
        let mut journal = open(&fs);
        seen.publish(&mut journal, 2, 0).unwrap();
        journal.upkeep().unwrap();
        fs.fail(fs.operations() + 1, fault);
        assert!(seen.publish(&mut journal, 1, 0).is_err());
        assert!(!journal.is_available() && journal.view().is_err());
        assert!(seen.publish(&mut journal, 1, 0).is_err());
        assert!(journal.recover(UnixMillis(9)).is_err());
        fs.heal();
        journal.recover(UnixMillis(9)).unwrap();
        assert!(journal.is_available());
        let back = journal.head();
        seen.publish(&mut journal, 2, 0).unwrap();
        seen.check_in_place(&journal, "same process");
        assert!(matches!(replay(&journal, back), Replay::Complete(events) if events.len() == 2));
        // Also where the evidence was not written any more.
        for image in fs.after_power_loss().iter().chain([&fs.after_kill()]) {
            let journal = open(image);
            seen.check(&journal, true, "later");
            assert!(
                matches!(replay(&journal, back), Replay::Complete(events) if events.len() == 2)
            );
        }
    }
}

#[test]
fn without_room_for_numbers_nothing_is_published_with_one() {
    let (fs, mut seen) = (FaultFs::new(), Seen::default());
    let mut journal = open(&fs);
    fs.fail(fs.operations() + 1, Fault::Forever(ENOSPC));
    assert!(seen.publish(&mut journal, 1, 5_000).is_err());
    fs.heal();
    journal.recover(UnixMillis(9)).unwrap();
    seen.publish(&mut journal, 1, 5_000).unwrap();
    seen.check(&open(&fs.after_kill()), true, "later");
}

#[test]
fn s0_51_a_process_that_ends_in_an_outage_leaves_the_gap_behind() {
    let (fs, mut seen) = (FaultFs::new(), Seen::default());
    let mut journal = open(&fs);
    seen.publish(&mut journal, 2, 0).unwrap();
    // No number can be reserved any more.
    fs.fail(fs.operations() + 1, Fault::Once(ENOSPC));
    assert!(seen.publish(&mut journal, 1, 5_000).is_err());
    journal.break_off();
    drop(journal);
    let journal = open(&fs.after_kill());
    seen.check(&journal, true, "killed");
    assert!(matches!(replay(&journal, seen.last()), Replay::HistoryLost { .. }));
}

#[test]
fn a_start_that_failed_finds_everything_the_next_time() {
    let (base, mut seen) = (FaultFs::new(), Seen::default());
    seen.publish(&mut open(&base), 3, 1).unwrap();
    let base = base.after_kill();
    let count = {
        let fs = base.after_kill();
        drop(try_open(&fs).unwrap());
        fs.operations()
    };
    for n in 1..=count {
        let fs = base.after_kill();
        fs.fail(n, Fault::Forever(ENOSPC));
        let first = try_open(&fs);
        fs.heal();
        drop(first);
        seen.check(&open(&fs.after_kill()), true, &format!("at {n}: {:?}", fs.log()));
    }
}

impl Seen {
    /// The checks that hold while the same journal goes on.
    fn check_in_place(&self, journal: &signaltty_persist::journal::Journal<FaultFs>, what: &str) {
        for (seq, _) in &self.events {
            let missed = self.missed_after.iter().any(|after| after >= seq);
            match replay(journal, *seq) {
                Replay::Complete(events) => {
                    assert!(!missed, "{what}: complete after {seq}");
                    let expected: Vec<_> = self
                        .events
                        .iter()
                        .filter(|(number, _)| number > seq)
                        .map(|(s, _)| *s)
                        .collect();
                    let found: Vec<_> = events.iter().map(|event| event.seq).collect();
                    assert_eq!(found, expected, "{what}: after {seq}");
                }
                Replay::HistoryLost { .. } => assert!(missed, "{what}: lost after {seq}"),
                other => panic!("{what}: {other:?}"),
            }
        }
    }
}
