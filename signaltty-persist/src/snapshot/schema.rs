//! A session as bytes, without IO.
//!
//! The header stands first, so a person sees at once what a file is, and the
//! checksum stands last. The version is looked for before anything else is
//! believed: a file of a newer version is recognised even if nothing else in it
//! can be understood, and even if it is damaged further on.

use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use signaltty_core::saved::SavedSession;
use signaltty_core::time::UnixMillis;

use super::assemble::assemble;
use super::convert::Reader;
use super::encode::{Content, intact};
use super::part::{Part, describe};
use super::problem::{Corruption, Problem};
use super::records::{NotificationV1, PaneV1, TabV1, WorkspaceV1};
use super::salvage::{self, LeftOut};
use crate::error::SaveError;

#[cfg(feature = "schema")]
pub use super::described::json_schema;

/// The version that is written, and the newest that can be read.
pub const VERSION: u32 = 1;

/// The most bytes that a snapshot may have.
pub const MAX_BYTES: usize = 64 * 1024 * 1024;

/// The most panes that a session may have (D-10).
pub const MAX_PANES: usize = 10_000;

/// What stands before the session in a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Header {
    /// Counts saves. Grows, also across restarts.
    pub generation: u64,
    /// The version of the program that wrote it.
    pub server_version: String,
    /// The version of the protocol that it spoke.
    pub protocol: u32,
}

/// A snapshot that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decoded {
    /// The header.
    pub header: Header,
    /// The session.
    pub session: SavedSession,
    /// What was wrong. Empty for a file that is as it was written.
    pub problems: Vec<Problem>,
}

/// Why bytes are not a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// A newer version of this program wrote it.
    #[error("version {found} is newer than version {VERSION}")]
    FutureVersion {
        /// The version that it says.
        found: u64,
    },
    /// Another program wrote it: it has a `version`, but neither our
    /// `snapshot_version` nor a `generation`.
    #[error("another program wrote it")]
    Foreign,
    /// It is damaged.
    #[error(transparent)]
    Corrupt(Corruption),
}

/// Writes a session. The newest notifications are kept, up to their limit.
///
/// # Errors
///
/// [`SaveError::Limit`] if it could not be read again.
pub fn to_json(session: &SavedSession, header: &Header) -> Result<Vec<u8>, SaveError> {
    Content::of(session)?.with_header(session, header)
}

/// Reads a session. Never panics, whatever the bytes are.
///
/// # Errors
///
/// Says why the bytes are not a snapshot that this version can read.
pub fn from_json(bytes: &[u8]) -> Result<Decoded, DecodeError> {
    check_version(bytes)?;
    let syntax = |why| DecodeError::Corrupt(Corruption::Syntax(why));
    let (file, left_out): (SnapshotV1, _) =
        salvage::record(bytes).map_err(|error| syntax(describe(&error)))?;
    // Without any pane there is nothing to come back to.
    if let Some(LeftOut { why, .. }) = left_out.iter().find(|found| found.member == "panes") {
        return Err(syntax(format!("its list of panes: {why}")));
    }
    let header = Header {
        generation: file.generation,
        server_version: file.server_version,
        protocol: file.protocol,
    };
    let mut problems = Vec::new();
    if !intact(bytes) {
        problems.push(Problem::EditedOrDamaged);
    }
    Reader::new(&mut problems).left_out("the file", left_out);
    let lists = Lists {
        workspaces: file.workspaces,
        tabs: file.tabs,
        panes: file.panes,
        notifications: file.notifications,
    };
    let mut session = assemble(lists, &mut problems).map_err(DecodeError::Corrupt)?;
    session.saved_at = UnixMillis(file.saved_at);
    session.journal_seq = file.journal_seq;
    Ok(Decoded { header, session, problems })
}

/// The records of a file, as read.
pub(super) struct Lists {
    pub(super) workspaces: Vec<Part<WorkspaceV1>>,
    pub(super) tabs: Vec<Part<TabV1>>,
    pub(super) panes: Vec<Part<PaneV1>>,
    pub(super) notifications: Vec<Part<NotificationV1>>,
}

/// A whole file of version 1. Its version and checksum are looked at before.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct SnapshotV1 {
    #[serde(default)]
    generation: u64,
    #[serde(default)]
    server_version: String,
    #[serde(default)]
    protocol: u32,
    #[serde(default)]
    journal_seq: u64,
    #[serde(default)]
    saved_at: u64,
    #[serde(default, deserialize_with = "salvage::list")]
    workspaces: Vec<Part<WorkspaceV1>>,
    #[serde(default, deserialize_with = "salvage::list")]
    tabs: Vec<Part<TabV1>>,
    #[serde(default, deserialize_with = "salvage::list")]
    panes: Vec<Part<PaneV1>>,
    #[serde(default, deserialize_with = "salvage::list")]
    notifications: Vec<Part<NotificationV1>>,
}

/// Decides from the top level alone whether the bytes are of a version that can
/// be read. They may be the beginning of a longer file.
pub(super) fn check_version(bytes: &[u8]) -> Result<(), DecodeError> {
    let (top, end) = TopLevel::of(bytes);
    let corrupt = |corruption| Err(DecodeError::Corrupt(corruption));
    match top.snapshot_version {
        Some(Some(found)) if found > u64::from(VERSION) => {
            Err(DecodeError::FutureVersion { found })
        }
        Some(Some(found)) if found == u64::from(VERSION) => Ok(()),
        Some(_) => corrupt(Corruption::NoVersion),
        None => match end {
            Err(error) => corrupt(Corruption::Syntax(describe(&error))),
            Ok(()) if top.version && top.generation.is_none() => Err(DecodeError::Foreign),
            Ok(()) => corrupt(Corruption::NoVersion),
        },
    }
}

/// The generation that bytes say, as far as they can be read.
pub(super) fn generation_of(bytes: &[u8]) -> Option<u64> {
    TopLevel::of(bytes).0.generation
}

/// What the top level of a file says of itself, as far as it could be read.
#[derive(Default)]
struct TopLevel {
    /// Empty inside if it is there but not a number.
    snapshot_version: Option<Option<u64>>,
    generation: Option<u64>,
    version: bool,
}

impl TopLevel {
    fn of(bytes: &[u8]) -> (Self, serde_json::Result<()>) {
        let mut found = Self::default();
        let mut json = serde_json::Deserializer::from_slice(bytes);
        let end = json.deserialize_map(Scan(&mut found)).and_then(|()| json.end());
        (found, end)
    }
}

struct Scan<'a>(&'a mut TopLevel);

impl<'de> Visitor<'de> for Scan<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "snapshot_version" => {
                    let value = version(map.next_value()?);
                    // Of several the greatest counts: the careful choice.
                    self.0.snapshot_version = self.0.snapshot_version.max(Some(value));
                }
                "generation" => self.0.generation = number(map.next_value()?),
                name => {
                    self.0.version |= name == "version";
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// A version in whatever form a later program may write it: one that is read as
/// none would be taken for damage.
fn version(raw: &RawValue) -> Option<u64> {
    let text: String = serde_json::from_str(raw.get()).unwrap_or_else(|_| raw.get().to_owned());
    let whole = text.parse().ok();
    // Past the largest number it is that one.
    let rounded = || text.parse::<f64>().ok().filter(|version| *version > f64::from(VERSION));
    whole.or_else(|| rounded().map(|version| version.ceil() as u64))
}

fn number(raw: &RawValue) -> Option<u64> {
    serde_json::from_str(raw.get()).ok()
}
