//! Reasons for a resume that did not succeed.

use std::fmt;
use std::sync::Arc;

use crate::time::UnixMillis;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// A reason that scripts can match. The texts are part of the command
        /// line's contract.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum FailureCode { $($(#[$doc])* $name,)* }

        impl FailureCode {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The text form.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// Reads the text form.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$name),)* _ => None }
            }
        }
    };
}

codes! {
    /// The agent's record is not there.
    Gone = "gone",
    /// The record is empty, shorter than it was, or has holes.
    Damaged = "damaged",
    /// The saved end is there, but what lies before it changed.
    Rewritten = "rewritten",
    /// The record, or what was saved to know it again, could not be read.
    Unreadable = "unreadable",
    /// A living process holds the conversation.
    Busy = "busy",
    /// Another pane has the conversation open.
    Duplicate = "duplicate",
    /// The saved id does not have the form of this agent's ids.
    MalformedId = "malformed_id",
    /// The agent's program was not found.
    BinaryMissing = "binary_missing",
    /// The conversation's working directory is not there.
    CwdMissing = "cwd_missing",
    /// The process could not be started, or ended before it proved anything.
    SpawnFailed = "spawn_failed",
    /// The process has another conversation open, or an empty one.
    Contradicted = "contradicted",
    /// No sufficient evidence came until the deadline.
    Unconfirmed = "unconfirmed",
    /// The automatic attempts are used up.
    AttemptsExhausted = "attempts_exhausted",
    /// The promise to try could not be saved, so nothing was tried.
    NotSaved = "not_saved",
    /// The conversation is open, its interrupted turn was not continued.
    NotContinued = "not_continued",
    /// The agent went on to another conversation, which cannot be kept.
    NotKept = "not_kept",
    /// The record is another file than the one that was saved, in another place.
    Elsewhere = "elsewhere",
}

impl fmt::Display for FailureCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FailureCode {
    /// Whether a person may resume all the same, after being shown what
    /// differs (D-3).
    pub fn can_be_overridden(self) -> bool {
        matches!(
            self,
            Self::Damaged | Self::Rewritten | Self::Elsewhere | Self::Busy | Self::CwdMissing
        )
    }
}

/// Why a conversation is not opened, for scripts and for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The reason.
    pub code: FailureCode,
    /// What was found, and what the person can do.
    pub message: Arc<str>,
}

impl Refusal {
    /// A refusal with this message.
    pub fn new(code: FailureCode, message: impl Into<Arc<str>>) -> Self {
        Self { code, message: message.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// A refusal and when it happened. Saved with the pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResumeFailure {
    /// Why.
    pub refusal: Refusal,
    /// When.
    pub at: UnixMillis,
}
