//! The bytes of a journal, exactly.

use signaltty_core::time::UnixMillis;
use signaltty_persist::fault::FaultFs;

use crate::support::{Seen, open};

#[test]
fn golden_files_of_a_short_life() {
    let (fs, mut seen) = (FaultFs::new(), Seen::default());
    let mut journal = open(&fs);
    seen.publish(&mut journal, 1, 2).unwrap();
    journal.close(UnixMillis(9)).unwrap();
    let files = fs.files();
    let text = |name: &str| String::from_utf8(files[name].clone()).unwrap();
    assert_eq!(text("audit.jsonl"), include_str!("../fixtures/audit-v1.jsonl"));
    assert_eq!(text("audit-retention.json"), include_str!("../fixtures/audit-retention-v1.json"));
    assert_eq!(text("event-sequence.json"), include_str!("../fixtures/event-sequence-v1.json"));
    assert_eq!(text("audit-mark.json"), include_str!("../fixtures/audit-mark-v1.json"));
}
