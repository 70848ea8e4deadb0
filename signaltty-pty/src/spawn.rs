//! Starting a child on a terminal of its own.
//!
//! Words: the *peer* is the child's end of the terminal, the *master* ours.
//! Whatever can be found wrong is found before the child is made and named with its
//! path; what fails after it is one error with the program's path.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use rustix::fs::{Access, access};

use crate::child::Child;
use crate::error::SpawnError;
use crate::open::{self, Pair};
use crate::program::resolve_program;
use crate::pty::Pty;
use crate::size::Size;
use crate::sys;

/// What to start, and where.
#[derive(Debug, Clone)]
pub struct SpawnSpec {
    /// The program and its arguments; the child sees exactly this vector.
    pub argv: Vec<OsString>,
    /// The absolute working directory, in the spelling that `PWD` shall have.
    pub cwd: PathBuf,
    /// The complete environment. Nothing of the parent's is added but `PWD`,
    /// which is always set to `cwd`. Of two equal names the later one counts.
    pub env: Vec<(OsString, OsString)>,
    /// The size the terminal has before the child runs.
    pub size: Size,
}

/// Starts a child that leads a session of its own on a new terminal.
///
/// The child has the terminal as its controlling terminal and as descriptors 0,
/// 1 and 2, and no other descriptor; every signal has its default action and
/// none is blocked.
///
/// **Call this from the process's main thread only**, outside the runtime. The
/// child is killed when the *thread* that made it ends, so that a direct child
/// never outlives a killed server. A thread of a runtime's pool may end earlier,
/// and when the process replaces itself by another program, every thread but the
/// main one ends. This is not checked, since tests start children from threads.
/// The guarantee covers direct children on Linux; a set-user-id program clears
/// it, and grandchildren only get the terminal's hangup.
///
/// The call blocks until the child has executed its program or failed to.
///
/// # Errors
///
/// Each variant of [`SpawnError`] says what was wrong with which path; after
/// any of them no child is left.
pub fn spawn(spec: &SpawnSpec) -> Result<(Pty, Child), SpawnError> {
    check_strings(spec)?;
    check_cwd(&spec.cwd)?;
    let argv0 = spec.argv.first().ok_or(SpawnError::EmptyArgv)?;
    let search = spec.env.iter().rev().find(|(name, _)| name == "PATH");
    let search = search.map(|(_, value)| value.as_os_str());
    let program = resolve_program(argv0, &spec.cwd, search)?;

    let Pair { master, peer } = open::open(spec.size)?;
    let exec_error = |source| SpawnError::Exec { path: program.clone(), source };
    let text = |text: &[u8]| CString::new(text).map_err(|error| exec_error(error.into()));
    let path = text(program.as_os_str().as_bytes())?;
    let argv: Vec<_> =
        spec.argv.iter().map(|argument| text(argument.as_bytes())).collect::<Result<_, _>>()?;
    let env = environment(spec).map(|pair| text(&pair)).collect::<Result<Vec<_>, _>>()?;
    let cwd = text(spec.cwd.as_os_str().as_bytes())?;
    let (path, argv, env, cwd) = (path.as_c_str(), &*argv, &*env, cwd.as_c_str());
    let program = sys::Program { path, argv, env, cwd, terminal: peer.as_fd() };
    let child = sys::start(&program).map_err(exec_error)?;
    // With it open, the end of the child would never be seen at the master.
    drop(peer);
    let child = Child::adopt(child).map_err(SpawnError::Watch)?;
    Ok((Pty::new(master), child))
}

/// The environment as exec takes it, by name.
fn environment(spec: &SpawnSpec) -> impl Iterator<Item = Vec<u8>> {
    let pwd = (OsStr::new("PWD"), spec.cwd.as_os_str());
    let given = spec.env.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()));
    let env: BTreeMap<_, _> = given.chain([pwd]).collect();
    env.into_iter().map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat())
}

fn check_strings(spec: &SpawnSpec) -> Result<(), SpawnError> {
    let has_zero = |text: &OsStr| text.as_bytes().contains(&0);
    if let Some(index) = spec.argv.iter().position(|argument| has_zero(argument)) {
        return Err(SpawnError::Argument { index });
    }
    let malformed = spec.env.iter().find(|(name, value)| {
        name.is_empty() || name.as_bytes().contains(&b'=') || has_zero(name) || has_zero(value)
    });
    match malformed {
        Some((name, _)) => Err(SpawnError::Environment { name: name.clone() }),
        None => Ok(()),
    }
}

fn check_cwd(cwd: &Path) -> Result<(), SpawnError> {
    let path = cwd.to_owned();
    if !cwd.is_absolute() {
        return Err(SpawnError::CwdNotAbsolute { path });
    }
    match fs::metadata(cwd) {
        Ok(found) if !found.is_dir() => Err(SpawnError::CwdNotADirectory { path }),
        Ok(_) => access(cwd, Access::EXEC_OK)
            .map_err(|errno| SpawnError::Cwd { path, source: errno.into() }),
        Err(error) => Err(match error.kind() {
            io::ErrorKind::NotFound => SpawnError::CwdMissing { path },
            io::ErrorKind::NotADirectory => SpawnError::CwdNotADirectory { path },
            _ => SpawnError::Cwd { path, source: error },
        }),
    }
}
