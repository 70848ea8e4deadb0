#![no_main]
//! A snapshot of any bytes is refused or taken, and what is taken can be saved
//! and taken again as the same.
use signaltty_persist::schema::{from_json, to_json};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(decoded) = from_json(data) else { return };
    let json = to_json(&decoded.session, &decoded.header).expect("what was loaded can be saved");
    let again = from_json(&json).expect("what was saved can be loaded");
    assert_eq!(again.session, decoded.session);
    assert!(again.problems.is_empty(), "{:?}", again.problems);
});
