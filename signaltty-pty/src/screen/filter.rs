//! What stands before the parser.
//!
//! The parser keeps an operating system command (OSC) whole until it ends, so
//! one that never ends would take all memory. The filter passes at most
//! [`MAX_OSC`] bytes of one on; what is longer has no effect and is not shown
//! either, as a terminal that draws pictures sent that way would not show their
//! text. Device control strings need no bound, the parser keeps nothing of them.
//!
//! Clipboard contents (OSC 52) get no larger bound: the bytes reach attached
//! terminals unparsed, and the emulator has no clipboard.
//!
//! The filter also keeps the sequence or character that has begun and not ended:
//! [`osc`](super::osc) reads commands from it, and a repaint ends with it, since
//! the bytes that follow the repaint go on where the input stopped.

use std::str;

/// A part of the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// For the parser.
    Pass(&'a [u8]),
    /// For the parser, which is between sequences: whole characters, and control
    /// characters other than an escape.
    Text(&'a [u8]),
    /// For the parser, but without effect: the end of a command that was cut.
    Mute(&'a [u8]),
    /// A complete command that was short enough to be kept.
    Command(&'a [u8]),
    /// A soft reset, which the parser does not know.
    SoftReset,
    /// Private modes to be saved or restored, which it does not know either:
    /// their numbers, parted by semicolons.
    Modes { restore: bool, numbers: &'a [u8] },
}

/// Follows the parser's states as far as needed.
#[derive(Debug, Default)]
pub(super) struct Filter {
    state: State,
    /// Bytes of the current command that were passed on.
    length: usize,
    cut: bool,
    /// The sequence or character that has begun and not ended, up to a limit.
    unfinished: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    Escape,
    /// An escape and intermediate characters.
    Intermediate,
    /// A control sequence.
    Control,
    /// An operating system command.
    Osc,
    /// An escape inside such a command: if a backslash follows, it was its end.
    OscEscape,
    /// Any other string; all end alike.
    Text,
}

impl Filter {
    /// Splits `bytes` into pieces, in order.
    pub(super) fn advance(&mut self, bytes: &[u8], sink: &mut impl FnMut(Piece<'_>)) {
        let mut input = Input { bytes, start: 0, at: 0 };
        while let Some(rest) = input.rest() {
            match self.state {
                State::Ground => self.ground(rest, &mut input, sink),
                State::Osc => self.command(rest, &mut input, sink),
                // Most of a sequence at once: some output has one for each letter.
                State::Control if rest.first().is_some_and(is_parameter) => {
                    let length = rest.iter().take_while(|byte| is_parameter(byte)).count();
                    self.keep(rest.get(..length).unwrap_or_default());
                    input.at += length;
                }
                _ => {
                    let Some(&byte) = rest.first() else { break };
                    input.at += 1;
                    self.sequence(byte, &mut input, sink);
                }
            }
        }
        input.flush(sink);
    }

    /// What the parser has taken without effect so far. A terminal that is to
    /// take the further input needs it first.
    pub(super) fn unfinished(&self) -> &[u8] {
        if self.state == State::Osc && self.unfinished.len() > MAX_UNFINISHED {
            // Better none of it than a part.
            return NO_COMMAND;
        }
        match (self.state, self.unfinished.strip_prefix(b"\x1b]")) {
            // The end of the command has taken effect, and an escape began.
            (State::OscEscape, Some(_)) => b"\x1b",
            _ => &self.unfinished,
        }
    }

    /// Takes text. The beginning of a character at the end of the input is held
    /// back: the parser drops characters that follow one it has to put together.
    fn ground(&mut self, rest: &[u8], input: &mut Input<'_>, sink: &mut impl FnMut(Piece<'_>)) {
        if !self.unfinished.is_empty() {
            self.complete_character(rest, input, sink);
        } else if let Some(end) = memchr::memchr(ESC, rest) {
            input.text(end, sink);
            input.at += 1;
            self.begin_sequence();
        } else {
            let (text, part) = rest.split_at(rest.len() - partial_character(rest));
            self.unfinished.extend_from_slice(part);
            // What is left can end in a character that was never completed.
            let broken = partial_character(text);
            input.text(text.len() - broken, sink);
            if broken > 0 {
                sink(Piece::Pass(REPLACEMENT));
            }
            input.skip(broken + part.len());
        }
    }

    fn complete_character(
        &mut self,
        rest: &[u8],
        input: &mut Input<'_>,
        sink: &mut impl FnMut(Piece<'_>),
    ) {
        let continuing = rest.iter().take_while(|&&byte| byte & 0xc0 == 0x80);
        let length = continuing.count().min(LONGEST_PART + 1 - self.unfinished.len());
        for &byte in rest.iter().take(length) {
            if partial_character(&self.unfinished) != self.unfinished.len() {
                break;
            }
            self.unfinished.push(byte);
            input.skip(1);
        }
        if partial_character(&self.unfinished) != self.unfinished.len() {
            sink(Piece::Pass(&std::mem::take(&mut self.unfinished)));
        } else if input.rest().is_some() {
            sink(Piece::Pass(REPLACEMENT));
            self.unfinished.clear();
        }
    }

    /// Takes a byte after an escape, outside of commands.
    fn sequence(&mut self, byte: u8, input: &mut Input<'_>, sink: &mut impl FnMut(Piece<'_>)) {
        if self.state == State::OscEscape && byte == b'\\' {
            input.flush(sink);
            self.deliver(sink);
        }
        if self.state == State::Text && byte == ST {
            // The parser would end a device control string by it, where it is a
            // part of a character, as of U+2733. No other terminal for UTF-8 does.
            input.at -= 1;
            input.flush(sink);
            input.skip(1);
        }
        if self.state == State::Control && byte == b'p' && self.unfinished == b"\x1b[!" {
            input.flush(sink);
            sink(Piece::SoftReset);
        }
        if self.state == State::Control && matches!(byte, b's' | b'r') {
            if let Some(numbers) = self.unfinished.strip_prefix(b"\x1b[?") {
                input.flush(sink);
                sink(Piece::Modes { restore: byte == b'r', numbers });
            }
        }
        let next = match (self.state, byte) {
            (_, ESC) => return self.begin_sequence(),
            (_, CAN | SUB) => State::Ground,
            (State::Text, _) => State::Text,
            // Executed in between or ignored; no part of the sequence.
            (_, 0x00..=0x1f | 0x7f..) => return,
            (State::Escape | State::OscEscape, b'[') => State::Control,
            (State::Escape | State::OscEscape, b']') => State::Osc,
            (State::Escape | State::OscEscape, b'P' | b'X' | b'^' | b'_') => State::Text,
            (State::Escape | State::OscEscape | State::Intermediate, 0x20..=0x2f) => {
                State::Intermediate
            }
            (State::Control, _) if is_parameter(&byte) => State::Control,
            _ => State::Ground,
        };
        if self.state == State::OscEscape {
            self.begin_sequence();
        }
        self.state = next;
        match next {
            State::Ground => self.unfinished.clear(),
            _ => self.keep(&[byte]),
        }
        self.length = 0;
        self.cut = false;
    }

    fn begin_sequence(&mut self) {
        self.state = State::Escape;
        self.unfinished.clear();
        self.unfinished.push(ESC);
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = (MAX_UNFINISHED + 1).saturating_sub(self.unfinished.len());
        self.unfinished.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }

    /// Takes as much of `rest` as belongs to the current command.
    fn command(&mut self, rest: &[u8], input: &mut Input<'_>, sink: &mut impl FnMut(Piece<'_>)) {
        let end = rest.iter().position(|&byte| matches!(byte, BEL | ESC | CAN | SUB));
        let body = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        self.keep(body);
        let passed = body.len().min(MAX_OSC - self.length);
        self.length += passed;
        input.at += passed;
        if passed < body.len() {
            self.cut = true;
            input.flush(sink);
            input.skip(body.len() - passed);
        }
        let Some(&terminator) = rest.get(body.len()) else {
            return;
        };
        input.at += 1;
        if self.cut {
            input.mute(sink);
        }
        self.state = if terminator == ESC { State::OscEscape } else { State::Ground };
        if terminator == BEL {
            input.flush(sink);
            self.deliver(sink);
        }
        if terminator != ESC {
            self.unfinished = Vec::new();
        }
    }

    fn deliver(&mut self, sink: &mut impl FnMut(Piece<'_>)) {
        if self.unfinished.len() <= MAX_UNFINISHED {
            sink(Piece::Command(self.unfinished.get(2..).unwrap_or_default()));
        }
    }
}

/// Whether a byte stands between the beginning and the end of a control sequence.
fn is_parameter(byte: &u8) -> bool {
    matches!(byte, 0x20..=0x3f)
}

/// How many bytes at the end of `text` are the beginning of a character.
fn partial_character(text: &[u8]) -> usize {
    (1..=LONGEST_PART.min(text.len()))
        .rev()
        .find(|&length| {
            let part = text.get(text.len() - length..).unwrap_or_default();
            str::from_utf8(part)
                .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
        })
        .unwrap_or(0)
}

/// The input, and where the piece begins that was not handed out yet.
struct Input<'a> {
    bytes: &'a [u8],
    start: usize,
    at: usize,
}

impl<'a> Input<'a> {
    fn rest(&self) -> Option<&'a [u8]> {
        self.bytes.get(self.at..).filter(|rest| !rest.is_empty())
    }

    fn flush(&mut self, sink: &mut impl FnMut(Piece<'_>)) {
        if let Some(piece) = self.take() {
            sink(Piece::Pass(piece));
        }
    }

    /// Hands out what is before, and the next `count` bytes as text.
    fn text(&mut self, count: usize, sink: &mut impl FnMut(Piece<'_>)) {
        self.flush(sink);
        self.at += count;
        if let Some(text) = self.take() {
            sink(Piece::Text(text));
        }
    }

    fn mute(&mut self, sink: &mut impl FnMut(Piece<'_>)) {
        if let Some(piece) = self.take() {
            sink(Piece::Mute(piece));
        }
    }

    /// Leaves out the next `count` bytes; what is before them was handed out.
    fn skip(&mut self, count: usize) {
        self.at += count;
        self.start = self.at;
    }

    fn take(&mut self) -> Option<&'a [u8]> {
        let piece = self.bytes.get(self.start..self.at).filter(|piece| !piece.is_empty());
        self.start = self.at;
        piece
    }
}

/// Bytes of one command that reach the parser.
pub(super) const MAX_OSC: usize = 64 * 1024;

/// Bytes of a sequence that are kept.
const MAX_UNFINISHED: usize = 8 * 1024;

/// Bytes that a character can have without being complete.
const LONGEST_PART: usize = 3;

/// Stands for bytes that are no character.
const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// Begins a command that means nothing to any terminal.
const NO_COMMAND: &[u8] = b"\x1b]9999;";

const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const ESC: u8 = 0x1b;
/// The end of a string where characters have eight bits.
const ST: u8 = 0x9c;

#[cfg(test)]
mod tests {
    use super::*;

    fn run(chunks: &[&[u8]]) -> (Vec<u8>, Vec<u8>, Vec<Vec<u8>>) {
        let mut filter = Filter::default();
        let (mut passed, mut muted, mut commands) = (Vec::new(), Vec::new(), Vec::new());
        for chunk in chunks {
            filter.advance(chunk, &mut |piece| match piece {
                Piece::Pass(bytes) | Piece::Text(bytes) => passed.extend_from_slice(bytes),
                Piece::Mute(bytes) => muted.extend_from_slice(bytes),
                Piece::Command(payload) => commands.push(payload.to_vec()),
                Piece::SoftReset => commands.push(b"soft reset".to_vec()),
                Piece::Modes { numbers, .. } => commands.push(numbers.to_vec()),
            });
        }
        (passed, muted, commands)
    }

    #[test]
    fn short_commands_pass_and_are_delivered_once_ended() {
        let input = b"a\x1b]9;x\x07b\x1b]9;y\x1b\\c\x1b]9;z\x1b[1m\x1b]9;w\x18d";
        let (passed, muted, commands) = run(&[input]);
        assert_eq!(passed, input);
        assert!(muted.is_empty());
        assert_eq!(commands, [b"9;x".to_vec(), b"9;y".to_vec()]);
        let single: Vec<&[u8]> = input.chunks(1).collect();
        assert_eq!(run(&single), (passed, muted, commands));
    }

    #[test]
    fn the_unfinished_part_is_known() {
        for (input, expected) in [
            (&b"text"[..], &b""[..]),
            (b"\x1b[1;3", b"\x1b[1;3"),
            (b"\x1b[1\n;3", b"\x1b[1;3"),
            (b"\x1b[1m", b""),
            (b"\x1b(", b"\x1b("),
            (b"\x1b]2;ti", b"\x1b]2;ti"),
            (b"\x1b]2;ti\x1b", b"\x1b"),
            (b"\x1b]2;ti\x1b\\", b""),
            (b"\x1b]2;ti\x1b]4", b"\x1b]4"),
            (b"\x1bPq#0", b"\x1bPq#0"),
            (b"\x1bPq#0\x18", b""),
            (b"a\xf0\x9f", b"\xf0\x9f"),
            (b"a\xf0\x9f\x98\x80", b""),
            (b"a\xc3\xc3", b"\xc3"),
            (b"a\xff", b""),
        ] {
            for size in [1, 64] {
                let mut filter = Filter::default();
                input.chunks(size).for_each(|chunk| filter.advance(chunk, &mut |_| {}));
                assert_eq!(filter.unfinished(), expected, "{}", input.escape_ascii());
            }
        }
    }

    #[test]
    fn a_string_does_not_end_inside_a_character() {
        let (passed, ..) = run(&["\x1bPtmux;\u{2733}still\x1b\\after".as_bytes()]);
        assert_eq!(passed, b"\x1bPtmux;\xe2\xb3still\x1b\\after");
    }

    #[test]
    fn inv_t3_an_endless_command_is_cut_and_muted() {
        let mut input = b"\x1b]2;".to_vec();
        input.resize(MAX_OSC * 3, b'x');
        input.extend_from_slice(b"\x07after");
        let (passed, muted, commands) = run(&[&input]);
        assert_eq!(passed.len(), 2 + MAX_OSC + 5);
        assert!(passed.ends_with(b"xafter"));
        assert_eq!(muted, b"\x07");
        assert!(commands.is_empty());
    }
}
