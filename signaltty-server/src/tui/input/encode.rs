//! What a pane's program gets for a key, a paste and the mouse: what a terminal
//! in the modes of that pane would send.

use crossterm::event::{KeyCode, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use signaltty_pty::Mouse;

use super::Key;

/// The bytes of a key. `application` is the cursor key mode (DECCKM). Empty for
/// keys that no terminal has a sequence for.
pub(crate) fn key(key: Key, application: bool) -> Vec<u8> {
    let alt = key.mods.contains(KeyModifiers::ALT);
    let control = key.mods.contains(KeyModifiers::CONTROL);
    let mut bytes = Vec::with_capacity(8);
    // xterm's parameter: 1 and what is held.
    let held = 1
        + u8::from(key.mods.contains(KeyModifiers::SHIFT))
        + 2 * u8::from(alt)
        + 4 * u8::from(control);
    let letter = |letter: char| match held {
        1 => format!("\x1b{}{letter}", if application { 'O' } else { '[' }),
        held => format!("\x1b[1;{held}{letter}"),
    };
    let tilde = |number: u8| match held {
        1 => format!("\x1b[{number}~"),
        held => format!("\x1b[{number};{held}~"),
    };
    let function = |last: char| match held {
        1 => format!("\x1bO{last}"),
        held => format!("\x1b[1;{held}{last}"),
    };
    let sequence = match key.code {
        KeyCode::Up => letter('A'),
        KeyCode::Down => letter('B'),
        KeyCode::Right => letter('C'),
        KeyCode::Left => letter('D'),
        KeyCode::Home => letter('H'),
        KeyCode::End => letter('F'),
        KeyCode::Insert => tilde(2),
        KeyCode::Delete => tilde(3),
        KeyCode::PageUp => tilde(5),
        KeyCode::PageDown => tilde(6),
        KeyCode::F(1) => function('P'),
        KeyCode::F(2) => function('Q'),
        KeyCode::F(3) => function('R'),
        KeyCode::F(4) => function('S'),
        KeyCode::F(5) => tilde(15),
        KeyCode::F(number @ 6..=10) => tilde(number + 11),
        KeyCode::F(number @ 11..=12) => tilde(number + 12),
        KeyCode::Tab if key.mods.contains(KeyModifiers::SHIFT) => "\x1b[Z".to_owned(),
        _ => {
            if alt {
                bytes.push(0x1b);
            }
            plain(key.code, control, &mut bytes);
            return bytes;
        }
    };
    bytes.extend_from_slice(sequence.as_bytes());
    bytes
}

fn plain(code: KeyCode, control: bool, bytes: &mut Vec<u8>) {
    match code {
        KeyCode::Enter => bytes.push(b'\r'),
        KeyCode::Tab => bytes.push(b'\t'),
        KeyCode::Esc => bytes.push(0x1b),
        KeyCode::Backspace => bytes.push(if control { 0x08 } else { 0x7f }),
        KeyCode::Char(c) if control => match u8::try_from(c.to_ascii_uppercase()) {
            Ok(byte @ b'@'..=b'_') => bytes.push(byte & 0x1f),
            Ok(b' ') => bytes.push(0),
            Ok(b'?') => bytes.push(0x7f),
            _ => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        },
        KeyCode::Char(c) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        _ => bytes.clear(),
    }
}

/// The bytes of a paste, framed where the program wants that (C074). A paste
/// that holds the frame's own end would end it early, so that is taken out.
pub(crate) fn paste(text: &str, framed: bool) -> Vec<u8> {
    // Terminals send pasted line ends as the Enter key does.
    let text = text.replace("\r\n", "\r").replace('\n', "\r");
    if !framed {
        return text.into_bytes();
    }
    let text = text.replace("\x1b[201~", "").replace("\x1b[200~", "");
    [b"\x1b[200~", text.as_bytes(), b"\x1b[201~"].concat()
}

/// The bytes of a mouse event in a pane's own cells, counted from 0; empty where
/// the program did not ask for it.
pub(crate) fn mouse(event: &MouseEvent, col: u16, row: u16, mode: Mouse, sgr: bool) -> Vec<u8> {
    let number = |button| match button {
        MouseButton::Left => 0,
        MouseButton::Middle => 1,
        MouseButton::Right => 2,
    };
    let (button, released) = match event.kind {
        MouseEventKind::Down(button) => (number(button), false),
        MouseEventKind::Up(button) => (number(button), true),
        MouseEventKind::Drag(button) if mode >= Mouse::Drag => (number(button) + 32, false),
        MouseEventKind::Moved if mode >= Mouse::Motion => (35, false),
        MouseEventKind::ScrollUp => (64, false),
        MouseEventKind::ScrollDown => (65, false),
        MouseEventKind::ScrollLeft => (66, false),
        MouseEventKind::ScrollRight => (67, false),
        _ => return Vec::new(),
    };
    if mode == Mouse::Off {
        return Vec::new();
    }
    let held = [(KeyModifiers::SHIFT, 4), (KeyModifiers::ALT, 8), (KeyModifiers::CONTROL, 16)];
    let held: u8 =
        held.iter().filter(|(flag, _)| event.modifiers.contains(*flag)).map(|h| h.1).sum();
    let (col, row) = (col + 1, row + 1);
    if sgr {
        let last = if released { 'm' } else { 'M' };
        return format!("\x1b[<{};{col};{row}{last}", button + held).into_bytes();
    }
    // The old form has no number of the button that was let go, and no room for
    // columns behind the 223rd.
    let button = if released { 3 } else { button } + held;
    match (u8::try_from(col + 32), u8::try_from(row + 32)) {
        (Ok(col), Ok(row)) => vec![0x1b, b'[', b'M', 32 + button, col, row],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(name: &str, application: bool) -> String {
        String::from_utf8(key(name.parse().unwrap(), application)).unwrap()
    }

    #[test]
    fn keys_become_what_terminals_send() {
        for (name, bytes) in [
            ("a", "a"),
            ("é", "é"),
            ("C-c", "\x03"),
            ("C-]", "\x1d"),
            ("C-Space", "\0"),
            ("M-x", "\x1bx"),
            ("C-M-x", "\x1b\x18"),
            ("Enter", "\r"),
            ("M-Enter", "\x1b\r"),
            ("S-Tab", "\x1b[Z"),
            ("Up", "\x1b[A"),
            ("C-Left", "\x1b[1;5D"),
            ("S-Delete", "\x1b[3;2~"),
            ("F5", "\x1b[15~"),
            ("F6", "\x1b[17~"),
            ("F10", "\x1b[21~"),
            ("F11", "\x1b[23~"),
            ("F12", "\x1b[24~"),
            ("S-F1", "\x1b[1;2P"),
            ("Backspace", "\x7f"),
            ("Escape", "\x1b"),
        ] {
            assert_eq!(sent(name, false), bytes, "{name}");
        }
        assert_eq!((sent("Up", true), sent("End", true)), ("\x1bOA".into(), "\x1bOF".into()));
    }

    #[test]
    fn c074_a_paste_is_framed_once_where_the_program_asked_for_it() {
        assert_eq!(paste("a\nb\r\nc", false), b"a\rb\rc");
        assert_eq!(paste("a\nb", true), b"\x1b[200~a\rb\x1b[201~");
        assert_eq!(paste("a\x1b[201~rm", true), b"\x1b[200~arm\x1b[201~");
    }

    #[test]
    fn the_mouse_is_reported_as_far_as_it_was_asked_for() {
        let event = |kind| MouseEvent { kind, column: 0, row: 0, modifiers: KeyModifiers::NONE };
        let down = event(MouseEventKind::Down(MouseButton::Left));
        let drag = event(MouseEventKind::Drag(MouseButton::Left));
        let up = event(MouseEventKind::Up(MouseButton::Left));
        assert_eq!(mouse(&down, 4, 2, Mouse::Off, true), b"");
        assert_eq!(mouse(&down, 4, 2, Mouse::Buttons, true), b"\x1b[<0;5;3M");
        assert_eq!(mouse(&up, 4, 2, Mouse::Buttons, true), b"\x1b[<0;5;3m");
        assert_eq!(mouse(&drag, 4, 2, Mouse::Buttons, true), b"");
        assert_eq!(mouse(&drag, 4, 2, Mouse::Drag, true), b"\x1b[<32;5;3M");
        assert_eq!(mouse(&down, 4, 2, Mouse::Buttons, false), b"\x1b[M\x20\x25\x23");
        assert_eq!(mouse(&down, 300, 2, Mouse::Buttons, false), b"");
    }
}
