//! The handler between the parser and the emulator.
//!
//! It forwards every call, and around some of them it
//! - logs rows of the primary screen just before they scroll off. The emulator
//!   keeps no history at all, so it never holds more than the screen;
//! - follows the state that the emulator hides, see [`shadow`](super::shadow);
//! - bounds what programs can make a cell or a title hold;
//! - repairs behaviour in which the emulator differs from other terminals.

use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::Line;
use alacritty_terminal::term::TermMode;
use alacritty_terminal::vte::ansi::{
    Attr, CharsetIndex, ClearMode, CursorShape, CursorStyle, Handler, Hyperlink, KeyboardModes,
    KeyboardModesApplyBehavior, LineClearMode, Mode, ModifyOtherKeys, NamedPrivateMode,
    PrivateMode, Rgb, StandardCharset, TabulationClearMode,
};

use super::answers;
use super::driver::Driver;
use super::events::ScreenEvent;
use super::osc::clean;

macro_rules! forward {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {
        $(fn $name(&mut self, $($argument: $type),*) {
            Handler::$name(self.term, $($argument),*);
        })*
    };
}

macro_rules! forward_and_mend {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {
        $(fn $name(&mut self, $($argument: $type),*) {
            Handler::$name(self.term, $($argument),*);
            self.mend();
        })*
    };
}

macro_rules! ask {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {
        $(fn $name(&mut self, $($argument: $type),*) {
            self.ask(|term| Handler::$name(term, $($argument),*));
        })*
    };
}

