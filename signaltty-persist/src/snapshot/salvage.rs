//! What can be read of a record that cannot be read as a whole.
//!
//! One member of a wrong form costs that member and nothing beside it: the
//! record stays, with what is meant where the member is missing. Where that
//! would open something, a careful value takes the member's place.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::part::{Part, describe};
use super::records::{AgentV1, NotificationV1, PaneV1, TabV1, WorkspaceV1};
use super::schema::SnapshotV1;

/// A record of which some members may be unreadable.
pub(super) trait Salvage: DeserializeOwned {
    /// The member without which there is no record, if there is one.
    const KEY: Option<&'static str> = Some("id");

    /// What it is called in a report.
    fn called(&self) -> &str;

    /// What takes the place of a member that cannot be read; others are left
    /// out, as if they were missing.
    const CAREFUL: &'static [(&'static str, &'static str)] = &[];
}

/// Whose output must stay off the disk is not known, and neither is who may
/// start by itself.
impl Salvage for WorkspaceV1 {
    const CAREFUL: &'static [(&'static str, &'static str)] =
        &[("switches", r#"{"auto_resume":false,"auto_continue":false,"history":false}"#)];

    fn called(&self) -> &str {
        &self.id
    }
}

impl Salvage for TabV1 {
    fn called(&self) -> &str {
        &self.id
    }
}

/// It may have been an alarm.
impl Salvage for PaneV1 {
    const CAREFUL: &'static [(&'static str, &'static str)] = &[("attention", r#""warning""#)];

    fn called(&self) -> &str {
        &self.id
    }
}

/// Nothing may have been open: only what a person does reopens it.
impl Salvage for AgentV1 {
    const KEY: Option<&'static str> = Some("kind");
    const CAREFUL: &'static [(&'static str, &'static str)] = &[("place", r#""left""#)];

    fn called(&self) -> &str {
        &self.kind
    }
}

impl Salvage for NotificationV1 {
    fn called(&self) -> &str {
        &self.id
    }
}

impl Salvage for SnapshotV1 {
    const KEY: Option<&'static str> = None;

    fn called(&self) -> &str {
        "the file"
    }
}

/// A member that could not be read, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LeftOut {
    pub(super) member: String,
    pub(super) why: String,
}

/// A record, read as a whole or member by member.
pub(super) fn record<T: Salvage>(json: &[u8]) -> serde_json::Result<(T, Vec<LeftOut>)> {
    let error = match serde_json::from_slice(json) {
        Ok(record) => return Ok((record, Vec::new())),
        Err(error) => error,
    };
    let Ok(found) = serde_json::from_slice::<BTreeMap<String, &RawValue>>(json) else {
        return Err(error);
    };
    let key = T::KEY.and_then(|key| Some((key.to_owned(), *found.get(key)?)));
    let mut kept: BTreeMap<String, &RawValue> = key.into_iter().collect();
    let (whole, mut left_out) = (kept.clone(), Vec::new());
    let fits = |members: &BTreeMap<String, &RawValue>| {
        serde_json::from_slice::<T>(&serde_json::to_vec(members)?)
    };
    for (member, value) in found {
        let mut alone = whole.clone();
        alone.insert(member.clone(), value);
        match fits(&alone) {
            Ok(_) => drop(kept.insert(member, value)),
            Err(why) => {
                let careful = T::CAREFUL.iter().find(|(name, _)| *name == member);
                if let Some((_, careful)) = careful {
                    kept.insert(member.clone(), serde_json::from_str(careful)?);
                }
                left_out.push(LeftOut { member, why: describe(&why) });
            }
        }
    }
    // Each by itself is right, such as one that is there twice.
    if left_out.is_empty() {
        return Err(error);
    }
    Ok((fits(&kept)?, left_out))
}

/// For a member that is such a record and may be missing.
pub(super) fn maybe<'de, T: Salvage, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Part<T>>, D::Error> {
    let raw = <Option<&RawValue>>::deserialize(deserializer)?;
    Ok(raw.map(of))
}

/// For a list of such records.
pub(super) fn list<'de, T: Salvage, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Part<T>>, D::Error> {
    let raw = <Vec<&RawValue>>::deserialize(deserializer)?;
    Ok(raw.into_iter().map(of).collect())
}

fn of<T: Salvage>(raw: &RawValue) -> Part<T> {
    match record(raw.get().as_bytes()) {
        Ok((record, left_out)) if left_out.is_empty() => Part::Read(record),
        Ok((record, left_out)) => Part::Salvaged(record, left_out),
        Err(error) => Part::Unreadable(describe(&error)),
    }
}
