//! Lines of a pane's output with their styles, as the server sends them: text in
//! which the only escape sequences set styles.

use ratatui::style::{Color, Modifier, Style};
use unicode_width::UnicodeWidthChar as _;

/// A piece of a line in one style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) text: String,
    pub(crate) style: Style,
}

/// One row of a screen.
pub(crate) type Row = Vec<Piece>;

/// Breaks one line into rows of at most `cols` columns. Everything but text and
/// styles is taken out, so that nothing in it acts on the terminal (C082).
pub(crate) fn rows(line: &str, cols: u16) -> Vec<Row> {
    let cols = usize::from(cols.max(2));
    let mut rows = vec![Vec::new()];
    let mut style = Style::default();
    let mut width = 0;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '\x1b' {
            if let Some(codes) = sequence(&mut chars) {
                style = apply(style, &codes);
            }
            continue;
        }
        let c = if c == '\t' { ' ' } else { c };
        let Some(own) = c.width() else { continue };
        if width + own > cols {
            rows.push(Vec::new());
            width = 0;
        }
        width += own;
        if let Some(row) = rows.last_mut() {
            push(row, c, style);
        }
    }
    rows
}

/// The text of a row.
pub(crate) fn text(row: &Row) -> String {
    row.iter().map(|piece| piece.text.as_str()).collect()
}

fn push(row: &mut Row, c: char, style: Style) {
    match row.last_mut() {
        Some(piece) if piece.style == style => piece.text.push(c),
        _ => row.push(Piece { text: c.to_string(), style }),
    }
}

/// Reads a sequence after its escape; its text between `[` and `m` if it sets a
/// style.
fn sequence(chars: &mut std::str::Chars<'_>) -> Option<String> {
    let mut look = chars.clone();
    if look.next() != Some('[') {
        return None;
    }
    let mut codes = String::new();
    loop {
        match look.next()? {
            c @ ('0'..='9' | ';' | ':') => codes.push(c),
            'm' => {
                *chars = look;
                return Some(codes);
            }
            _ => return None,
        }
    }
}

fn apply(mut style: Style, codes: &str) -> Style {
    let mut parts = codes.split(';');
    while let Some(part) = parts.next() {
        let (code, sub) = part.split_once(':').unwrap_or((part, ""));
        let Ok(code) = code.parse::<u8>().or(if code.is_empty() { Ok(0) } else { Err(()) }) else {
            continue;
        };
        let modifier = match code {
            1 => Modifier::BOLD,
            2 => Modifier::DIM,
            3 => Modifier::ITALIC,
            4 if sub != "0" => Modifier::UNDERLINED,
            7 => Modifier::REVERSED,
            8 => Modifier::HIDDEN,
            9 => Modifier::CROSSED_OUT,
            _ => Modifier::empty(),
        };
        style = style.add_modifier(modifier);
        match code {
            0 => style = Style::default(),
            30..=37 => style.fg = Some(Color::Indexed(code - 30)),
            40..=47 => style.bg = Some(Color::Indexed(code - 40)),
            90..=97 => style.fg = Some(Color::Indexed(code - 82)),
            100..=107 => style.bg = Some(Color::Indexed(code - 92)),
            38 => style.fg = colour(&mut parts),
            48 => style.bg = colour(&mut parts),
            _ => {}
        }
    }
    style
}

fn colour<'a>(parts: &mut impl Iterator<Item = &'a str>) -> Option<Color> {
    let mut next = || parts.next()?.parse::<u8>().ok();
    match next()? {
        5 => next().map(Color::Indexed),
        2 => Some(Color::Rgb(next()?, next()?, next()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c082_only_text_and_styles_come_through() {
        let line = "a\x1b[1;38;2;1;2;3mb\x1b[0mc\x1b[2J\x1b]52;c;AA\x07\u{9b}d";
        let all = rows(line, 80);
        assert_eq!(all.len(), 1);
        assert_eq!(text(&all[0]), "abc[2J]52;c;AAd");
        let bold = Style::default().add_modifier(Modifier::BOLD).fg(Color::Rgb(1, 2, 3));
        assert_eq!(all[0][1], Piece { text: "b".into(), style: bold });
        assert_eq!(all[0][2].style, Style::default());
    }

    #[test]
    fn lines_break_at_columns_and_never_inside_a_wide_character() {
        let all: Vec<_> = rows("ab日本e", 3).iter().map(text).collect();
        assert_eq!(all, ["ab", "日", "本e"]);
        assert_eq!(rows("", 3).len(), 1);
    }
}
