//! Snapshots whose records do not fit together.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed step fails the test"
)]

mod common;

use serde_json::{Value, json};
use signaltty_core::layout::Layout;
use signaltty_persist::schema::{DecodeError, from_json};
use signaltty_persist::{Corruption, Problem};

use common::edited::changed;
use common::{pane_id, tab_id, workspace_id};

#[test]
fn c008_one_bad_record_does_not_cost_the_others() {
    for bad in [json!(7), json!({}), json!({"id": "../../x"}), json!({"id": "pane_", "cwd": 3})] {
        let (session, problems) = changed(&[1, 2, 3], |v| v["panes"][1] = bad.clone());
        let ids: Vec<_> = session.panes.iter().map(|pane| pane.id).collect();
        assert_eq!(ids, [pane_id(1), pane_id(3)]);
        assert!(
            matches!(problems[0], Problem::RecordLeftOut { list: "panes", index: 1, .. }),
            "{problems:?}"
        );
        assert!(matches!(problems[1], Problem::LayoutRepaired { .. }), "{problems:?}");
    }
}

#[test]
fn c008_a_member_of_a_wrong_form_costs_that_member_and_no_more() {
    let (whole, _) = changed(&[1, 2], |_| {});
    let id = |pane: usize| whole.panes[pane].agent.as_ref().unwrap().conversation.clone();
    let bad = [
        ("/notifications", json!(null), "notifications"),
        ("/notifications", json!({}), "notifications"),
        ("/journal_seq", json!(-1), "journal_seq"),
        ("/saved_at", json!(1.5), "saved_at"),
        ("/protocol", json!("x"), "protocol"),
        ("/server_version", json!(5), "server_version"),
        ("/generation", json!("x"), "generation"),
        ("/panes/0/created_at", json!("x"), "created_at"),
        ("/panes/0/title", json!(null), "title"),
        ("/panes/0/size", json!({"cols": 99999, "rows": -1}), "size"),
        ("/panes/0/titled_by_user", json!(1), "titled_by_user"),
        ("/panes/0/argv", json!("sh"), "argv"),
        ("/panes/0/env", json!(["a"]), "env"),
        ("/panes/0/last_message", json!([]), "last_message"),
        ("/panes/0/attention", json!(3), "attention"),
        ("/panes/0/agent/interrupted", json!("x"), "interrupted"),
        ("/panes/0/agent/last_failure", json!("x"), "last_failure"),
        ("/panes/0/agent/reported_argv", json!(7), "reported_argv"),
        ("/tabs/0/created_at", json!({}), "created_at"),
        ("/tabs/0/title", json!(null), "title"),
        ("/workspaces/0/created_at", json!("x"), "created_at"),
        ("/workspaces/0/archived", json!("yes"), "archived"),
    ];
    for (at, value, member) in bad {
        let (session, problems) = changed(&[1, 2], |v| *v.pointer_mut(at).unwrap() = value.clone());
        let said = problems.iter().any(
            |problem| matches!(problem, Problem::PartReplaced { part, .. } if *part == member),
        );
        assert!(said && problems.len() == 1, "{at}: {problems:?}");
        let ids = |session: &signaltty_core::saved::SavedSession| {
            session.panes.iter().map(|pane| pane.id).collect::<Vec<_>>()
        };
        assert_eq!(ids(&session), ids(&whole), "{at}");
        for (pane, found) in session.panes.iter().enumerate() {
            let found = found.agent.as_ref().and_then(|agent| agent.conversation.clone());
            assert_eq!(found, id(pane), "{at}");
        }
        assert_eq!(session.workspaces[0].handle, whole.workspaces[0].handle, "{at}");
        assert_eq!(session.workspaces[0].switches, whole.workspaces[0].switches, "{at}");
    }
}

#[test]
fn d30_switches_that_cannot_be_read_are_off() {
    for bad in [
        json!(null),
        json!("off"),
        json!({"auto_resume": "yes", "auto_continue": 1, "history": null}),
    ] {
        let (session, problems) = changed(&[1], |v| v["workspaces"][0]["switches"] = bad.clone());
        let switches = session.workspaces[0].switches;
        assert!(!switches.history && !switches.auto_resume && !switches.auto_continue, "{bad}");
        assert!(!problems.is_empty(), "{bad}");
    }
    // One that is missing has its usual value.
    let (session, problems) =
        changed(&[1], |v| v["workspaces"][0]["switches"] = json!({"auto_resume": true}));
    assert!(session.workspaces[0].switches.auto_resume && session.workspaces[0].switches.history);
    assert_eq!(problems, []);
}

#[test]
fn panes_of_an_unknown_tab_get_that_tab_back() {
    let (session, problems) = changed(&[1, 2], |v| v["tabs"] = json!([]));
    assert_eq!(session.tabs.len(), 1);
    assert_eq!(session.tabs[0].id, tab_id(1));
    assert_eq!(session.panes.len(), 2);
    assert!(problems.contains(&Problem::TabRecovered { tab: tab_id(1), panes: 2 }));
}

