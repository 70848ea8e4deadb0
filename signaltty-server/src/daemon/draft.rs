//! Whether something stands in a program's prompt that nobody has sent yet.
//!
//! What is typed is all there is to go by: text after the last Enter, and after
//! the last key that clears a line. Keys that write nothing (arrows, the mouse,
//! function keys) leave it as it is; so does a key that takes a letter back, since
//! nobody can tell here what is left.

/// Follows what is typed.
#[derive(Debug, Default)]
pub(super) struct Draft {
    text: bool,
    state: State,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    Escape,
    /// In a control sequence: a number that is its only parameter so far.
    Control(u16),
    /// The one byte after `ESC O`.
    Single,
    /// In a paste, of whose end so many bytes came.
    Paste(usize),
}

const PASTE: u16 = 200;
const PASTE_END: &[u8] = b"\x1b[201~";

impl Draft {
    /// Whether something is unsent.
    pub(super) fn is_unsent(&self) -> bool {
        self.text
    }

    /// Takes what was typed, in pieces of any size.
    pub(super) fn typed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.state = self.next(*byte);
        }
        if self.state == State::Escape {
            // A key by itself: terminals send the others in one piece.
            self.state = State::Text;
        }
    }

    fn next(&mut self, byte: u8) -> State {
        match self.state {
            State::Paste(matched) => {
                self.text = true;
                match PASTE_END.get(matched) {
                    Some(wanted) if *wanted == byte && matched + 1 == PASTE_END.len() => {
                        State::Text
                    }
                    Some(wanted) if *wanted == byte => State::Paste(matched + 1),
                    _ => State::Paste(usize::from(byte == 0x1b)),
                }
            }
            State::Text => self.text(byte),
            State::Escape => match byte {
                b'[' => State::Control(0),
                b'O' => State::Single,
                // Alt with a key, Alt with Enter among them: a line more.
                _ => State::Text,
            },
            State::Single => State::Text,
            State::Control(number) => match byte {
                b'0'..=b'9' => {
                    State::Control(number.saturating_mul(10).saturating_add(u16::from(byte - b'0')))
                }
                b'~' if number == PASTE => State::Paste(0),
                0x40..=0x7e => State::Text,
                _ => State::Control(u16::MAX),
            },
        }
    }

    fn text(&mut self, byte: u8) -> State {
        match byte {
            0x1b => return State::Escape,
            // Enter, and Ctrl-C and Ctrl-U, which clear a line.
            b'\r' | b'\n' | 0x03 | 0x15 => self.text = false,
            0x20..=0x7e | 0x80.. => self.text = true,
            _ => {}
        }
        State::Text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_and_not_sent_is_a_draft_in_pieces_of_any_size() {
        for (typed, unsent) in [
            (&b""[..], false),
            (b"half a draft", true),
            (b"sent\r", false),
            (b"cleared\x03", false),
            (b"cleared\x15", false),
            (b"\x1b[A\x1b[1;2B\x1bOP\t\x1b[I", false),
            (b"\x1b[<64;10;10M", false),
            (b"\x1b[200~two\rlines\r\x1b[201~", true),
            (b"\x1b[200~x\x1b[20\x1b[201~\r", false),
            (b"one\rtwo", true),
            ("ä\r".as_bytes(), false),
        ] {
            for size in 2..=typed.len().max(2) {
                let mut draft = Draft::default();
                typed.chunks(size).for_each(|chunk| draft.typed(chunk));
                // A sequence that is cut after its escape is two keys.
                let cut = typed.chunks(size).any(|chunk| chunk.ends_with(b"\x1b"));
                assert!(draft.is_unsent() == unsent || cut, "{} {size}", typed.escape_ascii());
            }
        }
    }
}
