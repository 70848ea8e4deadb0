//! The inputs of the fuzz target, without a fuzzer.
#![allow(clippy::unwrap_used)]

#[test]
fn screens_of_the_corpus_are_drawn_again_the_same() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus/screen");
    let mut count = 0;
    for entry in std::fs::read_dir(dir).unwrap() {
        let data = std::fs::read(entry.unwrap().path()).unwrap();
        // Cut elsewhere, the repaint falls elsewhere too.
        for cut in (0..=data.len()).rev().step_by(1 + data.len() / 60) {
            signaltty_pty::fuzz::screen(data.get(..cut).unwrap());
        }
        count += 1;
    }
    assert!(count >= 2, "{count} inputs");
}
