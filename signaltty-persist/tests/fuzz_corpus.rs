//! The inputs of the fuzz targets, without a fuzzer.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;

use signaltty_persist::fuzz;

fn each(target: &str, body: fn(&[u8])) {
    let dir = format!("{}/../fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for entry in fs::read_dir(dir).unwrap() {
        let data = fs::read(entry.unwrap().path()).unwrap();
        body(&data);
        // And every beginning of it, at some places.
        for cut in (0..data.len()).step_by(1 + data.len() / 40) {
            body(data.get(..cut).unwrap());
        }
        count += 1;
    }
    assert!(count >= 2, "{target}: {count} inputs");
}

#[test]
fn snapshots_of_the_corpus_are_refused_or_kept() {
    each("snapshot", fuzz::snapshot);
}

#[test]
fn tails_of_the_corpus_are_shown_only_whole() {
    each("tail", fuzz::tail);
}

#[test]
fn journals_of_the_corpus_go_on() {
    each("journal", fuzz::journal);
}

/// Numbers beyond all that a journal can reach made the arithmetic overflow.
#[test]
fn inv_j1_numbers_of_the_corpus_go_on() {
    each("sequence", fuzz::sequence);
}

#[test]
fn evidence_of_the_corpus_goes_on() {
    each("retention", fuzz::retention);
}
