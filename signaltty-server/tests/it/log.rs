//! The log of a server that runs for weeks.

use std::fs::{self, File};
use std::process::Child;

use serde_json::json;

use crate::support::{Client, Home, server, wait_until};

struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
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
