//! Payloads that a person has forgotten, while the chain stays whole (D-30).

use signaltty_core::time::UnixMillis;
use signaltty_persist::fault::{Fault, FaultFs};
use signaltty_persist::journal::{Cursor, Draft, Entry, Erased, Journal, JournalError, Replay};

use crate::support::{ID, Seen, open, replay};

const CANARY: &str = "canary-6a1f";
const PAYLOAD: &str = "{\"forgotten\":true}";

fn said() -> Entry {
    let payload = format!("{{\"pane_id\":\"pane_bbbbbbbbbbbbbbbb\",\"message\":\"{CANARY}\"}}");
    Entry::State(Draft::new(UnixMillis(5), "resume.failed", &payload).unwrap())
}

/// Two files, each with the canary and with other events.
fn told() -> (FaultFs, Journal<FaultFs>, Seen, u64) {
    let (fs, mut seen) = (FaultFs::new(), Seen::default());
    let mut journal = open(&fs);
    seen.publish(&mut journal, 2, 1).unwrap();
    let from = journal.append(&[said()], UnixMillis(5)).unwrap()[0];
    while !fs.files().keys().any(|name| name.starts_with("audit-1")) {
        seen.publish(&mut journal, 1, 0).unwrap();
    }
    journal.append(&[said()], UnixMillis(5)).unwrap();
    seen.publish(&mut journal, 1, 0).unwrap();
    journal.upkeep().unwrap();
    assert_eq!(with(&fs, CANARY).len(), 2, "{:?}", fs.files().keys());
    (fs, journal, seen, from)
}

fn with(fs: &FaultFs, text: &str) -> Vec<String> {
    let holds = |bytes: &[u8]| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    fs.files().into_iter().filter(|(_, bytes)| holds(bytes)).map(|(name, _)| name).collect()
}

fn forget(journal: &mut Journal<FaultFs>) -> Result<Erased, JournalError> {
    journal.forget(&["pane_bbbbbbbbbbbbbbbb".to_owned()], PAYLOAD)
}

/// Every event from the first on, the forgotten ones without their payload.
fn whole(journal: &Journal<FaultFs>, seen: &Seen, forgotten: u64) {
    let Replay::Complete(events) = replay(journal, seen.events[0].0) else {
        panic!("{:?}", replay(journal, seen.events[0].0));
    };
    let without: Vec<_> = events.iter().filter(|event| event.payload == PAYLOAD).collect();
    assert_eq!(without.len(), 2);
    assert!(without.iter().all(|event| event.event == "resume.failed"));
    assert_eq!((without[0].seq, without[0].at), (forgotten, UnixMillis(5)));
    assert_eq!(events.len() - 2, seen.events.len() - 1);
}

#[test]
fn d30_payloads_go_and_the_replay_is_complete() {
    let (fs, mut journal, mut seen, at) = told();
    let erased = forget(&mut journal).unwrap();
    assert_eq!((erased.records, erased.left.len()), (2, 0));
    assert_eq!(with(&fs, CANARY), Vec::<String>::new());
    whole(&journal, &seen, at);
    // The journal goes on, and so does the next start.
    seen.publish(&mut journal, 1, 0).unwrap();
    assert_eq!(journal.take_incident(), None);
    whole(&journal, &seen, at);
    assert_eq!(forget(&mut journal).unwrap().records, 0);
    drop(journal);
    let journal = open(&fs.after_kill());
    whole(&journal, &seen, at);
}

#[test]
fn d30_a_file_that_was_set_aside_is_named() {
    let (fs, mut journal, ..) = told();
    fs.put("audit.jsonl.kept-1", b"{\"pane_id\":\"pane_bbbbbbbbbbbbbbbb\"");
    let erased = forget(&mut journal).unwrap();
    assert_eq!(erased.left, [std::path::PathBuf::from("/state/audit.jsonl.kept-1")]);
}

#[test]
fn d30_inv_j3_a_stop_or_an_error_at_any_point_keeps_every_event() {
    let before = told().0.operations();
    let (fs, mut journal, ..) = told();
    forget(&mut journal).unwrap();
    let operations = fs.operations() - before;
    assert!(operations > 15, "{operations}");
    for at in 1..=operations {
        for fault in [Fault::Crash, Fault::Once(5), Fault::Forever(28), Fault::Short(28)] {
            let (fs, mut journal, seen, forgotten) = told();
            fs.fail(before + at, fault);
            let done = forget(&mut journal);
            drop(journal);
            for fs in [vec![fs.after_kill()], fs.after_power_loss()].concat() {
                let mut journal = open(&fs);
                if done.is_ok() {
                    assert_eq!(with(&fs, CANARY), Vec::<String>::new(), "{fault:?} at {at}");
                }
                forget(&mut journal).unwrap();
                assert_eq!(with(&fs, CANARY), Vec::<String>::new(), "{fault:?} at {at}");
                let cursor = Cursor { journal_id: ID.into(), seq: seen.events[0].0 };
                let answer = journal.view().unwrap().replay(&cursor, |_| true);
                assert!(matches!(answer, Replay::Complete(_)), "{fault:?} at {at}: {answer:?}");
                whole(&journal, &seen, forgotten);
            }
        }
    }
}
