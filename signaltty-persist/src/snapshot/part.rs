//! A part of a file that may be unreadable without making the rest so.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::salvage::LeftOut;

/// A part that was read, or why it was not.
#[derive(Debug, Clone)]
pub(super) enum Part<T> {
    /// It is well-formed.
    Read(T),
    /// It is without these members, which could not be read.
    Salvaged(T, Vec<LeftOut>),
    /// It is JSON, but not this.
    Unreadable(String),
}

impl<T: Default> Default for Part<T> {
    fn default() -> Self {
        Self::Read(T::default())
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Part<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Finding the end of the part needs no recursion, so one that is too
        // deep is merely unreadable.
        let raw = <&RawValue>::deserialize(deserializer)?;
        Ok(match serde_json::from_str(raw.get()) {
            Ok(value) => Self::Read(value),
            Err(error) => Self::Unreadable(describe(&error)),
        })
    }
}

impl<T: Serialize> Serialize for Part<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Read(value) | Self::Salvaged(value, _) => value.serialize(serializer),
            Self::Unreadable(_) => serializer.serialize_none(),
        }
    }
}

/// What a parser says, unless that quotes the file: values may be secret, and
/// problems are logged.
pub(super) fn describe(error: &serde_json::Error) -> String {
    let text = error.to_string();
    if text.contains('"') {
        format!("wrong form at line {} column {}", error.line(), error.column())
    } else {
        text
    }
}
