//! The unit file: where it is, whose it is, and what it serves.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::config::Paths;

/// The unit's name.
pub(crate) const NAME: &str = "signaltty.service";

/// What is at the unit's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nothing.
    Absent,
    /// A unit that we wrote; this is its text.
    Ours(String),
    /// Something that we did not write.
    Foreign(&'static str),
}

/// Where the unit is, if there is a home. `var` reads an environment variable.
pub(crate) fn path(var: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let dir = |name: &str| var(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = dir("XDG_CONFIG_HOME").or_else(|| Some(dir("HOME")?.join(".config")));
    Some(config?.join("systemd/user").join(NAME))
}

/// Looks at what is there. A link is not ours wherever it leads: a masked unit
/// is one, and so is what other programs manage.
pub(crate) fn look(path: &Path) -> io::Result<Found> {
    let about = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Absent),
        about => about?,
    };
    if !about.is_file() {
        return Ok(Found::Foreign("it is a link or no file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(LONGEST).read_to_end(&mut bytes)?;
    match String::from_utf8(bytes) {
        Ok(text) if text.lines().next() == Some(MARKER) => Ok(Found::Ours(text)),
        _ => Ok(Found::Foreign("its first line is not that of signaltty")),
    }
}

/// Whether a unit that we wrote serves these paths.
pub(crate) fn serves(text: &str, paths: &Paths) -> bool {
    let Some(section) = text.split(OURS).nth(1) else {
        return false;
    };
    let value = |key: &str| section.lines().find_map(|line| line.strip_prefix(key));
    value("Socket=").map(Path::new) == Some(&paths.socket)
        && value("StateDirectory=").map(Path::new) == Some(&paths.state_dir)
}

/// The first line of a unit that we wrote.
pub(crate) const MARKER: &str = "# This file belongs to signaltty-server service.";

/// Says what the unit serves; systemd skips sections whose names begin like this.
pub(crate) const OURS: &str = "[X-Signaltty]";

const LONGEST: u64 = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_is_where_the_users_manager_looks() {
        let with = |vars: &[(&str, &str)]| {
            path(|name| vars.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v)))
        };
        let home = ("HOME", "/h");
        let at = |text: &str| Path::new(text).join("systemd/user").join(NAME);
        assert_eq!(with(&[home]).unwrap(), at("/h/.config"));
        assert_eq!(with(&[home, ("XDG_CONFIG_HOME", "/c")]).unwrap(), at("/c"));
        assert_eq!(with(&[home, ("XDG_CONFIG_HOME", "rel")]).unwrap(), at("/h/.config"));
        assert_eq!(with(&[]), None);
    }
}
