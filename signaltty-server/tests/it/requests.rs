//! Requests that are malformed, or come where nothing runs.

use serde_json::{Value, json};

use crate::support::refusal::{Case, check};
use crate::support::{Failure, Home, Server};

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
