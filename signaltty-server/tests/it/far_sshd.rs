//! `--host` through a real `sshd` of the test's own, on the loopback interface:
//! its own keys, its own files, a port that nobody else has.
//!
//! Needs `sshd` and `ssh`; where one is missing this says so and is skipped.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use crate::support::process::{self, Process, wait_gone};
use crate::support::talk::Talk;
use crate::support::{Home, Server, programs, wait_for, wait_until};

const SSHD: &str = "/usr/sbin/sshd";

/// The daemon, and a name by which its clients know it.
struct Sshd {
    child: Child,
    client: String,
}

impl Sshd {
    /// `None` where it is not installed. Makes the keys.
    fn start(home: &Home) -> Option<Self> {
        if !(programs::has("ssh") && programs::has_file(SSHD, "openssh-server")) {
            return None;
        }
        let at = |name: &str| home.path(name).display().to_string();
        for key in ["host-key", "user-key"] {
            let mut command = Command::new("ssh-keygen");
            command.args(["-q", "-t", "ed25519", "-N", "", "-f", &at(key)]);
            assert!(command.status().unwrap().success());
        }
        fs::copy(home.path("user-key.pub"), home.path("authorized")).unwrap();
        if rustix::process::geteuid().is_root() {
            // Where root's sshd locks itself in until somebody logs in.
            fs::create_dir_all("/run/sshd").unwrap();
        }
        Some(Self::listen(home))
    }

