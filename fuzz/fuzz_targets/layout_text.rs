#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| signaltty_core::layout::fuzz_layout_text(data));
