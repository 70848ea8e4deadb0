//! Reads the snapshot and says what it found (D-5).
//!
//! Only a missing file is a fresh start without a word. A damaged file is moved
//! aside first, so whatever is saved next cannot replace it. With an error no
//! file is changed, and there is no [`Store`](super::Store) that could save.

use std::io::ErrorKind;
use std::path::PathBuf;

use signaltty_core::saved::SavedSession;

use super::SNAPSHOT;
use super::backup::{keep, newest_kept, set_aside};
use super::problem::{Corruption, Problem};
use super::schema::{
    DecodeError, Decoded, MAX_BYTES, VERSION, check_version, from_json, generation_of,
};
use crate::dir::StateDir;
use crate::error::LoadError;
use crate::fs::{Content, Fs, read_bounded};

/// What was there.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Loaded {
    /// Nothing: this directory is new.
    Missing,
    /// A session.
    Snapshot {
        /// The session.
        session: SavedSession,
        /// Which save it is from.
        generation: u64,
        /// What is not as it was written. Empty for an untouched file.
        problems: Vec<Problem>,
        /// Where the file as it was found is kept, if there are problems.
        kept: Option<PathBuf>,
    },
    /// A file that cannot be used. It was moved to `backup`.
    Corrupt {
        /// Where it is now.
        backup: PathBuf,
        /// What is wrong with it.
        reason: Corruption,
    },
    /// A file without content, as a loss of power leaves. Moved to `backup`.
    EmptyFile {
        /// Where it is now.
        backup: PathBuf,
    },
}

/// Loads the snapshot of a state directory.
///
/// # Errors
///
/// Any error means that there may be a session which this program must not
/// replace.
pub fn load<F: Fs>(dir: &StateDir<F>) -> Result<Loaded, LoadError> {
    load_with_generation(dir).map(|(loaded, _)| loaded)
}

/// Also gives the newest generation that is known to have been used.
pub(super) fn load_with_generation<F: Fs>(dir: &StateDir<F>) -> Result<(Loaded, u64), LoadError> {
    let place = dir.snapshot();
    let mut file = match place.fs.open(place.name) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok((Loaded::Missing, newest_kept(dir)));
        }
        Err(error) => return Err(LoadError::Unreadable(dir.error("open", SNAPSHOT)(error))),
    };
    let content = read_bounded(&mut file, MAX_BYTES)
        .map_err(|error| LoadError::Unreadable(dir.error("read", SNAPSHOT)(error)))?;
    drop(file);
    let bytes = match &content {
        Content::Whole(bytes) | Content::Beginning(bytes) => bytes,
    };
    let decoded = match &content {
        Content::Whole(bytes) => from_json(bytes),
        Content::Beginning(bytes) => too_large(bytes),
    };
    let reason = match decoded {
        Ok(decoded) => {
            let newest = decoded.header.generation.max(newest_kept(dir));
            return Ok((snapshot(dir, decoded), newest));
        }
        Err(DecodeError::FutureVersion { found }) => {
            let path = dir.path().join(SNAPSHOT);
            return Err(LoadError::FutureVersion { found, supported: VERSION, path });
        }
        Err(DecodeError::Foreign) => {
            return Err(LoadError::Foreign { path: dir.path().join(SNAPSHOT) });
        }
        Err(DecodeError::Corrupt(reason)) => reason,
    };
    let generation = generation_of(bytes).unwrap_or(0);
    let backup = set_aside(dir, generation).map_err(LoadError::NotSetAside)?;
    let loaded = if bytes.is_empty() {
        Loaded::EmptyFile { backup }
    } else {
        Loaded::Corrupt { backup, reason }
    };
    Ok((loaded, newest_kept(dir)))
}

fn snapshot<F: Fs>(dir: &StateDir<F>, decoded: Decoded) -> Loaded {
    let Decoded { header, session, mut problems } = decoded;
    let kept = if problems.is_empty() {
        None
    } else {
        match keep(dir, header.generation) {
            Ok(path) => Some(path),
            // Without room for a copy the session is still better than none.
            Err(error) => {
                problems.push(Problem::CopyNotKept { why: error.to_string() });
                None
            }
        }
    };
    Loaded::Snapshot { session, generation: header.generation, problems, kept }
}

fn too_large(beginning: &[u8]) -> Result<Decoded, DecodeError> {
    match check_version(beginning) {
        Err(error @ DecodeError::FutureVersion { .. }) => Err(error),
        _ => Err(DecodeError::Corrupt(Corruption::TooLarge { limit: MAX_BYTES })),
    }
}
