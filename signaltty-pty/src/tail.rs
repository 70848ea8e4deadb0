//! Saved output, shown to a person again.
//!
//! A tail comes from a file, so it is cleaned as any untrusted text: only text
//! and well-formed styles stay.

use crate::line;

/// The last `count` lines of a tail without styles, each with a line feed.
#[must_use]
pub fn tail_text(tail: &[u8], count: usize) -> String {
    render(tail, count, |clean| line::plain(&clean))
}

/// The last `count` lines of a tail with their styles, each with a line feed
/// and ending in the default style.
#[must_use]
pub fn tail_styled(tail: &[u8], count: usize) -> String {
    render(tail, count, |clean| clean)
}

fn render(tail: &[u8], count: usize, show: impl Fn(String) -> String) -> String {
    let body = tail.strip_suffix(b"\n").unwrap_or(tail);
    if body.is_empty() {
        return String::new();
    }
    let lines: Vec<_> = body.split(|byte| *byte == b'\n').collect();
    let last = lines.iter().skip(lines.len().saturating_sub(count));
    last.fold(String::new(), |mut text, bytes| {
        text.push_str(&show(line::sanitize(bytes)));
        text.push('\n');
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c073_saved_output_is_shown_without_stray_escapes() {
        let tail = b"one\n\x1b[0;1mtwo\x1b[0m\nthr\x1b]0;x\x07ee\n";
        assert_eq!(tail_text(tail, usize::MAX), "one\ntwo\nthr]0;xee\n");
        assert_eq!(tail_styled(tail, 2), "\x1b[0;1mtwo\x1b[0m\nthr]0;xee\n");
        assert_eq!(tail_text(b"", 3), "");
        assert_eq!(tail_text(b"a\n\n", 1), "\n");
    }
}
