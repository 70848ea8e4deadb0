//! Who may use a state directory, and which states a server does not touch.

use std::fs;
use std::process::Stdio;

use serde_json::json;

use crate::support::cli;
use crate::support::home::files_below;
use crate::support::{Home, Server, wait_for, wait_until};

#[test]
fn inv_p7_a_second_server_on_a_state_names_the_first_and_changes_nothing() {
    let home = Home::new();
    let first = Server::start(&home);
    first.spawn(&home, &["/bin/sleep", "1000"]);
    first.wait_saved();
    let before = files_below(&home.state());
    let other = home.path("run/other");
    for (case, socket) in [("the same", &home.socket()), ("another", &other)] {
        let refused = Server::refused(&home, |command| {
            command.arg("--socket").arg(socket);
        });
        assert_eq!(refused.code, Some(6), "{case}: {}", refused.stderr);
        let says = [
            first.pid().to_string(),
            home.state().display().to_string(),
            home.socket().display().to_string(),
            "--state-dir".to_owned(),
        ];
        for text in says {
            assert!(refused.stderr.contains(&text), "{case}: no {text} in {}", refused.stderr);
        }
        assert_eq!(files_below(&home.state()), before, "{case}");
    }
    assert!(!other.exists());
    assert_eq!(first.status()["counts"]["live"], 1);
}

/// Ends the server that a client started.
struct Started<'a>(&'a Home);

impl Drop for Started<'_> {
    fn drop(&mut self) {
        cli::run(self.0, &["shutdown", "--force"]);
    }
}

#[test]
fn a_client_that_reached_a_server_as_it_was_killed_starts_another() {
    let home = Home::new();
    let _started = Started(&home);
    let mut server = Server::start(&home);
    // The system makes connections for it, and nobody answers.
    server.signal(rustix::process::Signal::STOP);
    let socket = home.socket().display().to_string();
    let queued = || {
        let all = fs::read_to_string("/proc/net/unix").unwrap();
        let all = all.lines().filter(|line| line.ends_with(&socket));
        // Of type SOCK_STREAM, and not accepted (proc_pid_net(5)).
        all.filter(|line| line.contains(" 0001 02 ")).count()
    };
    let mut clients = Vec::new();
    for (no_start, code) in [(true, 3), (false, 0)] {
        let mut command = cli::command(&home);
        let words: &[&str] = if no_start { &["--no-start", "ls"] } else { &["ls"] };
        command.args(words).stdout(Stdio::piped()).stderr(Stdio::piped());
        clients.push((command.spawn().unwrap(), code));
    }
    // More, where a client has waited for so long that it asks who it is.
    wait_until("both to be connected", || queued() >= 2);
    server.kill9();
    for (client, code) in clients {
        let ended = client.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(code), "{said}");
    }
}

#[test]
fn c013_of_many_servers_that_start_at_once_one_survives_and_answers() {
    let home = Home::new();
    std::thread::scope(|scope| {
        let starts: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    // Ends at once, or is ended below by whoever answers.
                    let refused = Server::refused(&home, |_| {});
                    (refused.code, refused.stderr)
                })
            })
            .collect();
        wait_until("seven losers", || {
            starts.iter().filter(|start| start.is_finished()).count() == 7
        });
        for _ in 0..20 {
            crate::support::Client::connect(&home.socket())
                .call("server.status", json!({}))
                .unwrap();
        }
        crate::support::Client::connect(&home.socket()).call("server.shutdown", json!({})).unwrap();
        let mut codes: Vec<_> = starts.into_iter().map(|start| start.join().unwrap().0).collect();
        codes.sort_unstable();
        assert_eq!(codes, [vec![Some(0)], vec![Some(6); 7]].concat());
    });
}

#[test]
fn s0_35_c026_a_state_that_is_not_ours_stops_the_start_and_stays_as_it_is() {
    let newer = r#"{"snapshot_version":999,"future":{"panes":"elsewhere"}}"#;
    let foreign = r#"{"version":3,"windows":[{"title":"mine"}]}"#;
    let cases: [(&str, &[&str]); 2] =
        [(newer, &["999", "version"]), (foreign, &["another program"])];
    for (content, says) in cases {
        let home = Home::new();
        fs::write(home.snapshot_path(), content).unwrap();
        fs::create_dir(home.path("state/history")).unwrap();
        fs::write(home.path("state/history/pane_aaaaaaaaaaaaaaaa.tail"), "kept").unwrap();
        fs::write(home.path("state/.tmp-1-1"), "of an earlier save").unwrap();
        let before = home.files();
        // Twice: a refused start leaves nothing that changes the next one.
        for _ in 0..2 {
            let refused = Server::refused(&home, |_| {});
            assert_eq!(refused.code, Some(6), "{}", refused.stderr);
            let path = home.snapshot_path().display().to_string();
            for text in says.iter().copied().chain([&*path, "move the file away"]) {
                assert!(refused.stderr.contains(text), "no {text:?} in {}", refused.stderr);
            }
            assert_eq!(home.files(), before);
            assert!(!home.socket().exists());
        }
    }
}

