//! Small files of one sealed JSON object, replaced whole.

use std::io;
use std::io::ErrorKind;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::error::JournalError;
use super::sealed::{seal, unseal_file};
use crate::dir::StateDir;
use crate::fs::{Content, Fs, read_bounded};
use crate::replace::{Sync, Temporaries};

/// What a small file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Small<T> {
    Missing,
    /// Not what was written.
    Damaged,
    /// Of a format that this program does not know.
    Future(u64),
    Read(T),
}

impl<T> Small<T> {
    pub(super) fn value(&self) -> Option<&T> {
        match self {
            Self::Read(value) => Some(value),
            _ => None,
        }
    }

    /// Takes what is not believable for damaged.
    pub(super) fn believed(self, sound: impl FnOnce(&T) -> bool) -> Self {
        match self {
            Self::Read(value) if !sound(&value) => Self::Damaged,
            other => other,
        }
    }

    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Damaged => "damaged",
            Self::Future(_) => "future",
            Self::Read(_) => "ok",
        }
    }
}

pub(super) fn read<F: Fs, T: DeserializeOwned>(fs: &F, name: &str) -> io::Result<Small<T>> {
    let mut file = match fs.open(name) {
        Ok(file) => file,
        Err(error) => {
            return match error.kind() {
                ErrorKind::NotFound => Ok(Small::Missing),
                ErrorKind::InvalidInput => Ok(Small::Damaged),
                _ => Err(error),
            };
        }
    };
    let Content::Whole(bytes) = read_bounded(&mut file, LIMIT)? else {
        return Ok(Small::Damaged);
    };
    let Some(line) = unseal_file(&bytes) else {
        return Ok(Small::Damaged);
    };
    if let Ok(Head { format }) = serde_json::from_slice(line)
        && format > 1
    {
        return Ok(Small::Future(format));
    }
    Ok(serde_json::from_slice(line).map_or(Small::Damaged, Small::Read))
}

pub(super) fn write<F: Fs>(
    dir: &StateDir<F>,
    temporaries: &mut Temporaries,
    name: &str,
    value: &impl Serialize,
    sync: Sync,
) -> Result<(), JournalError> {
    let bytes = encode(value);
    temporaries.replace(dir.fs(), name, &[&bytes], sync).map_err(dir.error("write", name))?;
    Ok(dir.fs().sync().map_err(dir.error("sync", ""))?)
}

pub(super) fn encode(value: &impl Serialize) -> Vec<u8> {
    // Plain records of numbers and short texts; they cannot fail. Were one to,
    // the file would be read as damaged, which fails closed.
    let mut bytes = serde_json::to_vec(value).unwrap_or_default();
    bytes.pop();
    seal(&mut bytes, 0);
    bytes
}

#[derive(Deserialize)]
struct Head {
    format: u64,
}

const LIMIT: usize = 1024 * 1024;
