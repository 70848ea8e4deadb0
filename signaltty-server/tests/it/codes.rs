//! Every way to be refused: code, message and details, as text that a reviewer
//! reads when it changes. `INSTA_UPDATE=always` writes it anew.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use signaltty_server::protocol::{EVENTS, METHODS, code};

use crate::support::{Failure, Home, Said, Server, shape, wait_for};

/// Where the snapshots are; those of the server's own tests too.
const DIR: &str = "codes";

/// Compares what was refused with the snapshot of that name.
pub fn compare(name: &str, said: &Said) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(DIR);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, said.text()));
}

/// Asks for each in turn and compares the refusals.
fn refused(name: &str, home: &Home, server: &Server, cases: &[(&str, Value)]) {
    let mut said = Said::new(home);
    for (method, params) in cases {
        let shown: String = format!("{method} {params}").chars().take(160).collect();
        said.refused(&shown, server.call(method, params.clone()));
    }
    compare(name, &said);
}

#[test]
fn every_code_has_a_snapshot() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(DIR);
    let mut shown = BTreeSet::new();
    for entry in fs::read_dir(dir).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        let codes = text.lines().filter_map(|line| line.strip_prefix("## ")?.split(':').next());
        shown.extend(codes.map(str::to_owned));
    }
    let known: BTreeSet<_> = code::ALL.iter().map(|(code, _)| (*code).to_owned()).collect();
    let missing: Vec<_> = known.difference(&shown).collect();
    let strange: Vec<_> = shown.difference(&known).collect();
    assert!(missing.is_empty() && strange.is_empty(), "no snapshot of {missing:?}; {strange:?}");
}

/// Codes that are written where they are used could be missed above.
#[test]
fn the_daemon_names_its_codes_only_by_the_list() {
    let daemon = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/daemon");
    for entry in fs::read_dir(daemon).unwrap() {
        let path = entry.unwrap().path();
        let Ok(text) = fs::read_to_string(&path) else { continue };
        assert!(!text.contains("WireError::new(\""), "{}", path.display());
    }
}

#[test]
fn every_method_is_known_and_every_name_has_a_shape() {
    let home = Home::new();
    let server = Server::start(&home);
    let mut client = server.connect();
    for method in METHODS {
        // Waits for others, or ends the server.
        if ["server.shutdown", "events.subscribe"].contains(method) {
            continue;
        }
        if let Err(failure) = client.call(method, json!({})) {
            assert_ne!(failure.code, "UNKNOWN_METHOD", "{method}");
        }
        assert!(shape::fits(&format!("#/methods/{method}/result"), &json!(3)).is_err());
    }
    let request = |method: &str, params: Value| {
        let request = json!({"v": "signaltty/1", "id": "1", "method": method, "params": params});
        shape::fits("#/$defs/Request", &request)
    };
    assert_eq!(request("pane.close", json!({"pane": "p"})), Ok(()));
    for (method, params) in [
        ("pane.close", json!({})),
        ("pane.close", json!({"pane": 3})),
        ("pane.cloze", json!({"pane": "p"})),
        ("pane.split", json!({"pane": "p", "direction": "diagonal"})),
    ] {
        assert!(request(method, params.clone()).is_err(), "{method} {params}");
    }
    for event in EVENTS {
        let line = json!({"event": event, "payload": 3});
        assert!(shape::fits("#/$defs/Event", &line).is_err(), "{event}");
    }
    server.call("server.shutdown", json!({"force": true})).unwrap();
}

