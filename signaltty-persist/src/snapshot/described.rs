//! The JSON Schema of the file, made from its records.

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};
use signaltty_core::agent::{AgentPlace, MarkerOrigin};
use signaltty_core::notification::Severity;
use signaltty_core::pane::{Attention, Lifecycle};
use signaltty_core::restore::FailureCode;
use signaltty_core::workspace::Naming;

use super::convert::{PROCESS, SHUTDOWN, USER};
use super::part::Part;
use super::schema::{SnapshotV1, VERSION};
use crate::os_text::OsText;

/// The JSON Schema of a snapshot of version 1 (feature `schema`).
///
/// Members that a file of version 1 may lack are not required: those that came
/// after its first release, and those that have a default. What is not in it is
/// ignored by a load, and nothing here writes it. A load takes more than this: a
/// record of a wrong form is left out or set to its default, and reported.
#[must_use]
pub fn json_schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().for_deserialize().into_generator();
    let mut file = generator.root_schema_for::<SnapshotV1>().to_value();
    let Some(root) = file.as_object_mut() else {
        return file;
    };
    root.insert("title".to_owned(), format!("signaltty snapshot {VERSION}").into());
    root.insert(
        "description".to_owned(),
        "The file snapshot.json. Times are milliseconds since 1970.".into(),
    );
    root.insert("required".to_owned(), json!(["snapshot_version"]));
    if let Some(members) = root.get_mut("properties").and_then(Value::as_object_mut) {
        members.insert("snapshot_version".to_owned(), json!({"const": VERSION}));
        let crc = json!({
            "description": "CRC-32 (ISO-HDLC) of all bytes before the comma in front of it.",
            "type": "string",
            "pattern": "^[0-9a-f]{8}$",
        });
        members.insert("crc".to_owned(), crc);
    }
    file
}

impl<T: JsonSchema> JsonSchema for Part<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

impl JsonSchema for OsText {
    fn schema_name() -> Cow<'static, str> {
        "OsText".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "description": "A text of the operating system; in hexadecimal digits where it is \
                            not UTF-8.",
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

/// Words of an enumeration of the core, as this version writes them.
macro_rules! words {
    ($($name:ident: $of:ty;)*) => {$(
        pub(super) fn $name(_: &mut SchemaGenerator) -> Schema {
            one_of(<$of>::ALL.iter().map(|word| word.as_str()))
        }
    )*};
}

words! {
    naming: Naming;
    lifecycle: Lifecycle;
    attention: Attention;
    place: AgentPlace;
    origin: MarkerOrigin;
    code: FailureCode;
    severity: Severity;
}

pub(super) fn cause(_: &mut SchemaGenerator) -> Schema {
    one_of([USER, PROCESS, SHUTDOWN].into_iter())
}

fn one_of(words: impl Iterator<Item = &'static str>) -> Schema {
    schemars::json_schema!({"enum": words.collect::<Vec<_>>()})
}
