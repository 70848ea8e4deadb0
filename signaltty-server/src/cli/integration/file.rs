//! A file of a person: read whole, replaced whole, or left alone.
//!
//! A link stays a link, and the file that it names is replaced in its own
//! directory by one that is complete. Mode and group stay. What cannot be
//! replaced in this way is refused and not touched.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

use super::Failure;

/// A file as it was read.
#[derive(Debug)]
pub(super) struct Found {
    /// Where the agent looks for it.
    path: PathBuf,
    /// Where it is, if `path` is a link.
    target: PathBuf,
    /// Its contents.
    pub(super) text: String,
    about: fs::Metadata,
}

/// Reads a file; none is there where `None`.
pub(super) fn read(path: &Path) -> Result<Option<Found>, Failure> {
    match fs::symlink_metadata(path) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(refused(path, format!("cannot be looked at: {error}"))),
    }
    let target = fs::canonicalize(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            refused(path, "is a link to nothing; remove it, or make the file that it names")
        }
        _ => refused(path, format!("cannot be followed: {error}")),
    })?;
    let cannot = |error: io::Error| refused(path, format!("cannot be read: {error}"));
    let about = fs::metadata(&target).map_err(cannot)?;
    // Reading a pipe would wait for somebody.
    if !about.is_file() {
        return Err(refused(path, "is no file; move it away first"));
    }
    let mut bytes = Vec::new();
    File::open(&target).and_then(|f| f.take(MAX + 1).read_to_end(&mut bytes)).map_err(cannot)?;
    if bytes.len() as u64 > MAX {
        return Err(refused(path, format!("is longer than {MAX} bytes, which no settings are")));
    }
    let text = String::from_utf8(bytes)
        .map_err(|error| refused(path, format!("is not UTF-8: {error}; correct it first")))?;
    Ok(Some(Found { path: path.to_owned(), target, text, about }))
}

impl Found {
    /// Whether the agent's path is a link to the file.
    pub(super) fn is_link(&self) -> bool {
        fs::symlink_metadata(&self.path).is_ok_and(|about| about.is_symlink())
    }

    /// Refuses what must not be replaced.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let refused = |why: &str| Err(refused(&self.path, why));
        if self.about.uid() != rustix::process::geteuid().as_raw() {
            return refused("belongs to somebody else, whose it would no longer be");
        }
        if self.about.mode() & 0o200 == 0 {
            return refused("is read-only; make it writable first with `chmod u+w`");
        }
        if self.about.nlink() > 1 {
            return refused(
                "has several names (hard links), of which the others would keep the old text; \
                 make it a file or a symbolic link first",
            );
        }
        Ok(())
    }

    /// Keeps the contents beside the file, in place of an older backup.
    pub(super) fn back_up(&self) -> Result<PathBuf, Failure> {
        let backup = backup_of(&self.path);
        put(&backup, &self.text, self.about.mode(), None, || Ok(()))
            .map_err(|error| refused(&backup, format!("cannot be written: {error}")))?;
        Ok(backup)
    }

    /// Puts another text in its place, unless somebody changed it meanwhile.
    pub(super) fn replace(&self, text: &str) -> Result<(), Failure> {
        let unchanged = || {
            if fs::read(&self.target)? == self.text.as_bytes() {
                return Ok(());
            }
            Err(io::Error::other("somebody changed it meanwhile; try again"))
        };
        put(&self.target, text, self.about.mode(), Some(self.about.gid()), unchanged)
            .map_err(|error| refused(&self.path, format!("was not changed: {error}")))
    }

    /// Removes it.
    pub(super) fn remove(&self) -> Result<(), Failure> {
        let removed = fs::remove_file(&self.path);
        removed.map_err(|error| refused(&self.path, format!("was not removed: {error}")))
    }
}

/// Makes a file that is not there, and its directories.
pub(super) fn create(path: &Path, text: &str) -> Result<(), Failure> {
    let missing = || match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        _ => Err(io::Error::other("somebody made it meanwhile; try again")),
    };
    let dir = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(dir)
        .and_then(|()| put(path, text, 0o600, None, missing))
        .map_err(|error| refused(path, format!("was not made: {error}")))
}

/// Where the backup of a file is.
pub(super) fn backup_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().map(OsString::from).unwrap_or_default();
    name.push(".signaltty-backup");
    path.with_file_name(name)
}

/// Writes a complete file, and gives it its name once `may` says so.
fn put(
    path: &Path,
    text: &str,
    mode: u32,
    group: Option<u32>,
    may: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".signaltty-{}", std::process::id()));
    let temporary = path.with_file_name(name);
    let put = || {
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(0o600).open(&temporary)?;
        file.write_all(text.as_bytes())?;
        if let Some(group) = group {
            // It may be one that we are not in any more; then nobody but the
            // owner loses or gains by it.
            let _ = fchown(&file, None, Some(group));
        }
        file.set_permissions(Permissions::from_mode(mode & 0o7777))?;
        file.sync_all()?;
        may()?;
        fs::rename(&temporary, path)
    };
    put().inspect_err(|_| {
        // What is left has a name that no agent reads.
        let _ = fs::remove_file(&temporary);
    })?;
    // The file is there; only a loss of power could still undo that.
    let _ = path.parent().map(|dir| File::open(dir).and_then(|dir| dir.sync_all()));
    Ok(())
}

pub(super) fn refused(path: &Path, why: impl AsRef<str>) -> Failure {
    Failure::new("FILE_REFUSED", format!("{} {}", path.display(), why.as_ref()))
}

/// Of what is read, in bytes.
const MAX: u64 = 4 * 1024 * 1024;
