//! Lines, tails and what programs say, through the public interface.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::path::PathBuf;

use proptest::collection::vec;
use proptest::prelude::*;
use signaltty_pty::{HistoryLimit, Screen, ScreenEvent, Size};

const TAIL: usize = 64 * 1024;

fn screen(cols: u16, rows: u16, input: impl AsRef<[u8]>) -> Screen {
    let mut screen = Screen::new(Size::new(cols, rows), HistoryLimit::default());
    screen.advance(input.as_ref());
    screen
}

/// A tail stands alone: whole lines of text and complete styles, ended.
fn check_tail(tail: &str, budget: usize) {
    assert!(tail.len() <= budget, "{} bytes", tail.len());
    assert!(tail.is_empty() || tail.ends_with('\n'));
    for line in tail.lines() {
        let mut rest = line;
        let mut styled = false;
        while let Some((text, sequence)) = rest.split_once("\x1b[") {
            assert!(!text.contains(char::is_control), "{line:?}");
            let (parameters, after) = sequence.split_once('m').expect("a complete style");
            let legal = |c: char| c.is_ascii_digit() || c == ';' || c == ':';
            assert!(parameters.chars().all(legal), "{line:?}");
            styled = parameters != "0";
            rest = after;
        }
        assert!(!rest.contains(char::is_control) && !styled, "{line:?}");
    }
}

#[test]
fn d30_what_is_forgotten_is_on_neither_screen_and_not_in_the_history() {
    let shown = "one\r\ntwo\r\nthree\r\nfour\r\nfive";
    for alternate in ["", "\x1b[?1049hdrawn"] {
        let mut screen = screen(20, 3, format!("\x1b]2;name\x07{shown}{alternate}"));
        assert!(screen.tail(TAIL).contains("one") && screen.tail(TAIL).contains("five"));
        screen.forget();
        assert_eq!(screen.tail(TAIL), "");
        assert_eq!(screen.lines(usize::MAX).concat(), "");
        let repaint = String::from_utf8(screen.repaint()).unwrap();
        for gone in ["one", "five", "drawn"] {
            assert!(!repaint.contains(gone), "{repaint:?}");
        }
        assert_eq!(screen.title(), Some("name"));
        // The program goes on where it was.
        screen.advance(b" on\x1b[?1049l");
        assert_eq!(screen.lines(usize::MAX).concat().contains(" on"), alternate.is_empty());
        screen.advance(b"\r\nmore");
        assert!(screen.tail(TAIL).ends_with("more\n"));
        assert!(!screen.tail(TAIL).contains("five"));
    }
}

#[test]
fn lines_are_joined_trimmed_and_in_order() {
    let long = "0123456789".repeat(5);
    let text = format!("one   \r\n\r\n{long}\r\n  indented\r\n家家家家家家家x\r\n");
    for (cols, rows) in [(12, 3), (7, 2), (80, 24), (2, 1), (13, 1)] {
        let lines = screen(cols, rows, &text).lines(100);
        assert_eq!(lines, ["one", "", &long, "  indented", "家家家家家家家x"], "{cols}x{rows}");
    }
    assert_eq!(screen(12, 3, &text).lines(2), ["  indented", "家家家家家家家x"]);
    assert!(screen(12, 3, "").lines(5).is_empty());
}

#[test]
fn d11_a_tail_of_a_lot_of_output_holds_its_last_line() {
    let mut screen = screen(100, 30, "");
    let mut number = 0;
    let mut written = 0;
    while written < 1 << 20 {
        let line = format!("\x1b[3{}mline {number}\x1b[0m of \x1b[1moutput\x1b[0m\r\n", number % 8);
        screen.advance(line.as_bytes());
        written += line.len();
        number += 1;
    }
    screen.advance(b"the last line");
    for budget in [TAIL, 1000, 33, 14] {
        let tail = screen.tail(budget);
        check_tail(&tail, budget);
        assert!(tail.ends_with("the last line\n"), "{budget}");
        let expected = if budget == TAIL { 60_000 } else { 0 };
        assert!(tail.len() > expected, "{} of {budget}", tail.len());
    }
    // Room for two characters, the mark, a style's end and the line feed.
    assert_eq!(screen.tail(10), "th…\n");
    assert_eq!(screen.tail(0), "");
}

