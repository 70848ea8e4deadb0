//! What the core knows of an agent: its name, its policy, and the conversation
//! that a pane holds. How an agent keeps its records is an adapter's business.

mod anchor;
mod found;
mod identity;
mod options;
mod report;
mod reported;
mod turn_record;
mod turns;

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

pub use anchor::{Anchor, Extent, FileIdentity, Fingerprint, Relation};
pub use identity::{
    Contradiction, Moment, RecordRead, Verdict, VerifiedSession, Witness, WitnessSource, judge,
};

pub use found::{AgentPlace, FoundAgent, ProcessMark};
pub use options::{LaunchOption, LaunchOptions, Widening};
pub use report::AgentReport;
pub use reported::{ReportedArgv, ReportedArgvError};
pub use turn_record::{Receipt, TurnRecord};
pub use turns::{Marker, MarkerOrigin, TurnId, Turns};

use crate::env::ConfigEnv;
use crate::restore::ResumeFailure;
use crate::time::UnixMillis;

/// The name of an agent, such as `claude`. An open set: a new adapter brings
/// its own (D-16).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentKind(Arc<str>);

/// Why a text cannot name an agent or a conversation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {what}")]
pub struct NameError {
    /// What was expected, with its form.
    pub what: &'static str,
    /// The text that was given, cut to 80 characters.
    pub text: String,
}

impl AgentKind {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AgentKind {
    type Err = NameError;

    /// Takes 1 to 32 characters of `a-z`, `0-9`, `-` and `_`, a letter first.
    fn from_str(text: &str) -> Result<Self, NameError> {
        let fits = text.len() <= 32
            && text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'));
        if fits { Ok(Self(text.into())) } else { Err(name_error(text, KIND_FORM)) }
    }
}

impl fmt::Display for AgentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The agent's own id of a conversation.
///
/// Parsed into a form that cannot be an option, a path or an escape sequence.
/// Each adapter demands the exact form of its agent on top (S1-18).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentSessionId(Arc<str>);

impl AgentSessionId {
    /// The id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AgentSessionId {
    type Err = NameError;

    /// Takes 1 to 128 characters of letters, digits, `-`, `_` and `.`, a
    /// letter or digit first.
    fn from_str(text: &str) -> Result<Self, NameError> {
        let fits = text.len() <= 128
            && text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
        if fits { Ok(Self(text.into())) } else { Err(name_error(text, SESSION_FORM)) }
    }
}

impl fmt::Display for AgentSessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A saved conversation: an id, and everything without which the id means
/// nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// The agent's own id.
    pub id: AgentSessionId,
    /// The working directory in which the agent was started, in the spelling
    /// that was used (D-23, C056).
    pub cwd: PathBuf,
    /// Where the agent keeps its records, as far as that was set at launch.
    pub config_env: ConfigEnv,
    /// How to recognise the agent's record again. Without one, nobody has said
    /// anything in this conversation yet and it cannot be resumed (D-3).
    pub anchor: Option<Anchor>,
    /// The id that this one replaced, where the agent changed it.
    pub previous: Option<AgentSessionId>,
}

/// What is saved of the agent in a pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedAgent {
    /// Which agent.
    pub kind: AgentKind,
    /// The conversation that the pane holds, once the agent has written it.
    pub conversation: Option<Conversation>,
    /// The one that was to be reopened when a resume proved nothing and its
    /// agent went on with another. A person can go back to it.
    pub previous: Option<Conversation>,
    /// That one was itself [`in_doubt`](Continuity::in_doubt).
    pub previous_in_doubt: bool,
    /// A resume command that was reported rather than made by the adapter.
    pub reported_argv: Option<ReportedArgv>,
    /// Why the last resume did not succeed.
    pub last_failure: Option<ResumeFailure>,
    /// A turn was being worked on when the process went away (D-28).
    pub interrupted: bool,
    /// A question of it went unanswered when the process went away, and nobody
    /// can answer it any more (D-28).
    pub question_expired: bool,
    /// Its turns, and the promise to continue one.
    pub turns: Turns,
    /// Where in the pane it runs, or ran.
    pub place: AgentPlace,
    /// How its conversation came through restarts.
    pub continuity: Continuity,
    /// The options with which it was launched (D-29).
    pub options: LaunchOptions,
}

