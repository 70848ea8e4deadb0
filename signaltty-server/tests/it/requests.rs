//! Requests that are malformed, or come where nothing runs.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

use crate::support::refusal::{Case, check};
use crate::support::{Failure, Home, PATIENCE, Server};

#[test]
fn malformed_requests_are_refused_and_the_connection_goes_on() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.spawn(&home, &["/bin/cat"]);
    let typo = json!({"pane": pane, "keys": ["Enter", "Entr"]});
    let no_title = json!({"pane": pane});
    let cases: [Case<'_>; 9] = [
        ("pane.rename", json!({"pane": 3, "title": "x"}), "BAD_PARAMS", "", &["params", "string"]),
        ("pane.rename", no_title, "BAD_PARAMS", "", &["params", "`title`"]),
        ("pane.rename", json!([]), "BAD_PARAMS", "", &["params"]),
        ("pane.keys", typo, "BAD_PARAMS", "", &["\"Entr\"", "not a key", "Enter"]),
        ("workspace.rename", json!({}), "BAD_PARAMS", "", &["`workspace`"]),
        ("session.rename", json!({}), "UNKNOWN_METHOD", "", &["session.rename", "pane.rename"]),
        ("pane.spilt", json!({}), "UNKNOWN_METHOD", "", &["pane.spilt", "pane.split"]),
        ("", json!({}), "UNKNOWN_METHOD", "", &["no name", "server.status"]),
        (
            "workspace.new",
            json!({"cwd": "/", "argv": ["/bin/cat"], "env": {"A=B": "x"}}),
            "BAD_PARAMS",
            "",
            &["env", "A=B"],
        ),
    ];
    check(&home, &server, &cases);

    let mut client = server.connect();
    let newer = r#"{"v":"signaltty/2","id":"9","method":"server.status"}"#;
    let huge = format!(r#"{{"v":"signaltty/1","id":"1","x":"{}"}}"#, "x".repeat(2 << 20));
    let lines = [
        ("nonsense", "BAD_PARAMS", "not JSON"),
        (r#"{"id":"1","method":"server.status"}"#, "BAD_PARAMS", "`v` is missing"),
        (newer, "BAD_PROTOCOL", "the server is older"),
        (&huge, "TOO_LARGE", "1048576"),
        ("", "BAD_PARAMS", "not JSON"),
        ("\u{fffd}\0\u{1b}[2J", "BAD_PARAMS", "not JSON"),
    ];
    for (line, code, says) in lines {
        client.send_line(line);
        let failure: Failure = client.reply().unwrap_err();
        assert_eq!(failure.code, code, "{}", failure.message);
        assert!(failure.message.contains(says), "{}", failure.message);
        client.call("server.status", json!({})).unwrap();
    }
    assert_eq!(server.pane(&pane)["state"], "live");
}

#[test]
fn a_last_request_without_its_newline_is_answered() {
    let home = Home::new();
    let server = Server::start(&home);
    let ask = |text: &str| {
        let mut stream = UnixStream::connect(home.socket()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let lines = answer.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.collect::<Vec<Value>>()
    };
    let status = r#"{"v":"signaltty/1","id":"7","method":"server.status","params":{}}"#;
    for text in [status.to_owned(), format!("{status}\n{status}"), format!("{status}\n \n")] {
        let answers = ask(&text);
        let wanted = text.matches("signaltty/1").count();
        let good = answers.iter().filter(|answer| answer["result"]["state_dir"].is_string());
        assert_eq!(good.count(), wanted, "{text:?}: {answers:?}");
    }
    // What was cut off in the middle does nothing, and is told.
    let cut = r#"{"v":"signaltty/1","id":"7","method":"server.shutdown","params":{"force":true"#;
    let answers = ask(cut);
    assert_eq!(answers[0]["error"]["code"], "BAD_PARAMS", "{answers:?}");
    assert_eq!(ask(""), Vec::<Value>::new());
    assert_eq!(server.panes().len(), 0, "the server goes on");
}

#[test]
fn what_needs_a_process_says_what_to_do_where_there_is_none() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.sh(&home, "exit 3");
    server.wait_state(&pane, "exited");
    let (again, at) = ("pane restart", pane.as_str());
    let ask = |extra: Value| {
        let mut ask = json!({"pane": pane});
        ask.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        ask
    };
    let cases: [Case<'_>; 5] = [
        ("pane.send", ask(json!({"text": "x"})), "PANE_NOT_LIVE", "", &[at, "exited", again]),
        ("pane.keys", ask(json!({"keys": ["x"]})), "PANE_NOT_LIVE", "", &[at, "exited", again]),
        (
            "pane.attach",
            ask(json!({"cols": 80, "rows": 24})),
            "PANE_NOT_LIVE",
            "",
            &[at, "exited", again],
        ),
        ("pane.terminate", ask(json!({})), "PANE_NOT_LIVE", "", &[at, "exited"]),
        ("pane.resume", ask(json!({})), "NOT_RESUMABLE", "", &[at, "cannot be resumed"]),
    ];
    check(&home, &server, &cases);
}
