//! Panes that are moved, swapped and sized over the socket.

use serde_json::json;

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

    for (method, params, code) in [
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
