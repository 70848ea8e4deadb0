//! A pane's emulated screen inside the client's own.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use signaltty_pty::{Cell, Screen, Tint, Underline};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Draws as much of a screen as the area has room for.
pub(super) fn draw(screen: &Screen, area: Rect, buffer: &mut Buffer) {
    let area = area.intersection(buffer.area);
    for row in 0..area.height.min(screen.size().rows) {
        let line = Rect::new(area.x, area.y + row, area.width, 1);
        draw_row(screen, row, line, buffer);
    }
}

/// Draws one row of a screen into an area of one row.
pub(super) fn draw_row(screen: &Screen, row: u16, area: Rect, buffer: &mut Buffer) {
    let mut symbol = String::new();
    for cell in screen.cells(row) {
        let width = 1 + u16::from(cell.wide);
        if cell.col + width > area.width {
            break;
        }
        symbol.clear();
        write_symbol(&cell, &mut symbol);
        let at = (area.x + cell.col, area.y);
        if let Some(into) = buffer.cell_mut(at) {
            into.set_symbol(&symbol).set_style(style(cell.style));
        }
        if cell.wide
            && let Some(second) = buffer.cell_mut((at.0 + 1, at.1))
        {
            // Hidden below the first half.
            second.reset();
        }
    }
}

/// The text of a cell. A mark that would make the character wider or narrower
/// than the pane's emulator holds it for is left out: everything right of it
/// would be in the wrong column (C077).
fn write_symbol(cell: &Cell<'_>, symbol: &mut String) {
    let width = 1 + usize::from(cell.wide);
    let c = if cell.c.width() == Some(width) { cell.c } else { ' ' };
    symbol.push(c);
    for mark in cell.marks {
        let length = symbol.len();
        symbol.push(*mark);
        if symbol.width() != width {
            symbol.truncate(length);
        }
    }
    if c == ' ' && cell.wide {
        symbol.push(' ');
    }
}

fn style(style: signaltty_pty::Style) -> Style {
    let mut modifiers = Modifier::empty();
    for (set, modifier) in [
        (style.bold, Modifier::BOLD),
        (style.dim, Modifier::DIM),
        (style.italic, Modifier::ITALIC),
        (style.inverse, Modifier::REVERSED),
        (style.hidden, Modifier::HIDDEN),
        (style.strike, Modifier::CROSSED_OUT),
        (style.underline != Underline::None, Modifier::UNDERLINED),
    ] {
        if set {
            modifiers |= modifier;
        }
    }
    Style::reset().fg(colour(style.fg)).bg(colour(style.bg)).add_modifier(modifiers)
}

fn colour(tint: Tint) -> Color {
    match tint {
        Tint::Default => Color::Reset,
        Tint::Named(index) | Tint::Indexed(index) => Color::Indexed(index),
        Tint::Rgb(r, g, b) => Color::Rgb(r, g, b),
    }
}

#[cfg(test)]
mod tests {
    use signaltty_pty::{HistoryLimit, Size};

    use super::*;

    fn drawn(text: &str) -> Buffer {
        let mut screen = Screen::new(Size::new(20, 2), HistoryLimit::default());
        screen.advance(text.as_bytes());
        let mut buffer = Buffer::empty(Rect::new(0, 0, 20, 2));
        draw(&screen, buffer.area, &mut buffer);
        buffer
    }

    #[test]
    fn c077_a_variation_selector_moves_nothing() {
        let buffer = drawn("a \u{27a1}\u{fe0f} b\r\n\u{26a0}\u{fe0f}|");
        assert_eq!(buffer[(4, 0)].symbol(), "b");
        assert_eq!(buffer[(1, 1)].symbol(), "|");
        assert!(buffer.content.iter().all(|cell| cell.symbol().width() <= 1));
    }

    #[test]
    fn c076_any_text_keeps_its_columns() {
        let family = "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}";
        let accents = format!("e{}", "\u{301}".repeat(200));
        let text = format!("{family}|{accents}|\u{1f1e9}\u{1f1ea}|\u{1100}\u{1161}|\u{5d0}|x");
        let buffer = drawn(&text);
        let mut skip = 0;
        for x in 0..20 {
            let cell = &buffer[(x, 0)];
            if skip > 0 {
                skip -= 1;
                assert_eq!(cell.symbol(), " ", "{x}");
                continue;
            }
            let width = cell.symbol().width();
            assert!((1..=2).contains(&width), "{x}: {:?}", cell.symbol());
            skip = width - 1;
        }
    }

    #[test]
    fn wide_characters_that_do_not_fit_are_not_cut_in_half() {
        let mut screen = Screen::new(Size::new(20, 1), HistoryLimit::default());
        screen.advance("a日本".as_bytes());
        let mut buffer = Buffer::empty(Rect::new(0, 0, 2, 1));
        draw(&screen, buffer.area, &mut buffer);
        assert_eq!(buffer[(1, 0)].symbol(), " ");
    }
}
