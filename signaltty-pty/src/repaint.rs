//! From a screen to the bytes that draw it.
//!
//! A pure function of the view. Drawn into a terminal of the same size, the
//! bytes give a screen that shows the same and goes on the same: given equal
//! further bytes, both stay equal. Order matters, since setting one thing moves
//! or resets another: contents, tab stops, saved cursor, scroll region, cursor,
//! modes.
//!
//! Not reproduced: the wrap mark of the bottom row and of a row in whose last
//! column a cursor waits, links' grouping where the program gave no id, and the
//! character that `CSI b` would repeat.

use std::fmt::Write as _;

use crate::screen::{Caret, Glyph, Link, RowView, View};
use crate::style::{RESET, Style};

/// Draws the screen that is shown, on top of the primary screen drawn by
/// [`primary`] if the alternate one is shown.
pub(crate) fn screen(view: View<'_>, below: Option<&str>) -> String {
    let mut out = String::from(PRELUDE);
    for (index, (r, g, b)) in view.colors() {
        let _ = match index {
            0..256 => write!(out, "\x1b]4;{index};rgb:{r:02x}/{g:02x}/{b:02x}\x1b\\"),
            _ => write!(out, "\x1b]{};rgb:{r:02x}/{g:02x}/{b:02x}\x1b\\", index - 246),
        };
    }
    titles(view, &mut out);
    saved_modes(view, &mut out);
    if let Some(below) = below {
        out.push_str(below);
        out.push_str("\x1b[?1049h");
        out.push_str(PLAIN);
    }
    contents(view, &mut out);
    keyboard(view, usize::from(below.is_some()), &mut out);
    tabs(view, &mut out);
    saved_caret(view, &mut out);
    let modes = view.modes();
    let (top, bottom) = view.shadow.region;
    let rows = view.rows().len();
    if (top, bottom) != (0, rows) {
        let _ = write!(out, "\x1b[{};{bottom}r", top + 1);
    }
    if modes.origin {
        out.push_str("\x1b[?6h");
    }
    let caret = view.caret();
    place(view, &caret, if modes.origin { top } else { 0 }, &mut out);
    charsets(&caret, &mut out);
    if view.shadow.shifted {
        out.push('\x0e');
    }
    finish(view, &mut out);
    out
}

/// Draws the primary screen, to be left for the alternate one.
pub(crate) fn primary(view: View<'_>) -> String {
    let mut out = String::new();
    contents(view, &mut out);
    keyboard(view, 0, &mut out);
    let caret = view.caret();
    place(view, &caret, 0, &mut out);
    charsets(&caret, &mut out);
    out
}

fn titles(view: View<'_>, out: &mut String) {
    let set = |title: &Option<String>, out: &mut String| {
        let _ = write!(out, "\x1b]2;{}\x1b\\", title.as_deref().unwrap_or(""));
    };
    for title in view.shadow.stacked_titles() {
        set(title, out);
        out.push_str("\x1b[22;2t");
    }
    let stacked = view.shadow.stacked_titles().next().is_some();
    if stacked || view.shadow.title.is_some() {
        set(&view.shadow.title, out);
    }
}

/// Saves what the program has saved, and leaves the modes as the prelude did.
fn saved_modes(view: View<'_>, out: &mut String) {
    let private = view.modes().private;
    for (&mode, &on) in &view.shadow.saved_modes {
        let known = private.iter().find(|(number, ..)| *number == mode);
        let fresh = known.map_or(mode == 7, |(_, _, default)| *default);
        set_private(mode, on, out);
        let _ = write!(out, "\x1b[?{mode}s");
        set_private(mode, fresh, out);
    }
}

fn finish(view: View<'_>, out: &mut String) {
    let modes = view.modes();
    for (set, sequence) in [
        (modes.insert, "\x1b[4h"),
        (modes.newline, "\x1b[20h"),
        (!modes.wrap, "\x1b[?7l"),
        (modes.app_keypad, "\x1b="),
    ] {
        if set {
            out.push_str(sequence);
        }
    }
    for (mode, on, default) in modes.private {
        if on != default {
            set_private(mode, on, out);
        }
    }
    for mode in &view.shadow.passive_modes {
        set_private(*mode, true, out);
    }
    if view.shadow.modify_other_keys > 0 {
        let _ = write!(out, "\x1b[>4;{}m", view.shadow.modify_other_keys);
    }
    let style = view.cursor_style();
    if style > 0 {
        let _ = write!(out, "\x1b[{style} q");
    }
    if modes.show_cursor {
        out.push_str("\x1b[?25h");
    }
}

fn set_private(mode: u16, on: bool, out: &mut String) {
    let _ = write!(out, "\x1b[?{mode}{}", if on { 'h' } else { 'l' });
}

