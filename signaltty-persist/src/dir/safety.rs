//! Opens the state directory only if nobody but its owner can change it.
//!
//! Whoever can rename a directory above can replace everything below, so each
//! one up to the root is looked at: it belongs to this user or to root, and
//! others may not write to it unless it is sticky. The user's own group is not
//! others: with a group for each user, `~/.local` at 0775 is common. The
//! directory itself must belong to this user, no group may write to it, and
//! sticky does not help it.

use std::fs::DirBuilder;
use std::io;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, Stat};
use rustix::io::Errno;

use crate::error::{OpenError, PathError, Unsafe};
use crate::fs::{Fs, OsFs};

/// Makes the directory if needed, resolves links once, checks and opens it. Also
/// gives the directories in which a new name is not durable yet, inner ones last.
pub(super) fn open_checked(path: &Path) -> Result<(OsFs, PathBuf, Vec<PathBuf>), OpenError> {
    let asked = std::path::absolute(path).map_err(at("resolve", path))?;
    let mut changed = Vec::new();
    make_missing(&asked, &mut changed)?;
    let (fs, real) = check(&asked)?;
    Ok((fs, real, changed))
}

/// Resolves links once, checks and opens a directory that is there. Changes
/// nothing.
pub(super) fn check(asked: &Path) -> Result<(OsFs, PathBuf), OpenError> {
    let real = asked.canonicalize().map_err(at("resolve", asked))?;
    for link in asked.ancestors().filter(|ancestor| ancestor.is_symlink()) {
        // Whoever can replace the link chooses the directory.
        if let Some(parent) = link.parent() {
            let parent = parent.canonicalize().map_err(at("resolve", parent))?;
            check_above(&parent)?;
        }
    }
    if let Some(parent) = real.parent() {
        check_above(parent)?;
    }
    let fs = OsFs::open_dir(&real).map_err(at("open", &real))?;
    let stat = fs.stat().map_err(at("look at", &real))?;
    let user = rustix::process::geteuid().as_raw();
    if stat.st_uid != user {
        return Err(OpenError::Unsafe { path: real, why: Unsafe::Owner { owner: stat.st_uid } });
    }
    let mode = permissions(&stat);
    if mode & OTHERS_WRITE != 0 {
        return Err(OpenError::Unsafe { path: real, why: Unsafe::Writable { mode } });
    }
    check_writable(&fs, &real)?;
    Ok((fs, real))
}

/// A server that could not save would lose all that it is given, so one that
/// cannot write at its start does not start.
pub(super) fn check_writable(fs: &OsFs, path: &Path) -> Result<(), OpenError> {
    fs.writable().map_err(|source| {
        OpenError::ReadOnly(PathError { operation: "write to", path: path.to_owned(), source })
    })
}

fn make_missing(path: &Path, changed: &mut Vec<PathBuf>) -> Result<(), OpenError> {
    match path.metadata() {
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(at("look at", path)(error)),
    }
    let Some(parent) = path.parent() else {
        return Ok(());
    };
    make_missing(parent, changed)?;
    // Where others can write, what is made may be theirs a moment later.
    let parent = parent.canonicalize().map_err(at("resolve", parent))?;
    check_above(&parent)?;
    match DirBuilder::new().mode(PRIVATE).create(path) {
        Ok(()) => {
            // A strange umask can take even the owner's own rights.
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(PRIVATE))
                .map_err(at("protect", path))?;
            changed.push(parent);
            Ok(())
        }
        // Another server made it in between.
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(at("make", path)(error)),
    }
}

/// Makes the name of a new directory durable: what is in a directory is no more
/// durable than that.
pub(super) fn sync(parent: &Path) -> Result<(), PathError> {
    let error = |operation| {
        let path = parent.to_owned();
        move |source| PathError { operation, path, source }
    };
    match OsFs::open_dir(parent) {
        Ok(parent_dir) => parent_dir.sync().map_err(error("sync")),
        // One may write to a directory and not read it; then it must do without.
        Err(denied) if denied.kind() == ErrorKind::PermissionDenied => Ok(()),
        Err(other) => Err(error("open")(other)),
    }
}

/// Checks a directory above the state directory, and all above it.
pub(super) fn check_above(real: &Path) -> Result<(), OpenError> {
    let user = rustix::process::geteuid().as_raw();
    for path in real.ancestors() {
        let stat = rustix::fs::lstat(path).map_err(|errno| at("look at", path)(errno.into()))?;
        if stat.st_uid != user && stat.st_uid != 0 {
            let why = Unsafe::Owner { owner: stat.st_uid };
            return Err(OpenError::Unsafe { path: path.to_owned(), why });
        }
        let mode = permissions(&stat);
        let refused = if is_own_group(stat.st_gid) { ALL_WRITE } else { OTHERS_WRITE };
        if mode & refused != 0 && mode & STICKY == 0 {
            let why = Unsafe::Writable { mode };
            return Err(OpenError::Unsafe { path: path.to_owned(), why });
        }
    }
    Ok(())
}

/// Whether it is the group that this user's own files get.
fn is_own_group(group: u32) -> bool {
    group == rustix::process::getegid().as_raw() || group == rustix::process::getgid().as_raw()
}

fn permissions(stat: &Stat) -> u32 {
    Mode::from_raw_mode(stat.st_mode).as_raw_mode()
}

pub(super) fn at(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> OpenError {
    let path = path.to_owned();
    move |source| {
        let too_long = Errno::from_io_error(&source) == Some(Errno::NAMETOOLONG);
        let error = PathError { operation, path, source };
        if too_long { OpenError::TooLong(error) } else { OpenError::Path(error) }
    }
}

const PRIVATE: u32 = 0o700;
/// Writing by a group and by all.
const OTHERS_WRITE: u32 = 0o022;
/// Writing by all.
const ALL_WRITE: u32 = 0o002;
const STICKY: u32 = 0o1000;
