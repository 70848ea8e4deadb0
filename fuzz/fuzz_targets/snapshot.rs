#![no_main]
//! See [`signaltty_persist::fuzz::snapshot`].

libfuzzer_sys::fuzz_target!(|data: &[u8]| signaltty_persist::fuzz::snapshot(data));
