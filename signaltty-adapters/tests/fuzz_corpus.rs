//! Replays the inputs that fuzzing found or began with.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use signaltty_adapters::fuzz::{fuzz_hook, fuzz_record};

fn replay(target: &str, body: fn(&[u8])) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target);
    let mut inputs = 0;
    for entry in std::fs::read_dir(dir).unwrap() {
        body(&std::fs::read(entry.unwrap().path()).unwrap());
        inputs += 1;
    }
    assert!(inputs > 4, "only {inputs} inputs of {target}");
}

#[test]
fn no_damaged_record_of_the_corpus_is_taken_for_the_saved_one() {
    replay("record", fuzz_record);
}

#[test]
fn every_report_of_the_corpus_is_read_or_refused() {
    replay("hook", fuzz_hook);
}
