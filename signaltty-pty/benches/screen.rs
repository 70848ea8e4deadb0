//! How fast a screen takes output: `cargo bench -p signaltty-pty --bench screen`.
//!
//! Three kinds of output: log lines in plain letters, the inline interface of an
//! agent with styles, wide characters and a box that is drawn anew below, and a
//! colour of its own for every cell.
#![allow(missing_docs)]

use std::fmt::Write as _;

use divan::Bencher;
use divan::counter::BytesCount;
use signaltty_pty::{HistoryLimit, READ_BUFFER, Screen, Size};

fn main() {
    divan::main();
}

/// The same numbers in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap_or(0)
    }
}

const WORDS: [&str; 12] = [
    "building",
    "the",
    "crate",
    "warning:",
    "unused",
    "test",
    "passed",
    "in",
    "0.31s",
    "error",
    "note:",
    "src/main.rs",
];

fn words(numbers: &mut Numbers, width: usize) -> String {
    let mut line = String::new();
    while line.len() < width {
        line.push_str(WORDS.get(numbers.below(WORDS.len())).unwrap_or(&"x"));
        line.push(' ');
    }
    line.truncate(width);
    line
}

fn plain() -> String {
    let mut numbers = Numbers(7);
    (0..6_000).fold(String::new(), |mut out, _| {
        let width = 20 + numbers.below(90);
        out.push_str(&words(&mut numbers, width));
        out.push_str("\r\n");
        out
    })
}

fn agent() -> String {
    let mut numbers = Numbers(7);
    let mut out = String::new();
    for tick in 0..500 {
        out.push_str("\x1b[?2026h\r\x1b[4A\x1b[J");
        for _ in 0..numbers.below(4) {
            let (r, g, b) = (numbers.below(256), numbers.below(256), numbers.below(256));
            let (first, second) = (words(&mut numbers, 14), words(&mut numbers, 40));
            let index = numbers.below(256);
            let _ = write!(
                out,
                "\x1b[38;2;{r};{g};{b}m● \x1b[1m{first}\x1b[22m\x1b[38;5;{index}m{second}\x1b[0m \
                 端末\x1b[K\r\n"
            );
        }
        let status = words(&mut numbers, 30);
        let _ = write!(out, "\x1b[35m⠙\x1b[39m \x1b[2m{status} {tick}s\x1b[22m\r\n");
        let rule = "─".repeat(108);
        let typed = words(&mut numbers, 40);
        let _ = write!(
            out,
            "\x1b[90m╭{rule}╮\r\n│\x1b[39m > {typed}\x1b[110G\x1b[90m│\r\n╰{rule}╯\x1b[39m\r\n\
             \x1b[?2026l"
        );
    }
    out
}

fn dense() -> String {
    let mut numbers = Numbers(7);
    let mut out = String::new();
    for frame in 0..8 {
        for row in 0..32 {
            let _ = write!(out, "\x1b[{};1H", row + 1);
            for col in 0..110 {
                let (fg, bg) = ((frame + row + col) % 256, numbers.below(256));
                let style = 1 + numbers.below(4);
                let _ = write!(out, "\x1b[{style};38;5;{fg};48;5;{bg}mx");
            }
        }
        out.push_str("\x1b[0m");
    }
    out
}

fn advance(bencher: Bencher<'_, '_>, output: &str) {
    let mut screen = Screen::new(Size::new(120, 40), HistoryLimit::default());
    bencher.counter(BytesCount::of_str(output)).bench_local(|| {
        for chunk in output.as_bytes().chunks(READ_BUFFER / 4) {
            screen.advance(chunk);
        }
    });
}

#[divan::bench]
fn advance_plain(bencher: Bencher<'_, '_>) {
    advance(bencher, &plain());
}

#[divan::bench]
fn advance_agent(bencher: Bencher<'_, '_>) {
    advance(bencher, &agent());
}

#[divan::bench]
fn advance_dense(bencher: Bencher<'_, '_>) {
    advance(bencher, &dense());
}

#[divan::bench]
fn repaint_full_screen(bencher: Bencher<'_, '_>) {
    let mut screen = Screen::new(Size::new(120, 40), HistoryLimit::default());
    screen.advance(dense().as_bytes());
    bencher.bench_local(|| screen.repaint());
}
