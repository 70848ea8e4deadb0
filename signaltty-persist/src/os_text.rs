//! Text that the system does not promise to be UTF-8: paths, arguments, values.
//!
//! In JSON it is a string where it is UTF-8, else `{"bytes":"hex"}`, so it comes
//! back as it was and is readable wherever that is possible.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::de::{self, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A piece of such text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct OsText(pub(crate) OsString);

impl OsText {
    pub(crate) fn into_path(self) -> PathBuf {
        self.0.into()
    }
}

impl From<&OsStr> for OsText {
    fn from(text: &OsStr) -> Self {
        Self(text.to_owned())
    }
}

impl From<&Path> for OsText {
    fn from(path: &Path) -> Self {
        Self(path.into())
    }
}

impl Serialize for OsText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => serializer.serialize_str(text),
            None => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry(BYTES, &to_hex(self.0.as_bytes()))?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for OsText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = OsText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, or an object with hexadecimal \"bytes\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<OsText, E> {
        Ok(OsText(text.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OsText, A::Error> {
        let mut bytes = None;
        while let Some(key) = map.next_key::<String>()? {
            if key == BYTES {
                let text: Cow<'_, str> = map.next_value()?;
                let read = from_hex(&text);
                bytes = Some(read.ok_or_else(|| de::Error::custom("bytes are not hexadecimal"))?);
            } else {
                map.next_value::<de::IgnoredAny>()?;
            }
        }
        bytes
            .map(|bytes| OsText(OsString::from_vec(bytes)))
            .ok_or_else(|| de::Error::missing_field(BYTES))
    }
}

/// Lower-case hexadecimal.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Reads hexadecimal of an even length.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|d| u8::try_from(d).ok());
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => Some((digit(*high)? << 4) | digit(*low)?),
            _ => None,
        })
        .collect()
}

const BYTES: &str = "bytes";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_no_utf8_comes_back_as_it_was() {
        for bytes in [&b"plain"[..], b"", b"caf\xe9", b"\xff\x00", "日本".as_bytes()] {
            let text = OsText(OsString::from_vec(bytes.to_vec()));
            let json = serde_json::to_string(&text).unwrap();
            assert_eq!(serde_json::from_str::<OsText>(&json).unwrap(), text, "{json}");
        }
    }

    #[test]
    fn malformed_bytes_are_refused() {
        for json in [r#"{"bytes":"f"}"#, r#"{"bytes":"zz"}"#, "{}", "1", "null", r#"{"bytes":1}"#] {
            assert!(serde_json::from_str::<OsText>(json).is_err(), "{json}");
        }
    }
}
