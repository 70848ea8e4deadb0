//! Goes back to an older snapshot, by hand.
//!
//! The present one is kept first, and the older one is copied, never moved:
//! whatever was there is there afterwards, and this step has its own way back.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::SNAPSHOT;
use super::backup::{keep, newest_kept};
use super::rotation::{HistoryEntry, Stamp, history, keep_now};
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

/// Where the snapshot is that another one took the place of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replaced {
    /// Among the older ones: it can be gone back to by its number.
    Older(HistoryEntry),
    /// Under this name, since it could not be read whole.
    Aside(PathBuf),
}

impl Replaced {
    /// Where it is.
    pub fn path(&self) -> &Path {
        match self {
            Self::Older(entry) => &entry.path,
            Self::Aside(path) => path,
        }
    }
}

/// Puts an older snapshot in the place of the present one, and says where the
/// present one is kept. Holding `dir` means that no server runs.
///
/// # Errors
///
/// The present one is in place then.
pub fn restore<F: Fs>(
    dir: &StateDir<F>,
    generation: u64,
) -> Result<Option<Replaced>, RestoreError> {
    let old = older(dir, generation)?;
    let (present, newest) = present(dir)?;
    let place = dir.snapshot();
    let mut temporaries = Temporaries::with_prefix(place.prefix);
    let kept = match present {
        Some(Present { whole: Some(stamp), .. }) => {
            Some(Replaced::Older(keep_now(dir, &mut temporaries, stamp)?))
        }
        Some(Present { generation, .. }) => Some(Replaced::Aside(keep(dir, generation)?)),
        None => None,
    };
    let header = Header { generation: newest.max(generation).saturating_add(1), ..old.header };
    let bytes = to_json(&old.session, &header)?;
    let write = |error| SaveError::Write(dir.error("replace", SNAPSHOT)(error));
    temporaries.replace(place.fs, place.name, &[&bytes], Sync::Data).map_err(write)?;
    let sync = |error| SaveError::NotDurable(dir.error("sync", "")(error));
    place.fs.sync().map_err(sync)?;
    Ok(kept)
}

/// The present snapshot.
struct Present {
    generation: u64,
    /// Which it is, where it can be read whole.
    whole: Option<Stamp>,
}

/// The present snapshot, if there is one, and the newest number that is known.
fn present<F: Fs>(dir: &StateDir<F>) -> Result<(Option<Present>, u64), LoadError> {
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
    let whole = from_json(&bytes).ok().filter(|found| found.problems.is_empty());
    let whole = whole.map(|found| Stamp {
        generation: found.header.generation,
        saved_at: found.session.saved_at.0,
    });
    Ok((Some(Present { generation, whole }), newest_kept(dir).max(generation)))
}