#[test]
fn c073_a_tail_is_never_cut_inside_a_sequence_link_or_character() {
    let mut text = String::new();
    for number in 0..3_000 {
        text += &format!(
            "\x1b[38;2;255;10;10mred {number}\x1b[0m \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\ 😀家\r\n"
        );
    }
    let screen = screen(40, 10, &text);
    for budget in (TAIL - 60..TAIL).chain(0..200) {
        let tail = screen.tail(budget);
        check_tail(&tail, budget);
        assert!(!tail.contains('\u{fffd}') && !tail.contains("http"));
        // Every line is whole, unless it is the only one and marked.
        for line in tail.lines().filter(|line| !line.contains('…')) {
            assert!(line.starts_with("\x1b[0;38;2;255;10;10mred "), "{budget}: {line:?}");
            assert!(line.ends_with("link 😀家"), "{budget}: {line:?}");
        }
    }
}

#[test]
fn d11_a_seeded_screen_keeps_the_earlier_output_before_the_new() {
    let first = screen(40, 5, "\x1b[1mbold\x1b[0m\r\nplain\r\n\r\nlast");
    let mut second = screen(20, 3, "");
    second.seed(first.tail(TAIL).as_bytes(), "--- restored ---");
    second.advance(b"new\r\n");
    let expected = ["bold", "plain", "", "last", "--- restored ---", "new"];
    assert_eq!(second.lines(10), expected);
    // The same again: nothing is lost or doubled over any number of rounds.
    let mut third = screen(60, 10, "");
    third.seed(second.tail(TAIL).as_bytes(), "--- restored ---");
    assert_eq!(third.lines(10)[..6], expected);
    let mut empty = screen(20, 3, "");
    empty.seed(b"", "--- restored ---");
    assert!(empty.lines(10).is_empty());
}

#[test]
fn c076_a_hostile_tail_does_nothing_but_show_text() {
    let hostile = b"\x1b[2J\x1b[?1049hx\n\xff\xfe\x1b]0;t\x07\n\x1b[1mopen\n\x1b[";
    let mut screen = screen(20, 3, "");
    screen.seed(hostile, "sep\x1b[2J");
    screen.advance(b"new");
    let tail = screen.tail(TAIL);
    check_tail(&tail, TAIL);
    assert!(tail.contains("\x1b[1mopen\x1b[0m\n"), "{tail:?}");
    assert_eq!(screen.lines(1), ["new"]);
    assert_eq!(screen.title(), None);
}

#[test]
fn inv_t3_the_history_is_bounded_by_lines_and_bytes() {
    let limit = HistoryLimit { lines: 100, bytes: 5_000 };
    let mut bounded = Screen::new(Size::new(80, 5), limit);
    for number in 0..1_000 {
        bounded.advance(format!("{number}\r\n").as_bytes());
    }
    assert_eq!(bounded.history().len(), 100);
    assert_eq!(bounded.history().dropped(), 996 - 100);
    assert_eq!(bounded.lines(1), ["999"]);
    for _ in 0..1_000 {
        bounded.advance(&[b'x'; 79]);
        bounded.advance(b"\r\n");
    }
    assert!(bounded.history().lines().map(str::len).sum::<usize>() <= 5_000);
    // A line that never ends is handed out in parts.
    let mut endless = screen(80, 5, "");
    for _ in 0..1_000 {
        endless.advance(&[b'y'; 1_000]);
    }
    assert!(endless.history().len() > 10);
    assert_eq!(endless.lines(100).concat().len(), 1_000_000);
}

#[test]
fn inv_t3_endless_strings_and_updates_hold_nothing_back() {
    for opener in ["\x1b]2;", "\x1b]52;c;", "\x1bP", "\x1b_", "\x1b^", "\x1bX"] {
        let mut input = opener.as_bytes().to_vec();
        input.resize(3 << 20, b'A');
        let mut endless = screen(80, 5, &input);
        endless.advance(b"\x1b\\\x07visible");
        assert_eq!(endless.lines(1), ["visible"], "{opener:?}");
        assert_eq!(endless.title(), None);
        assert!(endless.repaint().len() < 20_000);
    }
    let held = screen(80, 5, "\x1b[?2026hshown at once");
    assert_eq!(held.lines(1), ["shown at once"]);
}

#[test]
fn clearing_keeps_the_screen_once_and_erasing_the_log_erases_it() {
    let frame = "\x1b[H\x1b[2Jtitle\r\nbody";
    let mut cleared = screen(20, 5, frame.repeat(5));
    assert_eq!(cleared.lines(10), ["title", "body", "title", "body"]);
    cleared.advance(b"\x1b[3J");
    assert_eq!(cleared.lines(10), ["title", "body"]);
    assert!(cleared.history().is_empty());
    let reset = screen(20, 5, "shell\x1b[?1049hfull\x1bcnew");
    assert_eq!(reset.lines(10), ["shell", "new"]);
}

