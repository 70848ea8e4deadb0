//! A line that a person edits.

use crossterm::event::KeyCode;

use super::input::Key;

/// A line of text with a cursor.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Field {
    text: String,
    /// A byte offset, at a character.
    at: usize,
}

impl Field {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { at: text.len(), text }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The text before the cursor.
    pub(crate) fn before(&self) -> &str {
        self.text.get(..self.at).unwrap_or_default()
    }

    /// Takes a key; whether it was one for it.
    pub(crate) fn key(&mut self, key: Key) -> bool {
        if let Some(c) = key.char() {
            self.insert(&c.to_string());
            return true;
        }
        match key.code {
            KeyCode::Backspace => self.backspace(),
            KeyCode::Delete => {
                if let Some(c) = self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
                    self.text.replace_range(self.at..self.at + c.len_utf8(), "");
                }
            }
            KeyCode::Left => self.at -= self.before().chars().next_back().map_or(0, char::len_utf8),
            KeyCode::Right => {
                let rest = self.text.get(self.at..).unwrap_or_default();
                self.at += rest.chars().next().map_or(0, char::len_utf8);
            }
            KeyCode::Home => self.at = 0,
            KeyCode::End => self.at = self.text.len(),
            _ if key.control('a') => self.at = 0,
            _ if key.control('e') => self.at = self.text.len(),
            _ if key.control('u') => {
                self.text.replace_range(..self.at, "");
                self.at = 0;
            }
            _ if key.control('w') => {
                while self.before().ends_with([' ', '/']) {
                    self.backspace();
                }
                while !self.before().is_empty() && !self.before().ends_with([' ', '/']) {
                    self.backspace();
                }
            }
            _ => return false,
        }
        true
    }

    /// Puts a text at the cursor, without what is not one line of text.
    pub(crate) fn insert(&mut self, text: &str) {
        let text: String = text.chars().filter(|c| !c.is_control()).collect();
        self.text.insert_str(self.at, &text);
        self.at += text.len();
    }

    fn backspace(&mut self) {
        if let Some(c) = self.before().chars().next_back() {
            let start = self.at - c.len_utf8();
            self.text.replace_range(start..self.at, "");
            self.at = start;
        }
    }
}

/// Splits a command into its words, with quotes and backslashes as in a shell
/// and nothing else of it: no program is run to read a command line.
///
/// # Errors
///
/// A quote that does not end.
pub(crate) fn words(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => {
                let into = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        None => return Err(format!("the quote {c} does not end")),
                        Some(end) if end == c => break,
                        Some('\\') if c == '"' => into.extend(chars.next()),
                        Some(other) => into.push(other),
                    }
                }
            }
            '\\' => word.get_or_insert_default().extend(chars.next()),
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_edited_by_characters() {
        let mut field = Field::new("日本x");
        for key in ["Left", "Backspace", "Home", "a", "End", "é", "C-w"] {
            assert!(field.key(key.parse().unwrap()), "{key}");
        }
        assert_eq!(field.text(), "");
        field.insert("~/a b\n\x1b");
        assert_eq!(field.text(), "~/a b");
        field.key("C-w".parse().unwrap());
        assert_eq!(field.text(), "~/a ");
        assert!(!field.key("F1".parse().unwrap()));
    }

    #[test]
    fn commands_are_split_as_people_quote_them() {
        let of = |line: &str| words(line).unwrap();
        assert_eq!(
            of("claude --model  'a b' \"c\\\"d\" e\\ f ''"),
            ["claude", "--model", "a b", "c\"d", "e f", ""]
        );
        assert!(of("  ").is_empty());
        assert!(words("a 'b").is_err());
    }
}
