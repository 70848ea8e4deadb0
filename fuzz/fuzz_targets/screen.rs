#![no_main]
//! A screen takes any bytes, and a repaint of it into another is the same.
use signaltty_pty::{HistoryLimit, Screen, Size};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let size = Size::new(20, 6);
    let limit = HistoryLimit { lines: 50, bytes: 4_096 };
    let mut screen = Screen::new(size, limit);
    screen.advance(data);
    let mut copy = Screen::new(size, limit);
    copy.advance(&screen.repaint());
    assert_eq!(copy.repaint(), screen.repaint());
    assert!(screen.tail(1_024).len() <= 1_024);
});
