//! What a server and a client get from whoever starts them, and a server that
//! somebody stopped.

use std::fs;
use std::process::{Command, Output};

use rustix::process::Signal;
use serde_json::json;

use crate::support::{Home, Server, cli, programs, server, wait_until};

/// The server's command, run by `words` before it.
fn through(home: &Home, words: &[&str]) -> Command {
    let plain = server::command(home);
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg(plain.get_program()).args(plain.get_args()).env_clear();
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir("/").stderr(std::process::Stdio::piped());
    command
}

#[test]
fn d7_c016_a_limit_of_a_files_length_is_a_full_disk_and_no_end() {
    let home = Home::new();
    let limited = through(&home, &["/bin/sh", "-c", "ulimit -f 8; exec \"$0\" \"$@\""]);
    let server = Server::run(limited, home.socket());
    let pane = server.sh(&home, "seq 1 10000; exec sleep 1000");
    server.wait_text(&pane, "10000");
    for n in 0..40 {
        server.ask("pane.rename", json!({"pane": pane, "title": format!("{n}").repeat(60)}));
    }
    for _ in 0..40 {
        server.ask("workspace.new", json!({"cwd": home.work(), "argv": ["/bin/cat"]}));
    }
    wait_until("a failed save", || server.status()["persist"]["state"] == "degraded");
    assert_eq!(server.pane(&pane)["state"], "live");
    // Its children end as everybody's do.
    let status = fs::read_to_string(format!("/proc/{}/status", server.pane(&pane)["pid"])).unwrap();
    assert!(status.contains("SigIgn:\t0000000000000000"), "{status}");
}

#[test]
fn s0_4_signals_that_were_blocked_or_ignored_before_a_server_are_its_own() {
    let home = Home::new();
    let env = ["env", "--block-signal=TERM,CHLD", "--ignore-signal=CHLD"];
    if !programs::env_blocks_signals() {
        return;
    }
    let mut server = Server::run(through(&home, &env), home.socket());
    let pane = server.sh(&home, "exit 7");
    let ended = server.wait_state(&pane, "exited");
    assert_eq!(ended["exit"]["code"], 7, "{ended}");
    assert!(server.term().success());
    assert_eq!(home.snapshot()["panes"][0]["id"], *pane, "it was saved");
}

#[test]
fn a_current_directory_that_is_gone_is_an_error_where_it_counts() {
    let home = Home::new();
    let server = Server::start(&home);
    let run = |words: &str| -> Output {
        let script = format!(
            "mkdir gone && cd gone && rmdir ../gone && exec {} --no-start --socket {} --state-dir {} {words}",
            env!("CARGO_BIN_EXE_signaltty"),
            home.socket().display(),
            home.state().display(),
        );
        let mut command = Command::new("/bin/sh");
        command.env_clear().env("HOME", home.path("")).env("PATH", "/usr/bin:/bin");
        command.args(["-c", &script]).current_dir(home.work()).output().unwrap()
    };
    for words in ["new -- /bin/cat", "new --cwd sub -- /bin/cat", "worktree list"] {
        let ended = run(words);
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(1), "{words}: {said}");
        assert!(said.contains("current directory"), "{words}: {said}");
    }
    assert!(server.panes().is_empty(), "nothing was started elsewhere");
    for words in ["status", "new --cwd / -- /bin/cat"] {
        let ended = run(words);
        assert!(ended.status.success(), "{words}: {}", String::from_utf8_lossy(&ended.stderr));
    }
}

#[test]
fn d9_a_server_that_answers_nothing_is_named_and_not_waited_for() {
    let home = Home::new();
    let server = Server::start(&home);
    server.signal(Signal::STOP);
    let ended = cli::run(&home, &["status"]);
    server.signal(Signal::CONT);
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(4), "{said}");
    assert_eq!(said.matches(&format!("process {}", server.pid())).count(), 2, "{said}");
    assert!(cli::run(&home, &["status"]).status.success(), "it goes on");
}
