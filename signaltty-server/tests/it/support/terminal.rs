//! A terminal with the full-screen client on it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};
use signaltty_pty::{HistoryLimit, Screen, Size};

use super::{Home, process, wait_for, wait_until};

/// The client on a terminal of the test's own.
pub struct Terminal {
    child: Child,
    keyboard: File,
    /// Held open, so that the terminal outlives the client.
    device: OwnedFd,
    before: Termios,
    shown: Arc<Mutex<Shown>>,
    _reader: JoinHandle<()>,
}

struct Shown {
    screen: Screen,
    bytes: Vec<u8>,
}

/// The client of the test's server, which it does not start.
fn command(home: &Home) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_signaltty"));
    command
        .args(["--no-start", "--socket"])
        .arg(home.socket())
        .current_dir(home.work())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home.path(""))
        .env("SHELL", "/bin/sh")
        .env("TERM", "xterm-256color");
    command
}

impl Terminal {
    /// The client of the test's server, which it does not start.
    pub fn start(home: &Home) -> Self {
        Self::start_with(home, |_| {})
    }

    /// As [`start`](Self::start), with a command that the test changes.
    pub fn start_with(home: &Home, change: impl FnOnce(&mut Command)) -> Self {
        Self::start_sized(home, (100, 30), change)
    }

    /// The same on a terminal of this size.
    pub fn start_sized(
        home: &Home,
        (cols, rows): (u16, u16),
        change: impl FnOnce(&mut Command),
    ) -> Self {
        let mut command = command(home);
        change(&mut command);
        Self::run(command, cols, rows)
    }

    pub fn run(mut command: Command, cols: u16, rows: u16) -> Self {
        let master =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let device = rustix::fs::open(&name, flags, Mode::empty()).unwrap();
        let size = Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&device, size).unwrap();
        let before = tcgetattr(&device).unwrap();
        let end = || Stdio::from(device.try_clone().unwrap());
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        let screen = Screen::new(Size::new(cols, rows), HistoryLimit::default());
        let shown = Arc::new(Mutex::new(Shown { screen, bytes: Vec::new() }));
        let keyboard = File::from(master);
        let mut reader = keyboard.try_clone().unwrap();
        let into = Arc::clone(&shown);
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                let mut shown = into.lock().unwrap();
                shown.screen.advance(&buffer[..count]);
                shown.bytes.extend_from_slice(&buffer[..count]);
            }
        });
        Self { child, keyboard, device, before, shown, _reader: reader }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its name among the files.
    pub fn name(&self) -> PathBuf {
        let name = ptsname(&self.keyboard, Vec::new()).unwrap();
        PathBuf::from(OsString::from_vec(name.into_bytes()))
    }

    /// Does something while nothing reads what is shown.
    pub fn stalled<R>(&self, during: impl FnOnce() -> R) -> R {
        let _held = self.shown.lock().unwrap();
        during()
    }

    /// Every byte that came, once they end so.
    pub fn wait_bytes(&self, end: &[u8]) -> Vec<u8> {
        wait_for("the end of what is shown", || {
            Some(self.bytes()).filter(|bytes| bytes.ends_with(end))
        })
    }

    pub fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    pub fn text(&self) -> String {
        self.shown.lock().unwrap().screen.lines(usize::MAX).join("\n")
    }

    /// Every byte that came.
    pub fn bytes(&self) -> Vec<u8> {
        self.shown.lock().unwrap().bytes.clone()
    }

    /// Waits until the screen shows a text; the screen.
    pub fn wait_text(&self, wanted: &str) -> String {
        wait_for(&format!("{wanted:?} on the screen, which is\n{}\n", self.text()), || {
            let text = self.text();
            text.contains(wanted).then_some(text)
        })
    }

    /// Gives the terminal another size, and says so to the client.
    pub fn resize(&mut self, cols: u16, rows: u16) {
        let size = Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 };
        self.shown.lock().unwrap().screen.resize(Size::new(cols, rows));
        tcsetwinsize(&self.device, size).unwrap();
        self.signal(Signal::WINCH);
    }

    /// The rows that are shown now, from the top.
    pub fn rows(&self) -> Vec<String> {
        let shown = self.shown.lock().unwrap();
        let rows = usize::from(shown.screen.size().rows);
        let mut lines = shown.screen.lines(rows);
        lines.resize(rows, String::new());
        lines
    }

    pub fn signal(&self, signal: Signal) {
        process::signal(self.pid(), signal);
    }

    pub fn wait_exit(&mut self) -> ExitStatus {
        wait_for("the client's end", || self.child.try_wait().unwrap())
    }

    /// Whether the terminal is as it was: its modes in the kernel, and for each
    /// that the client set by a sequence the one that sets it back.
    pub fn wait_restored(&self) {
        wait_until("the terminal to be itself again", || {
            let now = tcgetattr(&self.device).unwrap();
            let modes = |t: &Termios| (t.local_modes, t.input_modes, t.output_modes);
            let bytes = self.bytes();
            let last = |text: &str| {
                let text = text.as_bytes();
                bytes.windows(text.len()).rposition(|part| part == text)
            };
            let undone = ["1049", "2004", "1004", "1000", "1002", "1006"].iter().all(|mode| {
                let set = last(&format!("\x1b[?{mode}h"));
                set.is_none() || last(&format!("\x1b[?{mode}l")) > set
            });
            let cursor = last("\x1b[?25h") > last("\x1b[?25l");
            modes(&now) == modes(&self.before) && undone && cursor
        });
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("--- the screen:\n{}", self.text());
        }
    }
}