/// Draws all rows, beginning at the top left.
fn contents(view: View<'_>, out: &mut String) {
    let mut pen = Pen::plain();
    let mut rows = view.rows().peekable();
    let mut continues = false;
    let mut first = true;
    while let Some(row) = rows.next() {
        if !first && !continues {
            out.push_str("\r\n");
        }
        first = false;
        let next = rows.peek();
        let wraps = row.wrapped() && next.is_some();
        let before = out.len();
        let leaves_free = |next: &RowView<'_>| {
            // A wide character that follows leaves the last column free itself,
            // in its own style.
            let wide = next.exact().next().filter(|glyph| glyph.wide);
            let filler = row.whole().last().filter(|_| row.has_filler());
            filler.zip(wide).is_some_and(|(a, b)| a.style == b.style && a.link == b.link)
        };
        if wraps && next.is_some_and(leaves_free) {
            row.without_filler().for_each(|glyph| pen.draw(&glyph, out));
        } else if wraps {
            row.whole().for_each(|glyph| pen.draw(&glyph, out));
        } else {
            row.exact().for_each(|glyph| pen.draw(&glyph, out));
        }
        if continues && out.len() == before {
            // Only a character makes the line above wrap.
            pen.look(Style::default(), None, out);
            out.push(' ');
        }
        continues = wraps;
    }
    pen.look(Style::default(), None, out);
}

fn keyboard(view: View<'_>, which: usize, out: &mut String) {
    let Some(keyboard) = view.shadow.keyboards.get(which) else {
        return;
    };
    // Each push saves the flags in force, so the oldest saved one comes first.
    let mut wanted = keyboard.saved.iter().chain([&keyboard.flags]);
    let mut now = 0;
    if let Some(&flags) = wanted.next() {
        if flags != now {
            let _ = write!(out, "\x1b[={flags};1u");
        }
        now = flags;
    }
    for &flags in wanted {
        let _ = write!(out, "\x1b[>{flags}u");
        now = flags;
    }
    debug_assert_eq!(now, keyboard.flags);
}

fn tabs(view: View<'_>, out: &mut String) {
    if view.shadow.has_default_tabs() {
        return;
    }
    out.push_str("\x1b[3g");
    for (column, _) in view.shadow.tabs.iter().enumerate().filter(|(_, stop)| **stop) {
        let _ = write!(out, "\x1b[{}G\x1bH", column + 1);
    }
}

fn saved_caret(view: View<'_>, out: &mut String) {
    let saved = view.saved_caret();
    place(view, &saved, 0, out);
    charsets(&saved, out);
    out.push_str("\x1b7");
    out.push_str(ASCII);
}

/// Puts the cursor in its place, with its style. Rows count from `top`.
fn place(view: View<'_>, caret: &Caret, top: usize, out: &mut String) {
    let row = caret.row.saturating_sub(top) + 1;
    let mut pen = Pen::UNKNOWN;
    let last = if caret.pending_wrap { view.last_glyph(caret.row) } else { None };
    match last {
        Some(glyph) => {
            // Only writing the last column leaves a wrap pending.
            let col = caret.col + 1 - usize::from(glyph.wide);
            let _ = write!(out, "\x1b[{row};{col}H");
            pen.draw(&glyph, out);
        }
        None => {
            let _ = write!(out, "\x1b[{row};{}H", caret.col + 1);
        }
    }
    pen.look(caret.style, caret.link.as_ref(), out);
}

fn charsets(caret: &Caret, out: &mut String) {
    for (set, designator) in caret.line_drawing.into_iter().zip(['(', ')', '*', '+']) {
        if set {
            let _ = write!(out, "\x1b{designator}0");
        }
    }
}

/// What the terminal draws with, as far as it is known.
struct Pen {
    style: Option<Style>,
    link: Option<Option<Link>>,
}

impl Pen {
    const UNKNOWN: Self = Self { style: None, link: None };

    fn plain() -> Self {
        Self { style: Some(Style::default()), link: Some(None) }
    }

    fn draw(&mut self, glyph: &Glyph<'_>, out: &mut String) {
        self.look(glyph.style, glyph.link.as_ref(), out);
        out.push(glyph.c);
        out.extend(glyph.marks);
    }

    fn look(&mut self, style: Style, link: Option<&Link>, out: &mut String) {
        if self.style != Some(style) {
            if style == Style::default() {
                out.push_str(RESET);
            } else {
                style.write_to(out);
            }
            self.style = Some(style);
        }
        if self.link.as_ref().map(Option::as_ref) != Some(link) {
            let id = link.and_then(Link::id).map(|id| format!("id={id}")).unwrap_or_default();
            let _ = write!(out, "\x1b]8;{id};{}\x1b\\", link.map_or("", Link::uri));
            self.link = Some(link.cloned());
        }
    }
}

/// Whatever the terminal was left with: primary screen, no modes, no styles, no
/// region, default character sets, tabs, palette, cursor and keyboard, blank.
/// Nothing here pushes a line into the terminal's scrollback.
const PRELUDE: &str = concat!(
    "\x1b[?1049l\x1b[?25l\x1b[4;20l\x1b[?6l\x1b[?7h\x1b[r\x1b>",
    "\x1b[?1;1000;1002;1003;1004;1005;1006;2004;5;9;1015;1016;2031;2048l\x1b[<16u\x1b[>4;0m\x1b[0 q",
    "\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\",
    "\x1b(B\x1b)B\x1b*B\x1b+B\x0f",
    "\x1b[0m\x1b]8;;\x1b\\\x1b[H\x1b[J",
);

/// A blank alternate screen.
const PLAIN: &str = "\x1b(B\x1b)B\x1b*B\x1b+B\x1b[0m\x1b]8;;\x1b\\\x1b[H\x1b[J";

/// Default character sets.
const ASCII: &str = "\x1b(B\x1b)B\x1b*B\x1b+B";
