//! Notifications, the pane to look at next, spawns and signals over the socket.

use serde_json::{Value, json};

use crate::support::{Home, Server, wait_for};

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
    // Titles and ids that were mistyped lead to ids.
    let pane = server.pane(server.panes()[0]["id"].as_str().unwrap());
    let (id, tab) = (pane["id"].as_str().unwrap(), pane["tab_id"].as_str().unwrap());
    server.ask("pane.rename", json!({"pane": id, "title": "Nightly build"}));
    server.ask("tab.rename", json!({"tab": tab, "title": "jobs"}));
    let exchanged = |id: &str| {
        let last = if id.ends_with('a') { 'b' } else { 'a' };
        format!("{}{last}", &id[..id.len() - 1])
    };
    let call = |method: &str, kind: &str, text: &str| {
        let error = server.call(method, json!({kind: text})).unwrap_err();
        let near = error.details["near"].as_array().unwrap();
        near.iter().map(|id| id.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for typed in ["nightly build", "Nigthly build", "pane_zzzzzzzzzzz", &exchanged(id)] {
        let wanted: &[&str] = if typed.contains("zzz") { &[] } else { &[id] };
        assert_eq!(call("pane.info", "pane", typed), wanted, "{typed}");
    }
    assert_eq!(call("tab.layout", "tab", "Jobs"), [tab]);
    assert_eq!(call("tab.layout", "tab", &exchanged(tab)), [tab]);
    let workspace = pane["workspace_id"].as_str().unwrap();
    assert_eq!(call("workspace.close", "workspace", &exchanged(workspace)), [workspace]);
    assert!(call("pane.info", "pane", &"x".repeat(10_000)).is_empty());
    assert!(call("pane.info", "pane", "").is_empty());
}

#[test]
fn c082_what_a_program_notifies_is_told_bounded_and_never_an_agents_report() {
    let home = Home::new();
    let config = home.path("config.toml");
    let start = |text: &str| {
        std::fs::write(&config, text).unwrap();
        Server::start_with(&home, |command| {
            command.arg("--config").arg(&config);
        })
    };
    let server = start("");
    let list = |server: &Server| {
        let list = server.ask("notification.list", json!({}));
        list["notifications"].as_array().unwrap().clone()
    };
    let script = "printf '\\033]9;built\\007'; \
                  printf '\\033]777;notify;Ti\\177tle;a body\\033\\\\'; \
                  printf '\\033]99;i=1:d=0;Ask\\033\\\\\\033]99;i=1:p=body;may I?\\033\\\\'; \
                  echo ready; exec sleep 600";
    let pane = server.sh(&home, script);
    let told = wait_for("three notifications", || {
        let told = list(&server);
        (told.len() == 3).then_some(told)
    });
    let text =
        |at: usize| (told[at]["title"].as_str().unwrap(), told[at]["body"].as_str().unwrap());
    assert_eq!(text(0), ("Ask", "may I?"));
    assert_eq!(text(1), ("Title", "a body"));
    assert_eq!(text(2), ("sh", "built"));
    for one in &told {
        assert_eq!((&one["pane_id"], &one["severity"]), (&json!(pane), &json!("info")));
        assert_eq!(one["from_program"], true);
    }
    let info = server.pane(&pane);
    assert_eq!((&info["attention"], &info["lifecycle"]), (&json!("unread"), &json!("unknown")));
    assert!(info["agent"].is_null(), "{info}");

    // A flood is bounded, and nobody else's is pushed out.
    let own = json!({"title": "mine"});
    let own = server.ask("notification.new", own)["notification_id"].clone();
    let flood = "i=0; while [ $i -lt 1000 ]; do printf '\\033]9;n%s\\007' $i; i=$((i+1)); done; \
                 echo flooded; exec sleep 600";
    let noisy = server.sh(&home, flood);
    server.wait_text(&noisy, "flooded");
    let of_noisy = wait_for("its first ones", || {
        let all = list(&server);
        assert!(all.iter().any(|one| one["id"] == own));
        let of_noisy = all.iter().filter(|one| one["pane_id"] == *noisy).count();
        (of_noisy >= 5).then_some(of_noisy)
    });
    assert!(of_noisy < 20, "{of_noisy}");
    drop(server);

    let server = start("[notifications]\nprograms = false\n");
    let quiet = server.sh(&home, "printf '\\033]9;x\\007\\033]2;titled\\007'; exec sleep 600");
    // The title comes after it, on the same way.
    wait_for("the title", || (server.pane(&quiet)["title"] == "titled").then_some(()));
    assert!(list(&server).iter().all(|one| one["pane_id"] != *quiet));
}
