//! What is added to an agent's command when it is launched.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use signaltty_core::id::InstanceId;

/// A command about to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// Program and arguments.
    pub argv: Vec<OsString>,
    /// The complete environment.
    pub env: Vec<(OsString, OsString)>,
}

/// What a launch may refer to.
#[derive(Debug, Clone, Copy)]
pub struct LaunchContext<'a> {
    /// A directory of the server's, mode 0700, gone at reboot.
    pub runtime_dir: &'a Path,
    /// The program whose `hook AGENT` verb passes reports on.
    pub hook_program: &'a Path,
    /// The instance to be, for file names.
    pub instance: InstanceId,
}

/// A file that must be there before the start. Written with mode 0600.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchFile {
    /// Where, below the runtime directory.
    pub path: PathBuf,
    /// What.
    pub contents: Vec<u8>,
}

/// A launch with what was added to it. The additions are never saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedLaunch {
    /// The command to start.
    pub launch: Launch,
    /// Files to write first.
    pub files: Vec<LaunchFile>,
    /// Whether the agent will report to us.
    pub integration: Integration,
}

/// Whether an agent reports to us.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Integration {
    /// It needs nothing, or has nothing to offer.
    None,
    /// Its reports were wired up for this launch.
    Injected,
    /// The user set the option that we would need; it was left alone. Says
    /// what to do.
    Needed(String),
}