/// How a conversation came through restarts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Continuity {
    /// How often it was reopened and proven to be the same.
    pub resumed: u32,
    /// When it was proven last.
    pub proven_at: Option<UnixMillis>,
    /// When its agent rewrote its record last, while it was open here.
    pub rewritten_at: Option<UnixMillis>,
    /// Automatic starts in a row of which none lasted. Bounded, so that a
    /// conversation that takes the server down is not reopened for ever (D-14).
    pub starts: u8,
    /// It was taken up where a resume had proven nothing, and nothing has proven
    /// it since.
    pub in_doubt: bool,
}

impl Continuity {
    /// It was reopened once more, and proven to be the same.
    pub(crate) fn proven(&mut self, at: UnixMillis) {
        self.resumed = self.resumed.saturating_add(1);
        self.proven_at = Some(at);
        self.in_doubt = false;
    }
}

impl SavedAgent {
    /// An agent of which nothing but its kind is known.
    pub fn new(kind: AgentKind) -> Self {
        Self {
            kind,
            conversation: None,
            previous: None,
            previous_in_doubt: false,
            reported_argv: None,
            last_failure: None,
            interrupted: false,
            question_expired: false,
            turns: Turns::default(),
            place: AgentPlace::Own,
            continuity: Continuity::default(),
            options: LaunchOptions::default(),
        }
    }

    /// The conversation, if it has an anchor and so can be resumed.
    pub fn resumable(&self) -> Option<&Conversation> {
        self.conversation.as_ref().filter(|conversation| conversation.anchor.is_some())
    }
}

/// What an agent can show about itself. Data, given by its adapter; the only
/// thing besides its name that the core knows of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentPolicy {
    /// Sources that must each support the saved conversation. Empty means that
    /// this agent can prove nothing and is never `verified`.
    pub required: Vec<WitnessSource>,
    /// Whether an agent that says how much it loaded must have loaded something
    /// before the conversation counts as verified.
    pub loaded: LoadedRule,
    /// How long after the spawn evidence may arrive.
    pub deadline: Duration,
    /// It can show nothing before a person's first prompt, whatever it opened.
    ///
    /// A resume that is unconfirmed at the deadline then says nothing against
    /// the agent: it stays open also where nobody asked for it, unprompted and
    /// marked, and is settled at the first prompt. Such an agent is never
    /// continued by itself (D-2).
    pub silent_until_prompt: bool,
}

/// What an agent says of the history that it loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadedRule {
    /// It never says.
    NotReported,
    /// It says so with one of its witnesses, and verification waits for it. Where
    /// the record was [unanswered](Fingerprint::unanswered) before the start, the
    /// agent need not say it: that the history is not empty follows from the
    /// record.
    Required,
}

impl AgentPolicy {
    /// A policy with these sources.
    pub fn new(required: Vec<WitnessSource>, loaded: LoadedRule, deadline: Duration) -> Self {
        Self { required, loaded, deadline, silent_until_prompt: false }
    }

    /// The same policy, for an agent that can show nothing before a prompt.
    #[must_use]
    pub fn silent_until_prompt(self) -> Self {
        Self { silent_until_prompt: true, ..self }
    }

    /// The policy of an agent that can show nothing: resumable by hand, never
    /// verified (S1-14).
    pub fn unprovable(deadline: Duration) -> Self {
        Self::new(Vec::new(), LoadedRule::NotReported, deadline)
    }
}

fn name_error(text: &str, what: &'static str) -> NameError {
    NameError { what, text: text.chars().take(80).collect() }
}

const KIND_FORM: &str = "an agent kind: expected up to 32 of a-z, 0-9, - and _, a letter first";
const SESSION_FORM: &str =
    "a conversation id: expected up to 128 letters, digits, - _ and ., a letter or digit first";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s1_18_malformed_ids_fail_closed() {
        let long = "a".repeat(10_240);
        for text in ["", "-p", "--resume", "a b", "a\u{1b}[m", "../x", "a/b", ".hidden", "ä", &long]
        {
            assert!(text.parse::<AgentSessionId>().is_err(), "{text:?}");
        }
        assert!("11111111-1111-4111-8111-111111111111".parse::<AgentSessionId>().is_ok());
    }

    #[test]
    fn d16_kinds_are_open_but_plain() {
        assert!("my-agent_2".parse::<AgentKind>().is_ok());
        for text in ["", "Claude", "2x", "a/b", "a b"] {
            assert!(text.parse::<AgentKind>().is_err(), "{text:?}");
        }
    }
}
