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
//! The filter also collects short commands for [`osc`](super::osc).

/// A part of the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// For the parser.
    Pass(&'a [u8]),
    /// For the parser, but without effect: the end of a command that was cut.
    Mute(&'a [u8]),
    /// A complete command that was short enough to be kept.
    Command(&'a [u8]),
}

/// Follows the parser's states as far as commands are concerned.
#[derive(Debug, Default)]
pub(super) struct Filter {
    state: State,
    /// Bytes of the current command that were passed on.
    length: usize,
    cut: bool,
    payload: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    Escape,
    Osc,
    /// An escape inside a command: if a backslash follows, it was its end.
    OscEscape,
}

impl Filter {
    /// Splits `bytes` into pieces, in order.
    pub(super) fn advance(&mut self, bytes: &[u8], sink: &mut impl FnMut(Piece<'_>)) {
        let mut input = Input {
            bytes,
            start: 0,
            at: 0,
        };
        while let Some(rest) = input.rest() {
            match self.state {
                State::Ground => match rest.iter().position(|&byte| byte == ESC) {
                    Some(offset) => {
                        input.at += offset + 1;
                        self.state = State::Escape;
                    }
                    None => input.at = bytes.len(),
                },
                State::Escape | State::OscEscape => {
                    let Some(&byte) = rest.first() else { break };
                    input.at += 1;
                    self.escape(byte, &mut input, sink);
                }
                State::Osc => self.command(rest, &mut input, sink),
            }
        }
        input.flush(sink);
    }

    /// Takes the byte after an escape.
    fn escape(&mut self, byte: u8, input: &mut Input<'_>, sink: &mut impl FnMut(Piece<'_>)) {
        let ends = self.state == State::OscEscape && byte == b'\\';
        if ends {
            input.flush(sink);
            self.deliver(sink);
        }
        self.state = match byte {
            b']' => {
                self.length = 0;
                self.cut = false;
                self.payload.clear();
                State::Osc
            }
            CAN | SUB | 0x20..=0x7e => State::Ground,
            // Control characters are executed in between, the rest is ignored.
            _ => self.state,
        };
    }

    /// Takes as much of `rest` as belongs to the current command.
    fn command(&mut self, rest: &[u8], input: &mut Input<'_>, sink: &mut impl FnMut(Piece<'_>)) {
        let end = rest
            .iter()
            .position(|&byte| matches!(byte, BEL | ESC | CAN | SUB));
        let body = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        let kept = body.len().min(MAX_OSC - self.length);
        self.length += kept;
        if self.payload.len() <= MAX_PAYLOAD {
            let room = MAX_PAYLOAD + 1 - self.payload.len();
            self.payload.extend(body.iter().take(room));
        }
        if kept < body.len() {
            self.cut = true;
            input.at += kept;
            input.flush(sink);
            input.at += body.len() - kept;
            input.start = input.at;
        } else {
            input.at += kept;
        }
        let Some(&terminator) = rest.get(body.len()) else {
            return;
        };
        if self.cut {
            input.flush(sink);
            input.at += 1;
            input.mute(sink);
        } else {
            input.at += 1;
        }
        self.state = if terminator == ESC {
            State::OscEscape
        } else {
            State::Ground
        };
        if terminator == BEL {
            input.flush(sink);
            self.deliver(sink);
        }
    }

    fn deliver(&mut self, sink: &mut impl FnMut(Piece<'_>)) {
        if !self.cut && self.payload.len() <= MAX_PAYLOAD {
            sink(Piece::Command(&self.payload));
        }
        self.payload = Vec::new();
    }
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

    fn mute(&mut self, sink: &mut impl FnMut(Piece<'_>)) {
        if let Some(piece) = self.take() {
            sink(Piece::Mute(piece));
        }
    }

    fn take(&mut self) -> Option<&'a [u8]> {
        let piece = self
            .bytes
            .get(self.start..self.at)
            .filter(|piece| !piece.is_empty());
        self.start = self.at;
        piece
    }
}

/// Bytes of one command that reach the parser.
pub(super) const MAX_OSC: usize = 64 * 1024;

/// Bytes of one command that are kept for reading it.
const MAX_PAYLOAD: usize = 8 * 1024;

const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const ESC: u8 = 0x1b;

#[cfg(test)]
mod tests {
    use super::*;

    fn run(chunks: &[&[u8]]) -> (Vec<u8>, Vec<u8>, Vec<Vec<u8>>) {
        let mut filter = Filter::default();
        let (mut passed, mut muted, mut commands) = (Vec::new(), Vec::new(), Vec::new());
        for chunk in chunks {
            filter.advance(chunk, &mut |piece| match piece {
                Piece::Pass(bytes) => passed.extend_from_slice(bytes),
                Piece::Mute(bytes) => muted.extend_from_slice(bytes),
                Piece::Command(payload) => commands.push(payload.to_vec()),
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
