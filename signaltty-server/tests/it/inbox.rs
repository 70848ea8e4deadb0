//! Notifications, the pane to look at next, spawns and signals over the socket.

use serde_json::{Value, json};

use crate::support::{Home, Server};

#[test]
fn s0_11_notifications_are_listed_read_and_kept() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let pane = server.sh(&home, "exec sleep 600");
    let new = |title: &str, severity: &str| {
        let ask = json!({"pane": pane, "title": title, "severity": severity});
        server.ask("notification.new", ask)["notification_id"].as_str().unwrap().to_owned()
    };
    let (first, second) = (new("one", "info"), new("two\u{1b}[2J", "error"));
    let list = |server: &Server, unread: bool| {
        let list = server.ask("notification.list", json!({"unread": unread}));
        list["notifications"].as_array().unwrap().clone()
    };
    let all = list(&server, false);
    assert_eq!((all[0]["id"].as_str(), all[1]["id"].as_str()), (Some(&*second), Some(&*first)));
    assert_eq!(all[0]["title"], "two [2J", "nothing in it acts on a terminal");
    assert_eq!(server.pane(&pane)["attention"], "error");
    server.ask("notification.read", json!({"notification": &second[..12]}));
    assert_eq!(list(&server, true).len(), 1);
    server.wait_saved();
    server.term();
    let server = Server::start(&home);
    let kept = list(&server, false);
    assert_eq!(kept.len(), 2);
    assert!(kept[0]["read_at"].is_string() && kept[1]["read_at"].is_null(), "{kept:?}");
    server.ask("notification.read", json!({}));
    assert!(list(&server, true).is_empty());
    let error = server.call("notification.read", json!({"notification": "notif_zz"})).unwrap_err();
    assert_eq!(error.code, "NO_SUCH_NOTIFICATION");
    let error =
        server.call("notification.new", json!({"title": "x", "severity": "bad"})).unwrap_err();
    assert!(error.message.contains("info, warning or error"), "{error:?}");
}

#[test]
fn next_is_the_pane_that_most_needs_a_person() {
    let home = Home::new();
    let server = Server::start(&home);
    let next = |server: &Server| server.ask("pane.next", json!({}))["pane_id"].clone();
    let (a, b) = (server.sh(&home, "exec sleep 600"), server.sh(&home, "exec sleep 600"));
    assert_eq!(next(&server), Value::Null);
    server.ask("notification.new", json!({"pane": a, "title": "x", "severity": "warning"}));
    server.ask("notification.new", json!({"pane": b, "title": "x"}));
    assert_eq!(next(&server), json!(a));
    server.ask("pane.focus", json!({"pane": a}));
    assert_eq!(next(&server), json!(b));
}

#[test]
fn d8_a_signal_that_ends_a_program_is_a_persons_wish() {
    let home = Home::new();
    let server = Server::start(&home);
    let script = "trap 'echo usr1' USR1; echo ready; while :; do sleep 0.1; done";
    let pane = server.sh(&home, script);
    server.wait_text(&pane, "ready");
    server.ask("pane.signal", json!({"pane": pane, "signal": "sigusr1"}));
    server.wait_text(&pane, "usr1");
    server.ask("pane.signal", json!({"pane": pane, "signal": "TERM"}));
    let ended = server.wait_state(&pane, "exited");
    assert_eq!(ended["exit"]["signal"], 15);
    let error = server.call("pane.signal", json!({"pane": pane, "signal": "TERM"})).unwrap_err();
    assert_eq!(error.code, "PANE_NOT_LIVE");
    let error = server.call("pane.signal", json!({"pane": pane, "signal": "TREM"})).unwrap_err();
    assert!(error.message.contains("there are HUP"), "{error:?}");
}

#[test]
fn many_spawns_on_one_connection_are_answered_in_order() {
    let home = Home::new();
    let server = Server::start(&home);
    server.spawn(&home, &["sleep", "600"]);
    let mut client = server.connect();
    for number in 0..100 {
        let sleep = json!(["sleep", (600 + number).to_string()]);
        let argv = if number == 50 { json!(["/nonexistent"]) } else { sleep };
        client.send("pane.spawn", json!({"pane": "test", "argv": argv}));
    }
    client.send("session.list", json!({}));
    for number in 0..100 {
        match client.reply() {
            Ok(made) => {
                let pane = server.pane(made["pane_id"].as_str().unwrap());
                assert_eq!(pane["argv"][1], (600 + number).to_string());
            }
            Err(error) => assert_eq!((number, error.code.as_str()), (50, "SPAWN_FAILED")),
        }
    }
    // What comes after them sees all of them.
    let tree = client.reply().unwrap();
    assert_eq!(tree["workspaces"][0]["tabs"].as_array().unwrap().len(), 100);
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest() {
    let home = Home::new();
    let server = Server::start(&home);
    server.ask(
        "workspace.new",
        json!({"cwd": home.work(), "argv": ["sleep", "9"], "name": "backend"}),
    );
    for (method, ask) in [
        ("pane.info", json!({"pane": "bakend"})),
        ("tab.layout", json!({"tab": "backnd"})),
        ("workspace.close", json!({"workspace": "backennd"})),
    ] {
        let error = server.call(method, ask).unwrap_err();
        assert_eq!(error.details["near"][0], "backend", "{error:?}");
    }
}
