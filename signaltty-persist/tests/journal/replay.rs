//! What a client gets.

use signaltty_core::time::UnixMillis;
use signaltty_persist::fault::FaultFs;
use signaltty_persist::journal::{Cursor, Draft, Entry, MAX_REPLAY, Replay};

use crate::support::{ID, Seen, open, replay, start};

#[test]
fn every_answer() {
    let (fs, mut seen) = (FaultFs::new(), Seen::default());
    let mut journal = open(&fs);
    seen.publish(&mut journal, 3, 2).unwrap();
    let head = journal.head();
    let other = Cursor { journal_id: "ffffffffffffffff".into(), seq: 1 };
    let answer = journal.view().unwrap().replay(&other, |_| true);
    assert!(matches!(answer, Replay::Unavailable { .. }), "{answer:?}");
    assert_eq!(replay(&journal, head + 1), Replay::CursorAhead { head });
    assert_eq!(replay(&journal, head), Replay::Complete(Vec::new()));
    let Replay::Complete(events) = replay(&journal, seen.events[0].0) else {
        panic!();
    };
    assert_eq!(events.len(), 2);
    assert_eq!((events[0].seq, &*events[0].event), (seen.events[1].0, "pane.updated"));
    assert_eq!(events[0].at, UnixMillis(1_001));
    assert_eq!(events[0].payload, "{\"n\":1,\"pane_id\":\"pane_aaaaaaaaaaaaaaaa\"}");
}

#[test]
fn the_filter_comes_before_the_limit() {
    let fs = FaultFs::new();
    let mut journal = signaltty_persist::journal::Journal::open(
        &crate::support::lock(&fs),
        signaltty_persist::journal::Start { limits: Default::default(), ..start() },
    )
    .unwrap()
    .journal;
    let draft = |name: &str| Entry::State(Draft::new(UnixMillis(1), name, "{}").unwrap());
    let mut entries = vec![draft("pane.state"); MAX_REPLAY + 1];
    entries.push(draft("pane.exited"));
    journal.append(&entries, UnixMillis(1)).unwrap();
    let cursor = Cursor { journal_id: ID.into(), seq: 1 };
    assert_eq!(journal.view().unwrap().replay(&cursor, |_| true), Replay::Truncated);
    let few = journal.view().unwrap().replay(&cursor, |event| event == "pane.exited");
    assert!(matches!(few, Replay::Complete(events) if events.len() == 1));
}

#[test]
fn a_number_that_a_stop_skipped_is_no_cursor() {
    let (fs, mut seen) = (FaultFs::new(), Seen::default());
    let mut journal = open(&fs);
    seen.publish(&mut journal, 2, 0).unwrap();
    drop(journal);
    let journal = open(&fs.after_kill());
    assert!(matches!(replay(&journal, seen.last()), Replay::Complete(_)));
    // A client says that it saw more than there is.
    let answer = replay(&journal, seen.last() + 1);
    assert!(matches!(answer, Replay::HistoryLost { .. }), "{answer:?}");
}

#[test]
fn a_view_stays_whole_while_files_are_rotated_and_pruned() {
    let (fs, mut seen) = (FaultFs::new(), Seen::default());
    let mut journal = open(&fs);
    seen.publish(&mut journal, 3, 0).unwrap();
    let view = journal.view().unwrap();
    let expected = seen.events.len();
    for _ in 0..20 {
        seen.publish(&mut journal, 2, 0).unwrap();
        journal.upkeep().unwrap();
    }
    let cursor = Cursor { journal_id: ID.into(), seq: 1 };
    assert!(matches!(view.replay(&cursor, |_| true), Replay::Complete(e) if e.len() == expected));
    assert!(matches!(replay(&journal, 1), Replay::HistoryLost { .. }));
    let older: Vec<_> = fs.files().into_keys().filter(|name| name.starts_with("audit-1")).collect();
    assert!(!older.contains(&"audit-1.jsonl".to_owned()), "{older:?}");
}

#[test]
fn s0_54_the_snapshot_may_know_of_events_that_no_record_has() {
    let (fs, mut seen) = (FaultFs::new(), Seen::default());
    seen.publish(&mut open(&fs), 2, 0).unwrap();
    let start = signaltty_persist::journal::Start { floor: 4_000, ..start() };
    let fs = fs.after_kill();
    let opened =
        signaltty_persist::journal::Journal::open(&crate::support::lock(&fs), start).unwrap();
    assert!(matches!(replay(&opened.journal, seen.last()), Replay::HistoryLost { to: 4_000, .. }));
}
