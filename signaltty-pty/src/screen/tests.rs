//! Properties of the screen that need to look at single cells.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::style::Style;

/// Everything about a screen that a repaint promises to reproduce.
#[derive(Debug, PartialEq)]
struct Dump {
    rows: Vec<String>,
    glyphs: Vec<Vec<OwnedGlyph>>,
    carets: (Caret, Caret),
    modes: view::Modes,
    cursor_style: u8,
    colors: Vec<(usize, (u8, u8, u8))>,
    region: (usize, usize),
    tabs: Vec<bool>,
    shifted: bool,
    passive: Vec<u16>,
    saved_modes: Vec<(u16, bool)>,
    keyboards: Vec<(u8, Vec<u8>)>,
    other_keys: u8,
    title: Option<String>,
    below: Option<Box<Self>>,
}

type OwnedGlyph = (char, Vec<char>, Style, Option<Link>, bool);

fn dump(screen: &Screen) -> Dump {
    let view = screen.view();
    let shadow = view.shadow;
    let keyboard = |keyboard: &shadow::Keyboard| {
        (keyboard.flags, keyboard.saved.iter().copied().collect::<Vec<_>>())
    };
    let shown = if screen.parked.is_some() { 2 } else { 1 };
    Dump {
        rows: view.rows().map(|row| row.whole().map(|glyph| glyph.c).collect()).collect(),
        glyphs: view
            .rows()
            .map(|row| {
                row.whole()
                    .map(|g| (g.c, g.marks.to_vec(), g.style, g.link, g.wide))
                    .collect::<Vec<_>>()
            })
            .collect(),
        carets: (view.caret(), view.saved_caret()),
        modes: view.modes(),
        cursor_style: view.cursor_style(),
        colors: view.colors().collect(),
        region: shadow.region,
        tabs: shadow.tabs.clone(),
        shifted: shadow.shifted,
        passive: shadow.passive_modes.iter().copied().collect(),
        saved_modes: shadow.saved_modes.iter().map(|(mode, on)| (*mode, *on)).collect(),
        keyboards: shadow.keyboards.iter().take(shown).map(keyboard).collect(),
        other_keys: shadow.modify_other_keys,
        title: shadow.title.clone(),
        below: screen.parked.as_ref().map(|parked| {
            // Compared by what it draws.
            let mut below = Screen::new(screen.size(), HistoryLimit::default());
            below.advance(parked.repaint.as_bytes());
            Box::new(dump(&below))
        }),
    }
}

fn screen(cols: u16, rows: u16, input: &[u8]) -> Screen {
    let mut screen = Screen::new(Size::new(cols, rows), HistoryLimit::default());
    screen.advance(input);
    screen
}

/// A repaint into `second` equals `first` and goes on equal.
fn assert_repaints(first: &mut Screen, mut second: Screen, further: &[u8]) {
    let repaint = first.repaint();
    second.advance(&repaint);
    assert_same(first, &second, &format!("after {}", repaint.escape_ascii()));
    first.advance(further);
    second.advance(further);
    assert_same(first, &second, "after further bytes");
}

/// Fails with the parts that differ.
fn assert_same(first: &Screen, second: &Screen, when: &str) {
    let (first, second) = (dump(first), dump(second));
    if first == second {
        return;
    }
    assert_eq!(first.rows, second.rows, "{when}");
    let (first, second) = (format!("{first:#?}"), format!("{second:#?}"));
    let differing = first.lines().zip(second.lines()).filter(|(a, b)| a != b);
    let differing: Vec<_> = differing.take(12).collect();
    panic!("{when}: {differing:#?}");
}

