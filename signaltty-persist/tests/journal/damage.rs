//! Bytes that are not what was written.

use signaltty_core::time::UnixMillis;
use signaltty_persist::fault::FaultFs;

use crate::support::{Seen, open, try_open};

/// A journal of two files, and what was seen of it.
fn two_files(close: bool) -> (FaultFs, Seen) {
    let (fs, mut seen) = (FaultFs::new(), Seen::default());
    let mut journal = open(&fs);
    while !fs.files().contains_key("audit-1.jsonl") {
        seen.publish(&mut journal, 2, 1).unwrap();
        journal.upkeep().unwrap();
    }
    seen.publish(&mut journal, 1, 0).unwrap();
    if close {
        journal.close(UnixMillis(6)).unwrap();
    }
    (fs.after_kill(), seen)
}

fn check(base: &FaultFs, seen: &Seen, name: &str, bytes: &[u8], context: &str) {
    let fs = base.after_kill();
    fs.put(name, bytes);
    let opened = try_open(&fs).unwrap_or_else(|error| panic!("{context}: {error}"));
    seen.check(&opened.journal, false, context);
    // It is as true after the next start, when nobody remembers.
    drop(opened);
    seen.check(&open(&fs.after_kill()), false, context);
}

#[test]
fn s0_51_a_cut_or_a_flip_at_any_byte_is_never_complete() {
    for close in [false, true] {
        let (base, seen) = two_files(close);
        let files = base.files();
        for name in ["audit.jsonl", "audit-1.jsonl"] {
            let whole = &files[name];
            for at in 0..whole.len() {
                check(&base, &seen, name, &whole[..at], &format!("{name} cut at {at}, {close}"));
                let mut flipped = whole.clone();
                flipped[at] ^= 1 << (at % 8);
                check(&base, &seen, name, &flipped, &format!("{name} flipped at {at}, {close}"));
            }
        }
    }
}

#[test]
fn s0_51_lines_that_are_gone_doubled_or_swapped_are_never_complete() {
    let (base, seen) = two_files(false);
    let files = base.files();
    for name in ["audit.jsonl", "audit-1.jsonl"] {
        let lines: Vec<_> = files[name].split_inclusive(|byte| *byte == b'\n').collect();
        for at in 0..lines.len() {
            let mut gone = lines.clone();
            gone.remove(at);
            check(&base, &seen, name, &gone.concat(), &format!("{name} without line {at}"));
            let mut doubled = lines.clone();
            doubled.insert(at, lines[at]);
            check(&base, &seen, name, &doubled.concat(), &format!("{name} line {at} doubled"));
            for other in 0..at {
                let mut swapped = lines.clone();
                swapped.swap(at, other);
                check(&base, &seen, name, &swapped.concat(), &format!("{name} {at} <-> {other}"));
            }
            let mut zeroed = files[name].clone();
            let from: usize = lines[..at].iter().map(|line| line.len()).sum();
            zeroed[from..from + lines[at].len()].fill(0);
            check(&base, &seen, name, &zeroed, &format!("{name} line {at} zeroed"));
        }
    }
}

#[test]
fn s0_51_a_file_that_is_gone_is_never_complete_and_no_number_is_reused() {
    for close in [false, true] {
        let (base, seen) = two_files(close);
        let names = [
            "audit.jsonl",
            "audit-1.jsonl",
            "audit-retention.json",
            "event-sequence.json",
            "audit-mark.json",
        ];
        for gone in 1u32..1 << names.len() {
            let fs = base.after_kill();
            let chosen: Vec<_> =
                names.iter().enumerate().filter(|(n, _)| gone & (1 << n) != 0).collect();
            // The newest file cut at a record, the evidence of its end gone too,
            // and the process killed: nothing is left that could know.
            let blind = !close && gone & 0b1_0001 == 0b1_0001;
            if blind || gone == (1 << names.len()) - 1 {
                continue;
            }
            for (_, name) in &chosen {
                signaltty_persist::fs::Fs::remove(&fs, name).unwrap();
            }
            let journal = open(&fs.after_kill());
            seen.check(&journal, false, &format!("without {chosen:?}, closed: {close}"));
        }
    }
}

#[test]
fn s0_51_small_files_of_any_content_are_survived() {
    let (base, seen) = two_files(false);
    let files = base.files();
    for name in ["audit-retention.json", "event-sequence.json", "audit-mark.json"] {
        let whole = &files[name];
        for at in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << (at % 8);
            check(&base, &seen, name, &flipped, &format!("{name} flipped at {at}"));
            check(&base, &seen, name, &whole[..at], &format!("{name} cut at {at}"));
        }
    }
}

#[test]
fn a_directory_in_the_place_of_a_file_is_set_aside() {
    use signaltty_persist::fs::Fs as _;

    let names = ["audit.jsonl", "audit-retention.json", "event-sequence.json", "audit-mark.json"];
    for name in names {
        let (base, seen) = two_files(false);
        base.remove(name).unwrap();
        base.make_dir(name).unwrap();
        let opened = try_open(&base).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(opened.journal.mark_failure().is_none(), "{name}");
        seen.check(&opened.journal, false, name);
        assert!(base.dir(&format!("{name}.kept-1")).is_ok(), "{name}");
    }
}

#[test]
fn the_damaged_file_is_kept() {
    let (base, seen) = two_files(false);
    let whole = base.files()["audit.jsonl"].clone();
    let mut flipped = whole.clone();
    flipped[10] ^= 1;
    base.put("audit.jsonl", &flipped);
    let opened = try_open(&base).unwrap();
    assert!(opened.remarks.iter().any(|line| line.contains("damaged")), "{:?}", opened.remarks);
    assert!(base.files().values().any(|bytes| *bytes == flipped));
    seen.check(&opened.journal, false, "kept");
}

#[test]
fn a_torn_end_that_nobody_saw_is_cut_without_a_word() {
    let (base, seen) = two_files(false);
    let mut torn = base.files()["audit.jsonl"].clone();
    torn.extend_from_slice(b"{\"seq\":99,\"prev\":98,\"at\":");
    base.put("audit.jsonl", &torn);
    let opened = try_open(&base).unwrap();
    assert_eq!(opened.remarks, [""; 0]);
    seen.check(&opened.journal, true, "torn");
}

#[test]
fn a_newer_format_is_left_alone() {
    let (base, _) = two_files(false);
    let newer = b"{\"format\":2,\"crc\":\"";
    let covered = b"{\"format\":2";
    let mut file = covered.to_vec();
    file.extend_from_slice(format!(",\"crc\":\"{:08x}\"}}\n", crc32fast::hash(covered)).as_bytes());
    assert!(file.starts_with(newer));
    base.put("audit-retention.json", &file);
    let before = base.files();
    let error = try_open(&base).unwrap_err();
    assert!(error.to_string().contains("format 2"), "{error}");
    let mut after = base.files();
    after.insert("server.lock".into(), before["server.lock"].clone());
    assert_eq!(after, before);
}
