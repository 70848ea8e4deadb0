//! What can go wrong with the journal.

use std::path::PathBuf;

use super::record::FORMAT;
use crate::error::{PathError, Reason};

/// Why the journal cannot be used now.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// A newer version of this program wrote it. It is left as it is.
    #[error(
        "{} has format {found}, and this program reads formats up to {FORMAT}; \
         start the newer program again, or move the file away",
        path.display()
    )]
    FutureFormat {
        /// The format that it says.
        found: u64,
        /// The file.
        path: PathBuf,
    },
    /// The system refused something.
    #[error(transparent)]
    Io(#[from] PathError),
    /// It failed before and has not recovered.
    #[error("the journal failed before and has not recovered")]
    Unavailable,
}

impl JournalError {
    /// The short reason behind it.
    pub fn reason(&self) -> Reason {
        match self {
            Self::Io(error) => error.reason(),
            Self::FutureFormat { .. } | Self::Unavailable => Reason::Refused,
        }
    }
}
