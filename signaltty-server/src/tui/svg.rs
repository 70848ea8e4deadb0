//! A screen as a picture, for the documents.

use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use unicode_width::UnicodeWidthStr as _;

const WIDTH: u16 = 8;
const HEIGHT: u16 = 17;
const INK: &str = "#d8dee9";
const PAPER: &str = "#1d2129";

/// The picture.
pub(super) fn svg(buffer: &Buffer) -> String {
    let (cols, rows) = (buffer.area.width, buffer.area.height);
    let (w, h) = (cols * WIDTH + 16, rows * HEIGHT + 16);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" \
         font-family=\"monospace\" font-size=\"13\">\n<rect width=\"{w}\" height=\"{h}\" rx=\"6\" \
         fill=\"{PAPER}\"/>\n"
    );
    for y in 0..rows {
        let mut x = 0;
        while x < cols {
            let first = &buffer[(x, y)];
            let mut text = String::new();
            let start = x;
            while x < cols && looks(&buffer[(x, y)]) == looks(first) {
                let symbol = buffer[(x, y)].symbol();
                text.push_str(symbol);
                x += u16::try_from(symbol.width()).unwrap().max(1);
            }
            piece(&mut out, first, &text, start, y, x - start);
        }
    }
    out.push_str("</svg>\n");
    out
}

fn looks(cell: &Cell) -> (Color, Color, Modifier) {
    (cell.fg, cell.bg, cell.modifier)
}

fn piece(out: &mut String, cell: &Cell, text: &str, x: u16, y: u16, cols: u16) {
    let (mut ink, mut paper) = (colour(cell.fg, INK), colour(cell.bg, PAPER));
    if cell.modifier.contains(Modifier::REVERSED) {
        std::mem::swap(&mut ink, &mut paper);
    }
    let (left, top, width) = (8 + x * WIDTH, 8 + y * HEIGHT, cols * WIDTH);
    if paper != PAPER {
        writeln!(
            out,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{HEIGHT}\" fill=\"{paper}\"/>"
        )
        .unwrap();
    }
    if text.trim().is_empty() {
        return;
    }
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    let bold = if cell.modifier.contains(Modifier::BOLD) { " font-weight=\"bold\"" } else { "" };
    let faint = if cell.modifier.contains(Modifier::DIM) { " opacity=\"0.6\"" } else { "" };
    let line = top + 13;
    writeln!(
        out,
        "<text x=\"{left}\" y=\"{line}\" textLength=\"{width}\" xml:space=\"preserve\" \
         fill=\"{ink}\"{bold}{faint}>{text}</text>"
    )
    .unwrap();
}

fn colour(colour: Color, default: &str) -> String {
    let name = match colour {
        Color::Red | Color::Indexed(1) => "#e06c75",
        Color::Green | Color::Indexed(2) => "#98c379",
        Color::Yellow | Color::Indexed(3) => "#e5c07b",
        Color::Cyan | Color::Indexed(6) => "#56b6c2",
        Color::Rgb(r, g, b) => return format!("#{r:02x}{g:02x}{b:02x}"),
        _ => default,
    };
    name.to_owned()
}
