//! Writing the unit file, and removing it. What is not ours is left alone.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::unit::{Found, MARKER, NAME, OURS, look};
use crate::config::Paths;

/// Why a unit cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum UnitError {
    /// There is no place for it.
    #[error("no place for a unit: neither HOME nor XDG_CONFIG_HOME is set")]
    NoHome,
    /// A path cannot be said in a unit.
    #[error(
        "{} cannot be written into a unit: it holds a control character, a $, or bytes that are \
         no UTF-8", .0.display()
    )]
    Unsayable(PathBuf),
    /// Something else is at its place.
    #[error(
        "{} is not ours ({why}) and was left as it is; move it away first", .path.display()
    )]
    Foreign {
        /// Where.
        path: PathBuf,
        /// What it is.
        why: &'static str,
    },
    /// The operating system refused something.
    #[error("cannot {operation} {}: {source}", .path.display())]
    Io {
        /// What was tried.
        operation: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

/// The unit that runs `program` for these paths.
pub(crate) fn text(program: &Path, paths: &Paths) -> Result<String, UnitError> {
    let (socket, state_dir) = (sayable(&paths.socket)?, sayable(&paths.state_dir)?);
    let words = [sayable(program)?, "--socket", socket, "--state-dir", state_dir];
    let command: Vec<_> = words.into_iter().map(quoted).collect();
    Ok(format!(
        "{MARKER}
# It is written anew by every install. Changes belong into a drop-in, which is
# never touched: systemctl --user edit {NAME}
[Unit]
Description=Terminal sessions of coding agents (signaltty)

[Service]
Type=notify
ExecStart={command}
# Reads config.toml again.
ExecReload=kill -HUP $MAINPID
# Only the server is told to end: it saves first and ends its panes after that.
KillMode=mixed
# It has ended after five seconds, unless the disk is slow.
TimeoutStopSec=20
# One pane without memory takes no other along.
OOMPolicy=continue
# Not after an exit of its own, such as that of a state which it must not touch.
Restart=on-abnormal

[Install]
WantedBy=default.target

{OURS}
Socket={socket}
StateDirectory={state_dir}
",
        command = command.join(" ")
    ))
}

/// Writes the unit; says whether that changed anything.
pub(crate) fn install(path: &Path, text: &str) -> Result<bool, UnitError> {
    let found = looked(path)?;
    match &found {
        Found::Foreign(why) => return Err(foreign(path, why)),
        Found::Ours(there) if there == text => return Ok(false),
        Found::Ours(_) | Found::Absent => {}
    }
    let dir = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(dir).map_err(|source| failure("make", dir, source))?;
    let new = dir.join(format!(".{NAME}.{}", std::process::id()));
    let written = write(&new, text).and_then(|()| match found {
        // Fails where somebody else was faster.
        Found::Absent => fs::hard_link(&new, path).and_then(|()| fs::remove_file(&new)),
        _ => fs::rename(&new, path),
    });
    if let Err(source) = written {
        let _ = fs::remove_file(&new);
        return Err(failure("write", path, source));
    }
    Ok(true)
}

/// Removes the unit; says whether it was there.
pub(crate) fn uninstall(path: &Path) -> Result<bool, UnitError> {
    match looked(path)? {
        Found::Absent => Ok(false),
        Found::Foreign(why) => Err(foreign(path, why)),
        Found::Ours(_) => {
            fs::remove_file(path).map_err(|source| failure("remove", path, source))?;
            Ok(true)
        }
    }
}

/// Looks at what is there.
pub(crate) fn looked(path: &Path) -> Result<Found, UnitError> {
    look(path).map_err(|source| failure("read", path, source))
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn sayable(path: &Path) -> Result<&str, UnitError> {
    path.to_str()
        .filter(|text| !text.contains(|c: char| c.is_control() || c == '$'))
        .ok_or_else(|| UnitError::Unsayable(path.to_owned()))
}

/// A word of a command line, as systemd.service(5) and systemd.unit(5) want it.
fn quoted(word: &str) -> String {
    let word = word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
    format!("\"{word}\"")
}

fn foreign(path: &Path, why: &'static str) -> UnitError {
    UnitError::Foreign { path: path.to_owned(), why }
}

fn failure(operation: &'static str, path: &Path, source: io::Error) -> UnitError {
    UnitError::Io { operation, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::unit::serves;

    fn paths(dir: &str) -> Paths {
        let dir = PathBuf::from(dir);
        Paths { state_dir: dir.join("state"), runtime_dir: dir.join("run"), socket: dir.join("s") }
    }

    #[test]
    fn a_unit_says_what_it_serves_and_how_it_ends() {
        let text = text(Path::new("/opt/a b/100%/x\"y"), &paths("/h")).unwrap();
        for line in [
            "Type=notify",
            "KillMode=mixed",
            "TimeoutStopSec=20",
            r#"ExecStart="/opt/a b/100%%/x\"y" "--socket" "/h/s" "--state-dir" "/h/state""#,
        ] {
            assert!(text.lines().any(|found| found == line), "{text}");
        }
        assert!(serves(&text, &paths("/h")));
        assert!(!serves(&text, &paths("/other")));
        assert!(matches!(
            super::text(Path::new("/a\nb"), &paths("/h")),
            Err(UnitError::Unsayable(_))
        ));
    }

    #[test]
    fn a_file_of_others_is_neither_replaced_nor_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("user").join(NAME);
        let ours = text(Path::new("/bin/x"), &paths("/h")).unwrap();
        assert!(!uninstall(&path).unwrap());
        assert!(install(&path, &ours).unwrap());
        assert!(!install(&path, &ours).unwrap());
        let newer = text(Path::new("/bin/y"), &paths("/h")).unwrap();
        assert!(install(&path, &newer).unwrap());
        assert_eq!(look(&path).unwrap(), Found::Ours(newer));
        assert!(uninstall(&path).unwrap());
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 0);

        let refused = |what: &str| {
            let before = fs::read(&path).unwrap();
            assert!(matches!(install(&path, &ours), Err(UnitError::Foreign { .. })), "{what}");
            assert!(matches!(uninstall(&path), Err(UnitError::Foreign { .. })), "{what}");
            assert_eq!(fs::read(&path).unwrap(), before, "{what}");
            assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "{what}");
            fs::remove_file(&path).unwrap();
        };
        fs::write(&path, "[Service]\nExecStart=/bin/mine\n").unwrap();
        refused("a unit by hand");
        std::os::unix::fs::symlink("/dev/null", &path).unwrap();
        refused("a mask");
        let elsewhere = dir.path().join("elsewhere");
        fs::write(&elsewhere, &ours).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        refused("a link to one of ours");
    }
}
