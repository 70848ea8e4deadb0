//! Errors: one enum per operation, each with the path that it is about.

use std::fmt;
use std::io;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// An operation on a file that the system refused.
#[derive(Debug, thiserror::Error)]
#[error("cannot {operation} {}: {source}", path.display())]
pub struct PathError {
    /// What was tried, as a verb.
    pub operation: &'static str,
    /// On what.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl PathError {
    /// The short reason behind it.
    pub fn reason(&self) -> Reason {
        Reason::of(&self.source)
    }
}

/// Why the state directory cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Another server owns it. Nothing was changed.
    #[error(
        "{} is in use by another server{holder}; use that one, stop it, or choose another state \
         directory ({})",
        path.display(), STATE_DIR
    )]
    Held {
        /// The state directory.
        path: PathBuf,
        /// What that server wrote about itself.
        holder: Holder,
    },
    /// The file system cannot lock, so a second server could not be kept out.
    #[error("the file system cannot lock {}: {}", .0.path.display(), .0.source)]
    LocksUnsupported(PathError),
    /// The path is longer than the system takes.
    #[error("the path {} is too long", .0.path.display())]
    TooLong(PathError),
    /// Somebody else could change what is in it.
    #[error("{} is not safe: {why}; {}", path.display(), why.remedy(path))]
    Unsafe {
        /// The directory: the state directory or one above it.
        path: PathBuf,
        /// What is wrong with it.
        why: Unsafe,
    },
    /// Nothing could be saved in it. Nothing was changed.
    #[error(
        "{0}; make it writable for its owner, or choose another state directory ({dir})",
        dir = STATE_DIR
    )]
    ReadOnly(PathError),
    /// Anything else.
    #[error(transparent)]
    Path(#[from] PathError),
}

/// How one is chosen: clients pass a server's words on, and have no option for it.
const STATE_DIR: &str = "SIGNALTTY_STATE_DIR, or --state-dir of signaltty-server";

/// What makes a directory unsafe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsafe {
    /// It belongs to somebody else.
    #[error("it belongs to user {owner}")]
    Owner {
        /// That user's number.
        owner: u32,
    },
    /// Others may write to it.
    #[error("its mode {mode:o} lets others write to it")]
    Writable {
        /// The permission bits.
        mode: u32,
    },
}

impl Unsafe {
    /// What a person can do about it.
    fn remedy(self, path: &Path) -> String {
        match self {
            Self::Owner { .. } => format!("choose a directory of your own ({STATE_DIR})"),
            Self::Writable { mode } => {
                let who = match (mode & 0o020 != 0, mode & 0o002 != 0) {
                    (true, false) => "g",
                    (false, _) => "o",
                    (true, true) => "go",
                };
                let path = path.display();
                format!("run `chmod {who}-w {path}`, or choose another directory ({STATE_DIR})")
            }
        }
    }
}

/// What the owner of a lock wrote about itself. For messages only: it may be
/// missing or out of date.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Holder {
    /// Its process id.
    pub pid: Option<u32>,
    /// Where it listens.
    pub socket: Option<PathBuf>,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(pid) = self.pid {
            write!(f, ", process {pid}")?;
        }
        if let Some(socket) = &self.socket {
            write!(f, ", listening at {}", socket.display())?;
        }
        Ok(())
    }
}

/// Why saved state cannot be loaded. No file was changed, and the server must
/// not start: a save would replace what is there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A newer version of this program wrote it.
    #[error(
        "{} has version {found}, and this program reads versions up to {supported}; \
         start the newer program again, or move the file away",
        path.display()
    )]
    FutureVersion {
        /// The version that the file says.
        found: u64,
        /// The newest version that can be read.
        supported: u32,
        /// The file.
        path: PathBuf,
    },
    /// Another program wrote it.
    #[error(
        "{} was written by another program; choose another state directory, or move the file away",
        path.display()
    )]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// It is there, but it could not be read.
    #[error(transparent)]
    Unreadable(PathError),
    /// It is damaged, and it could not be moved to a safe place.
    #[error("the damaged file could not be set aside: {0}")]
    NotSetAside(PathError),
}

/// Why an older snapshot was not brought back. The present one is in place.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// There is no such snapshot.
    #[error("no older snapshot has the number {generation}")]
    Missing {
        /// The number that was asked for.
        generation: u64,
    },
    /// It cannot be read.
    #[error("{} cannot be used: {source}", path.display())]
    Unusable {
        /// Where it is.
        path: PathBuf,
        /// Why.
        source: crate::schema::DecodeError,
    },
    /// The present one must not be replaced.
    #[error(transparent)]
    Present(#[from] LoadError),
    /// It could not be written.
    #[error(transparent)]
    Write(#[from] SaveError),
    /// The system refused something else.
    #[error(transparent)]
    Io(#[from] PathError),
}

/// Why a session was not saved. The file that was there before is untouched,
/// except where a variant says otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// The session is empty, no person emptied it, and the saved one is not
    /// empty (P9).
    #[error("refused to replace a saved session by an empty one")]
    EmptyOverFull,
    /// It is larger than what can be loaded again (P8).
    #[error("the session has {found} {what}, more than the {limit} that can be loaded again")]
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// How much there is.
        found: usize,
        /// How much there may be.
        limit: usize,
    },
    /// It could not be turned into bytes.
    #[error("the session cannot be encoded: {0}")]
    Encode(String),
    /// It could not be written.
    #[error(transparent)]
    Write(PathError),
    /// It was written, and a reader sees it, but the system did not confirm
    /// that it survives a loss of power.
    #[error("saved, but perhaps not durably: {0}")]
    NotDurable(PathError),
}

impl SaveError {
    /// The short reason behind it, which clients are told while saving fails.
    pub fn reason(&self) -> Reason {
        match self {
            Self::EmptyOverFull => Reason::Refused,
            Self::Limit { .. } => Reason::TooLarge,
            Self::Encode(_) => Reason::Io,
            Self::Write(error) | Self::NotDurable(error) => error.reason(),
        }
    }
}

/// A short reason for a failure, for scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The disk or the quota is full.
    NoSpace,
    /// The file system is read-only.
    ReadOnly,
    /// Permission was denied.
    Denied,
    /// The file or directory is gone.
    Gone,
    /// No descriptor is left.
    NoDescriptors,
    /// There is more than can be loaded again.
    TooLarge,
    /// A rule forbids it.
    Refused,
    /// The device failed, or anything else.
    Io,
}

impl Reason {
    /// The text form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoSpace => "no_space",
            Self::ReadOnly => "read_only",
            Self::Denied => "denied",
            Self::Gone => "gone",
            Self::NoDescriptors => "no_descriptors",
            Self::TooLarge => "too_large",
            Self::Refused => "refused",
            Self::Io => "io",
        }
    }

    fn of(error: &io::Error) -> Self {
        use rustix::io::Errno;
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::NoSpace,
            ErrorKind::ReadOnlyFilesystem => Self::ReadOnly,
            ErrorKind::PermissionDenied => Self::Denied,
            ErrorKind::NotFound => Self::Gone,
            ErrorKind::FileTooLarge => Self::TooLarge,
            _ => match Errno::from_io_error(error) {
                Some(Errno::MFILE | Errno::NFILE) => Self::NoDescriptors,
                _ => Self::Io,
            },
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
