//! What agents were seen to do when they are asked to resume.

use std::fmt;

use signaltty_core::agent::Verdict;

/// What the agent does when it is asked to resume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// Opens the conversation.
    Good,
    /// Does not look at the id and opens a neighbour's conversation (C041).
    IgnoresId,
    /// Begins anew under the same id, over the record (D-3).
    SameIdEmpty,
    /// Goes on under a new id, with a record that extends the saved one.
    RotatesWithHistory,
    /// Begins anew under a new id (C044).
    RotatesWithout,
    /// Opens it, after a report of a throw-away start (C032).
    DoubleStart,
    /// Opens it, before a report of a throw-away start (C032).
    LateDoubleStart,
    /// Runs and shows nothing (S1-14).
    NoReport,
    /// Shows nothing at first, and then opens it (S1-15).
    LateReport,
    /// Opens it, and runs another agent that opens another one (C031).
    NestedAgent,
    /// Shows nothing, while an earlier launch of this pane did all (C118).
    StaleSecret,
    /// Does not find it, says so under the id that was asked for, and exits.
    NotFoundExit,
    /// Runs without it, since another process is its writer (C047).
    WriterLocked,
    /// Waits at a question of its own, and says at its end that it had the id.
    TrustScreen,
    /// Opens it, and then goes on with a new one (C029).
    ClearMidSession,
    /// Runs without it, while one that outlived its server writes on (D-15).
    OrphanSurvives,
    /// Repeats the id that was asked for and loaded nothing (S1-28, C043).
    Echo,
    /// Another process than ours has the conversation open.
    WrongProcess,
    /// A process with our number had it open before (a leftover of a kill).
    StaleStart,
    /// Opens it, and its record is gone afterwards.
    RecordLost,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 20] = [
        Self::Good,
        Self::IgnoresId,
        Self::SameIdEmpty,
        Self::RotatesWithHistory,
        Self::RotatesWithout,
        Self::DoubleStart,
        Self::LateDoubleStart,
        Self::NoReport,
        Self::LateReport,
        Self::NestedAgent,
        Self::StaleSecret,
        Self::NotFoundExit,
        Self::WriterLocked,
        Self::TrustScreen,
        Self::ClearMidSession,
        Self::OrphanSurvives,
        Self::Echo,
        Self::WrongProcess,
        Self::StaleStart,
        Self::RecordLost,
    ];

    /// Whether this verdict at the deadline is right. What
    /// [`ClearMidSession`](Self::ClearMidSession) shows afterwards is looked at
    /// while it is played.
    ///
    /// Where the agent never goes on under another id, nothing is asked of
    /// [`RotatesWithHistory`](Self::RotatesWithHistory): with the history it is
    /// the same conversation for the core, and an adapter may still refuse it.
    pub fn allows(self, verdict: &Verdict, rotates: bool) -> bool {
        match self.right(rotates) {
            Right::Verified => matches!(verdict, Verdict::Verified(_)),
            Right::Contradicted => matches!(verdict, Verdict::Contradicted(_)),
            Right::Unconfirmed => *verdict == Verdict::Unconfirmed,
            Right::NotVerified => !matches!(verdict, Verdict::Verified(_)),
            Right::Any => true,
        }
    }

    /// What the verdict at the deadline must be.
    pub(super) fn right(self, rotates: bool) -> Right {
        match self {
            Self::RotatesWithHistory if !rotates => Right::Any,
            Self::Good
            | Self::DoubleStart
            | Self::LateDoubleStart
            | Self::LateReport
            | Self::NestedAgent
            | Self::RotatesWithHistory
            | Self::ClearMidSession => Right::Verified,
            Self::IgnoresId | Self::SameIdEmpty | Self::RotatesWithout | Self::RecordLost => {
                Right::Contradicted
            }
            Self::NoReport
            | Self::StaleSecret
            | Self::NotFoundExit
            | Self::WriterLocked
            | Self::TrustScreen
            | Self::OrphanSurvives
            | Self::WrongProcess
            | Self::StaleStart => Right::Unconfirmed,
            // Depends on whether the agent says that it loaded nothing, or says
            // nothing of it.
            Self::Echo => Right::NotVerified,
        }
    }
}

/// The verdict that a mode must lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Right {
    Verified,
    Contradicted,
    Unconfirmed,
    NotVerified,
    Any,
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Verified => "verified",
            Self::Contradicted => "contradicted",
            Self::Unconfirmed => "unconfirmed",
            Self::NotVerified => "anything but verified",
            Self::Any => "anything",
        })
    }
}
