//! From a buffer to the bytes that change the terminal.

use ratatui::backend::{Backend as _, CrosstermBackend};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::Color;
use signaltty_core::id::PaneId;

use crate::tui::gui::{Colour, Gui};
use crate::tui::model::Model;
use crate::tui::view::{Cursor, Printed, view};

/// What the terminal shows.
#[derive(Debug)]
pub(super) struct Painter {
    shown: Buffer,
    spare: Option<Buffer>,
    cursor: Option<Cursor>,
    printed: Printed,
    colour: Colour,
    /// Draw every cell.
    whole: bool,
}

impl Painter {
    pub(super) fn new(gui: &Gui) -> Self {
        Self {
            shown: Buffer::empty(Rect::ZERO),
            spare: None,
            cursor: None,
            printed: Printed::default(),
            colour: colours(gui.colour, |name| {
                std::env::var_os(name)?.into_string().ok().filter(|value| !value.is_empty())
            }),
            whole: true,
        }
    }

    /// What makes the terminal a screen of its own: the other screen, framed
    /// pastes, focus reports, and the mouse where it is wanted. Everything is drawn
    /// on it anew.
    pub(super) fn enter(&mut self, mouse: bool) -> String {
        (self.whole, self.cursor) = (true, None);
        let mouse = if mouse { "\x1b[?1000h\x1b[?1002h\x1b[?1006h" } else { "" };
        format!("\x1b[?1049h\x1b[?2004h\x1b[?1004h{mouse}\x1b[?25l\x1b[2J")
    }

    /// The bytes that make the terminal show the model; of what panes printed only
    /// what this one did, where one is named.
    pub(super) fn draw(&mut self, model: &Model, only: Option<PaneId>) -> Vec<u8> {
        if !(self.whole || model.whole)
            && let Some((rows, cursor)) = self.printed.rows(model, only)
        {
            return self.paint_rows(rows, cursor);
        }
        let mut buffer = self.blank(model.size);
        let cursor = view(model, &mut buffer);
        self.printed.all(model);
        self.paint(buffer, cursor)
    }

    /// A buffer to draw into.
    fn blank(&mut self, (cols, rows): (u16, u16)) -> Buffer {
        let area = Rect::new(0, 0, cols, rows);
        match self.spare.take() {
            Some(mut spare) if spare.area == area => {
                spare.reset();
                spare
            }
            _ => Buffer::empty(area),
        }
    }

    pub(super) fn clear(&mut self) {
        self.whole = true;
    }

    /// The bytes that change these rows, or parts of rows.
    fn paint_rows(&mut self, mut rows: Vec<Buffer>, cursor: Option<Cursor>) -> Vec<u8> {
        let mut old = Vec::with_capacity(rows.len());
        for row in &mut rows {
            reduce(row, self.colour);
            let mut before = Buffer::empty(row.area);
            for (cell, position) in before.content.iter_mut().zip(row.area.positions()) {
                if let Some(shown) = self.shown.cell_mut(position) {
                    cell.clone_from(shown);
                }
            }
            old.push(before);
        }
        let changes: Vec<_> = old.iter().zip(&rows).flat_map(|(old, row)| old.diff(row)).collect();
        let bytes = change(&mut self.cursor, changes, cursor);
        for row in rows {
            for (cell, position) in row.content.into_iter().zip(row.area.positions()) {
                if let Some(shown) = self.shown.cell_mut(position) {
                    *shown = cell;
                }
            }
        }
        bytes
    }

    /// The bytes that make the terminal show the buffer.
    fn paint(&mut self, mut next: Buffer, cursor: Option<Cursor>) -> Vec<u8> {
        reduce(&mut next, self.colour);
        let mut bytes = Vec::new();
        if self.whole || self.shown.area != next.area {
            self.shown = Buffer::empty(next.area);
            self.whole = false;
            bytes.extend_from_slice(b"\x1b[0m\x1b[2J");
        }
        bytes.extend(change(&mut self.cursor, self.shown.diff(&next), cursor));
        self.spare = Some(std::mem::replace(&mut self.shown, next));
        bytes
    }
}

/// The bytes for changed cells and the cursor, which is where `shown` says.
fn change(
    shown: &mut Option<Cursor>,
    changes: Vec<(u16, u16, &Cell)>,
    cursor: Option<Cursor>,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let changed = !changes.is_empty();
    if changed {
        // Shown in one piece by terminals that know how.
        bytes.extend_from_slice(b"\x1b[?2026h\x1b[?25l");
        // Writing to memory cannot fail.
        let _ = CrosstermBackend::new(&mut bytes).draw(changes.into_iter());
    }
    if changed || cursor != *shown {
        match cursor {
            Some(Cursor { col, row, style }) => {
                let place = format!("\x1b[{};{}H", row + 1, col + 1);
                bytes.extend_from_slice(place.as_bytes());
                if shown.map(|old| old.style) != Some(style) {
                    bytes.extend_from_slice(format!("\x1b[{style} q").as_bytes());
                }
                bytes.extend_from_slice(b"\x1b[?25h");
            }
            None => bytes.extend_from_slice(b"\x1b[?25l"),
        }
        *shown = cursor;
    }
    if changed {
        bytes.extend_from_slice(b"\x1b[?2026l");
    }
    bytes
}

