//! The full-screen client on terminals of every size and kind, looked at.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::support::{Home, Server, Terminal, programs, wait_for, wait_until};

const SIZES: [(u16, u16); 4] = [(80, 24), (40, 12), (20, 5), (300, 100)];

/// Leaves.
const DETACH: &str = "\x1dd";

/// A server with a pane that prints in colours of every kind.
fn colourful(home: &Home) -> Server {
    let server = Server::start(home);
    let script = "printf '\\033[31mred\\033[0m \\033[38;5;208mgold\\033[0m '; \
                  printf '\\033[38;2;1;200;3mtrue\\033[0m ready\\n'; exec cat";
    let pane = server.sh(home, script);
    server.ask("pane.rename", json!({"pane": pane, "title": "colours"}));
    server.wait_text(&pane, "ready");
    server
}

/// Waits for a screen on which everything is that this size has room for.
fn look(terminal: &Terminal, (cols, rows): (u16, u16)) {
    let whole = || {
        let shown = terminal.rows();
        let text = shown.join("\n");
        let last = shown.last().is_some_and(|line| line.contains("C-] ? for keys"));
        // Beside the panes where there is room for it.
        let side = text.contains("All projects") == (cols >= 64);
        let place = cols < 40 || text.contains("test 1/1");
        (last && side && place && text.contains("red gold true ready")).then_some(shown)
    };
    let shown = wait_for(&format!("a whole screen of {cols}x{rows}"), whole);
    assert_eq!(shown.len(), usize::from(rows));
    assert!(shown[0].contains("● colours"), "{shown:?}");
    for line in &shown {
        assert!(line.chars().count() <= usize::from(cols), "{line:?}");
    }
}

#[test]
fn c088_the_client_is_whole_at_every_size_and_leaves_the_terminal_so() {
    let home = Home::new();
    let server = colourful(&home);
    for size in SIZES {
        let mut terminal = Terminal::start_sized(&home, size, |_| {});
        look(&terminal, size);
        terminal.press("\x1d?");
        terminal.wait_text("First C-], then:");
        terminal.press("q");
        look(&terminal, size);
        // To each other size and back, as when a window is dragged.
        for other in SIZES {
            terminal.resize(other.0, other.1);
            look(&terminal, other);
        }
        terminal.resize(size.0, size.1);
        look(&terminal, size);
        terminal.press(DETACH);
        assert!(terminal.wait_exit().success());
        terminal.wait_restored();
        terminal.wait_text("everything goes on");
    }
    assert!(server.panes().iter().all(|pane| pane["state"] == "live"));
}

/// The kinds of colours that a client wrote, by its sequences.
fn colours(bytes: &[u8]) -> (bool, bool, bool) {
    let text = String::from_utf8_lossy(bytes);
    let (mut few, mut indexed, mut direct) = (false, false, false);
    for piece in text.split("\x1b[").skip(1) {
        let Some((numbers, _)) = piece.split_once('m') else { continue };
        if !numbers.chars().all(|c| c.is_ascii_digit() || c == ';') {
            continue;
        }
        let numbers: Vec<u16> = numbers.split(';').filter_map(|n| n.parse().ok()).collect();
        match numbers.as_slice() {
            [38 | 48, 2, ..] => direct = true,
            [38 | 48, 5, index, ..] if *index > 15 => indexed = true,
            [38 | 48, 5, ..] | [30..=37 | 40..=47 | 90..=97 | 100..=107, ..] => few = true,
            _ => {}
        }
    }
    (few, indexed, direct)
}