#[test]
fn the_alternate_screen_leaves_no_lines_and_hides_none() {
    let mut both =
        screen(20, 3, "one\r\ntwo\r\nthree\r\nfour\x1b[?1049h\x1b[Hfull\r\n\n\n\nscreen");
    assert_eq!(both.lines(10)[..4], ["one", "two", "three", "four"]);
    assert_eq!(both.lines(1), ["screen"]);
    assert_eq!(both.history().len(), 1);
    both.resize(Size::new(3, 2));
    assert_eq!(both.lines(10)[..4], ["one", "two", "three", "four"]);
    both.advance(b"\x1b[?1049l");
    assert_eq!(both.lines(10), ["one", "two", "three", "four"]);
}

#[test]
fn answers_are_given_only_while_nobody_is_attached() {
    let questions =
        b"\x1b[c\x1b[>c\x1b[6n\x1b[?2004$p\x1b[18t\x1b[14t\x1b]11;?\x07\x1b]4;1;?\x1b\\";
    let mut alone = screen(80, 24, questions);
    let answers = String::from_utf8(alone.take_answers()).unwrap();
    for part in [
        "\x1b[?6c",
        "\x1b[>0;",
        "\x1b[1;1R",
        "\x1b[?2004;2$y",
        "\x1b[8;24;80t",
        "\x1b[4;384;640t",
        "\x1b]11;rgb:0000/0000/0000\x07",
        "\x1b]4;1;rgb:cdcd/0000/0000\x1b\\",
    ] {
        assert!(answers.contains(part), "{part:?} in {answers:?}");
    }
    assert!(alone.take_answers().is_empty());
    alone.advance(questions);
    alone.set_attached(true);
    alone.advance(questions);
    assert!(alone.take_answers().is_empty());
    alone.set_attached(false);
    assert!(alone.take_answers().is_empty());
    alone.advance(&questions.repeat(1_000));
    assert!(alone.take_answers().len() <= 4096);
}

#[test]
fn events_are_told_once_and_bounded() {
    let mut noisy =
        screen(80, 24, "\x1b]0;one\x07\x07\x07\x1b]2;two\x1b\\\x1b]7;file://box/tmp\x07");
    assert_eq!(noisy.title(), Some("two"));
    assert_eq!(
        noisy.take_events(),
        [
            ScreenEvent::Bell,
            ScreenEvent::Title(Some("two".into())),
            ScreenEvent::Cwd { host: "box".into(), path: PathBuf::from("/tmp") },
        ]
    );
    noisy.advance("\x1b]9;note\x07".repeat(1_000).as_bytes());
    let events = noisy.take_events();
    assert!(!events.is_empty() && events.len() <= 64);
    assert!(noisy.take_events().is_empty());
}

#[test]
fn c074_modes_set_once_are_repainted() {
    let set = screen(80, 24, "\x1b[?2004h\x1b[?1002;1006h\x1b[?1004h\x1b[?1h");
    assert!(set.bracketed_paste());
    let repaint = String::from_utf8(set.repaint()).unwrap();
    for mode in ["\x1b[?2004h", "\x1b[?1002h", "\x1b[?1006h", "\x1b[?1004h", "\x1b[?1h"] {
        assert!(repaint.contains(mode), "{mode:?} in {repaint:?}");
    }
}

#[test]
fn history_can_be_searched() {
    let found = screen(20, 2, "a\r\n\x1b[1mneed\x1b[0mle\r\nb\r\nneedle 2\r\nc\r\nd");
    assert_eq!(found.history().search("needle").collect::<Vec<_>>(), [1, 3]);
    assert_eq!(found.history().lines().next(), Some("a"));
}

proptest! {
    #[test]
    fn text_comes_back_as_it_was_written_at_any_size(
        lines in vec("[a-z 0-9家😀ü]{0,60}", 1..40),
        sizes in vec((2..50_u16, 1..20_u16), 1..4),
        styled in any::<bool>(),
    ) {
        // The emulator cannot tell blanks at the end of a line from none.
        let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
        let mut rest = lines.chunks(lines.len().div_ceil(sizes.len()));
        let mut screen = screen(sizes[0].0, sizes[0].1, "");
        for (cols, rows) in &sizes {
            screen.resize(Size::new(*cols, *rows));
            for line in rest.next().unwrap_or_default() {
                let (on, off) = if styled { ("\x1b[32m", "\x1b[0m") } else { ("", "") };
                screen.advance(format!("{on}{line}{off}\r\n").as_bytes());
            }
        }
        let mut expected: Vec<&str> = lines.clone();
        while expected.last() == Some(&"") {
            expected.pop();
        }
        let mut seen = screen.lines(usize::MAX);
        while seen.last().is_some_and(String::is_empty) {
            seen.pop();
        }
        prop_assert_eq!(seen, expected);
        for budget in [0, 1, 7, 40, 500] {
            check_tail(&screen.tail(budget), budget);
        }
    }
}
