//! Keeps programs from the clipboard.
//!
//! A program in a pane can write to the clipboard of whoever looks at it (OSC
//! 52), and ask for what is in it. Unless the person wants that, such commands
//! are left out of what their terminal gets.

use std::borrow::Cow;

use memchr::memmem;

/// Leaves the commands out, however they are split.
#[derive(Debug, Default)]
pub(crate) struct Clipboard {
    state: State,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// So many bytes of the command's beginning were held back.
    Begun(usize),
    /// Inside of one.
    Inside,
    /// Inside of one, after an escape that may end it.
    Ending,
}

impl Clipboard {
    /// A screen is drawn anew, whatever came before.
    pub(crate) fn restart(&mut self) {
        self.state = State::Text;
    }

    /// What of the output is for the terminal.
    pub(crate) fn without<'a>(&mut self, output: &'a [u8]) -> Cow<'a, [u8]> {
        if self.state == State::Text && memmem::find(output, BEGINNING).is_none() {
            let begun = (1..BEGINNING.len())
                .any(|held| output.ends_with(BEGINNING.get(..held).unwrap_or_default()));
            if !begun {
                return Cow::Borrowed(output);
            }
        }
        let mut out = Vec::with_capacity(output.len() + BEGINNING.len());
        let mut rest = output;
        while let Some(&byte) = rest.first() {
            let mut taken = 1;
            self.state = match self.state {
                State::Text => {
                    let text = rest.iter().position(|byte| *byte == ESC).unwrap_or(rest.len());
                    out.extend_from_slice(rest.get(..text).unwrap_or_default());
                    taken = text + 1;
                    if text < rest.len() { State::Begun(1) } else { State::Text }
                }
                State::Begun(held) if BEGINNING.get(held) == Some(&byte) => {
                    if held + 1 == BEGINNING.len() { State::Inside } else { State::Begun(held + 1) }
                }
                State::Begun(held) => {
                    out.extend_from_slice(BEGINNING.get(..held).unwrap_or_default());
                    taken = 0;
                    State::Text
                }
                State::Inside => match byte {
                    BEL | CAN | SUB => State::Text,
                    ESC => State::Ending,
                    _ => State::Inside,
                },
                State::Ending if byte == b'\\' => State::Text,
                // The command was broken off by another sequence.
                State::Ending => {
                    taken = 0;
                    State::Begun(1)
                }
            };
            rest = rest.get(taken..).unwrap_or_default();
        }
        Cow::Owned(out)
    }
}

const BEGINNING: &[u8] = b"\x1b]52;";
const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_clipboard_commands_are_left_out_at_any_split() {
        for (input, expected) in [
            (&b"a\x1b]52;c;QUJD\x07b"[..], &b"ab"[..]),
            (b"a\x1b]52;c;?\x1b\\b", b"ab"),
            (b"\x1b]5;x\x07\x1b[52m\x1b]520;c\x07", b"\x1b]5;x\x07\x1b[52m\x1b]520;c\x07"),
            (b"\x1b\x1b]52;c;A\x1b[1mx", b"\x1b\x1b[1mx"),
            (b"\x1b]52;p;A\x1b]52;c;B\x07x", b"x"),
            (b"\x1b]52;c;A\x18x", b"x"),
        ] {
            for size in 1..=input.len() {
                let mut clipboard = Clipboard::default();
                let out: Vec<u8> = input
                    .chunks(size)
                    .flat_map(|chunk| clipboard.without(chunk).into_owned())
                    .collect();
                assert_eq!(out, expected, "{} by {size}", input.escape_ascii());
            }
        }
    }
}
