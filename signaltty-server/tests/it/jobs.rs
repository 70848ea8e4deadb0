//! Clients under a shell's job control. The shell runs in a pane of its own, so
//! that it has a real terminal and leads its session.

use std::fs;
use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::json;

use crate::support::{Home, Server, Terminal, process, wait_for, wait_until};

/// A shell with a client as its job.
struct Job<'a> {
    server: &'a Server,
    home: &'a Home,
    /// The shell's pane.
    shell: String,
    /// The pane that the client shows.
    shown: String,
}

impl<'a> Job<'a> {
    /// Starts the client and waits until it shows the pane.
    fn start(server: &'a Server, home: &'a Home, words: &str) -> Self {
        let shown = server.sh(home, "stty -echo; echo ready-inside; exec cat");
        let shell = server.spawn(home, &["/bin/sh", "-i"]);
        let job = Self { server, home, shell, shown };
        let words = words.replace("PANE", &job.shown);
        let (program, socket) = (env!("CARGO_BIN_EXE_signaltty"), home.socket());
        let line = format!(
            "PS1='at-the-shell '; clear; env -u SIGNALTTY_PANE {program} --no-start --socket {} {words}",
            socket.display()
        );
        server.type_line(&job.shell, &line);
        server.wait_text(&job.shell, "ready-inside");
        job
    }

    fn pid(&self) -> u32 {
        let shell = self.server.pane(&self.shell)["pid"].as_u64().unwrap();
        let jobs = process::children(u32::try_from(shell).unwrap());
        let [job] = jobs.as_slice() else { panic!("one job, not {jobs:?}") };
        job.pid
    }

    fn stop(&self, signal: Signal) {
        process::signal(self.pid(), signal);
        let stat = format!("/proc/{}/stat", self.pid());
        wait_until("the job to be stopped", || {
            let stat = fs::read_to_string(&stat).unwrap();
            stat.rsplit(')').next().unwrap().trim_start().starts_with('T')
        });
    }

    /// The modes of the terminal as the shell says them.
    fn modes(&self, name: &str) -> String {
        let path = self.home.path(name);
        // The shell edits no line and waits with the end of one.
        let line = format!("stty -a >{0}.new; mv {0}.new {0}", path.display());
        self.server.ask("pane.send", json!({"pane": self.shell, "text": format!("{line}\n")}));
        wait_for("the modes", || fs::read_to_string(&path).ok())
    }

    fn terminal(&self) -> PathBuf {
        fs::read_link(format!("/proc/{}/fd/0", self.pid())).unwrap()
    }

    fn type_keys(&self, text: &str) {
        self.server.ask("pane.send", json!({"pane": self.shell, "text": text}));
    }

    /// Lets it go on and checks that it works as before: what is typed arrives
    /// once, with nothing done to it by the terminal.
    fn goes_on(&self, round: usize) {
        self.type_keys("fg\n");
        self.server.wait_text(&self.shell, "ready-inside");
        wait_until("the terminal to be raw", || {
            let terminal = fs::File::open(self.terminal()).unwrap();
            let modes = rustix::termios::tcgetattr(terminal).unwrap();
            !modes.local_modes.intersects(
                rustix::termios::LocalModes::ICANON
                    | rustix::termios::LocalModes::ECHO
                    | rustix::termios::LocalModes::ISIG,
            )
        });
        let typed = format!("typed-{round}");
        self.type_keys(&format!("{typed}\r"));
        self.server.wait_text(&self.shown, &typed);
        let screen = self.server.wait_text(&self.shell, &typed);
        assert_eq!(screen.matches(&typed).count(), 1, "{screen}");
    }
}

#[test]
fn c088_an_attached_client_gives_its_terminal_back_while_it_is_stopped() {
    let home = Home::new();
    let server = Server::start(&home);
    let job = Job::start(&server, &home, "attach PANE");
    let lent = || process::open_files(server.pid()).contains(&job.terminal());
    for (round, signal) in [Signal::TSTP, Signal::STOP, Signal::TSTP].into_iter().enumerate() {
        wait_until("the terminal to be lent", lent);
        job.stop(signal);
        if signal == Signal::TSTP {
            assert!(!lent(), "the server still writes the shell's terminal");
            let modes = job.modes(&format!("modes-{round}"));
            assert!(modes.contains(" icanon") && modes.contains(" echo "), "{modes}");
        }
        job.goes_on(round);
    }
    job.type_keys("\u{1d}");
    server.wait_text(&job.shell, "[detached from");
}

#[test]
fn a_server_that_is_stopped_is_named_before_anything_is_shown() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.sh(&home, "echo ready-inside; exec cat");
    server.wait_text(&pane, "ready-inside");
    server.signal(Signal::STOP);
    let mut clients = [&["attach", &pane][..], &[]].map(|words| {
        Terminal::start_with(&home, |command| {
            command.args(words);
        })
    });
    for client in &clients {
        client.wait_text("does not answer; waiting");
    }
    server.signal(Signal::CONT);
    for client in &mut clients {
        client.wait_text("ready-inside");
    }
}

#[test]
fn c088_the_full_screen_client_gives_its_terminal_back_while_it_is_stopped() {
    let home = Home::new();
    let server = Server::start(&home);
    let job = Job::start(&server, &home, "");
    // Above it is what has left the shell's own screen.
    let rows = usize::try_from(server.pane(&job.shell)["rows"].as_u64().unwrap()).unwrap();
    let shown = || {
        let text = server.text(&job.shell);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(rows)..].join("\n")
    };
    for (round, signal) in [Signal::TSTP, Signal::STOP, Signal::TSTP].into_iter().enumerate() {
        job.stop(signal);
        if signal == Signal::TSTP {
            let modes = job.modes(&format!("modes-{round}"));
            assert!(modes.contains(" icanon") && modes.contains(" echo "), "{modes}");
            let screen = server.wait_text(&job.shell, "at-the-shell");
            assert!(!screen.contains("ready-inside"), "the shell has its screen: {screen}");
        } else {
            // What the shell and its programs leave on it.
            job.type_keys("printf '\\033[?1000l\\033[2J\\033[9;9Hleft-over'\n");
            server.wait_text(&job.shell, "left-over");
        }
        job.goes_on(round);
        wait_until("all of it to be drawn anew", || {
            let screen = shown();
            !screen.contains("left-over") && !screen.contains("at-the-shell")
        });
    }
}
