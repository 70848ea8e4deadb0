//! The keys that detach.

use std::str::FromStr;

use crate::protocol::key_bytes;

/// The keys that detach, in the order in which they are pressed, and how many
/// of them were.
///
/// Programs may have switched the terminal to other encodings of the same key,
/// so each key is known in all of them. A key of several bytes is known only
/// where it comes in one piece, as terminals send it: held back, a lone Escape
/// would not get through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DetachKeys {
    keys: Vec<Vec<Vec<u8>>>,
    held: Vec<u8>,
    pressed: usize,
}

/// What became of input.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Typed {
    /// What goes to the pane.
    pub(super) input: Vec<u8>,
    /// Whether the keys were pressed; what came after them is dropped.
    pub(super) detach: bool,
}

impl FromStr for DetachKeys {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = text.split(',').map(str::trim);
        let keys: Vec<_> = names.map(encodings).collect::<Result<_, _>>()?;
        if keys.len() > MAX_KEYS {
            return Err(format!("at most {MAX_KEYS} keys, parted by commas"));
        }
        Ok(Self { keys, held: Vec::new(), pressed: 0 })
    }
}

impl DetachKeys {
    /// Takes what was typed.
    pub(super) fn feed(&mut self, typed: &[u8]) -> Typed {
        let mut input = Vec::with_capacity(typed.len());
        let mut rest = typed;
        while let Some(first) = rest.first() {
            let pressed = self.keys.get(self.pressed).and_then(|encodings| {
                let found = encodings.iter().find(|bytes| rest.starts_with(bytes))?;
                Some(found.len())
            });
            match pressed {
                Some(length) => {
                    let (key, after) = rest.split_at(length);
                    self.held.extend_from_slice(key);
                    self.pressed += 1;
                    rest = after;
                    if self.pressed == self.keys.len() {
                        let detach = true;
                        return Typed { input, detach };
                    }
                }
                // The same byte may be the first key once more.
                None if self.pressed > 0 => {
                    input.append(&mut self.held);
                    self.pressed = 0;
                }
                None => {
                    input.push(*first);
                    rest = rest.get(1..).unwrap_or_default();
                }
            }
        }
        let detach = false;
        Typed { input, detach }
    }
}

/// All that terminals send for a key.
fn encodings(name: &str) -> Result<Vec<Vec<u8>>, String> {
    let plain = key_bytes(name, false).map_err(|error| error.to_string())?;
    let mut all = vec![plain, key_bytes(name, true).map_err(|error| error.to_string())?];
    let control = name.strip_prefix("C-").and_then(|key| {
        let mut chars = key.chars();
        chars.next().filter(|_| chars.next().is_none())
    });
    if let Some(key) = control {
        let code = u32::from(key.to_ascii_lowercase());
        // The encodings of kitty's protocol and of xterm's modifyOtherKeys.
        all.push(format!("\x1b[{code};5u").into_bytes());
        all.push(format!("\x1b[27;5;{code}~").into_bytes());
    }
    all.sort();
    all.dedup();
    Ok(all)
}

/// What detaches unless something else is asked for.
pub(super) const DEFAULT: &str = "C-]";

const MAX_KEYS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(keys: &str, typed: &[&[u8]], input: &[u8], detach: bool) {
        let mut keys: DetachKeys = keys.parse().unwrap();
        let mut sent = Vec::new();
        let mut ended = false;
        for part in typed {
            let mut typed = keys.feed(part);
            sent.append(&mut typed.input);
            ended |= typed.detach;
        }
        assert_eq!((sent.as_slice(), ended), (input, detach), "{typed:?}");
    }

    #[test]
    fn keys_detach_and_everything_else_goes_through() {
        check(DEFAULT, &[b"abc"], b"abc", false);
        check(DEFAULT, &[b"ab\x1dcd"], b"ab", true);
        check(DEFAULT, &[b"\x1b[93;5u"], b"", true);
        check(DEFAULT, &[b"\x1b[27;5;93~"], b"", true);
        // A lone Escape is not held back, nor are other keys of the protocol.
        check(DEFAULT, &[b"\x1b"], b"\x1b", false);
        check(DEFAULT, &[b"\x1b[94;5u"], b"\x1b[94;5u", false);
        check("C-b,d", &[b"\x02", b"d"], b"", true);
        check("C-b, d", &[b"x\x02", b"y"], b"x\x02y", false);
        check("C-b,d", &[b"\x02\x02d"], b"\x02", true);
        check("C-b,d", &[b"\x1b[98;5ud"], b"", true);
        check("C-b,d", &[b"d\x02"], b"d", false);
        check("F12", &[b"\x1b[24~"], b"", true);
        check("Up", &[b"\x1bOA"], b"", true);
    }

    #[test]
    fn names_that_are_no_keys_are_refused() {
        for keys in ["", "C-b,", "Ctrl-b", "a,b,c,d,e,f,g,h,i"] {
            assert!(keys.parse::<DetachKeys>().is_err(), "{keys}");
        }
    }
}
