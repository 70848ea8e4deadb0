//! The inputs of the fuzz targets, without a fuzzer.

use crate::layout::{fuzz_layout_edits, fuzz_layout_text};

fn each(target: &str, body: fn(&[u8])) {
    let dir = format!("{}/../fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for entry in std::fs::read_dir(dir).unwrap() {
        body(&std::fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count >= 2, "{target}: {count} inputs");
}

#[test]
fn edits_of_the_corpus_leave_valid_layouts() {
    each("layout_edits", fuzz_layout_edits);
}

#[test]
fn texts_of_the_corpus_are_read_or_refused() {
    each("layout_text", fuzz_layout_text);
}