    /// Starts it on a free port; another process may be quicker to take it.
    fn listen(home: &Home) -> Self {
        let at = |name: &str| home.path(name).display().to_string();
        let programs = Path::new(env!("CARGO_BIN_EXE_signaltty")).parent().unwrap();
        for attempt in 0..10 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let log = at(&format!("sshd-{attempt}.log"));
            // Nothing of the person's own: not the home with its files for shells.
            let server = format!(
                "ListenAddress 127.0.0.1\nPort {port}\nHostKey {}\nAuthorizedKeysFile {}\n\
                 PidFile none\nStrictModes no\nUsePAM no\nLogLevel VERBOSE\nPrintLastLog no\n\
                 PasswordAuthentication no\nKbdInteractiveAuthentication no\n\
                 PermitRootLogin prohibit-password\nSetEnv HOME={} PATH={}:/usr/bin:/bin\n",
                at("host-key"),
                at("authorized"),
                at(""),
                programs.display(),
            );
            fs::write(home.path("sshd_config"), server).unwrap();
            let client = format!(
                "Host there\nHostName 127.0.0.1\nPort {port}\nIdentityFile {}\n\
                 IdentitiesOnly yes\nUserKnownHostsFile {}\nGlobalKnownHostsFile none\n\
                 StrictHostKeyChecking accept-new\nBatchMode yes\n",
                at("user-key"),
                at("known"),
            );
            fs::write(home.path("ssh_config"), client).unwrap();
            let mut child = Command::new(SSHD)
                .args(["-D", "-f", &at("sshd_config"), "-E", &log])
                .stdin(Stdio::null())
                .spawn()
                .unwrap();
            let listens = wait_for("sshd", || {
                let text = fs::read_to_string(&log).unwrap_or_default();
                let ended = child.try_wait().unwrap().is_some();
                (ended || text.contains("Server listening on")).then_some(!ended)
            });
            if listens {
                return Self { child, client: format!("ssh -F {}", at("ssh_config")) };
            }
        }
        panic!("sshd finds no port");
    }

    /// A command line on "this" machine; the server is on "the other" one.
    fn far(&self, home: &Home, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_signaltty"));
        command.args(["--host", "there", "--no-start", "--json", "--socket"]).arg(home.socket());
        command.args(words).env("SIGNALTTY_SSH", &self.client).stdin(Stdio::null());
        command.output().unwrap()
    }

    fn answer(&self, home: &Home, words: &[&str]) -> Value {
        let output = self.far(home, words);
        assert!(output.status.success(), "{words:?}: {output:?}");
        serde_json::from_slice(&output.stdout).unwrap_or_default()
    }

    /// The processes that serve connections.
    fn connections(&self) -> Vec<Process> {
        process::children(self.child.id())
    }

    /// Cuts every connection, as a network that is gone does, but at once.
    fn cut(&self) {
        let connections = self.connections();
        assert!(!connections.is_empty(), "there is no link to cut");
        for connection in &connections {
            process::signal(connection.pid, Signal::KILL);
        }
        wait_gone(&connections);
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn verbs_and_a_verified_resume_go_over_a_real_ssh() {
    let home = Home::new();
    let Some(sshd) = Sshd::start(&home) else { return };
    let mut server = Server::start(&home);
    let talk = Talk::hold(&server, &home);
    let children = server.children();
    server.kill9();
    wait_gone(&children);
    let none = sshd.far(&home, &["shutdown"]);
    assert_eq!(none.status.code(), Some(3), "nothing is started to be stopped: {none:?}");
    let server = Server::start(&home);
    talk.check_tombstone(&server);

    assert_eq!(sshd.answer(&home, &["status"])["pid"], server.pid());
    let resumed = sshd.answer(&home, &["resume", &talk.pane]);
    assert_eq!(resumed["verdict"], "verified", "{resumed}");
    talk.check_memory(&server);
    let made = sshd.answer(&home, &["new", "--name", "far", "--cwd", "/", "--", "/bin/cat"]);
    let pane = made["pane_id"].as_str().unwrap();
    sshd.answer(&home, &["pane", "send", pane, "sent from afar"]);
    sshd.answer(&home, &["pane", "keys", pane, "Enter"]);
    server.wait_text(pane, "sent from afar\nsent from afar");
    let read = sshd.answer(&home, &["pane", "read", pane]);
    assert!(read["text"].as_str().unwrap().contains("sent from afar"), "{read}");
    let split = sshd.answer(&home, &["pane", "split", pane, "--", "/bin/cat"]);
    let renamed = split["pane_id"].as_str().unwrap();
    sshd.answer(&home, &["pane", "rename", renamed, "it's \"here\" $HOME"]);
    assert_eq!(server.pane(renamed)["title"], "it's \"here\" $HOME");
    sshd.answer(&home, &["pane", "close", renamed]);
    assert_eq!(sshd.answer(&home, &["ls"])["workspaces"].as_array().unwrap().len(), 2);
    let refused = sshd.far(&home, &["shutdown"]);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    // Nothing of a link stays behind once its command ended.
    wait_until("the end of all connections", || sshd.connections().is_empty());
}

#[test]
fn a_host_that_does_not_answer_is_named_with_the_words_of_ssh() {
    let home = Home::new();
    let Some(mut sshd) = Sshd::start(&home) else { return };
    sshd.child.kill().unwrap();
    sshd.child.wait().unwrap();
    let failed = sshd.far(&home, &["status"]);
    let said = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert_eq!(failed.status.code(), Some(3), "{failed:?}");
    assert!(said.contains("Connection refused"), "{failed:?}");
    let error: Value = serde_json::from_slice(&failed.stdout).unwrap();
    assert_eq!(error["error"]["code"], "LINK_LOST", "{error}");
    assert!(error["error"]["message"].as_str().unwrap().contains("the link to there ended"));
}

#[cfg(feature = "tui")]
mod on_a_terminal {
    use super::*;
    use crate::support::Terminal;

    fn far(home: &Home, sshd: &Sshd, words: &[&str]) -> Terminal {
        Terminal::start_with(home, |command| {
            command.args(["--host", "there"]).args(words).env("SIGNALTTY_SSH", &sshd.client);
        })
    }

    #[test]
    fn attach_over_a_real_ssh_says_that_its_link_was_cut_and_goes_on() {
        let home = Home::new();
        let Some(sshd) = Sshd::start(&home) else { return };
        let server = Server::start(&home);
        let pane = server.spawn(&home, &["/bin/cat"]);
        server.type_line(&pane, "before");
        server.wait_text(&pane, "before\nbefore");
        let before = server.children();
        let mut terminal = far(&home, &sshd, &["attach", &pane]);
        terminal.wait_text("before\nbefore");
        terminal.press("over the link\r");
        server.wait_text(&pane, "over the link\nover the link");
        sshd.cut();
        wait_for("the loss, and the screen again after it", || {
            let bytes = String::from_utf8_lossy(&terminal.bytes()).into_owned();
            let (_, after) = bytes.split_once("the link to there was lost; connecting again")?;
            after.contains("over the link").then_some(())
        });
        terminal.press("after the cut\r");
        server.wait_text(&pane, "after the cut\nafter the cut");
        assert_eq!(server.children(), before);
        terminal.press("\u{1d}");
        assert_eq!(terminal.wait_exit().code(), Some(0));
        terminal.wait_restored();
        assert_eq!(server.children(), before);
        wait_until("the end of all connections", || sshd.connections().is_empty());
    }

    #[test]
    fn the_full_screen_client_over_a_real_ssh_comes_back_after_a_cut() {
        let home = Home::new();
        let Some(sshd) = Sshd::start(&home) else { return };
        let server = Server::start(&home);
        let pane = server.spawn(&home, &["/bin/cat"]);
        let ids = ["pane", "split", &pane, "--", "/bin/cat"];
        let beside = sshd.answer(&home, &ids)["pane_id"].as_str().unwrap().to_owned();
        let before = server.children();
        let mut terminal = far(&home, &sshd, &[]);
        terminal.wait_text("there: test 1/1");
        terminal.press("over the link\r");
        server.wait_text(&beside, "over the link\nover the link");
        wait_until("the echo", || terminal.text().matches("over the link").count() == 2);
        // Events, the list and two panes share what was authenticated once; that of
        // the verb before may be ending still.
        wait_until("one connection for all", || sshd.connections().len() == 1);
        sshd.cut();
        let lost = wait_for("the loss", || {
            let bytes = String::from_utf8_lossy(&terminal.bytes()).into_owned();
            bytes.contains("The link to there was lost.").then_some(bytes)
        });
        assert!(!lost.contains("The server went away"));
        terminal.wait_text("the link to there is back");
        terminal.press("after the cut\r");
        server.wait_text(&beside, "after the cut\nafter the cut");
        assert_eq!(server.children(), before);
        terminal.press("\u{1d}d");
        assert_eq!(terminal.wait_exit().code(), Some(0));
        terminal.wait_restored();
        assert_eq!(server.children(), before);
        wait_until("the end of all connections", || sshd.connections().is_empty());
    }
}
