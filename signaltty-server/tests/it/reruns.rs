//! What a restart leaves of saved commands and directories, and that nothing
//! runs meanwhile.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::process::wait_gone;
use crate::support::talk::{AGENT, Talk, listed};
use crate::support::{Home, Server, wait_for, wait_until};

fn program(home: &Home, name: &str, script: &str) -> String {
    let path = home.path(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

fn next(mut server: Server, home: &Home) -> Server {
    server.wait_saved();
    server.kill9();
    Server::start(home)
}

#[test]
fn c067_an_argument_with_spaces_stays_one() {
    let home = Home::new();
    let counts = program(&home, "counts", "echo \"$#:$1\" >\"$0.new\"; mv \"$0.new\" \"$0.ran\"");
    let ran = home.path("counts.ran");
    let said = || wait_for("a run", || fs::read_to_string(&ran).ok());
    let server = Server::start(&home);
    let pane = server.spawn(&home, &[&counts, "a b c"]);
    assert_eq!(said(), "1:a b c\n");
    server.wait_state(&pane, "exited");
    let server = next(server, &home);
    fs::remove_file(&ran).unwrap();
    server.ask("pane.restart", json!({"pane": pane}));
    assert_eq!(said(), "1:a b c\n");
    assert_eq!(fs::read_dir(home.work()).unwrap().count(), 0);
}

/// D-30: the keys are not saved, so what is saved is not the command.
#[test]
fn d30_a_saved_command_without_its_key_is_not_run() {
    let home = Home::new();
    let tool = program(&home, "tool", "echo \"$@\" >>\"$0.ran\"; exec cat");
    let ran = home.path("tool.ran");
    let server = Server::start(&home);
    let argv = [&*tool, "--api-key", "sk-1", "--model", "x"];
    let (keyed, plain) = (server.spawn(&home, &argv), server.spawn(&home, &[&tool, "[redacted]"]));
    wait_until("both to run", || {
        fs::read_to_string(&ran).is_ok_and(|said| said.lines().count() == 2)
    });
    let server = next(server, &home);
    fs::remove_file(&ran).unwrap();
    let refused = server.call("pane.restart", json!({"pane": keyed})).unwrap_err();
    assert_eq!(refused.code, "SPAWN_FAILED");
    for part in ["--api-key", "left out", "signaltty pane spawn"] {
        assert!(refused.message.contains(part), "{part}: {}", refused.message);
    }
    assert_eq!(server.pane(&keyed)["argv"][2], "[redacted]");
    // Words that only look like it are a person's own.
    server.ask("pane.restart", json!({"pane": plain}));
    let said = wait_for("a run", || fs::read_to_string(&ran).ok().filter(|said| !said.is_empty()));
    assert_eq!(said, "[redacted]\n");
}

#[test]
fn c071_a_command_that_could_not_start_is_kept() {
    let home = Home::new();
    let script = format!("[ -e {} ] || exit 1; echo up; exec cat", home.path("net").display());
    let argv = [program(&home, "false-at-boot", &script)];
    let server = Server::start(&home);
    let pane = server.spawn(&home, &[&argv[0]]);
    server.wait_state(&pane, "exited");
    let server = next(server, &home);
    assert_eq!(server.pane(&pane)["argv"], json!(argv));
    server.ask("pane.restart", json!({"pane": pane}));
    server.wait_state(&pane, "exited");
    fs::write(home.path("net"), "").unwrap();
    let server = next(server, &home);
    assert_eq!(server.pane(&pane)["argv"], json!(argv));
    server.ask("pane.restart", json!({"pane": pane}));
    server.wait_text(&pane, "up");
}

#[test]
fn c107_servers_that_are_killed_while_they_start_lose_nothing() {
    let home = Home::new();
    let mut server = Server::start(&home);
    for _ in 0..5 {
        server.spawn(&home, &["/bin/sleep", "1000"]);
    }
    let ids = |server: &Server| -> Vec<Value> {
        server.panes().iter().map(|pane| pane["id"].clone()).collect()
    };
    let before = ids(&server);
    server.wait_saved();
    server.kill9();
    for round in 0..30_u64 {
        let mut child = crate::support::server::command(&home)
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        // The moment of the kill is what varies; nothing is waited for.
        std::thread::sleep(Duration::from_millis(round * 37 % 200));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let server = Server::start(&home);
    assert_eq!(server.status()["load"], "loaded");
    assert_eq!(ids(&server), before);
}

#[test]
fn c061_agents_start_in_their_own_directories_by_themselves() {
    let home = Home::new();
    let server = Server::start(&home);
    let mut panes = Vec::new();
    for n in 0..3 {
        let cwd = home.path(&format!("d{n}"));
        fs::create_dir(&cwd).unwrap();
        let made = server.ask("workspace.new", json!({"cwd": cwd, "argv": AGENT}));
        let pane = made["pane_id"].as_str().unwrap().to_owned();
        let workspace = &made["workspace_id"];
        server.ask("workspace.set", json!({"workspace": workspace, "auto_resume": true}));
        server.type_line(&pane, "hello");
        server.wait_text(&pane, "you said: hello");
        panes.push((pane, cwd));
    }
    wait_until("the anchors", || {
        let snapshot = fs::read(home.snapshot_path()).unwrap_or_default();
        let snapshot: Value = serde_json::from_slice(&snapshot).unwrap_or_default();
        let saved = snapshot["panes"].as_array().cloned().unwrap_or_default();
        let anchored = |pane: &&Value| !pane["agent"]["conversation"]["anchor"].is_null();
        saved.iter().filter(anchored).count() == 3
    });
    let server = next(server, &home);
    for (pane, cwd) in panes {
        let info = server.wait_state(&pane, "live");
        assert_eq!(info["agent"]["verdict"], "verified");
        let pid = info["pid"].as_u64().unwrap();
        assert_eq!(fs::read_link(format!("/proc/{pid}/cwd")).unwrap(), cwd);
    }
}

#[test]
fn s1_2_t3_p8_s1_29_no_agent_runs_without_a_server_and_nothing_half_run_is_revived() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let talk = Talk::hold(&server, &home);
    let marker = home.path("ran");
    let tool = server.sh(&home, &format!("echo x >>{}; exec sleep 1000", marker.display()));
    wait_until("the tool", || marker.exists());
    server.wait_saved();
    let children = server.children();
    assert_eq!(children.len(), 2);
    let before = listed(&home);
    server.kill9();
    wait_gone(&children);
    assert_eq!(listed(&home), before, "no agent began");
    let server = Server::start(&home);
    talk.check_tombstone(&server);
    assert_eq!(server.pane(&tool)["state"], "restored");
    assert_eq!(fs::read_to_string(marker).unwrap(), "x\n");
}

#[test]
fn c070_long_arguments_are_kept_exactly_or_refused_with_the_reason() {
    let home = Home::new();
    let counts = program(&home, "counts", "echo \"count $#\"; exec cat");
    let server = Server::start(&home);
    let many: Vec<String> = (0..5_000).map(|n| format!("word {n}")).collect();
    let argv: Vec<&str> = std::iter::once(&*counts).chain(many.iter().map(|w| &**w)).collect();
    let pane = server.spawn(&home, &argv);
    server.wait_text(&pane, "count 5000");
    // One word may have 128 KiB on Linux.
    let long = "x".repeat(200_000);
    let ask = json!({"cwd": home.work(), "argv": [counts, long]});
    let failure = server.call("workspace.new", ask).unwrap_err();
    assert_eq!(failure.code, "SPAWN_FAILED");
    let says = &failure.message;
    assert!(says.to_lowercase().contains("argument list too long"), "{says}");
    assert!(says.len() < 1_000, "{}", says.len());
    let server = next(server, &home);
    assert_eq!(server.panes().len(), 1);
    assert_eq!(server.pane(&pane)["argv"], json!(argv));
    server.ask("pane.restart", json!({"pane": pane}));
    wait_until("the words", || server.text(&pane).matches("count 5000").count() == 2);
}

#[test]
fn c062_a_worktree_that_was_removed_is_named_and_nothing_starts_elsewhere() {
    let home = Home::new();
    let git = |args: &[&str]| {
        let done = std::process::Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@localhost"])
            .args(args)
            .current_dir(home.demo().parent().unwrap())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    git(&["init", "-q", "repo"]);
    git(&["-C", "repo", "commit", "-q", "--allow-empty", "-m", "first"]);
    let work = home.work().display().to_string();
    git(&["-C", "repo", "worktree", "add", "-q", "-b", "side", &work]);
    let mut server = Server::start(&home);
    let talk = Talk::hold(&server, &home);
    let children = server.children();
    server.kill9();
    wait_gone(&children);
    git(&["-C", "repo", "worktree", "remove", "--force", &work]);
    let server = Server::start(&home);
    let before = listed(&home);
    let failure = talk.resume(&server).unwrap_err();
    assert_eq!(failure.reason(), "cwd_missing", "{}", failure.message);
    assert!(failure.message.contains(&work), "{}", failure.message);
    assert_eq!(listed(&home), before);
    talk.check_tombstone(&server);
    // With the worktree back it is resumed as it is.
    git(&["-C", "repo", "worktree", "add", "-q", &work, "side"]);
    assert_eq!(talk.resume(&server).unwrap()["verdict"], "verified");
}
