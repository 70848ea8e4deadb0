//! One row of a screen, in the crate's own words.

use alacritty_terminal::grid::Row;
use alacritty_terminal::term::cell::{Cell, Flags, Hyperlink};
use alacritty_terminal::vte::ansi::{Color, NamedColor, Rgb};

use crate::line::StyledText;
use crate::style::{Style, Tint, Underline};

/// One row of a screen.
#[derive(Clone, Copy)]
pub(crate) struct RowView<'a> {
    row: &'a Row<Cell>,
}

/// A character in its cell or two cells.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Glyph<'a> {
    pub(crate) c: char,
    pub(crate) marks: &'a [char],
    pub(crate) style: Style,
    pub(crate) link: Option<Link>,
    pub(crate) wide: bool,
}

/// A hyperlink.
#[derive(Debug, Clone)]
pub(crate) struct Link(Hyperlink);

impl<'a> RowView<'a> {
    pub(super) fn new(row: &'a Row<Cell>) -> Self {
        Self { row }
    }

    /// Whether the text goes on in the next row.
    pub(crate) fn wrapped(self) -> bool {
        self.row[..].last().is_some_and(|cell| cell.flags.contains(Flags::WRAPLINE))
    }

    /// Whether the last column was left free by a wide character that did not
    /// fit and went to the next row.
    pub(crate) fn has_filler(self) -> bool {
        self.wrapped()
            && self.row[..]
                .last()
                .is_some_and(|cell| cell.flags.contains(Flags::LEADING_WIDE_CHAR_SPACER))
    }

    /// Whether anything in the row can be seen.
    pub(crate) fn is_blank(self) -> bool {
        self.row[..].iter().all(looks_blank)
    }

    /// The glyphs without the free last column, if [`has_filler`](Self::has_filler).
    pub(crate) fn without_filler(self) -> impl Iterator<Item = Glyph<'a>> {
        glyphs(self.text_cells().iter())
    }

    /// Writes what can be seen to the end of `text`, styles included.
    ///
    /// Every line that leaves the screen goes through here, so it looks at most
    /// cells once and works out a style only where it changes.
    pub(crate) fn write_to(self, text: &mut StyledText) {
        let cells = self.text_cells();
        let length = if self.wrapped() {
            cells.len()
        } else {
            cells.iter().rposition(|cell| !looks_blank(cell)).map_or(0, |last| last + 1)
        };
        let mut cells = cells.get(..length).unwrap_or_default();
        while let Some(first) = cells.first() {
            if first.extra.is_some() {
                text.set_style(style(first));
                text.push(shown(first), first.zerowidth());
                cells = cells.get(1..).unwrap_or_default();
                continue;
            }
            let flags = first.flags.intersection(LOOKS);
            let alike = |cell: &&Cell| {
                cell.extra.is_none()
                    && cell.flags.intersection(LOOKS) == flags
                    && cell.fg == first.fg
                    && cell.bg == first.bg
            };
            let count = cells.iter().take_while(alike).count();
            let (run, rest) = cells.split_at(count);
            text.set_style(style(first));
            let glyphs = run.iter().filter(|cell| !cell.flags.contains(Flags::WIDE_CHAR_SPACER));
            text.extend(glyphs.map(shown));
            cells = rest;
        }
    }

    fn text_cells(self) -> &'a [Cell] {
        let cells = &self.row[..];
        let filler = usize::from(self.has_filler());
        cells.get(..cells.len() - filler).unwrap_or_default()
    }

    /// All glyphs.
    pub(crate) fn whole(self) -> impl Iterator<Item = Glyph<'a>> {
        glyphs(self.row[..].iter())
    }

    /// The glyphs up to the last one that differs from an untouched cell.
    pub(crate) fn exact(self) -> impl Iterator<Item = Glyph<'a>> {
        let cells = &self.row[..];
        let touched = |cell: &Cell| {
            !(looks_blank(cell) && style(cell) == Style::default() && cell.hyperlink().is_none())
        };
        glyphs(cells.iter().take(cells.iter().rposition(touched).map_or(0, |last| last + 1)))
    }
}

