#![no_main]
//! Whatever an agent writes to its hook is read or refused.
use signaltty_adapters::fuzz::fuzz_hook;

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_hook(data));
