//! A snapshot that is a link (C022): people keep files elsewhere and link them.
//!
//! The link is followed once, at the start, and kept: what is written goes to
//! where it leads, by a rename in that directory. The target may be missing, its
//! directory may not.

use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::Path;

use super::safety::{at, check_above};
use crate::error::OpenError;
use crate::fs::OsFs;

/// Where a link leads.
#[derive(Debug)]
pub(super) struct Linked<F> {
    /// The directory that it leads into.
    pub(super) fs: F,
    /// The name there.
    pub(super) name: String,
    /// What our temporaries there begin with; no other file does.
    pub(super) temporaries: String,
}

/// Follows the link at `path`; nothing if there is none.
pub(super) fn resolve(path: &Path) -> Result<Option<Linked<OsFs>>, OpenError> {
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        match target.symlink_metadata() {
            Ok(found) if found.is_symlink() => {
                let next = target.read_link().map_err(at("read the link", path))?;
                target = target.parent().unwrap_or(Path::new("/")).join(next);
            }
            Ok(_) => {
                return if target == path { Ok(None) } else { follow(path, &target).map(Some) };
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return if target == path { Ok(None) } else { follow(path, &target).map(Some) };
            }
            Err(error) => return Err(at("follow the link", path)(error)),
        }
    }
    Err(at("follow the link", path)(io::Error::other("it leads in a circle")))
}

fn follow(path: &Path, target: &Path) -> Result<Linked<OsFs>, OpenError> {
    let parent = target.parent().unwrap_or(Path::new("/"));
    let parent = parent.canonicalize().map_err(at("find the directory that is linked by", path))?;
    // Whoever can replace the file chooses the state.
    check_above(&parent)?;
    let name = target.file_name().and_then(OsStr::to_str).ok_or_else(|| {
        at("follow the link", path)(io::Error::other("the name that it leads to is not UTF-8"))
    })?;
    let fs = OsFs::open_dir(&parent).map_err(at("open", &parent))?;
    Ok(Linked { fs, name: name.to_owned(), temporaries: format!(".{name}.tmp-") })
}

/// As many as the system follows.
const MOST_LINKS: usize = 40;
