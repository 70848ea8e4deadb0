#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| signaltty_pty::fuzz::screen(data));
