//! The command line, on the test's own server.

use std::process::{Command, Output};

use serde_json::Value;

use super::Home;

/// The command, in an environment without anything of the tests' surroundings.
/// It may start a server.
pub fn command(home: &Home) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_signaltty"));
    command.env_clear().env("HOME", home.path("")).env("PATH", "/usr/bin:/bin");
    command.env("SIGNALTTY_LOGIND", "0").arg("--socket").arg(home.socket());
    command.arg("--state-dir").arg(home.state());
    command
}

/// Runs a verb.
pub fn run(home: &Home, words: &[&str]) -> Output {
    command(home).arg("--no-start").args(words).output().unwrap()
}

/// What it prints for people.
pub fn text(home: &Home, words: &[&str]) -> String {
    String::from_utf8(run(home, words).stdout).unwrap()
}

/// Its exit code, and what it prints for scripts.
pub fn json(home: &Home, words: &[&str]) -> (i32, Value) {
    let ended = run(home, &[&["--json"], words].concat());
    let said = serde_json::from_slice(&ended.stdout).unwrap_or_else(|error| {
        let stderr = String::from_utf8_lossy(&ended.stderr);
        panic!("{error}: {:?} {stderr}", String::from_utf8_lossy(&ended.stdout))
    });
    (ended.status.code().unwrap(), said)
}
