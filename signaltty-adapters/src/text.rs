//! Text of agents, made fit to be shown.

use std::sync::Arc;

/// The most characters of a message that are kept.
const MAX_CHARS: usize = 200;

/// The first line that says something, without control characters and without
/// those that change the direction of what follows, cut to 200 characters.
pub(crate) fn one_line(text: &str) -> Option<Arc<str>> {
    text.lines().find_map(|line| {
        let shown: String = line.chars().filter(|c| is_shown(*c)).take(MAX_CHARS).collect();
        let shown = shown.trim();
        (!shown.is_empty()).then(|| shown.into())
    })
}

fn is_shown(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c082_control_characters_are_not_shown() {
        let long = "x".repeat(500);
        for (text, shown) in [
            ("done", Some("done")),
            ("\n  \n\u{1b}[31mred\u{7}\nsecond", Some("[31mred")),
            ("a\u{202e}b\u{9b}c", Some("abc")),
            (" \t\r\n", None),
            (&long, Some(&long[..200])),
        ] {
            assert_eq!(one_line(text).as_deref(), shown, "{text:?}");
        }
    }
}
