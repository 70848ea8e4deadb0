//! Where things are, read from the environment once and passed on.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The longest path of a Unix socket in bytes (`sockaddr_un`, unix(7), less its
/// terminating NUL).
pub const MAX_SOCKET_PATH: usize = 107;

/// How long the log of a server may become before it is put aside.
pub(crate) const MAX_LOG_BYTES: u64 = 4 * 1024 * 1024;

/// Paths of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// Where the state is. Empty for a client that needs no such place
    /// ([`for_client`](Self::for_client)).
    pub state_dir: PathBuf,
    /// What is gone at reboot: the notes of running processes and files made for
    /// one launch. `$XDG_RUNTIME_DIR/signaltty`, wherever the state is; without
    /// that variable `run` in the state directory.
    pub runtime_dir: PathBuf,
    /// Where clients connect.
    pub socket: PathBuf,
}

/// What a caller wants instead of the defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `--state-dir`
    pub state_dir: Option<PathBuf>,
    /// `--socket`
    pub socket: Option<PathBuf>,
}

/// Why no paths could be made out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PathsError {
    /// There is neither a home nor an explicit directory.
    #[error(
        "no place for the state: neither HOME nor XDG_STATE_HOME is set; set one, or name a \
         directory in SIGNALTTY_STATE_DIR"
    )]
    NoHome,
    /// A Unix socket cannot have such a path (C097).
    #[error(
        "the socket path {} has {} bytes, a Unix socket takes {MAX_SOCKET_PATH}; pass a shorter \
         one with --socket PATH", .0.display(), .0.as_os_str().len()
    )]
    SocketTooLong(PathBuf),
    /// A path is relative, and there is no current directory.
    #[error(
        "{what} is {}, which begins at the current directory, and that cannot be used; go to \
         another one, or give an absolute path", .path.display()
    )]
    Relative {
        /// Which.
        what: &'static str,
        /// What was given.
        path: PathBuf,
    },
}