/// How many colours the terminal has, as far as it says.
fn colours(asked: Colour, var: impl Fn(&str) -> Option<String>) -> Colour {
    let is = |name: &str, words: &[&str]| {
        var(name).is_some_and(|value| words.iter().any(|word| value.contains(word)))
    };
    match asked {
        Colour::Auto if var("NO_COLOR").is_some() => Colour::None,
        Colour::Auto if is("COLORTERM", &["truecolor", "24bit"]) => Colour::True,
        Colour::Auto if is("TERM", &["direct"]) => Colour::True,
        Colour::Auto if is("TERM", &["256color", "kitty", "ghostty", "alacritty"]) => {
            Colour::Indexed
        }
        Colour::Auto if is("TERM", &["dumb", "vt100", "mono"]) => Colour::None,
        Colour::Auto => Colour::Sixteen,
        asked => asked,
    }
}

fn reduce(buffer: &mut Buffer, to: Colour) {
    if to == Colour::True {
        return;
    }
    for cell in &mut buffer.content {
        cell.fg = nearest(cell.fg, to);
        cell.bg = nearest(cell.bg, to);
    }
}

/// The nearest colour that there is.
fn nearest(colour: Color, to: Colour) -> Color {
    match (to, colour) {
        (Colour::None, _) => Color::Reset,
        (Colour::Indexed, Color::Rgb(r, g, b)) => Color::Indexed(indexed(r, g, b)),
        (Colour::Sixteen, Color::Rgb(r, g, b)) => Color::Indexed(sixteen(r, g, b)),
        (Colour::Sixteen, Color::Indexed(index @ 16..)) => {
            let (r, g, b) = of_index(index);
            Color::Indexed(sixteen(r, g, b))
        }
        (_, colour) => colour,
    }
}

/// The nearest of the colour cube and the greys of 256 colours.
fn indexed(r: u8, g: u8, b: u8) -> u8 {
    let step = |value: u8| match value {
        0..48 => 0,
        48..115 => 1,
        value => (value - 35) / 40,
    };
    let cube = 16 + 36 * step(r) + 6 * step(g) + step(b);
    let average = (u16::from(r) + u16::from(g) + u16::from(b)) / 3;
    let grey = 232 + u8::try_from(average.saturating_sub(3) / 10).unwrap_or(23).min(23);
    let off = |index: u8| {
        let (x, y, z) = of_index(index);
        [(x, r), (y, g), (z, b)].iter().map(|(a, b)| u32::from(a.abs_diff(*b)).pow(2)).sum::<u32>()
    };
    if off(grey) < off(cube) { grey } else { cube }
}

fn of_index(index: u8) -> (u8, u8, u8) {
    if index >= 232 {
        let grey = 8 + 10 * (index - 232);
        return (grey, grey, grey);
    }
    let cube = index.saturating_sub(16);
    let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
    (level(cube / 36), level(cube / 6 % 6), level(cube % 6))
}

