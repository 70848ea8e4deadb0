//! Panes that are moved, swapped and sized over the socket.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Home, Server};

#[test]
fn panes_move_and_their_terminals_follow() {
    let home = Home::new();
    let server = Server::start(&home);
    let a = server.spawn(&home, &["/bin/cat"]);
    let split = json!({"pane": a, "direction": "right", "argv": ["/bin/cat"]});
    let b = server.ask("pane.split", split)["pane_id"].as_str().unwrap().to_owned();
    let tab = server.pane(&a)["tab_id"].clone();
    let layout = || server.ask("tab.layout", json!({"tab": tab}))["layout"].clone();
    let size = |pane: &str| (server.pane(pane)["cols"].clone(), server.pane(pane)["rows"].clone());
    assert_eq!(layout(), json!(format!("v1:[{a}|{b}]")));

    server.ask("pane.move", json!({"pane": b, "beside": a, "direction": "up"}));
    assert_eq!(layout(), json!(format!("v1:[{b}/{a}]")));
    assert_eq!(size(&b), (json!(80), json!(12)));
    server.ask("pane.swap", json!({"pane": b, "other": a}));
    server.ask("pane.weight", json!({"pane": a, "weight": 3}));
    assert_eq!(layout(), json!(format!("v1:[{a}*3/{b}]")));
    let text = format!("v1:[{b}|{a}]");
    server.ask("tab.layout", json!({"tab": tab, "layout": text}));
    assert_eq!(layout(), json!(text));
    assert_eq!(size(&a), (json!(39), json!(24)));

    server.ask("tab.area", json!({"tab": tab, "cols": 121, "rows": 30}));
    assert_eq!((size(&b), size(&a)), ((json!(60), json!(30)), (json!(60), json!(30))));
    let tree = server.ask("session.list", json!({}));
    let shown = &tree["workspaces"][0]["tabs"][0];
    assert_eq!((&shown["cols"], &shown["rows"]), (&json!(121), &json!(30)));

    for (method, params, code) in [
        ("tab.area", json!({"tab": tab, "cols": 80}), "BAD_PARAMS"),
        ("pane.seen", json!({"pane": "pane_zzzz"}), "NO_SUCH_PANE"),
        ("pane.move", json!({"pane": a, "beside": a}), "BAD_PARAMS"),
        ("pane.weight", json!({"pane": a, "weight": 0}), "BAD_PARAMS"),
        ("tab.layout", json!({"tab": tab, "layout": "v1:["}), "BAD_PARAMS"),
        ("tab.layout", json!({"tab": tab, "layout": format!("v1:{a}")}), "BAD_PARAMS"),
        ("pane.swap", json!({"pane": a, "other": "pane_zzzz"}), "NO_SUCH_PANE"),
    ] {
        assert_eq!(server.call(method, params).unwrap_err().code, code, "{method}");
    }
    assert_eq!(layout(), json!(text));
}

#[test]
fn a_batch_of_panes_is_answered_line_by_line() {
    let home = Home::new();
    let server = Server::start(&home);
    let first = server.spawn(&home, &["/bin/cat"]);
    let alone = server.ask("pane.spawn", json!({"pane": first, "argv": ["/bin/cat"]}));
    assert_ne!(alone["tab_id"], server.pane(&first)["tab_id"], "a tab of its own");
    assert_eq!(alone["workspace_id"], server.pane(&first)["workspace_id"]);

    let good = json!({"pane": first, "argv": ["/bin/cat"], "cwd": home.work()});
    let lines = format!(
        "{good}\n\n{}\nnonsense\n{good}\n",
        json!({"pane": first, "argv": ["/no/such/program"]})
    );
    let mut client = Command::new(env!("CARGO_BIN_EXE_signaltty"))
        .args(["--json", "--no-start", "--socket"])
        .arg(home.socket())
        .args(["pane", "spawn", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    client.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let done = client.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(1), "one line failed");
    let answers: Vec<Value> = String::from_utf8(done.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), 4, "{answers:?}");
    assert!(answers[0]["pane_id"].is_string() && answers[3]["pane_id"].is_string());
    assert_eq!(answers[1]["error"]["details"]["reason"], "binary_missing");
    assert_eq!(answers[2]["error"]["code"], "BAD_PARAMS");
    assert_eq!(server.panes().len(), 4, "a pane that did not start is none");
}
