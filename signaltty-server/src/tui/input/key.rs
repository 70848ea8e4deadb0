//! Keys as people write them: `C-b`, `M-Left`, `S-Tab`, `F5`, `?`.

use std::fmt;
use std::str::FromStr;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// One key with what is held down beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) code: KeyCode,
    pub(crate) mods: KeyModifiers,
}

const NAMES: [(&str, KeyCode); 15] = [
    ("Enter", KeyCode::Enter),
    ("Tab", KeyCode::Tab),
    ("Escape", KeyCode::Esc),
    ("Space", KeyCode::Char(' ')),
    ("Backspace", KeyCode::Backspace),
    ("Delete", KeyCode::Delete),
    ("Insert", KeyCode::Insert),
    ("Up", KeyCode::Up),
    ("Down", KeyCode::Down),
    ("Left", KeyCode::Left),
    ("Right", KeyCode::Right),
    ("Home", KeyCode::Home),
    ("End", KeyCode::End),
    ("PageUp", KeyCode::PageUp),
    ("PageDown", KeyCode::PageDown),
];

impl From<KeyEvent> for Key {
    /// Brings the spellings of one key together: a capital letter is itself
    /// and not a letter with Shift, Shift-Tab is a Tab.
    fn from(event: KeyEvent) -> Self {
        let mut mods =
            event.modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT);
        let code = match event.code {
            KeyCode::BackTab => {
                mods |= KeyModifiers::SHIFT;
                KeyCode::Tab
            }
            KeyCode::Char(c) if mods.contains(KeyModifiers::CONTROL) => {
                mods -= KeyModifiers::SHIFT;
                // Terminals send one byte for both of these.
                let c = if c == '5' { ']' } else { c.to_ascii_lowercase() };
                KeyCode::Char(match c {
                    '4' => '\\',
                    '6' => '^',
                    '7' => '_',
                    other => other,
                })
            }
            KeyCode::Char(c) => {
                mods -= KeyModifiers::SHIFT;
                KeyCode::Char(c)
            }
            code => code,
        };
        Self { code, mods }
    }
}

impl Key {
    /// The character, where it is one and nothing is held down.
    pub(crate) fn char(self) -> Option<char> {
        match (self.code, self.mods.is_empty()) {
            (KeyCode::Char(c), true) => Some(c),
            _ => None,
        }
    }

    pub(crate) fn control(self, letter: char) -> bool {
        self.mods == KeyModifiers::CONTROL && self.code == KeyCode::Char(letter)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (flag, text) in
            [(KeyModifiers::CONTROL, "C-"), (KeyModifiers::ALT, "M-"), (KeyModifiers::SHIFT, "S-")]
        {
            if self.mods.contains(flag) {
                f.write_str(text)?;
            }
        }
        if let Some((name, _)) = NAMES.iter().find(|(_, code)| *code == self.code) {
            return f.write_str(name);
        }
        match self.code {
            KeyCode::Char(c) => write!(f, "{c}"),
            KeyCode::F(n) => write!(f, "F{n}"),
            _ => f.write_str("?"),
        }
    }
}

impl FromStr for Key {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut rest = text;
        let mut mods = KeyModifiers::NONE;
        while let Some((flag, after)) =
            [("C-", KeyModifiers::CONTROL), ("M-", KeyModifiers::ALT), ("S-", KeyModifiers::SHIFT)]
                .into_iter()
                .find_map(|(prefix, flag)| Some((flag, rest.strip_prefix(prefix)?)))
                .filter(|(_, after)| !after.is_empty())
        {
            mods |= flag;
            rest = after;
        }
        let code = code(rest).ok_or_else(|| {
            format!(
                "{text:?} is not a key: write one character, or Enter, Tab, Escape, Space, \
                 Backspace, Delete, Insert, Up, Down, Left, Right, Home, End, PageUp, PageDown, F1 \
                 to F12, with C- (control), M- (alt) or S- (shift) before it"
            )
        })?;
        let event = KeyEvent::new(code, mods);
        Ok(Self::from(event))
    }
}

fn code(name: &str) -> Option<KeyCode> {
    let mut chars = name.chars();
    if let (Some(only), None) = (chars.next(), chars.next()) {
        return Some(KeyCode::Char(only));
    }
    if let Some((_, code)) = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
        return Some(*code);
    }
    let number: u8 = name.strip_prefix(['F', 'f'])?.parse().ok()?;
    (1..=12).contains(&number).then_some(KeyCode::F(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_read_and_print_the_same() {
        for text in ["C-b", "C-]", "M-Left", "S-Tab", "F12", "?", "Enter", "C-M-x", "-", "Space"] {
            let key: Key = text.parse().unwrap();
            assert_eq!(key.to_string(), text);
        }
        for text in ["", "C-", "Entr", "F13", "X-a"] {
            assert!(text.parse::<Key>().is_err(), "{text}");
        }
    }

    #[test]
    fn one_key_has_one_form_whatever_the_terminal_calls_it() {
        let event = |code, mods| Key::from(KeyEvent::new(code, mods)).to_string();
        assert_eq!(event(KeyCode::Char('R'), KeyModifiers::SHIFT), "R");
        assert_eq!(event(KeyCode::BackTab, KeyModifiers::SHIFT), "S-Tab");
        assert_eq!(event(KeyCode::Char('5'), KeyModifiers::CONTROL), "C-]");
        assert_eq!(event(KeyCode::Char(']'), KeyModifiers::CONTROL), "C-]");
    }
}