#[test]
fn a_repaint_is_equal_and_stays_equal() {
    let further = b"more\r\n\tx\x1b7\x1b[3;3Hy\x1b8z\x1b[?1049lafter\x1b[6n\x0eq\x0fq\r\n\r\n";
    for input in [
        &b""[..],
        b"plain\r\ntext",
        b"\x1b[1;31mred\x1b[0m \x1b[4:3;58:2::1:2:3mcurly\x1b[48;5;20m  \x1b[K",
        "wide 家家 combined e\u{301}\u{302} flag \u{1f1e9}\u{1f1ea}".as_bytes(),
        b"a line that is longer than the screen is wide, so it wraps more than once",
        "0123456789012345678家 wide at the edge".as_bytes(),
        b"0123456789012345678\x1b[1m9",
        b"01234567890123456789\x1b7\r\nsaved with a pending wrap",
        b"\x1b[?1049h\x1b[2;4r\x1b[?6h\x1b[Halt\x1b[?2004h\x1b[?1003;1006h",
        b"primary\x1b[33m\x1b[?1049h\x1b[44m\x1b[2Jalt \x1b7\x1b[5;5Hx",
        b"\x1b[3g\x1b[5G\x1bH\x1b[1;1H\x1b(0lqk\x1b)0\x0e",
        b"\x1b]2;title\x07\x1b]4;1;#102030\x07\x1b]11;#000011\x07\x1b[5 q\x1b[?25l",
        b"\x1b]8;id=a;http://x\x1b\\link\x1b]8;;\x1b\\ \x1b]8;;http://y\x1b\\open",
        b"\x1b[>1u\x1b[>5u\x1b[=7;2u\x1b[>4;2m\x1b[?1h\x1b=\x1b[?1004h\x1b[?5h",
        b"\x1b[4h\x1b[20h\x1b[?7linsert",
        b"\x1b[2r\x1b[?6h\x1b[u",
        // The second byte of U+2733 ends no string.
        b"a\x1bP$q\xe2\x9c\xb3b",
        // Its row of before lies outside of the lines that are counted now.
        b"line\x1b[?1049h\x1b[2;4r\x1b[?6h\x1b[Hin\x1b[?1049l",
    ] {
        for dirty in [&b""[..], b"\x1b[31;5mdirt\x1b[?1049hmore\x1b[2;3r\x1b[?6;1h\x1b(0\x1b[4h"] {
            let mut first = screen(20, 6, input);
            assert_repaints(&mut first, screen(20, 6, dirty), further);
        }
    }
}

#[test]
fn a_repaint_pushes_nothing_into_the_history() {
    let first = screen(20, 6, b"a\r\nb\r\nc\r\nd\r\ne\r\nf\r\ng\r\nh\x1b[?1049halt");
    let second = screen(20, 6, &first.repaint());
    assert_eq!(first.history().len(), 2);
    assert!(second.history().is_empty());
}

#[test]
fn c077_variation_selectors_do_not_move_columns() {
    let mut first = screen(20, 4, "a ➡\u{fe0f} b\r\n⚠\u{fe0f}|\r\n".as_bytes());
    assert_repaints(&mut first, screen(20, 4, b""), b"x");
}

#[test]
fn c076_hostile_unicode_is_survived_and_bounded() {
    let mut input = "👨\u{200d}👩\u{200d}👧 🇩🇪 e".to_owned();
    input.extend(std::iter::repeat_n('\u{301}', 200));
    input.push_str(" \u{1100}\u{1161}\u{11a8} שלום ☺\u{fe0f}\r\n");
    let mut bytes = input.into_bytes();
    bytes.extend_from_slice(b"\xed\xa0\x80 \xff\xc3( end\r\n");
    let mut first = screen(40, 5, &bytes);
    let marks = first.view().rows().flat_map(RowView::whole).map(|glyph| glyph.marks.len()).max();
    assert_eq!(marks, Some(16));
    let mut again = screen(40, 5, b"");
    again.seed(first.tail(64 * 1024).as_bytes(), "-- restored --");
    assert_eq!(again.lines(9), [first.lines(9), vec!["-- restored --".to_owned()]].concat());
    assert_repaints(&mut first, screen(40, 5, b""), b"\r\nx");
}

#[test]
fn halves_of_wide_characters_do_not_stay_behind() {
    for (input, expected) in [
        ("家b\x1b[1;2Hx", " xb"),
        ("家b\x1b[1;1Hx", "x b"),
        ("家b\x1b[1;2H\x1b[X", "  b"),
        ("家b\x1b[1;2H\x1b[K", ""),
        ("a家b\x1b[1;2H\x1b[P", "a b"),
        ("a家b\x1b[1;3H\x1b[@", "a   b"),
        ("\x1b[2;9H家\x1b[10G字", "         字"),
    ] {
        assert_eq!(screen(10, 2, input.as_bytes()).lines(1).concat(), expected, "{input:?}");
    }
}

#[test]
fn a_soft_reset_leaves_contents_and_position() {
    let set = b"ab\x1b[?6;1h\x1b[?7;25l\x1b[4h\x1b=\x1b[2;3r\x1b[31m\x1b(0\x0e\x1b[2;2H\x1b7";
    let mut reset = screen(10, 4, set);
    reset.advance(b"\x1b[!p");
    let view = reset.view();
    let place = Caret { row: 2, col: 1, ..Caret::default() };
    assert_eq!((view.caret(), view.saved_caret()), (place, Caret::default()));
    assert_eq!(view.modes(), screen(10, 4, b"").view().modes());
    assert_eq!((view.shadow.region, view.shadow.shifted), ((0, 4), false));
    assert_eq!(reset.lines(1), ["ab"]);
}