impl Handler for Driver<'_> {
    forward! {
        goto(line: i32, col: usize);
        goto_line(line: i32);
        move_forward(cols: usize);
        move_backward(cols: usize);
        backspace();
        carriage_return();
        substitute();
        scroll_down(lines: usize);
        insert_blank_lines(lines: usize);
        delete_lines(lines: usize);
        move_forward_tabs(count: u16);
        save_cursor_position();
        reverse_index();
        terminal_attribute(attr: Attr);
        set_mode(mode: Mode);
        unset_mode(mode: Mode);
        set_keypad_application_mode();
        unset_keypad_application_mode();
        configure_charset(index: CharsetIndex, charset: StandardCharset);
        set_color(index: usize, color: Rgb);
        reset_color(index: usize);
        decaln();
    }

    forward_and_mend! {
        insert_blank(count: usize);
        erase_chars(count: usize);
        clear_line(mode: LineClearMode);
    }

    ask! {
        identify_terminal(intermediate: Option<char>);
        device_status(status: usize);
        report_mode(mode: Mode);
        report_private_mode(mode: PrivateMode);
        text_area_size_chars();
    }

    fn restore_cursor_position(&mut self) {
        self.restore_cursor();
    }

    fn set_cursor_style(&mut self, style: Option<CursorStyle>) {
        self.shadow.styled_cursor = style.is_some();
        self.term.set_cursor_style(style);
    }

    fn set_cursor_shape(&mut self, shape: CursorShape) {
        self.shadow.styled_cursor = true;
        self.term.set_cursor_shape(shape);
    }

    fn input(&mut self, c: char) {
        let cursor = &self.term.grid().cursor;
        let last = cursor.point.column.0 + 1 >= self.term.columns();
        if last || !c.is_ascii() || self.term.mode().contains(TermMode::INSERT) {
            self.input_carefully(c);
        } else {
            self.term.input(c);
        }
    }

    fn put_tab(&mut self, count: u16) {
        if self.term.grid().cursor.input_needs_wrap {
            self.before_wrap(false);
        }
        self.term.put_tab(count);
    }

    fn move_backward_tabs(&mut self, count: u16) {
        self.term.move_backward_tabs(count);
        // The emulator would still wrap, now in the middle of the line.
        self.term.grid_mut().cursor.input_needs_wrap = false;
    }

    fn linefeed(&mut self) {
        self.before_linefeed();
        self.term.linefeed();
    }

    fn newline(&mut self) {
        self.before_linefeed();
        self.term.newline();
    }

    fn scroll_up(&mut self, lines: usize) {
        self.leave(lines);
        self.term.scroll_up(lines);
    }

    fn goto_col(&mut self, col: usize) {
        self.term.goto(self.moved(0), col);
    }

    fn move_up(&mut self, lines: usize) {
        let rows = i64::try_from(lines).unwrap_or(i64::MAX);
        self.term.goto(self.moved(-rows), self.column());
    }

    fn move_down(&mut self, lines: usize) {
        let rows = i64::try_from(lines).unwrap_or(i64::MAX);
        self.term.goto(self.moved(rows), self.column());
    }

    fn move_up_and_cr(&mut self, lines: usize) {
        let rows = i64::try_from(lines).unwrap_or(i64::MAX);
        self.term.goto(self.moved(-rows), 0);
    }

    fn move_down_and_cr(&mut self, lines: usize) {
        let rows = i64::try_from(lines).unwrap_or(i64::MAX);
        self.term.goto(self.moved(rows), 0);
    }

    fn delete_chars(&mut self, count: usize) {
        // Unbounded, the emulator also clears cells left of the cursor.
        let count = count.min(self.term.columns() - self.column());
        self.term.delete_chars(count);
        self.mend();
    }

    fn clear_screen(&mut self, mode: ClearMode) {
        match mode {
            ClearMode::All => self.leave_all(),
            ClearMode::Saved => {
                self.history.clear();
                self.shadow.last_cleared = None;
            }
            // The emulator leaves the first row out when the cursor is in the second.
            ClearMode::Above if self.row() == 1 => {
                self.term.grid_mut().reset_region(..Line(1));
            }
            ClearMode::Above | ClearMode::Below => {}
        }
        self.term.clear_screen(mode);
        self.mend();
    }

    fn clear_tabs(&mut self, mode: TabulationClearMode) {
        let column = self.column();
        match mode {
            TabulationClearMode::Current => {
                if let Some(stop) = self.shadow.tabs.get_mut(column) {
                    *stop = false;
                }
            }
            TabulationClearMode::All => self.shadow.tabs.fill(false),
        }
        self.term.clear_tabs(mode);
    }

    fn set_horizontal_tabstop(&mut self) {
        let column = self.column();
        if let Some(stop) = self.shadow.tabs.get_mut(column) {
            *stop = true;
        }
        self.term.set_horizontal_tabstop();
    }

    fn reset_state(&mut self) {
        // What the primary screen holds is lost to no reset.
        self.switch_screen(false);
        self.leave_all();
        self.term.reset_state();
        self.shadow.region = (0, self.term.screen_lines());
        let title = self.shadow.title.take();
        self.shadow.reset();
        for index in 0..COLORS {
            self.term.reset_color(index);
        }
        if title.is_some() {
            self.outbox.post(ScreenEvent::Title(None));
        }
    }

    fn set_private_mode(&mut self, mode: PrivateMode) {
        match mode {
            PrivateMode::Unknown(47 | 1047) => self.switch_screen(true),
            PrivateMode::Named(NamedPrivateMode::SwapScreenAndSetRestoreCursor) => {
                self.switch_screen(true);
            }
            PrivateMode::Unknown(1048) => self.term.save_cursor_position(),
            PrivateMode::Unknown(number) => self.shadow.note_mode(number, true),
            PrivateMode::Named(NamedPrivateMode::ColumnMode) => self.column_mode(),
            PrivateMode::Named(named) => {
                self.shadow.styled_cursor |= matches!(named, NamedPrivateMode::BlinkingCursor);
                self.term.set_private_mode(mode);
            }
        }
    }

    fn unset_private_mode(&mut self, mode: PrivateMode) {
        match mode {
            PrivateMode::Unknown(47 | 1047) => self.switch_screen(false),
            PrivateMode::Named(NamedPrivateMode::SwapScreenAndSetRestoreCursor) => {
                self.switch_screen(false);
            }
            PrivateMode::Unknown(1048) => self.restore_cursor(),
            PrivateMode::Unknown(number) => self.shadow.note_mode(number, false),
            PrivateMode::Named(NamedPrivateMode::ColumnMode) => self.column_mode(),
            PrivateMode::Named(named) => {
                self.shadow.styled_cursor |= matches!(named, NamedPrivateMode::BlinkingCursor);
                self.term.unset_private_mode(mode);
            }
        }
    }

    fn set_scrolling_region(&mut self, top: usize, bottom: Option<usize>) {
        let rows = self.term.screen_lines();
        let bottom = bottom.unwrap_or(rows).min(rows);
        // The emulator would accept a region below the screen.
        if top < bottom {
            self.shadow.region = (top - 1, bottom);
            self.term.set_scrolling_region(top, Some(bottom));
        }
    }

    fn set_active_charset(&mut self, index: CharsetIndex) {
        self.shadow.shifted = matches!(index, CharsetIndex::G1);
        self.term.set_active_charset(index);
    }

    fn set_hyperlink(&mut self, link: Option<Hyperlink>) {
        let fits = |link: &Hyperlink| {
            let id = link.id.as_deref().unwrap_or("");
            let printable = |text: &str| !text.contains(char::is_control);
            link.uri.len() <= MAX_URI && id.len() <= MAX_ID && printable(id) && printable(&link.uri)
        };
        self.term.set_hyperlink(link.filter(fits));
    }

    fn set_title(&mut self, title: Option<String>) {
        // An empty title is none.
        let title = title.map(|title| clean(title.as_bytes(), MAX_TITLE));
        self.show_title(title.filter(|title| !title.is_empty()));
    }

    fn push_title(&mut self) {
        self.shadow.push_title();
    }

    fn pop_title(&mut self) {
        if let Some(title) = self.shadow.pop_title() {
            self.show_title(title);
        }
    }

    fn bell(&mut self) {
        self.outbox.post(ScreenEvent::Bell);
    }

    fn dynamic_color_sequence(&mut self, code: String, index: usize, terminator: &str) {
        let changed = if index < COLORS { self.term.colors()[index] } else { None };
        let color = changed.unwrap_or_else(|| answers::default_color(index));
        self.outbox.answer(answers::color(&code, color, terminator).as_bytes());
    }

    fn text_area_size_pixels(&mut self) {
        let size = answers::pixel_size(self.term.columns(), self.term.screen_lines());
        self.outbox.answer(size.as_bytes());
    }

    fn push_keyboard_mode(&mut self, mode: KeyboardModes) {
        self.keyboard().push(mode.bits());
    }

    fn pop_keyboard_modes(&mut self, count: u16) {
        self.keyboard().pop(count);
    }

    fn set_keyboard_mode(&mut self, mode: KeyboardModes, behavior: KeyboardModesApplyBehavior) {
        let keyboard = self.keyboard();
        keyboard.flags = match behavior {
            KeyboardModesApplyBehavior::Replace => mode.bits(),
            KeyboardModesApplyBehavior::Union => keyboard.flags | mode.bits(),
            KeyboardModesApplyBehavior::Difference => keyboard.flags & !mode.bits(),
        };
    }

    fn set_modify_other_keys(&mut self, mode: ModifyOtherKeys) {
        self.shadow.modify_other_keys = match mode {
            ModifyOtherKeys::Reset => 0,
            ModifyOtherKeys::EnableExceptWellDefined => 1,
            ModifyOtherKeys::EnableAll => 2,
        };
    }
}

/// Bytes of a title.
const MAX_TITLE: usize = 1024;
/// Bytes of a link's target, as in other terminals.
const MAX_URI: usize = 2083;
/// Bytes of a link's id.
const MAX_ID: usize = 250;
/// Entries of the palette, special colours included.
const COLORS: usize = 269;