#[test]
fn lines_that_are_no_requests() {
    let home = Home::new();
    let server = Server::start(&home);
    let mut client = server.connect();
    let mut said = Said::new(&home);
    let huge = format!(r#"{{"v":"signaltty/1","id":"1","x":"{}"}}"#, "x".repeat(2 << 20));
    for (what, line) in [
        ("no JSON", "nonsense"),
        ("no version", r#"{"id":"1","method":"server.status"}"#),
        ("no method", r#"{"v":"signaltty/1","id":"1"}"#),
        ("an id that is no text", r#"{"v":"signaltty/1","id":3,"method":"server.status"}"#),
        ("a newer version", r#"{"v":"signaltty/2","id":"1","method":"server.status"}"#),
        ("an older version", r#"{"v":"signaltty/0","id":"1","method":"server.status"}"#),
        ("another protocol", r#"{"v":"http/1","id":"1","method":"server.status"}"#),
        ("a line of 2 MiB", &huge),
    ] {
        client.send_line(line);
        said.refused(what, client.reply());
    }
    for method in ["pane.splt", "pane.frobnicate", "nothing.like.it", ""] {
        said.refused(&format!("method {method:?}"), client.call(method, json!({})));
    }
    compare("lines", &said);
}

#[test]
fn names_that_name_nothing_or_too_much() {
    let home = Home::new();
    let server = Server::start(&home);
    let shared = server.ambiguous(&home);
    let none = "aaaaaaaaaaaaaaaa";
    let mut said = Said::new(&home);
    for (method, params) in [
        ("pane.info", json!({"pane": format!("pane_{none}")})),
        ("pane.info", json!({"pane": ""})),
        ("pane.info", json!({"pane": "tset"})),
        ("tab.close", json!({"tab": "tab_zzz"})),
        ("workspace.close", json!({"workspace": "tset"})),
        ("notification.read", json!({"notification": "notif_zzz"})),
        ("session.forget", json!({"target": "nowhere"})),
        ("session.forget", json!({"target": "ws_zzz"})),
    ] {
        said.refused(&format!("{method} {params}"), server.call(method, params));
    }
    let ambiguous = server.call("pane.close", json!({"pane": shared}));
    // How many fit is chance; two always do.
    let Failure { code, message, details } = ambiguous.unwrap_err();
    let candidates: Vec<_> =
        details["candidates"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    let (shown, next) = message.split_once("; ").unwrap();
    let expected = format!("{shared:?} fits {} panes: {}", candidates.len(), candidates.join(", "));
    assert_eq!(shown, expected);
    let failure = Failure {
        code,
        message: format!("\"x\" fits 2 panes: pane_x…, pane_x…; {next}"),
        details: json!({"candidates": ["pane_x…", "pane_x…"]}),
    };
    said.refused("pane.close with the beginning of two ids", Err(failure));
    compare("names", &said);
}

#[test]
fn parameters_without_a_sense() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.spawn(&home, &["/bin/cat"]);
    let other = server.spawn(&home, &["/bin/cat"]);
    let info = server.pane(&pane);
    let tab = info["tab_id"].as_str().unwrap().to_owned();
    let since = server.pane(&other)["baseline"].clone();
    let mut said = Said::new(&home);
    said.hide(since.as_str().unwrap(), "BASELINE");
    for (method, params) in [
        ("pane.rename", json!({"pane": 3, "title": "x"})),
        ("pane.rename", json!({"pane": pane})),
        ("pane.rename", json!([])),
        ("pane.keys", json!({"pane": pane, "keys": ["Enter", "Entr"]})),
        ("pane.signal", json!({"pane": pane, "signal": "SEGV"})),
        ("pane.split", json!({"pane": pane, "direction": "diagonal"})),
        ("pane.weight", json!({"pane": pane, "weight": 0})),
        ("pane.move", json!({"pane": pane, "beside": pane})),
        ("pane.move", json!({"pane": pane, "beside": other})),
        ("tab.layout", json!({"tab": tab, "layout": "v1:["})),
        ("tab.layout", json!({"tab": tab, "layout": format!("v1:[{pane}|{other}]")})),
        ("workspace.new", json!({"cwd": "rel/dir"})),
        ("workspace.new", json!({"env": {"PATH": "/bin"}})),
        ("workspace.new", json!({"cwd": "/", "argv": ["a\u{0}b"]})),
        ("workspace.new", json!({"cwd": "/", "env": {"A=B": "x"}})),
        ("workspace.new", json!({"cwd": "/", "argv": [{"bytes": "f"}]})),
        ("notification.new", json!({"title": "  "})),
        ("notification.new", json!({"title": "x", "severity": "loud"})),
        ("pane.wait", json!({"pane": pane, "until": []})),
        ("pane.wait", json!({"pane": pane, "until": ["idel"]})),
        ("pane.wait", json!({"pane": pane, "until": ["exited"], "after": "x"})),
        ("pane.wait", json!({"pane": pane, "until": ["exited"], "after": since})),
        ("agent.report_session", json!({"launch": "x", "agent": "-x"})),
        ("agent.report_session", json!({"launch": "x", "id": "-x"})),
        ("agent.report_session", json!({"launch": "x", "argv": ["/bin/sh"]})),
        ("agent.ask", json!({"agent": "claude", "launch": "x", "payload": "{}"})),
    ] {
        said.refused(&format!("{method} {params}"), server.call(method, params));
    }
    compare("parameters", &said);
}

#[test]
fn commands_that_cannot_start_and_splits_without_room() {
    let home = Home::new();
    let config = home.path("config.toml");
    fs::write(&config, "[limits]\npanes = 30\n").unwrap();
    let server = Server::start_with(&home, |command| {
        command.arg("--config").arg(&config);
    });
    let pane = server.spawn(&home, &["/bin/cat"]);
    let plain = home.path("work/plain");
    fs::write(&plain, "#!/bin/sh\n").unwrap();
    let at = |cwd: &Path, argv: &[&str]| json!({"cwd": cwd, "argv": argv});
    let work = home.work();
    let mut said = Said::new(&home);
    let split = json!({"pane": pane, "direction": "down", "argv": ["/bin/cat"]});
    for params in [
        at(&home.path("gone"), &["/bin/cat"]),
        at(&plain, &["/bin/cat"]),
        at(&work, &["no-such-program"]),
        at(&work, &["./missing"]),
        at(&work, &[plain.to_str().unwrap()]),
        at(&work, &[work.to_str().unwrap()]),
        at(&work, &[""]),
    ] {
        said.refused(&format!("workspace.new {params}"), server.call("workspace.new", params));
    }
    let failure = (0..24).find_map(|_| server.call("pane.split", split.clone()).err());
    said.refused("pane.split of a tab that is full", Err(failure.unwrap()));
    let one = json!({"cwd": work, "argv": ["/bin/cat"]});
    let failure = (0..30).find_map(|_| server.call("workspace.new", one.clone()).err());
    said.refused("workspace.new with limits.panes = 30", Err(failure.unwrap()));
    compare("starts", &said);
}

#[test]
fn what_a_panes_state_does_not_allow() {
    let home = Home::new();
    let server = Server::start(&home);
    let live = server.spawn(&home, &["/bin/cat"]);
    let exited = server.sh(&home, "exit 3");
    server.wait_state(&exited, "exited");
    let mut cases = Vec::new();
    for (method, more) in [
        ("pane.send", json!({"text": "x"})),
        ("pane.keys", json!({"keys": ["x"]})),
        ("pane.attach", json!({"cols": 80, "rows": 24})),
        ("pane.terminate", json!({})),
        ("pane.signal", json!({"signal": "INT"})),
        ("pane.resume", json!({})),
        ("pane.continue", json!({})),
    ] {
        let mut params = json!({"pane": exited});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        cases.push((method, params));
    }
    for method in ["pane.restart", "pane.resume", "pane.continue"] {
        cases.push((method, json!({"pane": live})));
    }
    cases.push((
        "pane.answer",
        json!({"pane": live, "decision_id": "q00000007", "answer": "allow"}),
    ));
    cases.push(("server.shutdown", json!({})));
    refused("states", &home, &server, &cases);
}

#[test]
fn waits_that_end_without_what_was_waited_for() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.sh(&home, "exec sleep 600");
    let since = server.pane(&pane)["baseline"].clone();
    server.ask("pane.terminate", json!({"pane": pane}));
    server.wait_state(&pane, "exited");
    server.ask("pane.restart", json!({"pane": pane}));
    let mut said = Said::new(&home);
    let ask = json!({"pane": pane, "until": ["idle", "error"], "timeout_ms": 50});
    said.refused("pane.wait for 50 ms", server.call("pane.wait", ask));
    let ask = json!({"pane": pane, "until": ["exited"], "after": since});
    said.refused("pane.wait after another process", server.call("pane.wait", ask));
    compare("waits", &said);
}

#[test]
fn input_that_a_program_does_not_read() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.sh(&home, "stty raw -echo; echo ready; exec sleep 600");
    server.wait_text(&pane, "ready");
    let mut said = Said::new(&home);
    let send = |bytes: usize| json!({"pane": pane, "text": "x".repeat(bytes)});
    let mut waiting = server.connect();
    waiting.send("pane.send", send(700_000));
    let mut more = server.connect();
    let full = wait_for("a full queue", || more.call("pane.send", send(700_000)).err());
    // How much a terminal takes is the kernel's to say.
    let counts = |mut failure: Failure| {
        failure.message = without_counts(&failure.message.replace(&pane, "PANE"));
        failure.details["written_bytes"] = "N".into();
        Err(failure)
    };
    said.refused("pane.send of more than waits already", counts(full));
    let slow = waiting.reply().unwrap_err();
    said.refused("pane.send to a program that does not read", counts(slow));
    waiting.send("pane.send", send(700_000));
    wait_for("input that waits", || more.call("pane.send", send(700_000)).err());
    server.ask("pane.signal", json!({"pane": pane, "signal": "KILL"}));
    let gone = waiting.reply().unwrap_err();
    said.refused("pane.send to a program that ends", counts(gone));
    compare("input", &said);
}

/// Numbers of more than one digit become `N`, and a nought too.
fn without_counts(text: &str) -> String {
    let word = |word: &str| {
        let number = word.bytes().all(|byte| byte.is_ascii_digit());
        if number && word != "5" { "N".to_owned() } else { word.to_owned() }
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn more_connections_than_there_may_be() {
    let home = Home::new();
    let config = home.path("config.toml");
    fs::write(&config, "[limits]\nconnections = 4\n").unwrap();
    let server = Server::start_with(&home, |command| {
        command.arg("--config").arg(&config);
    });
    let _held: Vec<_> = (0..4)
        .map(|_| {
            // The connection of an earlier call may not have ended yet.
            wait_for("room", || {
                let mut client = server.connect();
                client.call("server.status", json!({})).is_ok().then_some(client)
            })
        })
        .collect();
    let mut said = Said::new(&home);
    said.refused("a fifth connection", server.connect().reply());
    drop(server);

    fs::write(&config, "[limits]\nconnections_per_s = 10\n").unwrap();
    let server = Server::start_with(&home, |command| {
        command.arg("--config").arg(&config);
    });
    let failure = wait_for("too many at once", || {
        let mut client = server.connect();
        client.send("server.status", json!({}));
        client.reply().err()
    });
    let wait = failure.details["retry_after_ms"].as_u64().unwrap();
    assert!((1..=100).contains(&wait), "{wait}");
    let failure = Failure { details: json!({"retry_after_ms": "N"}), ..failure };
    said.refused("connections at a higher rate", Err(failure));
    compare("connections", &said);
    // It passes.
    wait_for("room", || server.connect().call("server.status", json!({})).ok());
}

#[test]
fn requests_over_the_rate_wait_and_none_is_refused() {
    let home = Home::new();
    let config = home.path("config.toml");
    fs::write(&config, "[limits]\nrequests_per_s = 20\n").unwrap();
    let server = Server::start_with(&home, |command| {
        command.arg("--config").arg(&config);
    });
    let mut client = server.connect();
    let started = std::time::Instant::now();
    for _ in 0..30 {
        client.send("server.status", json!({}));
    }
    // Nobody else waits for it.
    server.status();
    for _ in 0..30 {
        client.reply().unwrap();
    }
    // The first 20 at once, each of the others a twentieth of a second later.
    assert!(started.elapsed() >= std::time::Duration::from_millis(450));
}

#[test]
fn reports_of_somebody_else() {
    let home = Home::new();
    let server = Server::start(&home);
    refused(
        "reports",
        &home,
        &server,
        &[
            ("agent.report_session", json!({"launch": "x", "agent": "claude"})),
            ("agent.report_session", json!({"launch": "x", "agent": "mine", "id": "1"})),
        ],
    );
}
