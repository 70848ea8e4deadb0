//! The `ssh` of a link.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead as _, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::said;
use crate::cli::attach;
use crate::config::MAX_SOCKET_PATH;

/// How connections to the other machine are made.
///
/// They share one that is authenticated (`ControlMaster` of ssh_config(5)): a
/// password is asked once, and a further connection costs one exchange. It goes
/// on for a while without use and is ended with the link.
#[derive(Debug)]
pub(super) struct Ssh {
    program: OsString,
    given: Vec<OsString>,
    host: OsString,
    /// Where the shared connection listens; `None` where the person's own
    /// configuration shares one.
    shared: Option<PathBuf>,
}

/// Seconds for which the shared connection outlives the last one over it.
const PERSIST: &str = "ControlPersist=10";

/// What `ssh` appends to the path while it makes the socket.
const SUFFIX: usize = 17;

impl Ssh {
    /// `dir` is for this link alone.
    pub(super) fn new(host: &str, dir: &Path) -> Self {
        let given = std::env::var("SIGNALTTY_SSH").unwrap_or_default();
        let mut given = given.split_whitespace().map(OsString::from);
        let program = given.next().unwrap_or_else(|| "ssh".into());
        let mut ssh = Self { program, given: given.collect(), host: host.into(), shared: None };
        let path = dir.join("c");
        if path.as_os_str().len() + SUFFIX <= MAX_SOCKET_PATH && !ssh.shares_by_itself() {
            ssh.shared = Some(path);
        }
        ssh
    }

    /// The program, for people.
    pub(super) fn program(&self) -> String {
        crate::cli::safe(&self.program.to_string_lossy())
    }

    /// Whether the person's configuration shares a connection to this host. Only
    /// OpenSSH itself can be asked.
    fn shares_by_itself(&self) -> bool {
        if Path::new(&self.program).file_name() != Some(OsStr::new("ssh")) {
            return false;
        }
        let mut command = Command::new(&self.program);
        command.args(&self.given).arg("-G").arg("--").arg(&self.host).stdin(Stdio::null());
        let Ok(output) = command.stderr(Stdio::null()).output() else { return false };
        let text = String::from_utf8_lossy(&output.stdout);
        let path = text.lines().find_map(|line| line.strip_prefix("controlpath "));
        path.is_some_and(|path| path != "none")
    }

    fn args(&self, words: &[OsString], may_ask: bool) -> Vec<OsString> {
        let mut args = self.given.clone();
        // A dead link is noticed within 15 s; no terminal is wanted there.
        let ours = ["-T", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3"];
        args.extend(ours.map(OsString::from));
        if let Some(path) = &self.shared {
            args.extend(["-o", "ControlMaster=auto", "-o", PERSIST, "-S"].map(OsString::from));
            args.push(path.into());
        }
        if !may_ask {
            args.extend(["-o", "BatchMode=yes", "-o", "ConnectTimeout=10"].map(OsString::from));
        }
        args.extend([OsString::from("--"), self.host.clone()]);
        args.extend(words.iter().map(quoted));
        args
    }

    /// Lets the other machine run `words` with `stream` as its input and output.
    pub(super) fn connect(&self, stream: UnixStream, words: &[OsString]) -> io::Result<()> {
        // What asks for a password would do it in the midst of a screen.
        let args = self.args(words, !attach::has_terminal());
        let (input, held) = (OwnedFd::from(stream.try_clone()?), stream.try_clone()?);
        let mut command = Command::new(&self.program);
        command.args(args).stdin(input).stdout(OwnedFd::from(stream)).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        drop(command);
        std::thread::spawn(move || {
            if let Some(errors) = child.stderr.take() {
                for line in BufReader::new(errors).split(b'\n').map_while(Result::ok) {
                    said::line(&String::from_utf8_lossy(&line));
                }
            }
            let _ = child.wait();
            // The connection ends when what was said about it is known.
            drop(held);
        });
        Ok(())
    }

    /// Ends the shared connection, where there is one.
    pub(super) fn end_shared(&self) {
        let Some(path) = self.shared.as_ref().filter(|path| path.exists()) else { return };
        let mut command = Command::new(&self.program);
        command.args(&self.given).args(["-O", "exit", "-S"]).arg(path).arg("--").arg(&self.host);
        let null = || Stdio::null();
        // Where it cannot be told, it ends by itself a little later.
        let _ = command.stdin(null()).stdout(null()).stderr(null()).status();
    }
}

/// A word as the shell of the other machine takes it: `ssh` joins words.
fn quoted(word: &OsString) -> OsString {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::link::There;

    #[test]
    fn words_reach_the_other_shell_as_they_are() {
        let there = There { socket: Some(Path::new("/it's here/$s")), state_dir: None };
        let quoted: Vec<_> = there.words(true).iter().map(quoted).collect();
        let line = quoted.join(OsStr::new(" "));
        let shown = Command::new("sh")
            .args(["-c", &format!("printf '%s\\n' {}", line.to_str().unwrap())])
            .output()
            .unwrap();
        let text = String::from_utf8(shown.stdout).unwrap();
        assert_eq!(text, "signaltty\nproxy\n--socket\n/it's here/$s\n--no-start\n");
    }

    #[test]
    fn options_come_before_the_host_and_nothing_is_asked_over_a_screen() {
        let ssh = Ssh {
            program: "ssh".into(),
            given: vec!["-v".into()],
            host: "there".into(),
            shared: Some("/l/c".into()),
        };
        let words = There { socket: None, state_dir: None }.words(false);
        let args = ssh.args(&words, true);
        let at = args.iter().position(|arg| arg == "--").unwrap();
        assert_eq!(args[at + 1..], ["there", "'signaltty'", "'proxy'"].map(OsString::from));
        assert!(!args.contains(&"BatchMode=yes".into()));
        assert!(ssh.args(&words, false)[..at + 4].contains(&"BatchMode=yes".into()));
        // Too long for a socket: each connection then is one of its own.
        let deep = PathBuf::from(format!("/{}", "d".repeat(MAX_SOCKET_PATH - 10)));
        assert_eq!(Ssh::new("nowhere.invalid", &deep).shared, None);
    }
}
