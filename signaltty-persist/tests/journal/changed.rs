//! Files that somebody changes while the journal is written.

use signaltty_persist::fault::FaultFs;
use signaltty_persist::fs::{Fs, FsFile};
use signaltty_persist::journal::Replay;

use crate::support::{Seen, open, replay};

type Change = fn(&FaultFs);

#[test]
fn s0_51_a_file_that_changes_while_it_is_written_is_noticed_with_the_next_batch() {
    let changes: [(&str, Change); 5] = [
        ("removed", |fs| fs.remove("audit.jsonl").unwrap()),
        ("emptied", |fs| fs.append("audit.jsonl").unwrap().cut(0).unwrap()),
        ("cut", |fs| fs.append("audit.jsonl").unwrap().cut(100).unwrap()),
        ("replaced", |fs| {
            let content = fs.files()["audit.jsonl"].clone();
            fs.put("audit.jsonl", &content);
        }),
        ("appended to", |fs| {
            fs.append("audit.jsonl").unwrap().write(b"# a note\n").unwrap();
        }),
    ];
    for (what, change) in changes {
        let (fs, mut seen) = (FaultFs::new(), Seen::default());
        let mut journal = open(&fs);
        seen.publish(&mut journal, 3, 0).unwrap();
        let cursor = seen.events[0].0;
        change(&fs);
        seen.publish(&mut journal, 1, 0).unwrap();
        assert!(journal.take_incident().unwrap().contains("somebody else"), "{what}");
        let Replay::HistoryLost { from, to } = replay(&journal, cursor) else {
            panic!("{what}: {:?}", replay(&journal, cursor));
        };
        assert!(from > cursor && to >= seen.events[2].0, "{what}: {from}..{to}");
        journal.upkeep().unwrap();
        // The new event has its record, and so has what comes after it.
        let newest = seen.last();
        seen.publish(&mut journal, 1, 0).unwrap();
        assert!(matches!(replay(&journal, newest), Replay::Complete(e) if e.len() == 1), "{what}");
        drop(journal);
        let journal = open(&fs.after_kill());
        assert!(matches!(replay(&journal, cursor), Replay::HistoryLost { .. }), "{what}");
        assert!(matches!(replay(&journal, newest), Replay::Complete(e) if e.len() == 1), "{what}");
    }
}

#[test]
fn an_edit_in_place_is_noticed_by_the_replay() {
    let (fs, mut seen) = (FaultFs::new(), Seen::default());
    let mut journal = open(&fs);
    seen.publish(&mut journal, 3, 0).unwrap();
    fs.update("audit.jsonl").unwrap().write_start(b"{\"seq\":9").unwrap();
    assert!(matches!(replay(&journal, 0), Replay::HistoryLost { .. }));
    assert!(matches!(replay(&journal, seen.events[0].0), Replay::Complete(e) if e.len() == 2));
}
