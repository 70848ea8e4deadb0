#![no_main]
//! See [`signaltty_persist::fuzz::sequence`].

libfuzzer_sys::fuzz_target!(|data: &[u8]| signaltty_persist::fuzz::sequence(data));
