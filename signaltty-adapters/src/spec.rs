//! An agent as data.

use std::ffi::OsString;
use std::fmt;
use std::time::Duration;

use signaltty_core::agent::{AgentKind, AgentPolicy, AgentSessionId};

use crate::{AdapterError, OptionRule};

/// Finds a word of a command.
pub type FindWord = fn(&[OsString]) -> Option<usize>;

/// Everything about an agent that is not code.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AgentSpec {
    /// Its name.
    pub kind: AgentKind,
    /// Base name of its program.
    pub program: String,
    /// The form of its conversation ids.
    pub id_form: IdForm,
    /// Variables that say where its records live. Saved where set, and replayed
    /// at a resume (D-27).
    pub identity_vars: &'static [&'static str],
    /// Variables of an outer agent of this kind that a pane must not inherit
    /// (D-12). No pane gets them, also where a person set them, and they are gone
    /// before [`prepare_launch`](crate::AgentAdapter::prepare_launch).
    pub scrubbed_vars: &'static [&'static str],
    /// Options of its launch that a resume may carry over, and those whose values
    /// must not be taken for others (D-29). Without any, nothing is carried over.
    pub options: &'static [OptionRule],
    /// Of an agent that takes the directory to work in as a bare word: which word
    /// of a command that is. One that takes an option has a rule for that.
    pub directory_word: Option<FindWord>,
    /// Of an agent that asks in which directory a conversation goes on which it
    /// knows from another one: the option that says it beforehand. It comes with
    /// each resume, in front of the id.
    pub resume_directory: Option<&'static str>,
    /// What it can show, and until when.
    pub policy: AgentPolicy,
    /// How often it is looked at while it must prove something. Usually a look
    /// is a few small files; one that asks the agent should be rarer.
    pub look_every: Duration,
}

impl AgentSpec {
    /// A spec without variables.
    pub fn new(
        kind: AgentKind,
        program: impl Into<String>,
        id_form: IdForm,
        policy: AgentPolicy,
    ) -> Self {
        Self {
            kind,
            program: program.into(),
            id_form,
            identity_vars: &[],
            scrubbed_vars: &[],
            options: &[],
            directory_word: None,
            resume_directory: None,
            policy,
            look_every: LOOK_EVERY,
        }
    }
}

const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The form of an agent's conversation ids. An id of another form opens some
/// other conversation in most agents, so it is never passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum IdForm {
    /// A UUID in lower case: 8-4-4-4-12 hexadecimal digits.
    Uuid,
    /// A prefix and exactly so many letters and digits.
    Prefixed {
        /// The prefix.
        prefix: &'static str,
        /// Letters and digits after it.
        chars: usize,
    },
    /// Whatever [`AgentSessionId`] takes.
    Plain,
}

impl fmt::Display for IdForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uuid => f.write_str("a UUID in lower case"),
            Self::Prefixed { prefix, chars } => {
                write!(f, "{prefix} and {chars} letters and digits")
            }
            Self::Plain => f.write_str("letters, digits, -, _ and ."),
        }
    }
}

impl IdForm {
    /// Parses an id of this form.
    ///
    /// # Errors
    ///
    /// When the text has another form.
    pub fn parse(self, text: &str) -> Result<AgentSessionId, AdapterError> {
        let fits = match self {
            Self::Uuid => is_uuid(text),
            Self::Prefixed { prefix, chars } => text.strip_prefix(prefix).is_some_and(|rest| {
                rest.len() == chars && rest.bytes().all(|b| b.is_ascii_alphanumeric())
            }),
            Self::Plain => true,
        };
        let id = text.parse().map_err(AdapterError::MalformedId)?;
        if fits { Ok(id) } else { Err(AdapterError::WrongIdForm { id, form: self }) }
    }
}

/// The kind of an agent that this crate knows.
#[cfg(any(feature = "claude", feature = "codex", feature = "demo", feature = "grok"))]
#[expect(
    clippy::expect_used,
    reason = "the names are written in this crate, and a test makes each adapter"
)]
pub(crate) fn known_kind(name: &str) -> AgentKind {
    name.parse().expect("a valid agent kind")
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        })
}
