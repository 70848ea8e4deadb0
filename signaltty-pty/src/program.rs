//! Finding the program that an argument vector names.
//!
//! The search is done in the parent, against the child's environment, so that a
//! missing program is a typed error with a path and not an error number from
//! the far side of a fork.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::error::ResolveError;

/// Finds the file that executing `program` in `cwd` would run.
///
/// A name with a slash is taken relative to `cwd`; any other is looked for in
/// the directories of `search`, the child's `PATH`. Without one, the system's
/// default of `/bin:/usr/bin` applies. Relative and empty entries mean
/// directories below `cwd`, as they would for the child.
///
/// The answer can be outdated by the time it is used; it is for early and clear
/// errors, not for access control.
///
/// # Errors
///
/// [`ResolveError::NotExecutable`] if candidates exist and none of them may be
/// executed, else [`ResolveError::NotFound`] or [`ResolveError::NotInPath`].
pub fn resolve_program(
    program: &OsStr,
    cwd: &Path,
    search: Option<&OsStr>,
) -> Result<PathBuf, ResolveError> {
    if program.is_empty() {
        return Err(ResolveError::Empty);
    }
    if program.as_bytes().contains(&b'/') {
        let path = cwd.join(program);
        return match look_at(&path) {
            Candidate::Executable => Ok(path),
            Candidate::Unusable => Err(ResolveError::NotExecutable { path }),
            Candidate::Absent => Err(ResolveError::NotFound { path }),
        };
    }
    let mut unusable = None;
    for directory in std::env::split_paths(search.unwrap_or_else(|| OsStr::new(DEFAULT_PATH))) {
        let path = cwd.join(directory).join(program);
        match look_at(&path) {
            Candidate::Executable => return Ok(path),
            Candidate::Unusable => {
                unusable.get_or_insert(path);
            }
            Candidate::Absent => {}
        }
    }
    Err(match unusable {
        Some(path) => ResolveError::NotExecutable { path },
        None => ResolveError::NotInPath { program: program.to_owned() },
    })
}

enum Candidate {
    Executable,
    Unusable,
    Absent,
}

fn look_at(path: &Path) -> Candidate {
    match fs::metadata(path) {
        Ok(found) if found.is_file() && access(path, Access::EXEC_OK).is_ok() => {
            Candidate::Executable
        }
        Ok(_) => Candidate::Unusable,
        Err(_) => Candidate::Absent,
    }
}

const DEFAULT_PATH: &str = "/bin:/usr/bin";
