//! What a program or a person says, as one plain line.

use std::sync::Arc;

/// Longest title of a pane, tab or workspace, in characters.
pub const TITLE_CHARS: usize = 200;

/// Cuts what a program or a person gives as a title or message to one line of
/// at most `max` characters without control characters (C082).
pub fn plain_line(text: &str, max: usize) -> Arc<str> {
    let visible = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let hidden = |c: &char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let line: String = visible.filter(|c| !hidden(c)).take(max).collect();
    line.trim().into()
}