#[test]
fn private_modes_are_saved_and_restored() {
    let mut kept = screen(10, 3, b"\x1b[?2004;1h\x1b[?2004;1;7s\x1b[?2004;1l\x1b[?7l");
    assert!(!kept.bracketed_paste() && !kept.application_cursor());
    // Somebody who attaches meanwhile knows what was saved.
    let mut attached = screen(10, 3, &kept.repaint());
    for screen in [&mut kept, &mut attached] {
        screen.advance(b"\x1b[?2004;7r");
        assert!(screen.bracketed_paste() && !screen.application_cursor());
        assert!(screen.view().modes().wrap);
    }
    assert_same(&kept, &attached, "after restoring");
}

#[test]
fn inv_t3_oversized_links_and_titles_are_not_kept() {
    let long = "x".repeat(3_000);
    let mut kept = screen(10, 2, format!("\x1b]8;;{long}\x07a\x1b]8;;\x07").as_bytes());
    kept.advance(format!("\x1b]8;id={long};u:x\x07b\x1b]8;;\x07\x1b]2;{long}\x07").as_bytes());
    assert!(kept.view().rows().flat_map(RowView::whole).all(|glyph| glyph.link.is_none()));
    assert_eq!(kept.title().map(str::len), Some(1024));
    for _ in 0..1_000 {
        kept.advance(b"\x1b[22t\x1b[>1u");
    }
    assert!(kept.repaint().len() < 20_000);
}

/// Pieces of output, most of them meaningful.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let number = 0..30_u16;
    let text = "[ -~äß家字😀\u{301}\u{fe0f}\u{200d}é\t\r\n]{0,30}".prop_map(String::into_bytes);
    let csi = ("[ABCDEFGHJKLMPSTXZ@dfgrsuemI]", vec(number.clone(), 0..3)).prop_map(|(end, n)| {
        let n: Vec<String> = n.iter().map(u16::to_string).collect();
        format!("\x1b[{}{end}", n.join(";")).into_bytes()
    });
    let sgr = vec(prop_oneof![0..110_u16, Just(38), Just(48), Just(58), Just(5), Just(2)], 0..6)
        .prop_map(|n| {
            let n: Vec<String> = n.iter().map(u16::to_string).collect();
            format!("\x1b[{}m", n.join(";")).into_bytes()
        });
    let mode = (
        prop::sample::select(vec![
            1, 5, 6, 7, 12, 25, 47, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 1042, 1047, 1048,
            1049, 2004, 2026,
        ]),
        any::<bool>(),
    )
        .prop_map(|(n, on)| format!("\x1b[?{n}{}", if on { 'h' } else { 'l' }).into_bytes());
    let other = prop::sample::select(vec![
        "\x1b7",
        "\x1b8",
        "\x1bM",
        "\x1bD",
        "\x1bE",
        "\x1bH",
        "\x1bc",
        "\x1b#8",
        "\x1b=",
        "\x1b>",
        "\x1b(0",
        "\x1b(B",
        "\x1b)0",
        "\x0e",
        "\x0f",
        "\x08",
        "\x0b",
        "\x07",
        "\x1b[4h",
        "\x1b[4l",
        "\x1b[20h",
        "\x1b[20l",
        "\x1b[2 q",
        "\x1b[0 q",
        "\x1b[>1u",
        "\x1b[<u",
        "\x1b[=3u",
        "\x1b[>4;1m",
        "\x1b]2;t\x07",
        "\x1b]8;;u:x\x1b\\",
        "\x1b]8;id=i;u:y\x07",
        "\x1b]8;;\x1b\\",
        "\x1b]4;3;#0a0b0c\x07",
        "\x1b]104\x07",
        "\x1b]9;note\x07",
        "\x1b]7;file://h/p\x1b\\",
        "\x1bP+q\x1b\\",
        "\x1b[c",
        "\x1b[6n",
        "\x1b[?2004$p",
        "\x1b[22t",
        "\x1b[23t",
        "\x18",
        "\x1b]11;?\x07",
        "\x1b[14t",
        "\x1b[18t",
        "\x1b[2J",
        "\x1b[3J",
        "\x1b[3g",
        "\x1b[?1;7;2004s",
        "\x1b[?1;7;2004r",
        "\x1b[?6;25;1000;5s",
        "\x1b[?6;25;1000;5;1049r",
    ])
    .prop_map(|text| text.as_bytes().to_vec());
    prop_oneof![4 => text, 4 => csi, 1 => sgr, 1 => mode, 2 => other, 1 => vec(any::<u8>(), 0..12)]
}