impl Paths {
    /// Makes out the paths. `var` reads an environment variable; empty ones
    /// count as unset. Options win over `SIGNALTTY_*`, which win over XDG.
    ///
    /// ```
    /// use std::path::Path;
    ///
    /// use signaltty_server::config::{Overrides, Paths};
    ///
    /// let home = |name: &str| (name == "HOME").then(|| "/home/me".into());
    /// let paths = Paths::resolve(&Overrides::default(), Path::new("/"), home)?;
    /// assert_eq!(paths.state_dir, Path::new("/home/me/.local/state/signaltty"));
    /// # Ok::<(), signaltty_server::config::PathsError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When there is no place for the state, or the socket's path is too long.
    pub fn resolve(
        overrides: &Overrides,
        cwd: &Path,
        var: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, PathsError> {
        let paths = Self::for_client(overrides, cwd, var)?;
        paths.state().map(drop)?;
        Ok(paths)
    }

    /// The same for a client, which needs a place for the state only to start a
    /// server: where none can be made out and the socket is known all the same,
    /// [`state`](Self::state) says so once it is asked.
    ///
    /// # Errors
    ///
    /// When there is no place for the socket, or its path is too long.
    pub fn for_client(
        overrides: &Overrides,
        cwd: &Path,
        var: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, PathsError> {
        let var = |name: &str| var(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let xdg = |name: &str| var(name).filter(|path| path.is_absolute());
        let given = overrides.state_dir.clone().or_else(|| var("SIGNALTTY_STATE_DIR"));
        let explicit_state = given.is_some();
        let state_dir = given
            .map(|path| cwd.join(path))
            .or_else(|| Some(xdg("XDG_STATE_HOME")?.join("signaltty")))
            .or_else(|| Some(xdg("HOME")?.join(".local/state/signaltty")));
        let socket = overrides.socket.clone().or_else(|| var("SIGNALTTY_SOCKET"));
        if state_dir.is_none() && socket.is_none() && xdg("XDG_RUNTIME_DIR").is_none() {
            return Err(PathsError::NoHome);
        }
        let state_dir = state_dir.unwrap_or_default();
        // Process ids and what is made for a launch do not belong on a disk that
        // outlives them (D-25). Each server has a part of it to itself.
        let below_state = state_dir.join("run");
        let runtime_dir =
            xdg("XDG_RUNTIME_DIR").map_or_else(|| below_state.clone(), |dir| dir.join("signaltty"));
        // A server with a state directory of its own has a socket of its own.
        let socket_dir = if explicit_state { &below_state } else { &runtime_dir };
        let socket =
            socket.map_or_else(|| socket_dir.join("signaltty.sock"), |path| cwd.join(path));
        // Of a current directory that is gone nothing is known.
        for (what, path) in [("the state directory", &state_dir), ("the socket", &socket)] {
            if !path.is_absolute() && !path.as_os_str().is_empty() {
                return Err(PathsError::Relative { what, path: path.clone() });
            }
        }
        if socket.as_os_str().len() > MAX_SOCKET_PATH {
            return Err(PathsError::SocketTooLong(socket));
        }
        Ok(Self { state_dir, runtime_dir, socket })
    }

    /// Where the state is.
    ///
    /// # Errors
    ///
    /// When nothing says where.
    pub fn state(&self) -> Result<&Path, PathsError> {
        Some(self.state_dir.as_path())
            .filter(|dir| !dir.as_os_str().is_empty())
            .ok_or(PathsError::NoHome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(overrides: &Overrides, vars: &[(&str, &str)]) -> Result<Paths, PathsError> {
        Paths::resolve(overrides, Path::new("/cwd"), |name| {
            vars.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v))
        })
    }

    #[test]
    fn d18_paths_follow_xdg_and_options_win() {
        let vars = [("HOME", "/h"), ("XDG_RUNTIME_DIR", "/run/u"), ("XDG_STATE_HOME", "")];
        let paths = resolve(&Overrides::default(), &vars).unwrap();
        assert_eq!(paths.state_dir, Path::new("/h/.local/state/signaltty"));
        assert_eq!(paths.socket, Path::new("/run/u/signaltty/signaltty.sock"));
        let overrides = Overrides { state_dir: Some("s".into()), socket: None };
        let paths = resolve(&overrides, &vars).unwrap();
        assert_eq!(paths.state_dir, Path::new("/cwd/s"));
        assert_eq!(paths.socket, Path::new("/cwd/s/run/signaltty.sock"));
        // What must be gone at reboot goes with the machine, not with the state.
        assert_eq!(paths.runtime_dir, Path::new("/run/u/signaltty"));
        let paths = resolve(&overrides, &[("HOME", "/h")]).unwrap();
        assert_eq!(paths.runtime_dir, Path::new("/cwd/s/run"));
        assert!(matches!(resolve(&Overrides::default(), &[]), Err(PathsError::NoHome)));
        // Whoever knows the socket needs no place for the state to connect.
        let client = |socket: Option<&str>, vars: &[(&str, &str)]| {
            let overrides = Overrides { state_dir: None, socket: socket.map(PathBuf::from) };
            Paths::for_client(&overrides, Path::new("/cwd"), |name| {
                vars.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v))
            })
        };
        let run: &[(&str, &str)] = &[("XDG_RUNTIME_DIR", "/run/u")];
        let named: &[(&str, &str)] = &[("SIGNALTTY_SOCKET", "/s")];
        for (socket, vars, found) in [
            (Some("s"), &[][..], "/cwd/s"),
            (None, named, "/s"),
            (None, run, "/run/u/signaltty/signaltty.sock"),
        ] {
            let paths = client(socket, vars).unwrap();
            assert_eq!(paths.socket, Path::new(found));
            assert!(matches!(paths.state(), Err(PathsError::NoHome)));
        }
        assert!(matches!(client(None, &[]), Err(PathsError::NoHome)));
        // Where the current directory was removed.
        let here = |overrides: &Overrides| {
            Paths::resolve(overrides, Path::new(""), |name| (name == "HOME").then(|| "/h".into()))
        };
        assert!(here(&Overrides::default()).is_ok());
        assert!(matches!(here(&overrides), Err(PathsError::Relative { .. })));
    }

    #[test]
    fn c097_a_socket_path_that_is_too_long_is_an_error() {
        let socket = Some(PathBuf::from(format!("/{}", "x".repeat(107))));
        let error = resolve(&Overrides { state_dir: None, socket }, &[("HOME", "/h")]).unwrap_err();
        assert!(error.to_string().contains("108 bytes"), "{error}");
    }
}
