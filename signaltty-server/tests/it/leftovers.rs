//! What a killed server leaves running, and what two servers share.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use rustix::process::Signal;
use serde_json::json;

use crate::support::home::files_below;
use crate::support::process::{self, Process};
use crate::support::{Home, Server, wait_until};

#[test]
fn d25_what_outlived_its_server_is_reported_and_lives() {
    let home = Home::new();
    let mut server = Server::start(&home);
    // Without the signal that ends it with its server, and another program
    // than the one that was noted.
    let script = "trap '' HUP; echo here; read line; exec setpriv --pdeathsig clear sleep 1000";
    let other = server.sh(&home, script);
    server.wait_text(&other, "here");
    server.type_line(&other, "go");
    // The child ends with its server, what it started does not.
    let below = server.sh(&home, "trap '' HUP; sleep 1000 & echo here; wait");
    server.wait_text(&below, "here");
    let asleep = || {
        let all = process::with_socket(&home.socket()).into_iter();
        all.filter(|found| fs::read(format!("/proc/{}/comm", found.pid)).unwrap() == b"sleep\n")
            .collect::<Vec<Process>>()
    };
    wait_until("both", || asleep().len() == 2);
    server.wait_saved();
    let lasting = asleep();
    let ended: Vec<_> =
        server.children().into_iter().filter(|child| !lasting.contains(child)).collect();
    server.kill9();
    process::wait_gone(&ended);

    let next = Server::start(&home);
    assert!(lasting.iter().all(Process::runs));
    let problems = next.status()["problems"].to_string();
    let leftover = |pane: &str| next.pane(pane)["leftover"].as_str().map(str::to_owned);
    for pane in [&other, &below] {
        let what = leftover(pane).unwrap();
        assert!(problems.contains(&what), "{problems}");
        let named = |one: &&Process| what.contains(&format!("process {} ", one.pid));
        assert_eq!(lasting.iter().filter(named).count(), 1, "{what}");
    }
    for process in &lasting {
        process::signal(process.pid, Signal::KILL);
    }
    process::wait_gone(&lasting);
    assert_eq!((leftover(&other), leftover(&below)), (None, None));
}

#[test]
fn d12_two_servers_that_share_a_runtime_directory_keep_to_their_own_files() {
    let home = Home::new();
    let runtime = home.path("runtime");
    fs::create_dir(&runtime).unwrap();
    fs::set_permissions(&runtime, fs::Permissions::from_mode(0o700)).unwrap();
    let bin = home.path("bin");
    fs::create_dir(&bin).unwrap();
    fs::write(bin.join("claude"), "#!/bin/sh\necho ready\nexec cat\n").unwrap();
    fs::set_permissions(bin.join("claude"), fs::Permissions::from_mode(0o755)).unwrap();
    let start = |name: &str| {
        let state = home.path(name);
        let socket = runtime.join(name);
        Server::start_at(&home, &socket, |command| {
            command.env("XDG_RUNTIME_DIR", &runtime).env("XDG_STATE_HOME", state);
        })
    };
    let launches = || {
        let mut found: Vec<_> = files_below(&runtime).into_keys().collect();
        found.retain(|path| path.to_string_lossy().contains("/launch/claude-"));
        found
    };
    let spawn = |server: &Server| {
        let path = format!("{}:/usr/bin:/bin", bin.display());
        let ask = json!({"cwd": home.work(), "argv": ["claude"], "env": {"PATH": path}});
        let pane = server.ask("workspace.new", ask)["pane_id"].as_str().unwrap().to_owned();
        server.wait_text(&pane, "ready");
    };
    let first = start("one");
    spawn(&first);
    assert_eq!(launches().len(), 1);
    let mut second = start("two");
    spawn(&second);
    assert_eq!(launches().len(), 2, "the start of another took nothing away");
    assert!(second.term().success());
    assert_eq!(launches().len(), 1, "and neither did its end");
}
