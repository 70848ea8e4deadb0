//! `--host`: the server of another machine, through `ssh HOST signaltty proxy`.
//!
//! A private socket on this machine stands for the server's. Each connection to
//! it is one `ssh`, which has it as its input and output; so every verb and the
//! full-screen client speak to it as to a server of this machine, and no byte is
//! copied here. OpenSSH does the rest: keys, passwords, jump hosts, its own
//! configuration. A link that is lost ends its connection like a server that
//! ends.

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::rand::{GetRandomFlags, getrandom};

use super::{Context, Exit, Failure};
use crate::config::Paths;

/// A link that is open for as long as this lives.
#[derive(Debug)]
pub(super) struct Link {
    dir: PathBuf,
}

impl Link {
    /// Opens one. `words` are what the other machine runs.
    pub(super) fn open(host: &str, words: &[OsString]) -> Result<(Self, Paths), Failure> {
        if host.is_empty() || host.starts_with('-') {
            let message = format!("--host takes the name of a machine, not {host:?}");
            return Err(Failure::Usage(message));
        }
        let failed = |error| Failure::Io("open a socket for the link", error);
        let dir = std::env::temp_dir().join(random_name().map_err(failed)?);
        DirBuilder::new().mode(0o700).create(&dir).map_err(failed)?;
        let link = Self { dir };
        let socket = link.dir.join("s");
        let listener = UnixListener::bind(&socket).map_err(failed)?;
        let ssh = Ssh::new(host, words);
        std::thread::Builder::new()
            .name("link".to_owned())
            .spawn(move || serve(&listener, &ssh))
            .map_err(failed)?;
        let paths = Paths { state_dir: link.dir.clone(), runtime_dir: link.dir.clone(), socket };
        Ok((link, paths))
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// How a connection is made.
#[derive(Debug)]
struct Ssh {
    program: OsString,
    args: Vec<OsString>,
}

impl Ssh {
    fn new(host: &str, words: &[OsString]) -> Self {
        let given = std::env::var("SIGNALTTY_SSH").unwrap_or_default();
        let mut given = given.split_whitespace().map(OsString::from);
        let program = given.next().unwrap_or_else(|| "ssh".into());
        let mut args: Vec<_> = given.collect();
        // A dead link is noticed within 15 s; no terminal is wanted there.
        let ours = ["-T", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3", "--", host];
        args.extend(ours.map(OsString::from));
        args.extend(words.iter().map(quoted));
        Self { program, args }
    }

    fn connect(&self, stream: UnixStream) -> io::Result<()> {
        let input = OwnedFd::from(stream.try_clone()?);
        let mut command = Command::new(&self.program);
        command.args(&self.args).stdin(Stdio::from(input)).stdout(OwnedFd::from(stream));
        let mut child = command.spawn()?;
        drop(command);
        // Only so that no zombie stays; how it ended, it says itself.
        std::thread::spawn(move || child.wait());
        Ok(())
    }
}

fn serve(listener: &UnixListener, ssh: &Ssh) {
    for stream in listener.incoming().flatten() {
        if let Err(error) = ssh.connect(stream) {
            eprint_line(&format!("cannot run {}: {error}", ssh.program.display()));
        }
    }
}

fn eprint_line(text: &str) {
    use std::io::Write as _;
    let _ = writeln!(io::stderr(), "signaltty: {text}");
}

/// A word as the shell of the other machine takes it: `ssh` joins words.
fn quoted(word: &OsString) -> OsString {
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    let mut out = vec![b'\''];
    for byte in word.as_bytes() {
        match byte {
            b'\'' => out.extend(b"'\\''"),
            other => out.push(*other),
        }
    }
    out.push(b'\'');
    OsString::from_vec(out)
}

fn random_name() -> io::Result<String> {
    let mut random = [0; 8];
    getrandom(&mut random, GetRandomFlags::empty())?;
    Ok(format!("signaltty-{:016x}", u64::from_le_bytes(random)))
}

/// `proxy`: standard input and output become a connection to the server of this
/// machine, which is started where none runs.
pub(super) async fn proxy(context: &Context) -> Result<Exit, Failure> {
    drop(context.client().await?);
    let failed = |error| Failure::Io("connect to the server", error);
    let socket = UnixStream::connect(&context.paths.socket).map_err(failed)?;
    let asked = socket.try_clone().map_err(failed)?;
    let input = unbuffered(io::stdin().as_fd()).map_err(failed)?;
    let mut output = unbuffered(io::stdout().as_fd()).map_err(failed)?;
    std::thread::spawn(move || {
        let _ = io::copy(&mut &input, &mut &asked);
        // The server sees the client leave.
        let _ = asked.shutdown(std::net::Shutdown::Write);
    });
    // Ends with the server's side; a client that left makes it end, too.
    let _ = io::copy(&mut &socket, &mut output);
    Ok(Exit::Done)
}

/// Frames are not lines: nothing may wait in a buffer for a newline.
fn unbuffered(fd: BorrowedFd<'_>) -> io::Result<fs::File> {
    Ok(fs::File::from(fd.try_clone_to_owned()?))
}

/// How long to wait before each new try of a link that was lost; about a minute
/// in all.
pub(super) fn pauses() -> impl Iterator<Item = Duration> {
    (0..8).map(|step| Duration::from_millis(200 << step))
}

/// The words that the other machine runs.
pub(super) fn remote_words(
    socket: Option<&Path>,
    state_dir: Option<&Path>,
    no_start: bool,
) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec!["signaltty".into(), "proxy".into()];
    for (option, path) in [("--socket", socket), ("--state-dir", state_dir)] {
        if let Some(path) = path {
            words.extend([option.into(), path.as_os_str().to_owned()]);
        }
    }
    if no_start {
        words.push("--no-start".into());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_reach_the_other_shell_as_they_are() {
        let words = remote_words(Some(Path::new("/it's here/$s")), None, true);
        let quoted: Vec<_> = words.iter().map(quoted).collect();
        let line = quoted.join(std::ffi::OsStr::new(" "));
        let shown = Command::new("sh")
            .args(["-c", &format!("printf '%s\\n' {}", line.to_str().unwrap())])
            .output()
            .unwrap();
        let text = String::from_utf8(shown.stdout).unwrap();
        assert_eq!(text, "signaltty\nproxy\n--socket\n/it's here/$s\n--no-start\n");
    }

    #[test]
    fn a_host_is_never_an_option_of_ssh() {
        for host in ["-oProxyCommand=x", ""] {
            assert!(matches!(Link::open(host, &[]), Err(Failure::Usage(_))), "{host}");
        }
        let ssh = Ssh::new("there", &remote_words(None, None, false));
        let at = ssh.args.iter().position(|arg| arg == "--").unwrap();
        assert_eq!(ssh.args[at + 1..], ["there", "'signaltty'", "'proxy'"].map(OsString::from));
    }
}
