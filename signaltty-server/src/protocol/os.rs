//! Paths and arguments, which need not be UTF-8.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A text of the operating system: a JSON string where it is UTF-8, else
/// `{"bytes":"…"}` with hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WireOs(pub OsString);

impl WireOs {
    /// As a path.
    pub fn as_path(&self) -> &Path {
        Path::new(&self.0)
    }

    /// As a path.
    pub fn into_path(self) -> PathBuf {
        PathBuf::from(self.0)
    }
}

impl From<&OsStr> for WireOs {
    fn from(text: &OsStr) -> Self {
        Self(text.to_owned())
    }
}

impl From<&Path> for WireOs {
    fn from(path: &Path) -> Self {
        Self(path.as_os_str().to_owned())
    }
}

impl From<&str> for WireOs {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

#[derive(Serialize, Deserialize)]
struct Bytes {
    bytes: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Either {
    Text(String),
    Bytes(Bytes),
}

impl Serialize for WireOs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(text) = self.0.to_str() {
            return serializer.serialize_str(text);
        }
        let bytes = self.0.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        Bytes { bytes }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for WireOs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = match Either::deserialize(deserializer)? {
            Either::Text(text) => OsString::from(text),
            Either::Bytes(Bytes { bytes }) => {
                let wrong =
                    || serde::de::Error::custom("`bytes` must be pairs of hexadecimal digits");
                OsString::from_vec(unhex(&bytes).ok_or_else(wrong)?)
            }
        };
        if text.as_bytes().contains(&0) {
            return Err(serde::de::Error::custom("a NUL byte cannot be passed to a program"));
        }
        Ok(Self(text))
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_bytes_round_trip() {
        for bytes in [&b"plain"[..], b"", b"not \xff utf-8", "日本".as_bytes()] {
            let value = WireOs(OsString::from_vec(bytes.to_vec()));
            let json = serde_json::to_string(&value).unwrap();
            assert_eq!(serde_json::from_str::<WireOs>(&json).unwrap(), value, "{json}");
        }
        for bad in [r#"{"bytes":"f"}"#, r#"{"bytes":"zz"}"#, r#""a\u0000b""#, "3"] {
            assert!(serde_json::from_str::<WireOs>(bad).is_err(), "{bad}");
        }
    }
}
