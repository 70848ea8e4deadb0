//! A server process, ended and reaped with the test.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::process::{self, Process};
use super::{Client, Events, Failure, Home, PATIENCE, wait_for, wait_until};

/// A running server.
pub struct Server {
    child: Child,
    socket: PathBuf,
    stderr: Arc<Mutex<String>>,
    /// Ends with the server, once all that it said was read.
    reader: Option<JoinHandle<()>>,
}

/// How a server that did not start ended.
pub struct Ended {
    pub code: Option<i32>,
    pub stderr: String,
}

impl Server {
    /// A server on the test's state and socket, ready to answer.
    pub fn start(home: &Home) -> Self {
        Self::start_with(home, |_| {})
    }

    /// As [`start`](Self::start), with a command that the test changes.
    pub fn start_with(home: &Home, change: impl FnOnce(&mut Command)) -> Self {
        let mut command = command(home);
        change(&mut command);
        Self::run(command, home.socket())
    }

    /// A server that finds its state by its environment.
    pub fn start_at(home: &Home, socket: &Path, change: impl FnOnce(&mut Command)) -> Self {
        let mut command = surroundings(home);
        command.arg("--socket").arg(socket);
        change(&mut command);
        Self::run(command, socket.to_owned())
    }

    /// A server of another program, which listens on this socket.
    pub fn run(mut command: Command, socket: PathBuf) -> Self {
        let mut child = command.spawn().unwrap();
        let (stderr, reader) = collect(&mut child);
        let mut server = Self { child, socket, stderr, reader: Some(reader) };
        server.wait_ready();
        server
    }

    /// Runs a server that is expected not to start.
    pub fn refused(home: &Home, change: impl FnOnce(&mut Command)) -> Ended {
        Self::ended(home, change)
    }

    /// Runs a server that ends by itself, whether or not it listened before.
    pub fn ended(home: &Home, change: impl FnOnce(&mut Command)) -> Ended {
        let mut command = command(home);
        change(&mut command);
        let mut child = command.spawn().unwrap();
        let (stderr, reader) = collect(&mut child);
        let mut server = Self { child, socket: home.socket(), stderr, reader: Some(reader) };
        let status = server.wait_exit();
        Ended { code: status.code(), stderr: server.stderr() }
    }

    /// Runs a server that ends itself by SIGKILL at a named point of its start;
    /// back when it is gone, with all that ran in its panes.
    pub fn killed_at(home: &Home, point: &str) {
        let mut command = command(home);
        command.env("SIGNALTTY_TEST_KILL_AT", point);
        let mut child = command.spawn().unwrap();
        let (stderr, reader) = collect(&mut child);
        let mut server = Self { child, socket: home.socket(), stderr, reader: Some(reader) };
        let signal = std::os::unix::process::ExitStatusExt::signal(&server.wait_exit());
        assert_eq!(signal, Some(9), "it ended before {point}: {}", server.stderr());
        wait_until("the end of its panes", || process::with_socket(&home.socket()).is_empty());
    }

    fn wait_ready(&mut self) {
        wait_until("the server to listen", || {
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "it ended: {ended:?} {}", self.stderr());
            self.stderr().contains("listening on ")
        });
        self.call("server.status", json!({})).unwrap();
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it said on standard error so far.
    pub fn stderr(&self) -> String {
        self.stderr.lock().unwrap().clone()
    }

    pub fn connect(&self) -> Client {
        Client::connect(&self.socket)
    }

    /// One call on a connection of its own.
    pub fn call(&self, method: &str, params: Value) -> Result<Value, Failure> {
        self.connect().call(method, params)
    }

    /// One call that must succeed.
    pub fn ask(&self, method: &str, params: Value) -> Value {
        self.call(method, params.clone())
            .unwrap_or_else(|failure| panic!("{method} {params}: {failure:?}"))
    }

    /// Events from now on.
    pub fn events(&self) -> Events {
        self.connect().subscribe()
    }

    pub fn status(&self) -> Value {
        self.ask("server.status", json!({}))
    }

    /// Every pane, in order.
    pub fn panes(&self) -> Vec<Value> {
        let tree = self.ask("session.list", json!({}));
        let each = |value: &Value, key: &str| value[key].as_array().unwrap().clone();
        each(&tree, "workspaces")
            .iter()
            .flat_map(|workspace| each(workspace, "tabs"))
            .flat_map(|tab| each(&tab, "panes"))
            .collect()
    }

