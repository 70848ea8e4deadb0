//! `--host`: the server of another machine, through `ssh HOST signaltty proxy`.
//!
//! Two private sockets on this machine stand for the server's: one whose other
//! end starts a server where none runs, and one whose other end does not. Each
//! connection to them is one `ssh`, which has it as its input and output; so
//! every verb and the full-screen client speak to it as to a server of this
//! machine, and no byte is copied here. OpenSSH does the rest: keys, passwords,
//! jump hosts, its own configuration. A link that is lost ends its connections
//! like a server that ends.

mod dir;
mod proxy;
mod said;
mod ssh;

use std::ffi::OsString;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub(super) use self::proxy::proxy;
use self::ssh::Ssh;
use super::Failure;
use super::failure::LINK_LOST;
use crate::config::Paths;

/// A link that is open for as long as this lives.
#[derive(Debug)]
pub(super) struct Link(());

/// Which server of the other machine is meant.
#[derive(Debug, Clone, Copy)]
pub(super) struct There<'a> {
    pub(super) socket: Option<&'a Path>,
    pub(super) state_dir: Option<&'a Path>,
}

/// What stands for the server's places.
#[derive(Debug)]
pub(super) struct Stands {
    /// No server is started for who connects here.
    pub(super) paths: Paths,
    /// One is started where none runs.
    pub(super) starting: Paths,
}

impl Link {
    pub(super) fn open(host: &str, there: There<'_>) -> Result<(Self, Stands), Failure> {
        if host.is_empty() || host.starts_with('-') {
            let message = format!("--host takes the name of a machine, not {host:?}");
            return Err(Failure::Usage(message));
        }
        let failed = |error| Failure::Io("open a socket for the link", error);
        dir::watch().map_err(failed)?;
        let dir = dir::name().map_err(failed)?;
        let ssh = Arc::new(Ssh::new(host, &dir));
        let link = Self(());
        dir::make(&dir, &ssh).map_err(failed)?;
        let stand = |name: &str, no_start| -> Result<Paths, Failure> {
            let socket = dir.join(name);
            let listener = UnixListener::bind(&socket).map_err(failed)?;
            let (ssh, words) = (Arc::clone(&ssh), there.words(no_start));
            std::thread::Builder::new()
                .name("link".to_owned())
                .spawn(move || serve(&listener, &ssh, &words))
                .map_err(failed)?;
            Ok(Paths { state_dir: dir.clone(), runtime_dir: dir.clone(), socket })
        };
        let stands = Stands { paths: stand("s", true)?, starting: stand("starting", false)? };
        Ok((link, stands))
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        dir::remove();
    }
}

impl There<'_> {
    /// The words that the other machine runs.
    fn words(&self, no_start: bool) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["signaltty".into(), "proxy".into()];
        for (option, path) in [("--socket", self.socket), ("--state-dir", self.state_dir)] {
            if let Some(path) = path {
                words.extend([option.into(), path.as_os_str().to_owned()]);
            }
        }
        if no_start {
            words.push("--no-start".into());
        }
        words
    }
}

fn serve(listener: &UnixListener, ssh: &Ssh, words: &[OsString]) {
    for stream in listener.incoming().flatten() {
        if let Err(error) = ssh.connect(stream, words) {
            said::line(&format!("signaltty: cannot run {}: {error}", ssh.program()));
        }
    }
}

/// How long to wait before each new try of a link that was lost; about a minute
/// in all.
pub(super) fn pauses() -> impl Iterator<Item = Duration> {
    (0..8).map(|step| Duration::from_millis(200 << step))
}

/// Why a connection over the link ended, where that is not the whole story.
pub(super) fn ended(host: &str, what: &str) -> Failure {
    let message = match said::last() {
        Some(said) => format!("the link to {host} ended: {said}"),
        None => {
            format!("the link to {host} ended: {what}; does `ssh {host} signaltty status` work?")
        }
    };
    Failure::new(LINK_LOST, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_never_an_option_of_ssh() {
        let there = There { socket: None, state_dir: None };
        for host in ["-oProxyCommand=x", ""] {
            assert!(matches!(Link::open(host, there), Err(Failure::Usage(_))), "{host}");
        }
    }
}