impl Link {
    pub(super) fn new(link: Hyperlink) -> Self {
        Self(link)
    }

    /// The id the program gave, if it gave one.
    pub(crate) fn id(&self) -> Option<&str> {
        Some(self.0.id()).filter(|id| !id.ends_with(GENERATED_ID))
    }

    pub(crate) fn uri(&self) -> &str {
        self.0.uri()
    }
}

impl PartialEq for Link {
    fn eq(&self, other: &Self) -> bool {
        self.uri() == other.uri() && self.id() == other.id()
    }
}

fn glyphs<'a>(cells: impl Iterator<Item = &'a Cell>) -> impl Iterator<Item = Glyph<'a>> {
    cells.filter(|cell| !cell.flags.contains(Flags::WIDE_CHAR_SPACER)).map(|cell| Glyph {
        c: shown(cell),
        marks: cell.zerowidth().unwrap_or_default(),
        style: style(cell),
        link: cell.hyperlink().map(Link),
        wide: cell.flags.contains(Flags::WIDE_CHAR),
    })
}

/// The emulator marks where a tab was written; to the eye it is a space.
fn shown(cell: &Cell) -> char {
    if cell.c == '\t' { ' ' } else { cell.c }
}

fn looks_blank(cell: &Cell) -> bool {
    matches!(cell.c, ' ' | '\t')
        && cell.bg == Color::Named(NamedColor::Background)
        && !cell.flags.intersects(
            Flags::INVERSE | Flags::ALL_UNDERLINES | Flags::STRIKEOUT | Flags::WIDE_CHAR_SPACER,
        )
        && cell.zerowidth().is_none_or(<[char]>::is_empty)
}

pub(super) fn style(cell: &Cell) -> Style {
    let (fg, bg) = (tint(cell.fg), tint(cell.bg));
    // Most cells, and every line is encoded once: worth a shortcut.
    if cell.extra.is_none() && !cell.flags.intersects(LOOKS) {
        return Style { fg, bg, ..Style::default() };
    }
    let has = |flag| cell.flags.contains(flag);
    let underline = [
        (Flags::UNDERLINE, Underline::Single),
        (Flags::DOUBLE_UNDERLINE, Underline::Double),
        (Flags::UNDERCURL, Underline::Curly),
        (Flags::DOTTED_UNDERLINE, Underline::Dotted),
        (Flags::DASHED_UNDERLINE, Underline::Dashed),
    ];
    let underline = underline.into_iter().find(|(flag, _)| has(*flag));
    Style {
        fg,
        bg,
        underline: underline.map_or(Underline::None, |(_, kind)| kind),
        underline_tint: cell.underline_color().map_or(Tint::Default, tint),
        bold: has(Flags::BOLD),
        dim: has(Flags::DIM),
        italic: has(Flags::ITALIC),
        inverse: has(Flags::INVERSE),
        hidden: has(Flags::HIDDEN),
        strike: has(Flags::STRIKEOUT),
    }
}

fn tint(color: Color) -> Tint {
    match color {
        Color::Named(name) => match u8::try_from(name as usize) {
            Ok(index @ 0..16) => Tint::Named(index),
            _ => Tint::Default,
        },
        Color::Indexed(index) => Tint::Indexed(index),
        Color::Spec(Rgb { r, g, b }) => Tint::Rgb(r, g, b),
    }
}

/// How the emulator ends the ids of links that had none.
const GENERATED_ID: &str = "_alacritty";

/// Flags that are part of a style.
const LOOKS: Flags = Flags::INVERSE
    .union(Flags::BOLD)
    .union(Flags::DIM)
    .union(Flags::ITALIC)
    .union(Flags::HIDDEN)
    .union(Flags::STRIKEOUT)
    .union(Flags::ALL_UNDERLINES);
