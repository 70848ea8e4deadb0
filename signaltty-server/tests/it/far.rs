//! `--host`: the same verbs through a command that stands for `ssh`.
//!
//! It runs on this machine what it is told to run, as `sshd` does through the
//! person's shell, and notes its process, so that a test can cut the link.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use rustix::process::Signal;
use serde_json::{Value, json};

#[cfg(feature = "tui")]
use crate::support::Terminal;
use crate::support::{Home, Server, process, wait_for};

/// A command line on "this" machine; the server is on "the other" one.
fn far(home: &Home, words: &[&str]) -> Command {
    let ssh = home.path("far-ssh");
    if !ssh.exists() {
        let program = env!("CARGO_BIN_EXE_signaltty");
        let dir = Path::new(program).parent().unwrap();
        let script = format!(
            "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\n[ \"$2\" = there ] || exit 255\n\
             shift 2\necho $$ >> {pids}\nPATH={dir}:$PATH\nunset SIGNALTTY_SOCKET\n\
             eval \"exec $*\"\n",
            pids = home.path("far-pids").display(),
            dir = dir.display(),
        );
        fs::write(&ssh, script).unwrap();
        fs::set_permissions(&ssh, fs::Permissions::from_mode(0o700)).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_signaltty"));
    command
        .args(["--host", "there", "--no-start", "--socket"])
        .arg(home.socket())
        .args(words)
        .env("SIGNALTTY_SSH", &ssh)
        .env("HOME", home.path(""))
        .env("FROM_HERE", "1")
        .stdin(Stdio::null());
    command
}

fn answer(home: &Home, words: &[&str]) -> Value {
    let output = far(home, words).arg("--json").output().unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn every_verb_reaches_the_other_machine() {
    let home = Home::new();
    let server = Server::start(&home);
    assert_eq!(answer(&home, &["status"])["pid"], server.pid());
    let made = far(&home, &["new", "--name", "it's far", "--json", "--", "/bin/sh", "-c"])
        .arg("echo \"from <$FROM_HERE> in $PWD\"; exec sleep 600")
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    let pane = made["pane_id"].as_str().unwrap();
    // Neither this machine's environment nor its directory went along.
    let text = server.wait_text(pane, "from <> in ");
    assert!(text.contains(home.path("").to_str().unwrap().trim_end_matches('/')), "{text}");
    assert_eq!(answer(&home, &["pane", "info", pane])["state"], "live");
    let error = far(&home, &["pane", "info", "pane_zz", "--json"]).output().unwrap();
    assert_eq!(error.status.code(), Some(1));
    let error: Value = serde_json::from_slice(&error.stdout).unwrap();
    assert_eq!(error["error"]["code"], "NO_SUCH_PANE");
}

#[test]
fn a_link_that_cannot_be_made_says_so() {
    let home = Home::new();
    let server = Server::start(&home);
    // Makes the command that stands for ssh.
    drop(far(&home, &["status"]));
    let failed = Command::new(env!("CARGO_BIN_EXE_signaltty"))
        .args(["--host", "nowhere", "status"])
        .env("SIGNALTTY_SSH", home.path("far-ssh"))
        .env("HOME", home.path(""))
        .output()
        .unwrap();
    let said = String::from_utf8(failed.stderr).unwrap();
    assert_eq!(failed.status.code(), Some(3), "{said}");
    assert!(said.contains("the link to nowhere ended"), "{said}");
    drop(server);
}

#[test]
fn events_go_on_after_a_cut_link_without_a_gap() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.sh(&home, "exec sleep 600");
    let mut child = far(&home, &["events", "--filter", "pane.updated"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let pid = wait_for("the link", || {
        let pids = fs::read_to_string(home.path("far-pids")).ok()?;
        pids.lines().last()?.parse::<u32>().ok()
    });
    // Renamed until the first one is seen: when the subscription began is not.
    let first: Value = std::thread::scope(|scope| {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let (server, pane) = (&server, &pane);
        scope.spawn(move || {
            let mut number = 0;
            while stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
                number += 1;
                server.ask("pane.rename", json!({"pane": pane, "title": format!("a{number}")}));
            }
        });
        let line = lines.next().unwrap().unwrap();
        drop(stop);
        serde_json::from_str(&line).unwrap()
    });
    process::signal(pid, Signal::KILL);
    server.ask("pane.rename", json!({"pane": pane, "title": "after the cut"}));
    let mut seq = first["seq"].as_u64().unwrap();
    let last = server.pane(&pane);
    assert_eq!(last["title"], "after the cut");
    let mut errors = BufReader::new(child.stderr.take().unwrap()).lines();
    let said = errors.next().unwrap().unwrap();
    assert!(said.contains("the link to there was lost"), "{said}");
    server.ask("pane.rename", json!({"pane": pane, "title": "the end"}));
    // Each number once, in order, up to the newest.
    let newest = {
        let mut client = server.connect();
        client.call("events.subscribe", json!({})).unwrap()["seq"].as_u64().unwrap()
    };
    while seq < newest {
        let event: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        let next = event["seq"].as_u64().unwrap();
        assert!(next > seq, "{next} after {seq}");
        seq = next;
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[cfg(feature = "tui")]
#[test]
fn attach_says_that_the_link_was_cut_and_goes_on_over_a_new_one() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.spawn(&home, &["/bin/cat"]);
    // Makes the command that stands for ssh.
    drop(far(&home, &["status"]));
    let before = server.children();
    let mut terminal = Terminal::start_with(&home, |command| {
        command.args(["--host", "there", "attach", &pane]);
        command.env("SIGNALTTY_SSH", home.path("far-ssh"));
    });
    // Typed before, it would be echoed and not sent.
    let bytes = || String::from_utf8_lossy(&terminal.bytes()).into_owned();
    wait_for("the first screen", || (!bytes().is_empty()).then_some(()));
    terminal.press("over the link\r");
    server.wait_text(&pane, "over the link\nover the link");
    terminal.wait_text("over the link\nover the link");
    let links = || process::children(terminal.pid());
    let old = links();
    assert!(!old.is_empty());
    for link in &old {
        process::signal(link.pid, Signal::KILL);
    }
    wait_for("the loss, and the screen again after it", || {
        let bytes = String::from_utf8_lossy(&terminal.bytes()).into_owned();
        let (_, after) = bytes.split_once("the link to there was lost; connecting again")?;
        after.contains("over the link").then_some(())
    });
    assert!(links().iter().all(|link| !old.contains(link)));
    terminal.press("after the cut\r");
    server.wait_text(&pane, "after the cut\nafter the cut");
    assert_eq!(server.children(), before);
    terminal.press("\u{1d}");
    assert_eq!(terminal.wait_exit().code(), Some(0));
    assert_eq!(server.children(), before);
    assert_eq!(server.pane(&pane)["state"], "live");
}

/// What a link left in the directory for temporary files.
fn left(home: &Home) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(home.path("tmp")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// A client that waits for ever, with its temporary directory.
fn waiting(home: &Home, words: &[&str]) -> (Child, std::path::PathBuf) {
    let before = left(home);
    let mut command = far(home, words);
    command.env("TMPDIR", home.path("tmp")).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    let dir = wait_for("the link", || {
        let new = left(home).into_iter().find(|dir| !before.contains(dir))?;
        // Its connection is made: the verb does what it does.
        let asked = fs::read_to_string(home.path("far-pids")).is_ok_and(|pids| !pids.is_empty());
        (asked && new.join("starting").exists()).then_some(new)
    });
    (child, dir)
}

fn old(dir: &Path) {
    let then = SystemTime::now() - Duration::from_secs(3600);
    fs::File::open(dir).unwrap().set_modified(then).unwrap();
}

#[cfg(feature = "tui")]
#[test]
fn a_link_leaves_no_directory_behind_whichever_signal_ends_it() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.sh(&home, "exec sleep 600");
    fs::create_dir(home.path("tmp")).unwrap();
    for words in [&["wait", &pane, "--until", "exited"][..], &["events"]] {
        for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT] {
            // What these tests were started with is what a verb starts with, and
            // one that is ignored ends nothing.
            if process::ignores(signal) {
                continue;
            }
            let _ = fs::remove_file(home.path("far-pids"));
            let (mut child, _) = waiting(&home, words);
            process::signal(child.id(), signal);
            let status = child.wait().unwrap();
            assert_eq!(status.signal(), Some(signal.as_raw()), "{words:?}");
            assert!(left(&home).is_empty(), "{words:?} {signal:?}: {:?}", left(&home));
        }
    }
    // Those that take the terminal end in good order.
    for (words, shown) in [(&["attach", &pane][..], ""), (&[], "test 1/1")] {
        for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
            let mut command = far(&home, words);
            command.env("TMPDIR", home.path("tmp")).env("TERM", "xterm-256color");
            command.env_remove("SIGNALTTY_PANE");
            let mut terminal = Terminal::run(command, 100, 30);
            wait_for("the screen", || terminal.bytes().contains(&0x1b).then_some(()));
            terminal.wait_text(shown);
            terminal.signal(signal);
            assert_eq!(terminal.wait_exit().code(), Some(1), "{words:?} {signal:?}");
            terminal.wait_restored();
            assert!(left(&home).is_empty(), "{words:?} {signal:?}: {:?}", left(&home));
        }
    }
    // And so does what ends by itself, well or badly.
    for words in
        [&["status"][..], &["pane", "info", "pane_zz"], &["wait", &pane, "--timeout", "0s"]]
    {
        far(&home, words).env("TMPDIR", home.path("tmp")).output().unwrap();
        assert!(left(&home).is_empty(), "{words:?}: {:?}", left(&home));
    }
}

#[test]
fn a_hangup_that_is_ignored_ends_no_link() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.sh(&home, "exec sleep 600");
    fs::create_dir(home.path("tmp")).unwrap();
    // As nohup(1) does it, whose child this is.
    let program = far(&home, &[]);
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" \"$@\""]).arg(program.get_program());
    command.args(program.get_args()).args(["wait", &pane, "--until", "exited"]);
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("TMPDIR", home.path("tmp")).stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    wait_for("the link", || left(&home).first()?.join("starting").exists().then_some(()));
    process::signal(child.id(), Signal::HUP);
    server.ask("pane.signal", json!({"pane": pane, "signal": "KILL"}));
    assert_eq!(child.wait().unwrap().code(), Some(0), "it saw the end of the pane");
    assert!(left(&home).is_empty());
}

