//! Goes back to an older snapshot, by hand.
//!
//! The present one is kept aside first, under a name that is not taken, and the
//! older one is copied, never moved: whatever was there is there afterwards.

use std::io::ErrorKind;
use std::path::PathBuf;

use super::SNAPSHOT;
use super::backup::{keep, newest_kept};
use super::rotation::history;
use super::schema::{
    DecodeError, Decoded, Header, MAX_BYTES, check_version, from_json, generation_of, to_json,
};
use crate::dir::StateDir;
use crate::error::{LoadError, PathError, RestoreError, SaveError};
use crate::fs::{Content, Fs, read_bounded};
use crate::replace::{Sync, Temporaries};

/// Reads an older snapshot by its number, as [`history`] lists it.
///
/// # Errors
///
/// When there is none, or it cannot be read.
pub fn older<F: Fs>(dir: &StateDir<F>, generation: u64) -> Result<Decoded, RestoreError> {
    let entries = history(dir)?;
    let entry = entries.into_iter().rev().find(|entry| entry.generation == generation);
    let entry = entry.ok_or(RestoreError::Missing { generation })?;
    let name = entry.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let read = || {
        let mut file = dir.fs().dir(super::rotation::SNAPSHOTS)?.open(&name)?;
        read_bounded(&mut file, MAX_BYTES)
    };
    let bytes = match read().map_err(dir.error("read", &entry.path))? {
        Content::Whole(bytes) => bytes,
        Content::Beginning(_) => {
            return Err(dir.error("read", &entry.path)(ErrorKind::FileTooLarge.into()).into());
        }
    };
    from_json(&bytes).map_err(|source| RestoreError::Unusable { path: entry.path, source })
}

/// Puts an older snapshot in the place of the present one, and says where the
/// present one is kept. Holding `dir` means that no server runs.
///
/// # Errors
///
/// The present one is in place then.
pub fn restore<F: Fs>(dir: &StateDir<F>, generation: u64) -> Result<Option<PathBuf>, RestoreError> {
    let old = older(dir, generation)?;
    let (present, newest) = present(dir)?;
    let kept = match present {
        Some(present) => Some(keep(dir, present)?),
        None => None,
    };
    let header = Header { generation: newest.max(generation).saturating_add(1), ..old.header };
    let bytes = to_json(&old.session, &header)?;
    let write = |error| SaveError::Write(dir.error("replace", SNAPSHOT)(error));
    let place = dir.snapshot();
    Temporaries::with_prefix(place.prefix)
        .replace(place.fs, place.name, &[&bytes], Sync::Data)
        .map_err(write)?;
    let sync = |error| SaveError::NotDurable(dir.error("sync", "")(error));
    place.fs.sync().map_err(sync)?;
    Ok(kept)
}

/// The number of the present snapshot, if there is one, and the newest known.
fn present<F: Fs>(dir: &StateDir<F>) -> Result<(Option<u64>, u64), LoadError> {
    let unreadable = |error: PathError| LoadError::Unreadable(error);
    let place = dir.snapshot();
    let mut file = match place.fs.open(place.name) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok((None, newest_kept(dir))),
        Err(error) => return Err(unreadable(dir.error("open", SNAPSHOT)(error))),
    };
    let content = read_bounded(&mut file, MAX_BYTES)
        .map_err(|error| unreadable(dir.error("read", SNAPSHOT)(error)))?;
    let (Content::Whole(bytes) | Content::Beginning(bytes)) = content;
    let path = dir.path().join(SNAPSHOT);
    match check_version(&bytes) {
        Err(DecodeError::FutureVersion { found }) => {
            return Err(LoadError::FutureVersion {
                found,
                supported: super::schema::VERSION,
                path,
            });
        }
        Err(DecodeError::Foreign) => return Err(LoadError::Foreign { path }),
        Err(DecodeError::Corrupt(_)) | Ok(()) => {}
    }
    let generation = generation_of(&bytes).unwrap_or(0);
    Ok((Some(generation), newest_kept(dir).max(generation)))
}
