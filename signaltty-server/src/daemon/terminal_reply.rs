//! Tells what a terminal says by itself from what a person types.
//!
//! A terminal answers questions of the program (position, attributes, colours,
//! modes) and reports focus and mouse on the same line as keys. Of several
//! attached terminals one may do so: a second answer would be typed text.

/// The longest reply that is waited for in pieces, in bytes.
const MAX_UNFINISHED: usize = 64 * 1024;

/// Begins a paste, whose text is the person's.
const PASTE: &[u8] = b"\x1b[200~";

/// A client's input without the replies in it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Typed<'a> {
    pub(crate) typed: Vec<u8>,
    /// The beginning of what may be a reply, at the end of the input.
    pub(crate) unfinished: &'a [u8],
}

/// Takes the replies out of an input.
pub(crate) fn without_replies(input: &[u8]) -> Typed<'_> {
    let mut typed = Vec::new();
    let mut rest = input;
    while let Some((&first, after)) = rest.split_first() {
        if rest.starts_with(PASTE) {
            typed.extend_from_slice(rest);
            break;
        }
        match reply(rest) {
            Found::Reply(length) => rest = rest.get(length..).unwrap_or_default(),
            Found::Unfinished if rest.len() <= MAX_UNFINISHED => {
                return Typed { typed, unfinished: rest };
            }
            Found::Unfinished | Found::Other => {
                typed.push(first);
                rest = after;
            }
        }
    }
    Typed { typed, unfinished: &[] }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// A reply of so many bytes.
    Reply(usize),
    /// It can become one.
    Unfinished,
    Other,
}

fn reply(bytes: &[u8]) -> Found {
    match bytes {
        // Escape, or Alt with a bracket, are whole keys: they are not held back.
        [0x1b, b'[', rest @ ..] if !rest.is_empty() => control(rest),
        [0x1b, b']' | b'P' | b'_', rest @ ..] if !rest.is_empty() => string(rest),
        _ => Found::Other,
    }
}

/// After `CSI`.
fn control(rest: &[u8]) -> Found {
    if rest.first() == Some(&b'M') {
        // An old mouse report: a button and a place, a byte each.
        return if rest.len() < 4 { Found::Unfinished } else { Found::Reply(2 + 4) };
    }
    let parameters = rest.iter().take_while(|byte| matches!(byte, 0x30..=0x3f)).count();
    let (parameters, after) = rest.split_at(parameters);
    let middle = after.iter().take_while(|byte| matches!(byte, 0x20..=0x2f)).count();
    let (middle, after) = after.split_at(middle);
    let Some(last) = after.first() else {
        return Found::Unfinished;
    };
    let private = parameters.first() == Some(&b'?');
    let numbers = parameters.iter().all(|byte| byte.is_ascii_digit() || *byte == b';');
    let is_reply = match (middle, last) {
        // The cursor's place, states, attributes, sizes.
        ([], b'R' | b'n' | b'c' | b't') => !parameters.is_empty(),
        // Focus came and went.
        ([], b'I' | b'O') => parameters.is_empty(),
        // Keyboard and graphics abilities; without the mark they are keys.
        ([], b'u' | b'S') => private,
        ([], b'M' | b'm') => {
            parameters.first() == Some(&b'<') || (numbers && !parameters.is_empty())
        }
        ([b'$'], b'y') => true,
        _ => false,
    };
    if is_reply { Found::Reply(2 + parameters.len() + middle.len() + 1) } else { Found::Other }
}

/// After `OSC`, `DCS` or `APC`.
fn string(rest: &[u8]) -> Found {
    for (at, byte) in rest.iter().enumerate() {
        match (byte, rest.get(at + 1)) {
            (0x07, _) => return Found::Reply(2 + at + 1),
            (0x1b, Some(b'\\')) => return Found::Reply(2 + at + 2),
            (0x1b, None) => return Found::Unfinished,
            (0x00..=0x1f | 0x7f, _) => return Found::Other,
            _ => {}
        }
    }
    Found::Unfinished
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_of_terminals_are_known() {
        for reply in [
            "\x1b[24;80R",
            "\x1b[?24;80;1R",
            "\x1b[?62;22c",
            "\x1b[>41;366;0c",
            "\x1b[0n",
            "\x1b[?997;1n",
            "\x1b[I",
            "\x1b[O",
            "\x1b[8;24;80t",
            "\x1b[?2026;2$y",
            "\x1b[4;1$y",
            "\x1b[?1u",
            "\x1b[<0;10;20M",
            "\x1b[<0;10;20m",
            "\x1b[32;10;20M",
            "\x1b[M !!",
            "\x1b]11;rgb:0000/0000/0000\x1b\\",
            "\x1b]10;rgb:ffff/ffff/ffff\x07",
            "\x1bP>|terminal 1.0\x1b\\",
            "\x1b_Gi=1;OK\x1b\\",
        ] {
            let found = without_replies(reply.as_bytes());
            assert_eq!(found, Typed { typed: Vec::new(), unfinished: &[] }, "{reply:?}");
            // Among keys, and twice.
            let mixed = format!("a{reply}{reply}b");
            assert_eq!(without_replies(mixed.as_bytes()).typed, b"ab", "{reply:?}");
            // In pieces, of which no beginning is a reply already.
            for end in 3..reply.len() {
                let piece = &reply.as_bytes()[..end];
                let found = without_replies(piece);
                assert_eq!(found, Typed { typed: Vec::new(), unfinished: piece }, "{piece:?}");
            }
        }
    }

    #[test]
    fn keys_and_pastes_are_no_replies() {
        for keys in [
            "text",
            "\x1b",
            "\x1b[",
            "\x1b]",
            "\x1bP",
            "\x1b[A",
            "\x1b[1;5C",
            "\x1bOR",
            "\x1b[R",
            "\x1b[3~",
            "\x1b[Z",
            "\x1b[97;5u",
            "\x1b]\r",
            "\x1b\x1b[A",
            "\x1b[200~pasted \x1b[0n\x1b[201~",
        ] {
            let found = without_replies(keys.as_bytes());
            assert_eq!(found, Typed { typed: keys.into(), unfinished: &[] }, "{keys:?}");
        }
    }

    #[test]
    fn a_string_without_an_end_is_not_waited_for_without_one() {
        let long = [b"\x1b]52;".to_vec(), vec![b'x'; MAX_UNFINISHED]].concat();
        assert_eq!(without_replies(&long), Typed { typed: long.clone(), unfinished: &[] });
    }
}