#[test]
fn a_killed_links_directory_is_taken_away_by_the_next_and_no_others() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.sh(&home, "exec sleep 600");
    fs::create_dir(home.path("tmp")).unwrap();
    let wait = ["wait", &pane, "--until", "exited"];
    let (mut killed, left_behind) = waiting(&home, &wait);
    killed.kill().unwrap();
    killed.wait().unwrap();
    let (mut lives, in_use) = waiting(&home, &wait);
    // Not a link's, and a link's that is only being made.
    let other = home.path("tmp/signaltty-notes");
    let fresh = home.path("tmp/signaltty-0123456789abcdef");
    for dir in [&other, &fresh] {
        fs::create_dir(dir).unwrap();
    }
    for dir in [&left_behind, &in_use, &other] {
        old(dir);
    }
    let next = || far(&home, &["status"]).env("TMPDIR", home.path("tmp")).output().unwrap();
    assert!(next().status.success());
    let mut now = left(&home);
    now.sort();
    let mut expected = [in_use.clone(), other, fresh];
    expected.sort();
    assert_eq!(now, expected);
    // It is of use still.
    server.ask("pane.signal", json!({"pane": pane, "signal": "KILL"}));
    assert_eq!(lives.wait().unwrap().code(), Some(0));
    assert!(!in_use.exists());
}