#[test]
fn as_many_colours_are_used_as_the_terminal_has_and_its_person_wants() {
    let home = Home::new();
    let _server = colourful(&home);
    let none = (false, false, false);
    for (vars, expected) in [
        (&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")][..], (true, true, true)),
        (&[("TERM", "xterm-256color")], (true, true, false)),
        (&[("TERM", "tmux-256color"), ("COLORTERM", "")], (true, true, false)),
        (&[("TERM", "linux")], (true, false, false)),
        (&[("TERM", "vt100")], none),
        (&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor"), ("NO_COLOR", "1")], none),
        (&[("TERM", "xterm-256color"), ("NO_COLOR", "")], (true, true, false)),
    ] {
        let mut terminal = Terminal::start_sized(&home, (80, 24), |command| {
            command.envs(vars.iter().copied());
        });
        look(&terminal, (80, 24));
        assert_eq!(colours(&terminal.bytes()), expected, "{vars:?}");
        terminal.press(DETACH);
        assert!(terminal.wait_exit().success(), "{vars:?}");
        terminal.wait_restored();
    }
}

#[test]
fn a_terminal_that_can_show_no_screen_is_told_so_and_left_alone() {
    let home = Home::new();
    let _server = colourful(&home);
    let mut terminal = Terminal::start_with(&home, |command| {
        command.env("TERM", "dumb");
    });
    assert_eq!(terminal.wait_exit().code(), Some(2));
    terminal.wait_text("TERM is \"dumb\"");
    terminal.wait_text("signaltty --help");
    assert!(!terminal.bytes().contains(&0x1b), "nothing but text");
}

/// A tmux of the test's own; gone with it.
struct Tmux<'a> {
    socket: &'a Path,
}

impl Tmux<'_> {
    fn run(&self, args: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(self.socket).args(["-f", "/dev/null"]).args(args);
        let output = command.env("LC_ALL", "C.UTF-8").env_remove("TMUX").output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn wait(&self, session: &str, wanted: &[&str]) -> String {
        let shown = || self.run(&["capture-pane", "-p", "-t", session]);
        wait_for(&format!("{wanted:?} in tmux {session}: {}", shown()), || {
            let text = shown();
            wanted.iter().all(|wanted| text.contains(wanted)).then_some(text)
        })
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        let mut command = Command::new("tmux");
        let _ = command.arg("-S").arg(self.socket).arg("kill-server").output();
    }
}

#[test]
fn c088_in_tmux_the_client_is_whole_at_every_size_and_leaves_the_terminal_so() {
    if !programs::has("tmux") {
        return;
    }
    let home = Home::new();
    let _server = colourful(&home);
    let socket = home.path("tmux");
    let tmux = Tmux { socket: &socket };
    for (cols, rows) in SIZES {
        let (session, x, y) = (format!("s{cols}"), cols.to_string(), rows.to_string());
        let (bin, at) = (env!("CARGO_BIN_EXE_signaltty"), home.socket());
        let shell = "env -u TMUX PS1=here LC_ALL=C.UTF-8 sh";
        tmux.run(&["new-session", "-d", "-s", &session, "-x", &x, "-y", &y, shell]);
        tmux.run(&["set", "-g", "status", "off"]);
        tmux.run(&["resize-window", "-t", &session, "-x", &x, "-y", &y]);
        tmux.wait(&session, &["here"]);
        let start = format!("HOME={} {bin} --socket {}", home.path("").display(), at.display());
        tmux.run(&["send-keys", "-t", &session, "-l", &start]);
        tmux.run(&["send-keys", "-t", &session, "Enter"]);
        let shown = tmux.wait(&session, &["colours", "red gold true ready", "C-] ? for keys"]);
        assert_eq!(shown.lines().count(), usize::from(rows), "{shown}");
        let modes = || {
            let asked = "#{alternate_on} #{mouse_any_flag} #{cursor_flag}";
            tmux.run(&["display-message", "-p", "-t", &session, asked]).trim().to_owned()
        };
        assert_eq!(modes(), "1 1 1");
        tmux.run(&["send-keys", "-t", &session, "C-]", "d"]);
        wait_until("the screen of the shell", || modes() == "0 0 1");
        // Until it is gone, what is typed is still the client's.
        wait_until("the shell", || {
            let asked = "#{pane_current_command}";
            tmux.run(&["display-message", "-p", "-t", &session, asked]).trim() == "sh"
        });
        // What is typed is shown again, and lines begin at their beginning.
        tmux.run(&["send-keys", "-t", &session, "clear; echo it is; echo whole", "Enter"]);
        let shown = tmux.wait(&session, &["it is\nwhole\nhere"]);
        assert!(!shown.contains("colours"), "{shown}");
    }
}
