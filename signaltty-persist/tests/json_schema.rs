//! The snapshot against its JSON Schema: what is written fits it, and it is not
//! so wide that anything would.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a failed step fails the test")]

mod common;

use std::sync::LazyLock;

use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::{Value, json};
use signaltty_persist::schema::{Header, from_json, json_schema, to_json};

use common::{arbitrary, session};

static SCHEMA: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::draft202012::new(&json_schema()).unwrap());

/// The schema with no room for members that it does not list.
static CLOSED: LazyLock<Validator> = LazyLock::new(|| {
    let mut schema = json_schema();
    close(&mut schema);
    jsonschema::draft202012::new(&schema).unwrap()
});

/// Objects that say what is in them have nothing else.
fn close(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(close),
        Value::Object(members) => {
            if members.contains_key("properties") {
                members.insert("additionalProperties".to_owned(), false.into());
            }
            members.values_mut().for_each(close);
        }
        _ => {}
    }
}

fn misfit(schema: &Validator, bytes: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(bytes).unwrap();
    schema.validate(&value).err().map(|error| format!("{error} at {}", error.instance_path()))
}

#[test]
fn s0_6_every_released_form_of_the_file_fits_the_schema() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
    let mut seen = 0;
    for file in std::fs::read_dir(dir).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        if from_json(&bytes).is_err() {
            continue;
        }
        seen += 1;
        assert_eq!(misfit(&CLOSED, &bytes), None, "{}", path.display());
    }
    assert!(seen >= 3, "{seen}");
}

proptest! {
    #[test]
    fn s0_6_what_is_written_fits_the_schema(session in arbitrary::session()) {
        let bytes = to_json(&session, &Header::default()).unwrap();
        prop_assert_eq!(misfit(&CLOSED, &bytes), None);
    }
}

/// Each of these is reported by a load, too.
#[test]
fn s0_6_what_a_load_complains_of_does_not_fit_the_schema() {
    let good = to_json(&session("api", &[1]), &Header::default()).unwrap();
    assert_eq!(misfit(&SCHEMA, &good), None);
    for (at, bad) in [
        ("/snapshot_version", json!(2)),
        ("/workspaces/0/id", json!("ws_1")),
        ("/workspaces/0/naming", json!("perhaps")),
        ("/tabs/0/area", json!({"cols": 120})),
        ("/panes/0/argv", json!("claude")),
        ("/panes/0/cwd", json!({"bytes": "xy"})),
        ("/panes/0/lifecycle", json!("asleep")),
        ("/panes/0/end/cause", json!("weather")),
        ("/panes/0/agent/conversation/anchor/extent/lines/sha256", json!("07")),
        ("/panes/0/agent/last_failure/code", json!("tired")),
        ("/notifications/0/severity", json!(3)),
    ] {
        let mut value: Value = serde_json::from_slice(&good).unwrap();
        *value.pointer_mut(at).unwrap_or_else(|| panic!("nothing at {at}")) = bad.clone();
        let bytes = value.to_string().into_bytes();
        assert!(misfit(&SCHEMA, &bytes).is_some(), "{at}: {bad} fits");
        // One problem is the checksum.
        let seen = from_json(&bytes).map(|decoded| decoded.problems.len());
        assert!(seen.is_err() || seen.is_ok_and(|problems| problems > 1), "{at}: {bad}");
    }
}

/// A later version may add members.
#[test]
fn s0_40_the_schema_takes_members_that_it_does_not_know() {
    let bytes = to_json(&session("api", &[1]), &Header::default()).unwrap();
    let mut value: Value = serde_json::from_slice(&bytes).unwrap();
    value["panes"][0]["colour"] = "red".into();
    assert_eq!(misfit(&SCHEMA, value.to_string().as_bytes()), None);
    assert!(misfit(&CLOSED, value.to_string().as_bytes()).is_some());
}

/// S0-12, S0-45, S0-53: the names of all members that can be saved.
#[test]
fn s0_12_s0_45_s0_53_the_schema_has_no_member_for_what_dies_with_the_server() {
    let mut names = Vec::new();
    members(&json_schema(), &mut names);
    assert!(names.contains(&"agent".to_owned()), "{names:?}");
    for name in names {
        for word in ["pid", "fd", "instance", "secret", "baseline", "zoom", "search", "prompt"] {
            assert!(!name.split('_').any(|part| part == word), "{name}");
        }
    }
}

fn members(schema: &Value, names: &mut Vec<String>) {
    match schema {
        Value::Array(items) => items.iter().for_each(|item| members(item, names)),
        Value::Object(parts) => {
            if let Some(Value::Object(own)) = parts.get("properties") {
                names.extend(own.keys().cloned());
            }
            parts.values().for_each(|part| members(part, names));
        }
        _ => {}
    }
}
