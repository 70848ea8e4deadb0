//! Answers to a program's questions about its terminal.
//!
//! The emulator composes most of them. Colours and pixel sizes it leaves to its
//! user: a dark terminal with xterm's palette answers here.

use std::sync::{Arc, Mutex, PoisonError};

use alacritty_terminal::event::{Event, EventListener};
use alacritty_terminal::vte::ansi::{NamedColor, Rgb};

/// Receives the emulator's answers; everything else it says is not needed.
#[derive(Debug, Clone, Default)]
pub(super) struct Listener(Arc<Mutex<String>>);

impl Listener {
    /// What was answered since the last call.
    pub(super) fn take(&self) -> String {
        // Appending cannot leave a half-made string behind.
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl EventListener for Listener {
    fn send_event(&self, event: Event) {
        if let Event::PtyWrite(text) = event {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push_str(&text);
        }
    }
}

/// The colour at `index` of a terminal where nothing was changed.
pub(super) fn default_color(index: usize) -> Rgb {
    let rgb = |(r, g, b)| Rgb { r, g, b };
    if let Some(named) = NAMED.get(index) {
        return rgb(*named);
    }
    let byte = |value: usize| u8::try_from(value).unwrap_or(u8::MAX);
    let level = |step: usize| if step == 0 { 0 } else { byte(55 + 40 * step) };
    match index {
        16..=231 => {
            let cube = index - 16;
            rgb((level(cube / 36), level(cube / 6 % 6), level(cube % 6)))
        }
        232..=255 => {
            let grey = byte(8 + 10 * (index - 232));
            rgb((grey, grey, grey))
        }
        _ if index == NamedColor::Background as usize => rgb((0, 0, 0)),
        _ => rgb((0xe5, 0xe5, 0xe5)),
    }
}

/// A colour question's answer. `code` is what the question began with.
pub(super) fn color(code: &str, Rgb { r, g, b }: Rgb, terminator: &str) -> String {
    format!("\x1b]{code};rgb:{r:02x}{r:02x}/{g:02x}{g:02x}/{b:02x}{b:02x}{terminator}")
}

/// The size in pixels, for cells of 8 by 16.
pub(super) fn pixel_size(cols: usize, rows: usize) -> String {
    format!("\x1b[4;{};{}t", rows * 16, cols * 8)
}

const NAMED: [(u8, u8, u8); 16] = [
    (0x00, 0x00, 0x00),
    (0xcd, 0x00, 0x00),
    (0x00, 0xcd, 0x00),
    (0xcd, 0xcd, 0x00),
    (0x00, 0x00, 0xee),
    (0xcd, 0x00, 0xcd),
    (0x00, 0xcd, 0xcd),
    (0xe5, 0xe5, 0xe5),
    (0x7f, 0x7f, 0x7f),
    (0xff, 0x00, 0x00),
    (0x00, 0xff, 0x00),
    (0xff, 0xff, 0x00),
    (0x5c, 0x5c, 0xff),
    (0xff, 0x00, 0xff),
    (0x00, 0xff, 0xff),
    (0xff, 0xff, 0xff),
];
