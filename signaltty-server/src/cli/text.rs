//! Text of others on this terminal: nothing in it may act on the terminal.
//!
//! Titles, messages and paths come from programs in panes and from disk (C082).
//! What would move the cursor, talk to the terminal or change the order of
//! letters is shown as an escape instead.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// One line: every control character is shown, newlines too.
pub(crate) fn safe(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|c| push_safe(&mut out, c));
    out
}

/// Several lines: newlines stay.
pub(crate) fn safe_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push(c),
            _ => push_safe(&mut out, c),
        }
    }
    out
}

/// What a pane shows: newlines and tabs stay. With `Colours::Keep`, so do
/// sequences that only set colours and styles; they end with the text.
pub(crate) fn screen(text: &str, colours: Colours) -> String {
    let mut out = String::with_capacity(text.len());
    let mut styled = false;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let style = style_length(rest).filter(|_| colours == Colours::Keep);
        let (taken, after) = rest.split_at(style.unwrap_or(c.len_utf8()));
        match c {
            _ if style.is_some() => {
                out.push_str(taken);
                styled = true;
            }
            '\n' | '\t' => out.push(c),
            _ => push_safe(&mut out, c),
        }
        rest = after;
    }
    if styled {
        out.push_str("\x1b[0m");
    }
    out
}

/// Whether colours in a text reach the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colours {
    /// They do.
    Keep,
    /// They are shown as text, like any other control.
    Escape,
}

/// JSON on one line, in which no character acts on a terminal either.
pub(crate) fn json_line(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut line = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut line, Harmless))?;
    line.push(b'\n');
    Ok(line)
}

/// JSON need only escape the first 32 characters; this escapes the others that
/// terminals act on.
struct Harmless;

impl Formatter for Harmless {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        for part in fragment.split_inclusive(acts) {
            match part.chars().next_back().filter(|c| acts(*c)) {
                Some(last) => {
                    let text = part.get(..part.len() - last.len_utf8()).unwrap_or_default();
                    write!(writer, "{text}\\u{:04x}", u32::from(last))?;
                }
                None => writer.write_all(part.as_bytes())?,
            }
        }
        Ok(())
    }
}

fn push_safe(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        _ if !acts(c) => out.push(c),
        _ if c.is_ascii() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
        _ => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
    }
}

/// Whether a terminal acts on the character instead of showing it. All are in
/// the basic plane, which the JSON escape relies on.
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The length of a sequence at the start of `text` that only sets a style.
fn style_length(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\x1b[")?;
    let end = parameters.find(|c: char| !matches!(c, '0'..='9' | ';' | ':'))?;
    let last = parameters.get(end..)?.chars().next()?;
    (last == 'm').then_some(end + "\x1b[m".len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const POISON: &str = "x \x1b[2J \x1b]52;c;AAAA\x07 y\u{9b}31m\u{202e}z\x7f\r";

    #[test]
    fn c082_controls_never_reach_the_terminal() {
        let shown = safe(POISON);
        assert_eq!(shown, r"x \x1b[2J \x1b]52;c;AAAA\x07 y\u{9b}31m\u{202e}z\x7f\r");
        assert_eq!(safe("a\nb\tc é日"), r"a\nb\tc é日");
        assert_eq!(safe_lines("a\nb\x1b"), "a\nb\\x1b");
        for text in [screen(POISON, Colours::Keep), screen(POISON, Colours::Escape)] {
            assert!(!text.contains(acts), "{text:?}");
        }
    }

    #[test]
    fn c082_json_stays_valid_and_harmless() {
        let line = String::from_utf8(json_line(&POISON).unwrap()).unwrap();
        let text = line.strip_suffix('\n').unwrap();
        assert!(!text.contains(acts), "{text:?}");
        assert_eq!(serde_json::from_str::<String>(text).unwrap(), POISON);
        assert_eq!(json_line(&"é日\n").unwrap(), "\"é日\\n\"\n".as_bytes());
    }

    #[test]
    fn c082_only_styles_pass_where_colours_are_kept() {
        let text = "\x1b[1;38:2:1:2:3mred\x1b[m\n\x1b[2J\x1b[3";
        assert_eq!(
            screen(text, Colours::Keep),
            "\x1b[1;38:2:1:2:3mred\x1b[m\n\\x1b[2J\\x1b[3\x1b[0m"
        );
        assert_eq!(screen("a\n\tb", Colours::Keep), "a\n\tb");
        assert!(!screen(text, Colours::Escape).contains('\x1b'));
    }
}
