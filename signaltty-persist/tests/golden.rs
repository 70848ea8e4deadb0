//! The format as it was released. A fixture is never edited: a change of the
//! format adds one.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed step fails the test"
)]

mod common;

use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use signaltty_core::pane::{Attention, Lifecycle};
use signaltty_core::saved::SavedSession;
use signaltty_core::workspace::{DEFAULT_AREA, Naming, Switches};
use signaltty_persist::schema::{Header, from_json, to_json};

use common::{pane_id, session, tab_id};

const V1: &str = include_str!("fixtures/v1.json");
const V1_TURNS: &str = include_str!("fixtures/v1-turns.json");
const V1_MINIMAL: &str = include_str!("fixtures/v1-minimal.json");

fn header() -> Header {
    Header { generation: 42, server_version: "0.1.0".into(), protocol: 1 }
}

fn golden() -> SavedSession {
    let mut session = session("My API", &[1, 2, 3]);
    let pane = Arc::make_mut(&mut session.panes[2]);
    pane.cwd = std::ffi::OsStr::from_bytes(b"/home/user/caf\xe9").into();
    pane.agent = None;
    pane.end = None;
    pane.last_message = None;
    session
}

#[test]
fn s0_6_golden_the_format_of_version_1_is_as_it_was() {
    let written = String::from_utf8(to_json(&golden(), &header()).unwrap()).unwrap();
    assert_eq!(written, V1);
    let decoded = from_json(V1.as_bytes()).unwrap();
    assert_eq!(decoded.problems, []);
    assert_eq!((decoded.session, decoded.header), (golden(), header()));
}

/// Turns came after the first files of version 1, which stay as they are.
#[test]
fn s0_40_turns_are_written_where_there_are_any_and_read_again() {
    let mut session = golden();
    assert_eq!(from_json(V1.as_bytes()).unwrap().session, session);
    let agent = Arc::make_mut(&mut session.panes[0]).agent.as_mut().unwrap();
    agent.turns.begin();
    agent.turns.begin();
    agent.turns.plan();
    let written = String::from_utf8(to_json(&session, &header()).unwrap()).unwrap();
    assert_eq!(written, V1_TURNS);
    let decoded = from_json(V1_TURNS.as_bytes()).unwrap();
    assert_eq!((decoded.session, decoded.problems), (session, vec![]));
}

#[test]
fn row_d04_a_cleared_or_malformed_marker_counts_as_none() {
    let good = r#""marker":{"turn":2,"origin":"planned","prepared":false}"#;
    assert!(V1_TURNS.contains(good));
    for (bad, problems) in [
        (r#""marker":null"#, 0),
        (r#""marker":"2""#, 1),
        (r#""marker":{"turn":0,"origin":"planned"}"#, 1),
        (r#""marker":{"turn":2,"origin":"someone"}"#, 1),
        (r#""marker":{"turn":9,"origin":"planned"}"#, 0),
        (r#""markre":{}"#, 0),
    ] {
        let decoded = from_json(V1_TURNS.replace(good, bad).as_bytes()).unwrap();
        let agent = decoded.session.panes[0].agent.as_ref().unwrap();
        assert_eq!(agent.turns.marker(), None, "{bad}");
        assert_eq!(agent.turns.active().map(|turn| turn.get()), Some(2), "{bad}");
        // One more says that the checksum does not fit.
        assert_eq!(decoded.problems.len(), problems + 1, "{bad}: {:?}", decoded.problems);
    }
}

#[test]
fn s0_6_the_header_stands_first_and_the_checksum_last() {
    let start = concat!(
        r#"{"snapshot_version":1,"generation":42,"server_version":"0.1.0","protocol":1,"#,
        r#""journal_seq":12,"saved_at":1700000000000,"workspaces":["#,
    );
    assert!(V1.starts_with(start));
    let (covered, end) = V1.split_at(V1.rfind(",\"crc\":\"").unwrap());
    assert_eq!(end, format!(",\"crc\":\"{:08x}\"}}\n", crc32fast::hash(covered.as_bytes())));
    assert_eq!(V1.lines().count(), 1);
}

#[test]
fn s0_40_s0_57_c023_fields_that_are_missing_have_their_defaults() {
    let decoded = from_json(V1_MINIMAL.as_bytes()).unwrap();
    assert_eq!(decoded.problems, []);
    assert_eq!(decoded.header, Header { generation: 1, ..Header::default() });
    let [workspace] = &decoded.session.workspaces[..] else { panic!("one workspace") };
    assert_eq!(workspace.naming, Naming::Manual);
    assert_eq!(workspace.switches, Switches::default());
    let [tab] = &decoded.session.tabs[..] else { panic!("one tab") };
    assert_eq!((tab.id, tab.active_pane, tab.area), (tab_id(1), pane_id(1), DEFAULT_AREA));
    let [pane] = &decoded.session.panes[..] else { panic!("one pane") };
    assert_eq!(pane.lifecycle, Lifecycle::Unknown);
    assert_eq!(pane.attention, Attention::None);
    assert_eq!((&pane.agent, pane.end, pane.size), (&None, None, DEFAULT_AREA));
    assert_eq!(pane.env.iter().count() + pane.argv.len(), 0);
}

#[test]
fn s0_12_the_format_has_no_place_for_what_dies_with_the_server() {
    for word in ["pid", "\"fd", "instance", "launch", "socket", "permission_wait", "prompt"] {
        assert!(!V1.contains(word), "{word}");
    }
}
