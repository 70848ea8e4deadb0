#![no_main]
//! A damaged record of an agent is never taken for the one that was saved.
use signaltty_adapters::fuzz::fuzz_record;

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_record(data));
