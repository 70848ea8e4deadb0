//! The log of a server that runs for weeks.

use std::fs::{self, File};
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::support::{Client, Home, Server, server, wait_until};

struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server's standard error is often the first thing that goes: a terminal that
/// was closed, a pipe whose reader ended, a log on a full disk.
#[test]
fn d7_a_server_that_cannot_write_its_log_goes_on() {
    let home = Home::new();
    // The recorder of events has something to say at its start.
    fs::write(home.state().join("event-sequence.json"), "damaged").unwrap();
    let config = home.path("config.toml");
    fs::write(&config, "").unwrap();
    // Every write to it fails for want of space.
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let mut command = server::command(&home);
    command.arg("--config").arg(&config).stdout(full()).stderr(full());
    let mut child = Ended(command.spawn().unwrap());
    wait_until("the server to listen", || home.socket().exists());
    let ask = |method, params| Client::connect(&home.socket()).call(method, params).unwrap();
    let cat = ask("workspace.new", json!({"cwd": home.work(), "argv": ["/bin/cat"]}));
    let status = || ask("server.status", json!({}));
    wait_until("word of the recorder", || status().to_string().contains("event-sequence.json"));
    assert_eq!(status()["journal"]["state"], "ok", "{}", status());

    // So has the loop.
    fs::write(&config, "[no]\n").unwrap();
    kill_process(Pid::from_child(&child.0), Signal::HUP).unwrap();
    wait_until("word of the settings", || status()["configuration"]["state"] != "ok");
    let pane = ask("pane.info", json!({"pane": cat["pane_id"]}));
    assert_eq!(pane["state"], "live", "{pane}");
    assert!(child.0.try_wait().unwrap().is_none());
}

#[test]
fn a_filter_of_the_log_that_is_not_understood_is_refused() {
    let home = Home::new();
    let refused = Server::refused(&home, |command| {
        command.args(["--log", "signaltty_server=loud"]);
    });
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    for part in ["--log", "signaltty_server=loud", "debug"] {
        assert!(refused.stderr.contains(part), "{part}: {}", refused.stderr);
    }
    assert!(home.files().is_empty());
}

/// More than a log may have, in bytes.
const LONG: u64 = 4 * 1024 * 1024 + 1;

#[test]
fn the_log_of_a_running_server_is_two_files_of_bounded_length() {
    let home = Home::new();
    let (path, aside) = (home.path("server.log"), home.path("server.log.1"));
    let log = File::options().create(true).append(true).open(&path).unwrap();
    let child = server::command(&home)
        .args(["--log", "debug", "--log-file"])
        .arg(&path)
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .unwrap();
    let child = Ended(child);
    let said = |what: &str| {
        let bytes = fs::read(&path).unwrap_or_default();
        String::from_utf8_lossy(&bytes).contains(what)
    };
    wait_until("the server to listen", || said("listening on"));

    for round in 0..2 {
        File::options().write(true).open(&path).unwrap().set_len(LONG).unwrap();
        let hook = json!({"agent": "claude", "launch": "", "payload": "{}"});
        for _ in 0..2 {
            let answer = Client::connect(&home.socket()).call("agent.hook", hook.clone()).unwrap();
            assert_eq!(answer["accepted"], false);
        }
        assert!(fs::metadata(&path).unwrap().len() < LONG, "{round}");
        assert!(fs::metadata(&aside).unwrap().len() >= LONG, "{round}");
        assert!(said("a report of claude was dropped"), "{round}");
        // Where a panic goes, too.
        for fd in [1, 2] {
            let open = fs::read_link(format!("/proc/{}/fd/{fd}", child.0.id())).unwrap();
            assert_eq!(open, path, "{round}");
        }
    }
}
