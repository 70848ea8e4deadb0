//! Whatever a server sends and saves is what the published schemas say, and what
//! it takes is what they allow: every test that has one looks.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};
use signaltty_persist::schema::{from_json, json_schema};
use signaltty_server::protocol::schema;

/// A longer line is not looked at: in a test of many panes it would take longer
/// than what is tested.
const MOST: usize = 256 * 1024;

/// The schema with no room for members that it does not list.
static CLOSED: LazyLock<Value> = LazyLock::new(|| {
    let mut schema = schema();
    close(&mut schema);
    schema
});

static SNAPSHOT: LazyLock<Validator> = LazyLock::new(|| {
    let mut schema = json_schema();
    close(&mut schema);
    jsonschema::draft202012::new(&schema).unwrap()
});

static MADE: LazyLock<Mutex<BTreeMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);

/// A reply to a request of which the method and the parameters are known, where
/// they are.
pub fn reply(request: Option<&(String, Value)>, line: &str) {
    if line.len() > MOST {
        return;
    }
    let reply: Value = serde_json::from_str(line).unwrap();
    check("#/$defs/Reply", &reply);
    if let (Some((method, params)), Some(result)) = (request, reply.get("result")) {
        check(&format!("#/methods/{method}/result"), result);
        let params = if params.is_null() { &json!({}) } else { params };
        check(&format!("#/methods/{method}/params"), params);
    }
}

/// An event.
pub fn event(line: &str) {
    if line.len() <= MOST {
        check("#/$defs/Event", &serde_json::from_str(line).unwrap());
    }
}

/// A snapshot that a server wrote, and nobody changed since.
pub fn snapshot(bytes: &[u8]) {
    let as_written = |bytes| from_json(bytes).is_ok_and(|decoded| decoded.problems.is_empty());
    if bytes.len() > MOST || !as_written(bytes) {
        return;
    }
    let value = serde_json::from_slice(bytes).unwrap();
    if let Err(error) = SNAPSHOT.validate(&value) {
        panic!("the snapshot does not fit: {error} at {}\n{value:#}", error.instance_path());
    }
}

/// Whether a part of the schema fits a value, and if not, why.
pub fn fits(part: &str, value: &Value) -> Result<(), String> {
    let validator = {
        let mut made = MADE.lock().unwrap();
        let make = || {
            // What clients send may have more members than a server knows.
            let mut root = if part.ends_with("/params") { schema() } else { CLOSED.clone() };
            root.as_object_mut().unwrap().remove("anyOf");
            root["$ref"] = part.into();
            Arc::new(jsonschema::draft202012::new(&root).unwrap())
        };
        Arc::clone(made.entry(part.to_owned()).or_insert_with(make))
    };
    validator.validate(value).map_err(|error| format!("{} at {}", error, error.instance_path()))
}

#[track_caller]
fn check(part: &str, value: &Value) {
    if let Err(why) = fits(part, value) {
        let shown: String = value.to_string().chars().take(2_000).collect();
        panic!("{part} does not fit: {why}\n{shown}");
    }
}

/// Objects that say what is in them have nothing else.
fn close(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(close),
        Value::Object(members) => {
            let whole = members.get("type").is_some_and(|kind| kind == "object");
            if whole && members.contains_key("properties") && !members.contains_key("oneOf") {
                members.entry("additionalProperties").or_insert(false.into());
            }
            members.values_mut().for_each(close);
        }
        _ => {}
    }
}
