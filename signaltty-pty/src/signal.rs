//! The signals that a pane's processes can be sent.

use std::str::FromStr;

use thiserror::Error;

/// A signal that makes sense for a process on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Signal {
    /// HUP: the terminal is gone.
    Hangup,
    /// INT: as typed by Ctrl-C.
    Interrupt,
    /// QUIT: as typed by Ctrl-\\.
    Quit,
    /// KILL: cannot be refused.
    Kill,
    /// TERM: please end.
    Terminate,
    /// USR1: of the program's own meaning.
    User1,
    /// USR2: of the program's own meaning.
    User2,
    /// WINCH: the size changed.
    WindowChange,
    /// CONT: go on after a stop.
    Continue,
}

/// A name that is no signal of [`Signal`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown signal {name:?}")]
pub struct UnknownSignal {
    /// The name as given.
    pub name: String,
}

impl Signal {
    pub(crate) fn raw(self) -> rustix::process::Signal {
        use rustix::process::Signal as Raw;
        match self {
            Self::Hangup => Raw::HUP,
            Self::Interrupt => Raw::INT,
            Self::Quit => Raw::QUIT,
            Self::Kill => Raw::KILL,
            Self::Terminate => Raw::TERM,
            Self::User1 => Raw::USR1,
            Self::User2 => Raw::USR2,
            Self::WindowChange => Raw::WINCH,
            Self::Continue => Raw::CONT,
        }
    }
}

impl FromStr for Signal {
    type Err = UnknownSignal;

    /// Reads a name such as `TERM` or `sigterm`.
    fn from_str(name: &str) -> Result<Self, UnknownSignal> {
        let upper = name.to_ascii_uppercase();
        Ok(match upper.strip_prefix("SIG").unwrap_or(&upper) {
            "HUP" => Self::Hangup,
            "INT" => Self::Interrupt,
            "QUIT" => Self::Quit,
            "KILL" => Self::Kill,
            "TERM" => Self::Terminate,
            "USR1" => Self::User1,
            "USR2" => Self::User2,
            "WINCH" => Self::WindowChange,
            "CONT" => Self::Continue,
            _ => {
                return Err(UnknownSignal { name: name.to_owned() });
            }
        })
    }
}