    pub fn pane(&self, pane: &str) -> Value {
        self.ask("pane.info", json!({"pane": pane}))
    }

    /// A workspace with one pane in the test's directory; the pane's id.
    pub fn spawn(&self, home: &Home, argv: &[&str]) -> String {
        let made =
            self.ask("workspace.new", json!({"cwd": home.work(), "argv": argv, "name": "test"}));
        made["pane_id"].as_str().unwrap().to_owned()
    }

    /// As [`spawn`](Self::spawn), with `sh -c`.
    pub fn sh(&self, home: &Home, script: &str) -> String {
        self.spawn(home, &["/bin/sh", "-c", script])
    }

    /// The text of a pane.
    pub fn text(&self, pane: &str) -> String {
        let read = self.ask("pane.read", json!({"pane": pane}));
        read["text"].as_str().unwrap().to_owned()
    }

    /// Waits until a pane shows a text.
    pub fn wait_text(&self, pane: &str, wanted: &str) -> String {
        wait_for(&format!("{wanted:?} in {pane}"), || {
            let text = self.text(pane);
            text.contains(wanted).then_some(text)
        })
    }

    /// Waits until a pane has a state.
    pub fn wait_state(&self, pane: &str, wanted: &str) -> Value {
        wait_for(&format!("{pane} to be {wanted}"), || {
            let info = self.pane(pane);
            (info["state"] == wanted).then_some(info)
        })
    }

    /// Types a line into a pane.
    pub fn type_line(&self, pane: &str, text: &str) {
        self.ask("pane.send", json!({"pane": pane, "text": format!("{text}\r")}));
    }

    /// Waits until the watch for host shutdowns is in this state; what it says.
    pub fn wait_logind(&self, wanted: &str) -> Value {
        wait_for(&format!("a watch that is {wanted}"), || {
            let logind = self.status()["logind"].clone();
            (logind["state"] == wanted).then_some(logind)
        })
    }

    /// Starts panes until the ids of two begin with the same letter, and gives that
    /// letter; ids are random.
    pub fn ambiguous(&self, home: &Home) -> String {
        let letter = |pane: &str| pane["pane_".len()..][..1].to_owned();
        let mut letters = vec![letter(&self.spawn(home, &["/bin/cat"]))];
        loop {
            let new = letter(&self.spawn(home, &["/bin/cat"]));
            if letters.contains(&new) {
                return new;
            }
            letters.push(new);
        }
    }

    /// Waits until every change is on the disk.
    pub fn wait_saved(&self) {
        wait_until("the save", || self.status()["saved"] == true);
    }

    /// Its running children.
    pub fn children(&self) -> Vec<Process> {
        process::children(self.pid())
    }

    /// SIGKILL; back when it is gone.
    pub fn kill9(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn signal(&self, signal: Signal) {
        process::signal(self.pid(), signal);
    }

    /// SIGTERM; back when it is gone.
    pub fn term(&mut self) -> ExitStatus {
        self.signal(Signal::TERM);
        self.wait_exit()
    }

    pub fn wait_exit(&mut self) -> ExitStatus {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                if let Some(reader) = self.reader.take() {
                    reader.join().unwrap();
                }
                return status;
            }
            assert!(Instant::now() < until, "the server does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("--- the server said:\n{}", self.stderr());
        }
    }
}

/// The server's command, in an environment that has nothing of the tests'
/// surroundings but the search path.
pub fn command(home: &Home) -> Command {
    let mut command = surroundings(home);
    command.arg("--socket").arg(home.socket()).arg("--state-dir").arg(home.state());
    command
}

fn surroundings(home: &Home) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_signaltty"));
    command
        .arg("__server")
        .args(["--demo-agent", "--log", "info"])
        .current_dir("/")
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home.path(""))
        .env("SHELL", "/bin/sh")
        .env("LANG", "C.UTF-8")
        .env("SIGNALTTY_LOGIND", "0")
        .env("SIGNALTTY_DEMO_HOME", home.demo())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

/// Collects what a server says, until its end.
fn collect(child: &mut Child) -> (Arc<Mutex<String>>, JoinHandle<()>) {
    let text = Arc::new(Mutex::new(String::new()));
    let (stderr, into) = (child.stderr.take().unwrap(), Arc::clone(&text));
    let reader = std::thread::spawn(move || {
        let mut reader = BufReader::new(stderr);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
            into.lock().unwrap().push_str(&String::from_utf8_lossy(&line));
            line.clear();
        }
    });
    (text, reader)
}