fn output(count: usize) -> impl Strategy<Value = Output> {
    vec(pieces(), 0..count).prop_map(|pieces| Output(pieces.concat()))
}

/// A log, with other things in it now and then.
fn log() -> impl Strategy<Value = Output> {
    let line = prop_oneof![6 => "[ -~]{0,19}", 1 => "[ -~é家\t\r]{0,45}", 1 => "x {1,18}"];
    let end = prop_oneof![30 => Just("\r\n"), 1 => Just("\n")];
    let lines = vec((line, end), 0..90).prop_map(|lines| {
        lines.into_iter().map(|(line, end)| line + end).collect::<String>().into_bytes()
    });
    vec(prop_oneof![3 => lines, 1 => pieces()], 0..8).prop_map(|parts| Output(parts.concat()))
}

/// Bytes that can be read when a property fails.
#[derive(Clone)]
struct Output(Vec<u8>);

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_split_of_the_input_gives_the_same(
        input in output(40), cuts in vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let mut whole = screen(20, 5, &input.0);
        let mut split = screen(20, 5, b"");
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(input.0.len() + 1)).collect();
        cuts.sort_unstable();
        let mut start = 0;
        for cut in cuts {
            split.advance(&input.0[start..cut]);
            start = cut;
        }
        split.advance(&input.0[start..]);
        assert_same(&whole, &split, "in parts");
        prop_assert_eq!(whole.tail(4096), split.tail(4096));
        prop_assert_eq!(whole.take_events(), split.take_events());
        prop_assert_eq!(whole.take_answers(), split.take_answers());
    }

    #[test]
    fn a_log_gives_the_same_line_by_line_as_at_once(
        begin in output(6), log in log(), rows in 1..7_u16,
    ) {
        let mut whole = screen(20, rows, &begin.0);
        let mut parts = screen(20, rows, &begin.0);
        whole.advance(&log.0);
        // Too short for the short way of lines that scroll off.
        log.0.chunks(100).for_each(|part| parts.advance(part));
        assert_same(&whole, &parts, "in parts");
        prop_assert!(whole.history().lines().eq(parts.history().lines()));
        // The last letter of all is repeated, and an open line goes on.
        for screen in [&mut whole, &mut parts] {
            screen.advance(b"\x1b[3b more\r\n");
        }
        assert_same(&whole, &parts, "after further bytes");
        prop_assert_eq!(whole.tail(4096), parts.tail(4096));
    }

    #[test]
    fn any_screen_repaints_and_goes_on_equal(
        input in output(40), further in output(20),
        size in (2..25_u16, 1..7_u16),
    ) {
        let mut first = screen(size.0, size.1, &input.0);
        let second = screen(size.0, size.1, b"");
        assert_repaints(&mut first, second, &further.0);
    }

    #[test]
    fn any_screen_sleeps_and_goes_on_equal(
        input in output(40), further in output(20),
        size in (2..25_u16, 1..7_u16),
    ) {
        let mut awake = screen(size.0, size.1, &input.0);
        let slept = screen(size.0, size.1, &input.0);
        let unfinished = !slept.filter.unfinished().is_empty();
        let (mut slept, refused) = match slept.sleep() {
            Ok(asleep) => (asleep.wake(), false),
            Err(screen) => (*screen, true),
        };
        prop_assert_eq!(refused, unfinished);
        for bytes in [&b""[..], &further.0] {
            awake.advance(bytes);
            slept.advance(bytes);
            assert_same(&awake, &slept, "after a sleep");
            prop_assert_eq!(awake.tail(4096), slept.tail(4096));
            prop_assert_eq!(awake.take_events(), slept.take_events());
            prop_assert_eq!(awake.take_answers(), slept.take_answers());
        }
    }

    #[test]
    fn c086_any_sequence_of_sizes_is_survived(
        steps in vec((output(12), 0..40_u16, 0..12_u16), 1..8),
    ) {
        let mut first = screen(20, 5, b"");
        for (input, cols, rows) in steps {
            first.advance(&input.0);
            first.resize(Size::new(cols, rows));
            prop_assert!(first.tail(300).len() <= 300);
            let size = first.size();
            let second = screen(size.cols, size.rows, b"");
            assert_repaints(&mut first, second, b"x\r\n");
        }
    }
}
