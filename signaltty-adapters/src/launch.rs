//! What is added to an agent's command when it is launched.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
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
#[derive(Clone, Copy)]
pub struct LaunchContext<'a> {
    /// A directory of the server's, mode 0700, gone at reboot.
    pub runtime_dir: &'a Path,
    /// The program whose `hook AGENT` verb passes reports on.
    pub hook_program: &'a Path,
    /// The directory in which the agent is started.
    pub cwd: &'a Path,
    /// The instance to be, for file names.
    pub instance: InstanceId,
    /// Random letters and digits of this launch alone, for an agent's own
    /// server. Another secret than the one that the hook shows.
    pub secret: &'a str,
    /// A port of the loopback interface on which nobody listened just now, if
    /// one was found.
    pub loopback_port: Option<u16>,
}

impl fmt::Debug for LaunchContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaunchContext")
            .field("runtime_dir", &self.runtime_dir)
            .field("hook_program", &self.hook_program)
            .field("cwd", &self.cwd)
            .field("instance", &self.instance)
            .field("loopback_port", &self.loopback_port)
            .finish_non_exhaustive()
    }
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
    /// What the adapter must know of this launch while it lives.
    pub facts: LaunchFacts,
    /// Whether what was added runs the hook program. Where that is not there,
    /// the agent is started as it is and its pane says why.
    pub runs_hook: bool,
}

impl PreparedLaunch {
    /// The launch as it is, of an agent that needs nothing.
    pub fn unchanged(launch: Launch) -> Self {
        Self {
            launch,
            files: Vec::new(),
            integration: Integration::None,
            facts: LaunchFacts::default(),
            runs_hook: false,
        }
    }
}

/// What an adapter notes of a launch for itself, such as the port and the
/// password of the agent's own server.
///
/// The server keeps it in memory while the process lives, hands it back in
/// [`InstanceView`](crate::InstanceView), and never saves, logs or shows it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct LaunchFacts(BTreeMap<&'static str, String>);

impl LaunchFacts {
    /// One fact.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

impl<const N: usize> From<[(&'static str, String); N]> for LaunchFacts {
    fn from(facts: [(&'static str, String); N]) -> Self {
        Self(facts.into())
    }
}

impl fmt::Debug for LaunchFacts {
    /// Names only: the values may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
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
