//! What can go wrong, one enum per operation.
//!
//! Every error that concerns a path carries it, and every error keeps its
//! source.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Opening a pseudo-terminal failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// No master could be opened; the system may be out of terminals.
    #[error("cannot open /dev/ptmx")]
    Master(#[source] io::Error),
    /// The master could not be unlocked.
    #[error("cannot unlock the terminal")]
    Unlock(#[source] io::Error),
    /// The other end could not be opened.
    #[error("cannot open the peer of the terminal")]
    Peer(#[source] io::Error),
    /// Size or input flags were refused.
    #[error("cannot configure the terminal")]
    Configure(#[source] io::Error),
}

/// A program name does not lead to something that can be executed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// The program name is empty.
    #[error("the program name is empty")]
    Empty,
    /// The name contains a slash, and nothing is there.
    #[error("no such program: {}", path.display())]
    NotFound {
        /// The path that was looked at.
        path: PathBuf,
    },
    /// The name contains no slash, and no directory of `PATH` has it.
    #[error("no program {} in PATH", program.to_string_lossy())]
    NotInPath {
        /// The name that was looked for.
        program: OsString,
    },
    /// Something is there, but it is no file that may be executed.
    #[error("not an executable file: {}", path.display())]
    NotExecutable {
        /// The path that was looked at.
        path: PathBuf,
    },
}

/// Starting a child on a new terminal failed; nothing is left running.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// The argument vector is empty.
    #[error("the argument vector is empty")]
    EmptyArgv,
    /// The program cannot be found or executed.
    #[error(transparent)]
    Program(#[from] ResolveError),
    /// The working directory is not absolute.
    #[error("the working directory is not absolute: {}", path.display())]
    CwdNotAbsolute {
        /// The directory as given.
        path: PathBuf,
    },
    /// The working directory does not exist.
    #[error("the working directory does not exist: {}", path.display())]
    CwdMissing {
        /// The directory as given.
        path: PathBuf,
    },
    /// The working directory is something else.
    #[error("the working directory is not a directory: {}", path.display())]
    CwdNotADirectory {
        /// The path as given.
        path: PathBuf,
    },
    /// The working directory cannot be entered.
    #[error("cannot enter the working directory {}", path.display())]
    Cwd {
        /// The directory as given.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// An argument contains a zero byte.
    #[error("argument {index} contains a zero byte")]
    Argument {
        /// Its position; 0 is the program.
        index: usize,
    },
    /// A variable has an empty name, or `=` or a zero byte in it.
    #[error("malformed environment variable {}", name.to_string_lossy())]
    Environment {
        /// The variable's name.
        name: OsString,
    },
    /// No terminal could be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Fork, set-up in the child, or exec failed.
    #[error("cannot execute {}", path.display())]
    Exec {
        /// The program that was to be executed.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The child started but could not be watched; it was killed and reaped.
    #[error("cannot watch the child")]
    Watch(#[source] io::Error),
}

/// A write ended before all bytes were accepted.
#[derive(Debug, Error)]
#[error("{written} bytes written, then: {cause}")]
pub struct WriteError {
    /// How many bytes the terminal accepted; they are not taken back.
    pub written: usize,
    /// Why the rest was not.
    #[source]
    pub cause: WriteCause,
}

/// Why a write ended early.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteCause {
    /// The deadline passed, because nobody reads at the other end.
    #[error("the deadline passed")]
    Timeout,
    /// Nobody has the other end open any more.
    #[error("the terminal is closed")]
    Closed,
    /// Anything else.
    #[error("write failed")]
    Io(#[source] io::Error),
}

/// A signal could not be sent.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SignalError {
    /// The process has ended.
    #[error("the process has ended")]
    Ended,
    /// Anything else.
    #[error("cannot send the signal")]
    Io(#[source] io::Error),
}
