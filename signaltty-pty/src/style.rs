//! How a character looks, independent of the emulator, and its escape sequence.

use std::fmt::Write as _;

/// A colour as a program asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tint {
    /// The terminal's own.
    #[default]
    Default,
    /// One of the 16 named ones, which a bold face may brighten.
    Named(u8),
    /// One of the 256 indexed ones.
    Indexed(u8),
    /// Red, green, blue.
    Rgb(u8, u8, u8),
}

/// The line below a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Underline {
    /// None.
    #[default]
    None,
    /// One straight line.
    Single,
    /// Two straight lines.
    Double,
    /// A wavy line.
    Curly,
    /// Dots.
    Dotted,
    /// Dashes.
    Dashed,
}

/// Everything about a character's look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Style {
    /// Of the character.
    pub fg: Tint,
    /// Behind it.
    pub bg: Tint,
    /// The line below it.
    pub underline: Underline,
    /// That line's colour.
    pub underline_tint: Tint,
    /// Heavier.
    pub bold: bool,
    /// Fainter.
    pub dim: bool,
    /// Slanted.
    pub italic: bool,
    /// With both colours exchanged.
    pub inverse: bool,
    /// Not to be seen.
    pub hidden: bool,
    /// Struck through.
    pub strike: bool,
}

impl Style {
    /// Whether a space in this style looks like nothing at all.
    pub(crate) fn blank(&self) -> bool {
        self.bg == Tint::Default
            && self.underline == Underline::None
            && !self.inverse
            && !self.strike
    }

    /// Appends the sequence that sets this style, whatever was set before.
    pub(crate) fn write_to(&self, out: &mut String) {
        out.push_str("\x1b[0");
        for (set, code) in [
            (self.bold, ";1"),
            (self.dim, ";2"),
            (self.italic, ";3"),
            (self.inverse, ";7"),
            (self.hidden, ";8"),
            (self.strike, ";9"),
        ] {
            if set {
                out.push_str(code);
            }
        }
        out.push_str(match self.underline {
            Underline::None => "",
            Underline::Single => ";4",
            Underline::Double => ";4:2",
            Underline::Curly => ";4:3",
            Underline::Dotted => ";4:4",
            Underline::Dashed => ";4:5",
        });
        write_tint(out, self.fg, 30);
        write_tint(out, self.bg, 40);
        // The colon form: terminals that do not know it skip all of it.
        let _ = match self.underline_tint {
            Tint::Default => Ok(()),
            Tint::Named(index) | Tint::Indexed(index) => write!(out, ";58:5:{index}"),
            Tint::Rgb(r, g, b) => write!(out, ";58:2::{r}:{g}:{b}"),
        };
        out.push('m');
    }
}

/// Ends all styles.
pub(crate) const RESET: &str = "\x1b[0m";

fn write_tint(out: &mut String, tint: Tint, base: u8) {
    // Writing to a string cannot fail.
    let _ = match tint {
        Tint::Default => Ok(()),
        Tint::Named(index @ 0..8) => write!(out, ";{}", base + index),
        Tint::Named(index) => write!(out, ";{}", base + 60 + index % 8),
        Tint::Indexed(index) => write!(out, ";{};5;{index}", base + 8),
        Tint::Rgb(r, g, b) => write!(out, ";{};2;{r};{g};{b}", base + 8),
    };
}