#[test]
fn c004_s0_34_a_damaged_state_is_kept_aside_said_and_replaced() {
    let cases: [(&str, &[u8]); 4] = [
        ("empty_file", b""),
        ("corrupt", br#"{"snapshot_version":1,"workspaces":["#),
        ("corrupt", b"\xff\xfe not text"),
        ("corrupt", b"[]"),
    ];
    for (word, content) in cases {
        let home = Home::new();
        fs::write(home.snapshot_path(), content).unwrap();
        fs::create_dir(home.path("state/history")).unwrap();
        let tail = home.path("state/history/pane_aaaaaaaaaaaaaaaa.tail");
        fs::write(&tail, "kept").unwrap();
        let mut server = Server::start(&home);
        let status = server.status();
        assert_eq!(status["load"], word);
        let problem = status["problems"][0].as_str().unwrap().to_owned();
        let kept: Vec<_> = files_below(&home.path("state/corrupt")).into_iter().collect();
        assert_eq!(kept.len(), 1, "{word}");
        assert_eq!(kept[0].1, content, "{word}");
        let name = kept[0].0.display().to_string();
        assert!(problem.contains(&name), "{name} in {problem}");
        wait_until("the log to name it", || server.stderr().contains(&name));
        // It works from here on, and what was kept stays.
        server.spawn(&home, &["/bin/sleep", "1000"]);
        assert!(server.term().success());
        assert_eq!(home.snapshot()["workspaces"].as_array().unwrap().len(), 1);
        assert_eq!(files_below(&home.path("state/corrupt")).len(), 1);
        assert_eq!(fs::read(&tail).unwrap(), b"kept");
        let next = Server::start(&home);
        assert_eq!(next.status()["load"], "loaded");
    }
}

#[test]
fn c004_c007_the_way_back_is_named_works_and_nothing_of_the_damage_is_lost() {
    for content in [&b""[..], br#"{"version":1,"workspaces":["#] {
        let home = Home::new();
        let mut server = Server::start(&home);
        let pane = server.spawn(&home, &["/bin/sleep", "1000"]);
        server.wait_saved();
        server.ask("pane.rename", json!({"pane": pane, "title": "two"}));
        assert!(server.term().success());
        let kept = files_below(&home.path("state/snapshots"));
        assert_eq!(kept.len(), 1);
        fs::write(home.snapshot_path(), content).unwrap();
        let mut hint = String::new();
        // Two starts: neither takes anything away.
        for start in 0..2 {
            let mut server = Server::start(&home);
            if start == 0 {
                hint = server.status()["problems"][0].as_str().unwrap().to_owned();
            }
            assert!(server.term().success());
            assert_eq!(files_below(&home.path("state/snapshots")), kept);
            let aside = files_below(&home.path("state/corrupt"));
            assert!(aside.values().any(|bytes| bytes == content), "start {start}");
        }
        // What is said to be the way back is.
        let number = hint.split("history restore ").nth(1).expect(&hint);
        let number = number.split('`').next().unwrap();
        let restored = std::process::Command::new(env!("CARGO_BIN_EXE_signaltty-server"))
            .args(["history", "restore", number, "--state-dir"])
            .arg(home.state())
            .output()
            .unwrap();
        assert!(restored.status.success(), "{restored:?}");
        let server = Server::start(&home);
        assert_eq!(server.panes().len(), 1);
    }
}

#[test]
fn s0_33_a_first_start_is_empty_and_warns_of_nothing() {
    let home = Home::new();
    let server = Server::start(&home);
    assert_eq!(server.status()["load"], "missing");
    assert_eq!(server.panes(), Vec::<serde_json::Value>::new());
    for word in ["WARN", "ERROR"] {
        assert!(!server.stderr().contains(word), "{}", server.stderr());
    }
}

#[test]
fn c098_a_file_where_the_socket_should_be_is_never_removed() {
    let home = Home::new();
    fs::write(home.socket(), "somebody's").unwrap();
    let refused = Server::refused(&home, |_| {});
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    let path = home.socket().display().to_string();
    assert!(refused.stderr.contains(&path), "{}", refused.stderr);
    assert_eq!(fs::read(home.socket()).unwrap(), b"somebody's");
}

#[test]
fn c098_a_socket_of_another_server_that_took_the_path_is_left_alone() {
    let home = Home::new();
    let mut server = Server::start(&home);
    fs::remove_file(home.socket()).unwrap();
    fs::write(home.socket(), "somebody's").unwrap();
    assert!(server.term().success());
    assert_eq!(fs::read(home.socket()).unwrap(), b"somebody's");
}

#[test]
fn c098_a_removed_socket_is_made_again_and_nobody_loses_a_connection() {
    use std::os::unix::fs::PermissionsExt as _;

    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.spawn(&home, &["/bin/cat"]);
    let mut events = server.events();
    let mut held = server.connect();
    let mut attached = server.connect().attach(json!({"pane": pane, "cols": 80, "rows": 24}));
    assert_eq!(server.status()["listening"]["state"], "ok");
    // The server may be faster than whoever removes one thing after the other.
    let directory = || while fs::remove_dir_all(home.path("run")).is_err() {};
    let remove: [(&str, &dyn Fn()); 3] = [
        ("the file", &|| fs::remove_file(home.socket()).unwrap()),
        ("the directory", &directory),
        ("the directory, renamed", &|| fs::rename(home.path("run"), home.path("old")).unwrap()),
    ];
    for (what, remove) in remove {
        let before = server.stderr().matches("was removed and made again").count();
        remove();
        let listening = wait_for(what, || {
            // It is bound before it has its mode, and told of after both.
            let mode = fs::metadata(home.socket()).ok()?.permissions().mode();
            let listening = held.call("server.status", json!({})).unwrap()["listening"].clone();
            let told = server.stderr().matches("was removed and made again").count();
            let again = listening["state"] == "restored" && told > before;
            (again && mode & 0o777 == 0o600).then_some(listening)
        });
        assert!(listening["detail"].as_str().unwrap().contains("made again at"), "{listening}");
        assert_eq!(server.panes().len(), 1, "{what}");
        attached.input(&format!("after {what}\r"));
        attached.wait_text(&format!("after {what}"));
        server.ask("pane.rename", json!({"pane": pane, "title": what}));
        events.wait("pane.updated", |payload| payload["pane_id"] == *pane);
    }
    let status = std::process::Command::new(env!("CARGO_BIN_EXE_signaltty"))
        .args(["--socket".as_ref(), home.socket().as_os_str(), "status".as_ref()])
        .output()
        .unwrap();
    let text = String::from_utf8(status.stdout).unwrap();
    assert!(text.contains("listening restored: ") && text.contains("was removed"), "{text}");
}

#[test]
fn c098_what_takes_the_place_of_the_socket_is_left_alone_while_it_is_there() {
    let home = Home::new();
    let server = Server::start(&home);
    let mut held = server.connect();
    let mut state = || {
        let status = held.call("server.status", json!({})).unwrap();
        status["listening"]["state"].as_str().unwrap().to_owned()
    };
    assert_eq!(state(), "ok");
    fs::write(home.path("other"), "somebody's").unwrap();
    fs::rename(home.path("other"), home.socket()).unwrap();
    wait_until("the server to notice", || state() == "taken");
    assert_eq!(fs::read(home.socket()).unwrap(), b"somebody's");
    wait_until("the log to say so", || server.stderr().contains("something else is there"));
    fs::remove_file(home.socket()).unwrap();
    wait_until("the socket", || state() == "restored");
    assert_eq!(server.panes().len(), 0);
}

#[test]
fn a_socket_that_another_server_answers_on_is_not_taken_over() {
    let (home, other) = (Home::new(), Home::new());
    let first = Server::start(&home);
    let refused = Server::refused(&other, |command| {
        command.arg("--socket").arg(home.socket());
    });
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    let socket = home.socket().display().to_string();
    for text in [&*socket, "--socket"] {
        assert!(refused.stderr.contains(text), "{}", refused.stderr);
    }
    assert!(other.files().is_empty());
    assert_eq!(first.status()["pid"], first.pid());
}
