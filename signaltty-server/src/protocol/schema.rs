//! The protocol's JSON Schema, made from its types.
//!
//! Three members of the document go beyond what validators read: `methods` and
//! `events` say which type belongs to which name, since a reply does not repeat
//! its method, and `codes` says what each code means.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use super::method::{event_types, method_types};
use super::{EVENTS, MAX_REQUEST, METHODS, VERSION, code};

/// Takes the types of a table.
pub(super) trait Types {
    /// The parameters and the result of a method.
    fn method<P: JsonSchema, R: JsonSchema>(&mut self, name: &str);
    /// What an event says.
    fn event<P: JsonSchema>(&mut self, name: &str);
}

/// The schema of everything that goes over a connection as lines: requests,
/// replies and events.
///
/// What a server sends has no members but those it lists, in this version; a
/// client must take others, which a later version may add. What a server reads
/// may have others, which it ignores.
#[must_use]
pub fn schema() -> Value {
    let mut made = Made::new();
    method_types(&mut made);
    event_types(&mut made);
    made.finish()
}

struct Made {
    /// What a server reads: members with a default may be absent.
    asked: SchemaGenerator,
    /// What it sends: they are there.
    told: SchemaGenerator,
    methods: Map<String, Value>,
    events: Map<String, Value>,
}

impl Types for Made {
    fn method<P: JsonSchema, R: JsonSchema>(&mut self, name: &str) {
        let params = self.asked.subschema_for::<P>();
        let result = self.told.subschema_for::<R>();
        self.methods.insert(name.to_owned(), json!({"params": params, "result": result}));
    }

    fn event<P: JsonSchema>(&mut self, name: &str) {
        let payload = self.told.subschema_for::<P>();
        self.events.insert(name.to_owned(), payload.into());
    }
}

impl Made {
    fn new() -> Self {
        let settings = || SchemaSettings::draft2020_12();
        Self {
            asked: settings().for_deserialize().into_generator(),
            told: settings().for_serialize().into_generator(),
            methods: Map::new(),
            events: Map::new(),
        }
    }

    fn finish(mut self) -> Value {
        let mut defs = self.asked.take_definitions(true);
        for (name, schema) in self.told.take_definitions(true) {
            // A type that goes both ways has one form.
            defs.insert(name, schema);
        }
        defs.insert("Request".to_owned(), self.request());
        defs.insert("Reply".to_owned(), reply());
        defs.insert("Error".to_owned(), error());
        defs.insert("Event".to_owned(), self.event_line());
        let codes: Map<_, _> =
            code::ALL.iter().map(|(code, says)| ((*code).to_owned(), says.trim().into())).collect();
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": VERSION,
            "description": "One line of the protocol, without its line feed.",
            "anyOf": [reference("Request"), reference("Reply"), reference("Event")],
            "methods": self.methods,
            "events": self.events,
            "codes": codes,
            "$defs": defs,
        })
    }

    fn request(&self) -> Value {
        let each = METHODS.iter().map(|name| {
            let params = self.methods.get(*name).and_then(|method| method.get("params"));
            json!({"properties": {"method": {"const": name}, "params": params}})
        });
        json!({
            "description": format!(
                "A request, of at most {MAX_REQUEST} bytes. Without `params` there are none."
            ),
            "type": "object",
            "properties": {
                "v": {"const": VERSION},
                "id": {"type": "string", "description": "Given back with the reply."},
                "method": {"enum": METHODS},
                "params": {"type": ["object", "null"]},
            },
            "required": ["v", "id", "method"],
            "oneOf": each.collect::<Vec<_>>(),
        })
    }

    fn event_line(&self) -> Value {
        let each = EVENTS.iter().map(|name| {
            json!({"properties": {"event": {"const": name}, "payload": self.events.get(*name)}})
        });
        json!({
            "description": "An event. `events.missed` has no time; what has no `seq` is no cursor.",
            "type": "object",
            "properties": {
                "event": {"enum": EVENTS},
                "seq": {"type": "integer", "minimum": 1},
                "at": {"type": "string", "description": "When, in RFC 3339."},
                "payload": {"type": "object"},
            },
            "required": ["event", "payload"],
            "oneOf": each.collect::<Vec<_>>(),
        })
    }
}

fn reply() -> Value {
    let id =
        json!({"type": "string", "description": "The request's; `?` where it could not be read."});
    json!({
        "description": "A reply; `methods` says what the result of each method is.",
        "oneOf": [
            {
                "type": "object",
                "properties": {"id": id, "result": {"type": "object"}},
                "required": ["id", "result"],
                "additionalProperties": false,
            },
            {
                "type": "object",
                "properties": {"id": id, "error": reference("Error")},
                "required": ["id", "error"],
                "additionalProperties": false,
            },
        ],
    })
}

fn error() -> Value {
    let codes: Vec<_> = code::ALL.iter().map(|(code, _)| *code).collect();
    json!({
        "description": "Why a request was refused; nothing has changed then.",
        "type": "object",
        "properties": {
            "code": {"enum": codes},
            "message": {
                "type": "string",
                "description": "What happened, to what, and what to do next.",
            },
            "details": {"type": "object", "description": "More for scripts."},
        },
        "required": ["code", "message", "details"],
        "additionalProperties": false,
    })
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/$defs/{name}")})
}

impl JsonSchema for super::WireOs {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "OsText".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "description": "A text of the operating system, without a NUL byte; in hexadecimal \
                            digits where it is not UTF-8.",
            "oneOf": [
                {"type": "string"},
                {
                    "type": "object",
                    "properties": {"bytes": {"type": "string", "pattern": "^([0-9a-fA-F]{2})*$"}},
                    "required": ["bytes"],
                },
            ],
        })
    }
}
