//! The official command of an agent.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use signaltty_core::agent::AgentSessionId;

use crate::CarriedOptions;

/// A command that an adapter built from a parsed id. Executed, never typed
/// (D-4). The automatic path takes nothing else (R3), and there is no way to
/// make one from saved argv; the place of the very program is all that goes
/// along with one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfficialCommand {
    argv: Vec<OsString>,
}

impl OfficialCommand {
    /// The program, arguments before the id, and the id last.
    pub fn new<P, A>(program: P, before: &[A], id: &AgentSessionId) -> Self
    where
        P: Into<OsString>,
        A: AsRef<OsStr>,
    {
        let mut argv = vec![program.into()];
        argv.extend(before.iter().map(|arg| arg.as_ref().to_owned()));
        argv.push(id.as_str().into());
        Self { argv }
    }

    /// The same command with the directory in which it is started, in front of the
    /// id, for an agent that [takes it](crate::AgentSpec::resume_directory).
    #[must_use]
    pub fn with_directory(mut self, option: &str, cwd: &Path) -> Self {
        let id = self.argv.pop();
        self.argv.extend([option.into(), cwd.into()]);
        self.argv.extend(id);
        self
    }

    /// The same command with the options that are carried over, behind the id.
    #[must_use]
    pub fn with_options(mut self, options: &CarriedOptions) -> Self {
        self.argv.extend(options.args().iter().cloned());
        self
    }

    /// The same command, with the program at this place.
    #[must_use]
    pub fn at(mut self, program: impl Into<OsString>) -> Self {
        if let Some(first) = self.argv.first_mut() {
            *first = program.into();
        }
        self
    }

    /// Program and arguments.
    pub fn argv(&self) -> &[OsString] {
        &self.argv
    }

    /// The program.
    pub fn program(&self) -> &OsStr {
        self.argv.first().map_or(OsStr::new(""), |program| program.as_os_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c068_nothing_is_substituted_and_special_characters_are_no_id() {
        for text in ["a,b", "a&b", r"a\b", "{session_id}", "%s", "a b", "$(x)", "`x`", "a;b"] {
            assert!(text.parse::<AgentSessionId>().is_err(), "{text}");
        }
        let Ok(id) = "a-1".parse() else { panic!("an id") };
        let command = OfficialCommand::new("agent", &["{session_id}", "%s", "a b"], &id);
        assert_eq!(command.argv(), ["agent", "{session_id}", "%s", "a b", "a-1"]);
    }
}
