//! What was wrong with a snapshot that could be loaded all the same.

use signaltty_core::id::{TabId, WorkspaceId};
use signaltty_core::restore::RepairProblem;

/// One thing that is not in the session as it was in the file.
///
/// Where there is any, the file itself is kept aside, so nothing is lost.
/// Messages name records, never values of variables.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The checksum is missing or wrong: a person edited the file, or bytes in
    /// it changed. Everything in it could still be read.
    #[error("the checksum does not fit: the file was edited or is damaged")]
    EditedOrDamaged,
    /// A record was left out.
    #[error("entry {index} of {list} was left out: {why}")]
    RecordLeftOut {
        /// The list that it is in.
        list: &'static str,
        /// Its place in that list, from 0.
        index: usize,
        /// What is wrong with it.
        why: String,
    },
    /// A part of a record was left out or replaced by a careful default.
    #[error("{part} of {record} could not be read: {why}")]
    PartReplaced {
        /// The record.
        record: String,
        /// The part.
        part: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// The layout of a tab did not fit its panes.
    #[error("the layout of {tab} was repaired: {why}")]
    LayoutRepaired {
        /// The tab.
        tab: TabId,
        /// What was wrong.
        why: String,
    },
    /// A tab was made anew for panes whose own tab is missing or full.
    #[error("{tab} was made anew for {panes} panes without a place")]
    TabRecovered {
        /// The tab.
        tab: TabId,
        /// How many panes are in it.
        panes: usize,
    },
    /// A workspace was made anew for tabs whose own is missing.
    #[error("{workspace} was made anew for tabs without a workspace")]
    WorkspaceRecovered {
        /// The workspace.
        workspace: WorkspaceId,
    },
    /// A tab had no pane that could be read, so it was left out.
    #[error("{tab} was left out, since it has no panes")]
    TabLeftOut {
        /// The tab.
        tab: TabId,
    },
    /// The file could not be kept aside.
    #[error("the file as it was found could not be kept: {why}")]
    CopyNotKept {
        /// What went wrong.
        why: String,
    },
}

impl From<RepairProblem> for Problem {
    fn from(problem: RepairProblem) -> Self {
        match problem {
            RepairProblem::RecordLeftOut { list, index, why } => {
                Self::RecordLeftOut { list, index, why }
            }
            RepairProblem::PartReplaced { record, part, why } => {
                Self::PartReplaced { record, part, why }
            }
            RepairProblem::LayoutRepaired { tab, why } => Self::LayoutRepaired { tab, why },
            RepairProblem::TabRecovered { tab, panes } => Self::TabRecovered { tab, panes },
            RepairProblem::WorkspaceRecovered { workspace } => {
                Self::WorkspaceRecovered { workspace }
            }
            RepairProblem::TabLeftOut { tab } => Self::TabLeftOut { tab },
            other => Self::PartReplaced {
                record: "the session".to_owned(),
                part: "a part",
                why: other.to_string(),
            },
        }
    }
}

/// What makes a file unusable as a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Corruption {
    /// It is larger than any snapshot may be.
    #[error("it is larger than {limit} bytes")]
    TooLarge {
        /// The most bytes that a snapshot may have.
        limit: usize,
    },
    /// It cannot be parsed.
    #[error("it cannot be parsed: {0}")]
    Syntax(String),
    /// It does not say a version that can be understood.
    #[error("it does not say its version")]
    NoVersion,
    /// It has more of something than a session may have.
    #[error("it has {found} {what}, more than {limit}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many.
        found: usize,
        /// How many there may be.
        limit: usize,
    },
    /// It had records, and none of them could be read.
    #[error("none of its records could be read")]
    NothingUsable,
}
