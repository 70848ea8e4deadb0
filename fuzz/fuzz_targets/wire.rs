#![no_main]
//! Frames and requests of any bytes are read or refused.
use signaltty_server::protocol::fuzz::fuzz_wire;

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_wire(data));
