//! What a run of the demonstration agent finds around it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::record;
use crate::{AgentHost, ProcHost};

/// What one run of the agent needs of the world.
#[derive(Debug, Clone)]
pub struct World {
    /// Where it keeps its files.
    pub home: PathBuf,
    /// Its working directory, in the spelling that it was started with.
    pub cwd: PathBuf,
    /// Its own process id.
    pub pid: u32,
    /// Start time of its process in clock ticks since boot.
    pub start_ticks: u64,
}

/// How it goes about a resume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Behaviour {
    /// As it should.
    #[default]
    Good,
    /// Begins anew under the same id, over the old record.
    Fresh,
    /// Begins anew under another id.
    Other,
    /// Begins anew, and claims to have the old conversation.
    Echo,
    /// As it should, without listing itself.
    Silent,
    /// Ends at once, as if nothing was found.
    Exit,
    /// As it should, but takes no prompt.
    Deaf,
    /// As it should, but works on each prompt without an end, and never says
    /// that it took one.
    Mute,
    /// Goes on under another id, in a copy of the record.
    Forks,
}

impl World {
    /// The world of this process.
    ///
    /// # Errors
    ///
    /// When neither [`HOME_VAR`](super::HOME_VAR) nor `HOME` is set, or the
    /// system does not say where this process is and when it started.
    pub fn of_this_process() -> io::Result<Self> {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let home = match (set(super::HOME_VAR), set("HOME")) {
            (Some(home), _) => PathBuf::from(home),
            (None, Some(home)) => Path::new(&home).join(record::DEFAULT_HOME),
            (None, None) => return Err(io::Error::other("HOME is not set")),
        };
        let real = std::env::current_dir()?;
        let spelled = set("PWD").map(PathBuf::from).filter(|cwd| {
            cwd.is_absolute() && fs::canonicalize(cwd).is_ok_and(|found| found == real)
        });
        let host = ProcHost { home: None, path: OsString::new() };
        let me = host
            .process(std::process::id())
            .ok_or_else(|| io::Error::other("/proc does not show this process"))?;
        Ok(Self { home, cwd: spelled.unwrap_or(real), pid: me.pid, start_ticks: me.start_ticks })
    }
}

impl Behaviour {
    pub(super) fn of(home: &Path) -> Self {
        match fs::read_to_string(home.join("behaviour")).as_deref().map(str::trim) {
            Ok("fresh") => Self::Fresh,
            Ok("other") => Self::Other,
            Ok("echo") => Self::Echo,
            Ok("silent") => Self::Silent,
            Ok("exit") => Self::Exit,
            Ok("deaf") => Self::Deaf,
            Ok("mute") => Self::Mute,
            Ok("forks") => Self::Forks,
            _ => Self::Good,
        }
    }
}
