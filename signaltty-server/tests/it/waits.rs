//! `pane.wait`: baselines name a live process and die with it.

use serde_json::{Value, json};

use crate::support::{Home, Server, wait_until};

fn baseline(server: &Server, pane: &str) -> Value {
    server.pane(pane)["baseline"].clone()
}

#[test]
fn s0_53_a_baseline_dies_with_its_process_and_with_the_server() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let pane = server.sh(&home, "exec sleep 600");
    let since = baseline(&server, &pane);
    assert!(since.is_string());
    // The same process: it ends, and that is what was waited for.
    let mut waiting = server.connect();
    waiting.send("pane.wait", json!({"pane": pane, "until": ["exited"], "after": since}));
    server.ask("pane.terminate", json!({"pane": pane}));
    let waited = waiting.reply().unwrap();
    assert_eq!((waited["reached"].as_str(), waited.get("baseline")), (Some("exited"), None));
    assert!(baseline(&server, &pane).is_null(), "a tombstone has none");
    // Another process in the same pane is not the one that was waited for.
    server.ask("pane.restart", json!({"pane": pane}));
    let ask = json!({"pane": pane, "until": ["exited", "idle"], "after": since});
    let error = server.call("pane.wait", ask).unwrap_err();
    assert_eq!(error.code, "IDENTITY_CHANGED");
    assert!(error.message.contains(&pane), "{error:?}");
    // Nor is anything after a restart of the server; nothing of it was stored.
    let since = baseline(&server, &pane);
    server.wait_saved();
    server.term();
    let text = std::fs::read_to_string(home.snapshot_path()).unwrap();
    assert!(!text.contains("baseline") && !text.contains("generation\":1,\"at"), "{text}");
    let server = Server::start(&home);
    let ask = json!({"pane": pane, "until": ["exited"], "after": since});
    assert_eq!(server.call("pane.wait", ask).unwrap_err().code, "IDENTITY_CHANGED");
}

#[test]
fn what_is_so_already_counts_only_without_a_baseline() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.sh(&home, "exec sleep 600");
    server.ask("notification.new", json!({"pane": pane, "title": "look", "severity": "warning"}));
    let reached = server.ask("pane.wait", json!({"pane": pane, "until": ["unread"]}));
    assert_eq!(reached["reached"], "unread");
    let since = baseline(&server, &pane);
    let ask = json!({"pane": pane, "until": ["unread"], "after": since, "timeout_ms": 50});
    let error = server.call("pane.wait", ask).unwrap_err();
    assert_eq!(error.code, "TIMEOUT");
    assert!(error.message.contains("unread within 0.05 s"), "{error:?}");
    // What lasted for a moment only counts as well.
    server.ask("notification.new", json!({"pane": pane, "title": "again", "severity": "error"}));
    server.ask("pane.focus", json!({"pane": pane}));
    let ask = json!({"pane": pane, "until": ["error", "seen"], "after": since});
    assert_eq!(server.ask("pane.wait", ask)["reached"], "error");
}

#[test]
fn waiting_says_what_cannot_be_waited_for() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.sh(&home, "exec sleep 600");
    let other = server.sh(&home, "exec sleep 600");
    let after = baseline(&server, &other);
    for (ask, says) in [
        (json!({"pane": pane, "until": []}), "`until` is empty"),
        (json!({"pane": pane, "until": ["exitted"]}), "did you mean exited?"),
        (json!({"pane": pane, "until": ["idle"], "after": "x"}), "no baseline"),
        (json!({"pane": pane, "until": ["idle"], "after": after}), other.as_str()),
    ] {
        let error = server.call("pane.wait", ask).unwrap_err();
        assert_eq!(error.code, "BAD_PARAMS", "{error:?}");
        assert!(error.message.contains(says), "{says}: {error:?}");
    }
    // A closed pane is another answer than one that never was. Nothing tells a client that its
    // wait began, so a close that was quicker is tried again with another pane.
    let waiting = (0..20).find_map(|_| {
        let other = server.sh(&home, "exec sleep 600");
        let mut waiting = server.connect();
        waiting.send("pane.wait", json!({"pane": other, "until": ["idle"]}));
        waiting.send("server.status", json!({}));
        server.ask("pane.close", json!({"pane": other}));
        match waiting.reply().unwrap_err().code.as_str() {
            "IDENTITY_CHANGED" => Some(waiting),
            "NO_SUCH_PANE" => None,
            other => panic!("{other}"),
        }
    });
    let mut waiting = waiting.expect("no wait began before its pane was closed");
    // What was sent meanwhile is answered next.
    assert!(waiting.reply().unwrap()["pid"].is_u64());
}

#[test]
fn a_wait_ends_with_its_client() {
    let home = Home::new();
    let path = home.path("config.toml");
    std::fs::write(&path, "[limits]\nconnections = 4\n").unwrap();
    let server = Server::start_with(&home, |command| {
        command.arg("--config").arg(path);
    });
    let pane = server.sh(&home, "exec sleep 600");
    // More than there may be connections, one after the other.
    for _ in 0..8 {
        wait_until("room for a connection", || {
            let mut client = server.connect();
            client.send("server.status", json!({}));
            if !matches!(client.try_reply(), Some(Ok(_))) {
                return false;
            }
            client.send("pane.wait", json!({"pane": pane, "until": ["idle"]}));
            true
        });
    }
}
