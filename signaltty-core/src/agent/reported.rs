//! A resume command that an agent reported about itself.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

/// A resume command that somebody reported for a pane. Runs by hand only
/// (S0-18) and never leads to a verified conversation (D-16).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedArgv(pub Vec<OsString>);

/// Why a command is not taken as a reported one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReportedArgvError {
    /// No word, or too many.
    #[error("a resume command has 1 to {most} words, not {found}", most = ReportedArgv::MOST_WORDS)]
    Words {
        /// How many there are.
        found: usize,
    },
    /// Too long.
    #[error("a resume command has at most {most} bytes, not {found}", most = ReportedArgv::MOST_BYTES)]
    Bytes {
        /// How many there are, without separators.
        found: usize,
    },
    /// A control character would not be seen by who looks at it.
    #[error("word {word} of the resume command has a control character")]
    Control {
        /// Which word, from 0.
        word: usize,
    },
    /// A path or an option in the place of a program.
    #[error(
        "the program of a resume command is a plain name of letters, digits, `.`, `_` and `-`, \
         found in PATH, and does not begin with `-`"
    )]
    Program,
}

impl ReportedArgv {
    /// Most words, the program included.
    pub const MOST_WORDS: usize = 64;
    /// Most bytes of all words together.
    pub const MOST_BYTES: usize = 8_192;

    /// Checks that a person can see what would run, and that it is bounded.
    ///
    /// # Errors
    ///
    /// Which rule it breaks.
    pub fn check(&self) -> Result<(), ReportedArgvError> {
        let found = self.0.len();
        let Some(program) = self.0.first().filter(|_| found <= Self::MOST_WORDS) else {
            return Err(ReportedArgvError::Words { found });
        };
        let found = self.0.iter().map(|word| word.len()).sum();
        if found > Self::MOST_BYTES {
            return Err(ReportedArgvError::Bytes { found });
        }
        let control = |word: &OsString| word.to_string_lossy().chars().any(char::is_control);
        if let Some(word) = self.0.iter().position(control) {
            return Err(ReportedArgvError::Control { word });
        }
        if is_plain(program) { Ok(()) } else { Err(ReportedArgvError::Program) }
    }
}

fn is_plain(program: &OsStr) -> bool {
    let bytes = program.as_bytes();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    // `.` and `..` are directories.
    bytes.iter().all(plain) && !bytes.starts_with(b"-") && bytes.iter().any(|byte| *byte != b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &[&str]) -> Result<(), ReportedArgvError> {
        ReportedArgv(words.iter().map(OsString::from).collect()).check()
    }

    #[test]
    fn s0_18_a_reported_command_is_bounded_and_can_be_seen() {
        use ReportedArgvError::{Bytes, Control, Program, Words};
        assert_eq!(check(&["my-tool_2.sh", "--resume", "a b", "ü"]), Ok(()));
        assert_eq!(check(&["a"; 64]), Ok(()));
        assert_eq!(check(&["a"; 65]), Err(Words { found: 65 }));
        assert_eq!(check(&[]), Err(Words { found: 0 }));
        assert_eq!(check(&["a", &"x".repeat(8_191)]), Ok(()));
        assert_eq!(check(&["a", &"x".repeat(8_192)]), Err(Bytes { found: 8_193 }));
        for bad in ["a\nb", "\u{1b}[2J", "\u{7f}", "\u{9b}1m"] {
            assert_eq!(check(&["a", bad]), Err(Control { word: 1 }), "{bad:?}");
        }
        for bad in ["", "-a", "/bin/sh", "./a", "a b", "..", "ü", "a;b", "A=1"] {
            assert_eq!(check(&[bad]), Err(Program), "{bad:?}");
        }
    }
}
