//! The server and the user's service manager: what it is told, the unit, and a
//! client that starts it.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::support::{Home, PATIENCE, Server, wait_for};

const UNIT: &str = "config/systemd/user/signaltty.service";

#[test]
fn the_service_manager_is_told_of_the_start_and_of_the_end() {
    let home = Home::new();
    let path = home.path("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    manager.set_read_timeout(Some(PATIENCE)).unwrap();
    let next = || {
        let mut bytes = [0; 256];
        let length = manager.recv(&mut bytes).unwrap();
        String::from_utf8(bytes[..length].to_vec()).unwrap()
    };
    let mut server = Server::start_with(&home, |command| {
        command.env("NOTIFY_SOCKET", &path);
    });
    assert_eq!(next(), "READY=1\n");
    // Nothing in a pane may speak for the server.
    let pane = server.sh(&home, "echo [$NOTIFY_SOCKET]; exec cat");
    server.wait_text(&pane, "[]");
    assert!(server.term().success());
    assert_eq!(next(), "STOPPING=1\n");
    manager.set_nonblocking(true).unwrap();
    assert_eq!(manager.recv(&mut [0; 256]).unwrap_err().kind(), ErrorKind::WouldBlock);

    // A server that must not touch the state is never ready.
    fs::write(home.snapshot_path(), r#"{"format":"signaltty-snapshot","version":999}"#).unwrap();
    let refused = Server::refused(&home, |command| {
        command.env("NOTIFY_SOCKET", &path);
    });
    assert_eq!(refused.code, Some(6), "{}", refused.stderr);
    assert_eq!(manager.recv(&mut [0; 256]).unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[test]
fn the_unit_is_installed_shown_and_removed_and_the_manager_is_told() {
    let home = Home::new();
    systemctl(&home, "exit 0");
    let done = |args: &[&str]| answer(&service(&home, args), 0);
    assert_eq!(done(&["status"])["unit"]["state"], "absent");
    let said = done(&["install"]);
    assert_eq!(said["changed"], true);
    let to_run = said["to_run"].to_string();
    assert!(to_run.contains("systemctl --user enable --now signaltty.service"), "{said}");
    assert!(!to_run.contains("daemon-reload"), "{said}");
    let text = fs::read_to_string(home.path(UNIT)).unwrap();
    let program = env!("CARGO_BIN_EXE_signaltty-server");
    let start = format!(
        "ExecStart=\"{program}\" \"--socket\" \"{}\" \"--state-dir\" \"{}\"",
        home.socket().display(),
        home.state().display()
    );
    assert!(text.lines().any(|line| line == start), "{text}");
    assert_eq!(done(&["install"])["changed"], false);
    assert_eq!(done(&["status"])["unit"]["state"], "installed");
    fs::write(home.path(UNIT), text.replace("Sec=20", "Sec=1")).unwrap();
    assert_eq!(done(&["status"])["unit"]["state"], "outdated");
    assert_eq!(done(&["uninstall"])["changed"], true);
    assert_eq!(done(&["uninstall"])["changed"], false);
    assert!(!home.path(UNIT).exists());
    let calls = calls(&home);
    assert_eq!(calls.iter().filter(|call| *call == "--user daemon-reload").count(), 3);
    assert!(calls.contains(&"--user disable signaltty.service".to_owned()), "{calls:?}");
    assert!(!calls.iter().any(|call| call.contains("start") || call.contains("enable")));
}

#[test]
fn without_a_service_manager_the_person_is_told_what_to_run() {
    let home = Home::new();
    let said = answer(&service(&home, &["install"]), 0);
    assert_eq!(said["to_run"][0], "systemctl --user daemon-reload");
    let text = String::from_utf8(run_service(&home, &["install"]).output().unwrap().stdout);
    let text = text.unwrap();
    for wanted in ["enable --now", "KillUserProcesses", "last logout"] {
        assert!(text.contains(wanted), "{text}");
    }
    let status = answer(&service(&home, &["status"]), 0);
    assert_eq!(status["manager"], Value::Null);
    assert_eq!(status["server"]["listens"], false);
    let said = answer(&service(&home, &["uninstall"]), 0);
    assert_eq!(said["to_run"].as_array().unwrap().len(), 2, "{said}");
}

#[test]
fn a_unit_of_others_is_left_alone() {
    let home = Home::new();
    systemctl(&home, "exit 0");
    fs::create_dir_all(home.path(UNIT).parent().unwrap()).unwrap();
    fs::write(home.path(UNIT), "[Service]\nExecStart=/bin/mine\n").unwrap();
    for verb in ["install", "uninstall"] {
        let said = answer(&service(&home, &[verb]), 1);
        assert_eq!(said["error"]["code"], "UNIT_FOREIGN", "{said}");
    }
    assert_eq!(fs::read_to_string(home.path(UNIT)).unwrap(), "[Service]\nExecStart=/bin/mine\n");
    assert_eq!(answer(&service(&home, &["status"]), 0)["unit"]["state"], "foreign");
    assert!(!calls(&home).iter().any(|call| call.contains("disable")));
    assert_eq!(service(&home, &["restart"]).status.code(), Some(2));
}

#[test]
fn systemd_finds_nothing_to_complain_about_in_the_unit() {
    let home = Home::new();
    answer(&service(&home, &["install"]), 0);
    let verify = Command::new("systemd-analyze")
        .args(["--user", "--man=no", "verify"])
        .arg(home.path(UNIT))
        .env("XDG_RUNTIME_DIR", home.path("run"))
        .output();
    match verify {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            let about_ours: Vec<_> =
                said.lines().filter(|line| line.contains("signaltty.service")).collect();
            assert!(about_ours.is_empty(), "{said}");
            println!("systemd-analyze verify: {} {said}", output.status);
        }
        // Past the test harness, which keeps to itself what a test prints.
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "skipped: systemd-analyze cannot be run: {error}");
        }
    }
}

#[test]
fn a_client_starts_an_installed_unit_and_no_server_of_its_own() {
    let home = Home::new();
    answer(&service(&home, &["install"]), 0);
    // Says that it was asked, and answers when the test says how.
    let (asked, answer_in) = (home.path("asked"), home.path("answer"));
    systemctl(
        &home,
        &format!("echo >{0}; read code <{1}; exit $code", asked.display(), answer_in.display()),
    );
    assert!(Command::new("mkfifo").arg(&answer_in).status().unwrap().success());
    let client = client(&home, &["status", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    wait_for("the request", || asked.exists().then_some(()));
    let server = Server::start(&home);
    fs::write(&answer_in, "0\n").unwrap();
    let output = client.wait_with_output().unwrap();
    assert!(output.status.success());
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(status["pid"], server.pid());
    assert_eq!(calls(&home), ["--user start signaltty.service"]);
}

#[test]
fn where_the_unit_does_not_start_the_client_starts_a_server_itself() {
    for script in [None, Some("echo 'Failed to connect to bus' >&2; exit 1"), Some("exit 0")] {
        let home = Home::new();
        answer(&service(&home, &["install"]), 0);
        if let Some(script) = script {
            systemctl(&home, script);
        }
        let output = client(&home, &["status", "--json"]).output().unwrap();
        assert!(output.status.success(), "{script:?} {output:?}");
        let status: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(status["pid"].is_u64());
        let log = fs::read_to_string(home.path("state/log/server.log")).unwrap();
        assert!(log.contains("signaltty.service does not serve: "), "{log}");
        assert!(client(&home, &["shutdown"]).output().unwrap().status.success());
    }
}

#[test]
fn a_unit_for_another_server_is_not_started() {
    let home = Home::new();
    answer(&service(&home, &["--state-dir", "/elsewhere", "install"]), 0);
    systemctl(&home, "exit 0");
    assert_eq!(answer(&service(&home, &["status"]), 0)["unit"]["state"], "other");
    assert!(client(&home, &["status"]).output().unwrap().status.success());
    assert!(!calls(&home).iter().any(|call| call.contains("start")));
    assert!(client(&home, &["shutdown"]).output().unwrap().status.success());
}

#[test]
fn status_says_what_a_logout_does() {
    let home = Home::new();
    let server = Server::start(&home);
    let logout = server.status()["logout"].clone();
    let words = ["survives", "ends", "may_end", "unknown"].map(|word| json!(word));
    assert!(words.contains(&logout["state"]), "{logout}");
}

/// Puts a `systemctl` on the search path that keeps a record of its calls.
fn systemctl(home: &Home, script: &str) {
    let path = bin(home).join("systemctl");
    let record = home.path("calls");
    let text = format!("#!/bin/sh\necho \"$*\" >>{}\n{script}\n", record.display());
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
}

fn calls(home: &Home) -> Vec<String> {
    let text = fs::read_to_string(home.path("calls")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn bin(home: &Home) -> PathBuf {
    let bin = home.path("bin");
    fs::create_dir_all(&bin).unwrap();
    bin
}

fn surround(mut command: Command, home: &Home) -> Command {
    command
        .arg("--socket")
        .arg(home.socket())
        .arg("--state-dir")
        .arg(home.state())
        .env_clear()
        .env("PATH", bin(home))
        .env("HOME", home.path(""))
        .env("XDG_CONFIG_HOME", home.path("config"))
        .env("SIGNALTTY_LOGIND", "0")
        .stdin(Stdio::null());
    command
}

fn client(home: &Home, args: &[&str]) -> Command {
    let mut command = surround(Command::new(env!("CARGO_BIN_EXE_signaltty")), home);
    command.args(args);
    command
}

fn run_service(home: &Home, args: &[&str]) -> Command {
    let mut command = surround(Command::new(env!("CARGO_BIN_EXE_signaltty-server")), home);
    command.arg("service").args(args);
    command
}

fn service(home: &Home, args: &[&str]) -> Output {
    run_service(home, args).arg("--json").output().unwrap()
}

fn answer(output: &Output, code: i32) -> Value {
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}
