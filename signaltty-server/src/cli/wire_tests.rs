//! Commands against a server that answers from a list.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixListener;

use serde_json::{Value, json};

use super::main;

/// Runs a command line against a server that answers the one request with
/// `outcome`, and before that the question whether it is there. The exit code,
/// and the request.
fn run(words: &[&str], outcome: Value) -> (u8, Value) {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("s");
    let listener = UnixListener::bind(&socket).unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let mut answer = |mut reply: Value| {
            let request: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
            reply["id"] = request["id"].clone();
            stream.write_all(format!("{reply}\n").as_bytes()).unwrap();
            request
        };
        assert_eq!(answer(json!({"result": {}}))["method"], "server.ping");
        answer(outcome)
    });
    let mut args = vec!["signaltty".into(), "--json".into(), "--socket".into()];
    args.push(socket.into_os_string());
    args.extend(words.iter().map(Into::into));
    (main(&args), server.join().unwrap())
}

fn error(code: &str) -> Value {
    json!({"error": {"code": code, "message": "no\u{1b}"}})
}

fn resumed(verdict: &str) -> Value {
    let evidence = ["it lists itself"];
    json!({"result": {
        "pane_id": "pane_1", "agent_session_id": "c", "verdict": verdict, "evidence": evidence,
    }})
}

#[test]
fn exit_codes_say_how_it_ended() {
    let cases = [
        (&["resume", "p"][..], resumed("verified"), 0),
        (&["resume", "p"], resumed("unconfirmed"), 5),
        (&["resume", "p"], error("RESUME_REFUSED"), 5),
        (&["resume", "p"], error("NOT_RESUMABLE"), 1),
        (&["resume", "p"], error("TIMEOUT"), 4),
        (&["pane", "info", "p"], error("NO_SUCH_PANE"), 1),
        (&["shutdown"], error("PANES_ALIVE"), 1),
        (&["shutdown", "--force"], json!({"result": {}}), 0),
        (&["status"], error("REPLACED"), 7),
        (&["pane", "close", "p"], json!({"result": {}}), 0),
    ];
    for (words, outcome, expected) in cases {
        let (code, _) = run(words, outcome.clone());
        assert_eq!(code, expected, "{words:?} {outcome}");
    }
}

#[test]
fn c025_a_server_of_another_version_refuses_in_words_or_is_understood() {
    let versions = json!({"server": "signaltty/2", "client": "signaltty/1"});
    let refused = json!({"error": {
        "code": "BAD_PROTOCOL", "message": "the client is older; upgrade it", "details": versions,
    }});
    for words in [&["status"][..], &["ls"], &["shutdown"]] {
        let (code, request) = run(words, refused.clone());
        assert_eq!((code, request["v"].as_str()), (1, Some("signaltty/1")), "{words:?}");
    }
    // One of the same protocol that says more is understood.
    let newer = json!({"result": {"workspaces": [], "colour": "blue", "more": {"x": [1]}}});
    assert_eq!(run(&["ls"], newer).0, 0);
    // An older one that does not know what was asked for.
    assert_eq!(run(&["next"], error("UNKNOWN_METHOD")).0, 1);
    let all = json!({"result": {"pane_id": "p", "source": "live", "text": "1\n"}});
    let (code, request) = run(&["pane", "read", "p", "--after", "c"], all);
    assert_eq!((code, request["params"]["after"].as_str()), (0, Some("c")));
}

#[test]
fn what_starts_something_sends_the_directory_and_the_environment() {
    let created = json!({"result": {"workspace_id": "ws_1", "tab_id": "tab_1", "pane_id": "p"}});
    let (code, request) = run(&["new", "--cwd", "/tmp/.", "--", "sh", "-c", "x"], created);
    assert_eq!(code, 0);
    assert_eq!(request["v"], "signaltty/1");
    assert_eq!(request["method"], "workspace.new");
    let params = &request["params"];
    assert_eq!(params["argv"], json!(["sh", "-c", "x"]));
    assert_eq!(params["cwd"], "/tmp");
    assert_eq!(params["env"]["PATH"], std::env::var("PATH").unwrap());
    let (_, request) = run(&["pane", "restart", "p"], json!({"result": {}}));
    assert_eq!(request["method"], "pane.restart");
    assert!(request["params"]["env"]["PATH"].is_string());
}

#[test]
fn switches_and_sides_are_sent_as_the_protocol_has_them() {
    let words = ["workspace", "set", "api", "auto-resume=on", "history=off"];
    let (_, request) = run(&words, json!({"result": {}}));
    assert_eq!(request["method"], "workspace.set");
    assert_eq!(request["params"]["auto_resume"], true);
    assert_eq!(request["params"]["history"], false);
    assert_eq!(request["params"]["auto_continue"], Value::Null);
    let (_, request) = run(&["workspace", "archive", "api"], json!({"result": {}}));
    assert_eq!(request["params"]["archived"], true);
    let created = json!({"result": {"workspace_id": "w", "tab_id": "t", "pane_id": "p"}});
    let (_, request) = run(&["pane", "split", "p", "--down"], created);
    assert_eq!(request["params"]["direction"], "down");
    let (_, request) = run(&["pane", "send", "p", "--x"], json!({"result": {}}));
    assert_eq!(request["params"]["text"], "--x");
}
