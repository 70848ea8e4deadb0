//! What an agent asks a person through a hook that waits.

/// A permission that an agent asks for, and what its hook must print.
///
/// What a hook prints can grant something, so it is printed for a decision of a
/// person and for nothing else: not at a timeout, and not when somebody went
/// away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What is asked, one line.
    pub text: String,
    /// What the hook prints where a person says yes, this once.
    pub allow: String,
    /// What it prints where a person says no.
    pub deny: String,
}