/// The nearest of 16 colours, by which of the three parts are strong.
fn sixteen(r: u8, g: u8, b: u8) -> u8 {
    let most = r.max(g).max(b);
    if most < 40 {
        return 0;
    }
    if most - r.min(g).min(b) < 24 {
        return match most {
            0..80 => 8,
            80..180 => 7,
            _ => 15,
        };
    }
    let strong = |value: u8| u8::from(u16::from(value) * 2 > u16::from(most));
    let bright = if most > 200 { 8 } else { 0 };
    bright + strong(r) + 2 * strong(g) + 4 * strong(b)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use ratatui::style::Style;
    use signaltty_pty::{HistoryLimit, Screen, Size};

    use super::*;
    use crate::tui::fixture::{Facts, PANES, client, id, press, tree};
    use crate::tui::model::Stream;
    use crate::tui::msg::{FromStream, Msg};
    use crate::tui::update::update;

    fn painter(colour: Colour) -> Painter {
        Painter { colour, ..Painter::new(&Gui::default()) }
    }

    #[test]
    fn nothing_is_written_where_nothing_changed() {
        let mut painter = painter(Colour::True);
        let cursor = Some(Cursor { col: 1, row: 0, style: 0 });
        let draw = |painter: &mut Painter, text: &str| {
            let mut buffer = painter.blank((10, 2));
            buffer.set_string(0, 0, text, Style::default());
            painter.paint(buffer, cursor)
        };
        assert!(!draw(&mut painter, "a").is_empty());
        assert_eq!(draw(&mut painter, "a"), b"");
        let change = String::from_utf8(draw(&mut painter, "b")).unwrap();
        assert!(change.contains('b') && change.len() < 80, "{change:?}");
        painter.clear();
        assert!(draw(&mut painter, "b").len() > 10);
    }

    #[test]
    fn rows_that_panes_print_come_out_as_if_everything_was_drawn() {
        let (cols, rows) = (80, 24);
        let panes: &[Facts] = &[PANES[0], PANES[10], PANES[4]];
        let mut model = client((cols, rows), tree(&[("api", &[panes])]), &[]);
        let mut painter = painter(Colour::Indexed);
        let terminal = || Screen::new(Size::new(cols, rows), HistoryLimit::default());
        let mut shown = terminal();
        let mut draw = |model: &mut Model, whole: bool| {
            assert_eq!(model.whole, whole);
            shown.advance(&painter.draw(model, None));
            model.whole = false;
            let mut fresh = self::painter(Colour::Indexed);
            let mut wanted = terminal();
            wanted.advance(&fresh.draw(model, None));
            assert!(painter.shown == fresh.shown);
            assert_eq!(shown.lines(usize::MAX), wanted.lines(usize::MAX));
            assert_eq!((shown.cursor(), painter.cursor), (wanted.cursor(), fresh.cursor));
        };
        draw(&mut model, true);
        for (turn, piece) in [
            "$ ls\r\n",
            "\x1b[1;31mred\x1b[0m 日本語 \u{1f468}\u{200d}\u{1f469} e\u{301}\r\n",
            "\x1b[?25l",
            "\x1b[5;3H\x1b[44mblue\x1b[K",
            &"flood ".repeat(500),
            "\x1b[?1049h\x1b[2Jother screen",
            "\x1b[?1049l\x1b[?25h\x1b[3 q",
            "\x1b[H日本",
            "\x1b[2;1H\x1b[3M",
        ]
        .into_iter()
        .enumerate()
        {
            for n in [11, 1, 5].into_iter().take(1 + turn % 3) {
                let Stream::Open { number, .. } = model.panes[&id(n)].stream else { panic!() };
                let what = FromStream::Output(Bytes::copy_from_slice(piece.as_bytes()));
                update(&mut model, Msg::Stream { pane: id(n), number, what });
            }
            draw(&mut model, false);
        }
        // What lies over the panes is not drawn through.
        press(&mut model, &["C-]", "?"]);
        draw(&mut model, true);
        let Stream::Open { number, .. } = model.panes[&id(11)].stream else { panic!() };
        let what = FromStream::Output(Bytes::from_static(b"below the help"));
        update(&mut model, Msg::Stream { pane: id(11), number, what });
        draw(&mut model, false);
        press(&mut model, &["q"]);
        draw(&mut model, true);
    }

    #[test]
    fn an_echo_is_drawn_without_what_its_neighbour_printed() {
        let panes: &[Facts] = &[PANES[0], PANES[10]];
        let mut model = client((80, 24), tree(&[("api", &[panes])]), &[]);
        let mut painter = painter(Colour::Indexed);
        painter.draw(&model, None);
        model.whole = false;
        let print = |model: &mut Model, n: u8, text: &str| {
            let Stream::Open { number, .. } = model.panes[&id(n)].stream else { panic!() };
            let what = FromStream::Output(Bytes::copy_from_slice(text.as_bytes()));
            update(model, Msg::Stream { pane: id(n), number, what });
        };
        let focus = model.focus().unwrap();
        assert_eq!(focus, id(1));
        print(&mut model, 11, &"flood ".repeat(50));
        print(&mut model, 1, "echo");
        assert!(model.beside);
        let echo = String::from_utf8(painter.draw(&model, Some(focus))).unwrap();
        assert!(echo.contains("echo") && !echo.contains("flood"), "{echo:?}");
        // What is left comes with the next frame of all.
        let rest = String::from_utf8(painter.draw(&model, None)).unwrap();
        assert!(rest.contains("flood") && !rest.contains("echo"), "{rest:?}");
        assert_eq!(painter.draw(&model, None), b"");
    }

    #[test]
    fn colours_follow_the_terminal_and_no_color() {
        let of = |vars: &'static [(&str, &str)]| {
            colours(Colour::Auto, move |name| {
                vars.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned())
            })
        };
        assert_eq!(of(&[("COLORTERM", "truecolor"), ("TERM", "xterm-256color")]), Colour::True);
        assert_eq!(of(&[("TERM", "tmux-256color")]), Colour::Indexed);
        assert_eq!(of(&[("TERM", "linux")]), Colour::Sixteen);
        assert_eq!(of(&[("NO_COLOR", "1"), ("COLORTERM", "truecolor")]), Colour::None);
        assert_eq!(nearest(Color::Rgb(255, 0, 0), Colour::Indexed), Color::Indexed(196));
        assert_eq!(nearest(Color::Rgb(128, 128, 128), Colour::Indexed), Color::Indexed(244));
        assert_eq!(nearest(Color::Rgb(250, 10, 10), Colour::Sixteen), Color::Indexed(9));
        assert_eq!(nearest(Color::Indexed(196), Colour::Sixteen), Color::Indexed(9));
        assert_eq!(nearest(Color::Rgb(1, 2, 3), Colour::None), Color::Reset);
    }
}
