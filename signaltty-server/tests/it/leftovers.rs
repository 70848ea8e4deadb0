//! What a killed server leaves running, and what two servers share.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::json;

use crate::support::home::files_below;
use crate::support::process::{self, Process};
use crate::support::stage::Stage;
use crate::support::{Home, Server, wait_for, wait_until};

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
fn d25_c094_what_left_its_panes_session_is_named_and_lives() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let pane = server.sh(&home, "setsid sh -c 'sleep 1000 & echo below; wait' & echo here; wait");
    server.wait_text(&pane, "below");
    let beside = server.sh(&home, "echo beside; sleep 1000");
    server.wait_text(&beside, "beside");
    let children = server.children();
    let all = process::with_socket(&home.socket());
    server.wait_saved();
    server.kill9();
    process::wait_gone(&children);
    let lasting: Vec<_> = all.into_iter().filter(Process::runs).collect();
    let leftover =
        |server: &Server, pane: &str| server.pane(pane)["leftover"].as_str().map(str::to_owned);
    // Whether the server before was killed or ended.
    for _ in 0..2 {
        let mut next = Server::start(&home);
        let what = wait_for("its name", || leftover(&next, &pane));
        assert!(what.contains(" with 1 that it started;"), "{what}");
        let named = lasting.iter().filter(|one| what.contains(&format!("process {} ", one.pid)));
        assert_eq!(named.count(), 1, "{what}: {lasting:?}");
        assert!(next.status()["problems"].to_string().contains(&what));
        assert_eq!(leftover(&next, &beside), None);
        assert!(next.term().success());
        assert!(lasting.iter().all(Process::runs), "it was ended");
    }
    for process in &lasting {
        process::signal(process.pid, Signal::KILL);
    }
    process::wait_gone(&lasting);
}

/// Below it belongs what is gone at reboot.
fn runtime(home: &Home) -> PathBuf {
    let runtime = home.path("runtime");
    fs::create_dir(&runtime).unwrap();
    fs::set_permissions(&runtime, fs::Permissions::from_mode(0o700)).unwrap();
    runtime
}

#[test]
fn s0_12_d25_d27_what_must_not_outlive_a_boot_is_never_with_the_state() {
    let stage = Stage::interrupted(true, false);
    let home = &stage.home;
    let runtime = runtime(home);
    // As earlier versions left it, and as it comes with a copy of a state.
    let state = fs::metadata(home.state()).unwrap();
    let own = format!("server-{:x}-{:x}", state.dev(), state.ino());
    for dir in [&*own, "server-1-2"] {
        let dir = home.state().join("run").join(dir);
        fs::create_dir_all(dir.join("children")).unwrap();
        fs::write(dir.join("login-0"), "KEY=canary-login").unwrap();
    }
    let shell = home.path("shell");
    let script = |end: &str| {
        let printed = home.path("printed");
        let text = format!(
            "#!/bin/sh\nexport KEY=canary-login\n/bin/sh -c \"$2\"\n: > {}\n{end}\n",
            printed.display()
        );
        fs::write(&shell, text).unwrap();
        fs::set_permissions(&shell, fs::Permissions::from_mode(0o755)).unwrap();
    };
    let start = || {
        Server::start_with(home, |command| {
            command.env("XDG_RUNTIME_DIR", &runtime).env("SHELL", &shell);
        })
    };
    let nowhere = |when: &str| {
        assert_eq!(home.files_with("canary-login"), Vec::<PathBuf>::new(), "{when}");
        for (path, bytes) in files_below(&runtime) {
            assert!(!String::from_utf8_lossy(&bytes).contains("canary"), "{when}: {path:?}");
        }
        let below = fs::read_dir(home.state().join("run")).unwrap().count();
        assert_eq!(below, 0, "{when}: it is made elsewhere, and what was there is gone");
    };
    // Killed while the shell has printed and not ended.
    script("exec sleep 1000");
    let mut server = start();
    wait_until("the shell to print", || home.path("printed").exists());
    nowhere("while the server runs");
    server.kill9();
    nowhere("after its end");

    script("");
    let mut server = start();
    let pane = server.wait_state(&stage.talk.pane, "live");
    let environ = fs::read(format!("/proc/{}/environ", pane["pid"])).unwrap();
    assert!(String::from_utf8_lossy(&environ).contains("KEY=canary-login"), "it was read");
    let notes = |name: &str| files_below(&runtime).keys().any(|path| path.ends_with(name));
    assert!(notes(&format!("children/{}", pane["pid"])), "{:?}", files_below(&runtime).keys());
    nowhere("with a pane");
    server.wait_saved();
    assert!(server.term().success());
    let left = fs::read_dir(runtime.join("signaltty")).unwrap().count();
    assert_eq!(left, 0, "nothing of a server that ended");
}

#[test]
fn d25_a_server_looks_for_survivors_where_any_other_of_the_state_noted_them() {
    let home = Home::new();
    let runtime = runtime(&home);
    // By the environment alone, and by options, as a client starts it.
    let by_itself = home.path("state/signaltty");
    let mut server = Server::start_at(&home, &home.socket(), |command| {
        command.env("XDG_RUNTIME_DIR", &runtime).env("XDG_STATE_HOME", home.state());
    });
    let pane = server.sh(&home, "trap '' HUP; sleep 1000 & echo here; wait");
    server.wait_text(&pane, "here");
    server.wait_saved();
    let asleep = process::with_socket(&home.socket()).into_iter();
    let asleep: Vec<_> = asleep
        .filter(|found| fs::read(format!("/proc/{}/comm", found.pid)).unwrap() == b"sleep\n")
        .collect();
    server.kill9();
    let next = Server::start_at(&home, &home.socket(), |command| {
        command.env("XDG_RUNTIME_DIR", &runtime).arg("--state-dir").arg(by_itself);
    });
    let told = next.pane(&pane)["leftover"].to_string();
    for process in &asleep {
        process::signal(process.pid, Signal::KILL);
    }
    let [one] = &*asleep else { panic!("{asleep:?}") };
    assert!(told.contains(&format!("process {} ", one.pid)), "{told}");
}

#[test]
fn d12_two_servers_that_share_a_runtime_directory_keep_to_their_own_files() {
    let home = Home::new();
    let runtime = runtime(&home);
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