#[test]
fn tabs_of_an_unknown_workspace_get_that_workspace_back() {
    let (session, problems) = changed(&[1, 2], |v| v["workspaces"] = json!([]));
    assert_eq!(session.workspaces[0].id, workspace_id(1));
    assert_eq!(session.workspaces[0].active_tab, Some(tab_id(1)));
    assert_eq!(problems[0], Problem::WorkspaceRecovered { workspace: workspace_id(1) });
}

#[test]
fn panes_alone_are_enough() {
    let change = |v: &mut Value| {
        v["workspaces"] = json!([]);
        v["tabs"] = json!([]);
        v["panes"][1]["tab"] = json!("??");
    };
    let (session, _) = changed(&[1, 2, 3], change);
    assert_eq!((session.panes.len(), session.tabs.len(), session.workspaces.len()), (3, 2, 1));
    assert_eq!(session, changed(&[1, 2, 3], change).0, "the same file gives the same session");
}

#[test]
fn a_layout_that_cannot_be_read_is_made_anew() {
    for bad in ["v9:[x]", "", "v1:[", "v1:pane_7777777777777777"] {
        let (session, problems) = changed(&[1, 2], |v| v["tabs"][0]["layout"] = json!(bad));
        let expected: Layout<_> = format!("v1:[{}|{}]", pane_id(1), pane_id(2)).parse().unwrap();
        assert_eq!(session.tabs[0].layout, expected, "{bad:?}");
        assert!(matches!(problems[0], Problem::LayoutRepaired { .. }), "{problems:?}");
    }
}

#[test]
fn more_panes_than_a_tab_may_have_move_to_another_tab() {
    let (session, problems) = changed(&[1], |v| {
        let first = v["panes"][0].clone();
        for n in 0..600u32 {
            let mut pane = first.clone();
            let bytes = [&n.to_be_bytes()[..], &[9; 6]].concat();
            let id = signaltty_core::id::PaneId::from_random(bytes.try_into().unwrap());
            pane["id"] = json!(id.to_string());
            v["panes"].as_array_mut().unwrap().push(pane);
        }
    });
    assert_eq!(session.panes.len(), 601);
    assert_eq!(session.tabs.iter().map(|tab| tab.layout.len()).collect::<Vec<_>>(), [256, 256, 89]);
    assert!(problems.iter().any(|p| matches!(p, Problem::TabRecovered { .. })));
}

#[test]
fn second_records_with_one_id_are_left_out() {
    for list in ["panes", "tabs", "workspaces"] {
        let (session, problems) = changed(&[1], |v| {
            let first = v[list][0].clone();
            v[list].as_array_mut().unwrap().push(first);
        });
        assert_eq!((session.panes.len(), session.tabs.len(), session.workspaces.len()), (1, 1, 1));
        assert!(matches!(problems[..], [Problem::RecordLeftOut { index: 1, .. }]), "{problems:?}");
    }
}

#[test]
fn a_tab_without_panes_is_left_out() {
    let (session, problems) = changed(&[1], |v| {
        let mut tab = v["tabs"][0].clone();
        tab["id"] = json!(tab_id(2).to_string());
        v["tabs"].as_array_mut().unwrap().push(tab);
        v["workspaces"][0]["active_tab"] = json!(tab_id(2).to_string());
    });
    assert_eq!(session.workspaces[0].active_tab, Some(tab_id(1)));
    assert!(problems.contains(&Problem::TabLeftOut { tab: tab_id(2) }));
}

#[test]
fn handles_are_given_anew_where_they_are_missing_or_taken() {
    let (session, problems) = changed(&[1], |v| {
        let mut second = v["workspaces"][0].clone();
        second["id"] = json!(workspace_id(2).to_string());
        second["active_tab"] = json!(null);
        v["workspaces"].as_array_mut().unwrap().push(second);
    });
    let handles: Vec<_> = session.workspaces.iter().map(|w| &*w.handle).collect();
    assert_eq!(handles, ["api", "api-2"]);
    assert!(matches!(problems[..], [Problem::PartReplaced { part: "the handle", .. }]));
}

#[test]
fn unknown_fields_are_ignored() {
    let (_, problems) = changed(&[1], |v| {
        v["later"] = json!({"a": [1]});
        v["panes"][0]["later"] = json!("x");
        v["panes"][0]["agent"]["later"] = json!(1);
    });
    assert_eq!(problems, []);
}

#[test]
fn a_file_of_which_nothing_can_be_read_is_corrupt_and_not_empty() {
    let text = r#"{"snapshot_version":1,"generation":2,"workspaces":[1],"panes":[{}]}"#;
    let error = from_json(text.as_bytes()).unwrap_err();
    assert_eq!(error, DecodeError::Corrupt(Corruption::NothingUsable));
}
