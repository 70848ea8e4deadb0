#![no_main]
//! See [`signaltty_persist::fuzz::retention`].

libfuzzer_sys::fuzz_target!(|data: &[u8]| signaltty_persist::fuzz::retention(data));
