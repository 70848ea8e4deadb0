//! Keeps files aside under `corrupt/`, never over an earlier one.
//!
//! A second name for the same file is enough, and it can be neither torn nor
//! overwritten. Where the file system has no links the bytes are copied.

use std::io;
use std::io::ErrorKind;
use std::path::PathBuf;

use super::SNAPSHOT;
use super::rotation::SNAPSHOTS;
use crate::dir::StateDir;
use crate::error::PathError;
use crate::fs::{Fs, FsFile, ensure_dir, write_all};

/// Moves the snapshot aside. It is under its new name before the old one goes.
pub(super) fn set_aside<F: Fs>(dir: &StateDir<F>, generation: u64) -> Result<PathBuf, PathError> {
    let backup = keep(dir, generation)?;
    let place = dir.snapshot();
    place.fs.remove(place.name).map_err(dir.error("remove", SNAPSHOT))?;
    place.fs.sync().map_err(dir.error("sync", ""))?;
    Ok(backup)
}

/// Keeps the snapshot as it is now under a second name, and leaves it in place.
/// A file that is kept already is not kept twice.
pub(super) fn keep<F: Fs>(dir: &StateDir<F>, generation: u64) -> Result<PathBuf, PathError> {
    let (corrupt, made) = ensure_dir(dir.fs(), CORRUPT).map_err(dir.error("make", CORRUPT))?;
    if made {
        dir.fs().sync().map_err(dir.error("sync", ""))?;
    }
    let names = corrupt.names().map_err(dir.error("list", CORRUPT))?;
    let place = dir.snapshot();
    let mut original = place.fs.open(place.name).map_err(dir.error("open", SNAPSHOT))?;
    let identity = original.identity().map_err(dir.error("look at", SNAPSHOT))?;
    for name in &names {
        let same = corrupt.open(name).and_then(|file| file.identity());
        if same.is_ok_and(|other| other == identity) {
            return Ok(dir.path().join(CORRUPT).join(name));
        }
    }
    for n in 1..=MAX_BACKUPS {
        let name = format!("{generation}-{n}.json");
        if names.contains(&name) {
            continue;
        }
        let path = PathBuf::from(CORRUPT).join(&name);
        let kept = match place.fs.link(place.name, &corrupt, &name) {
            Err(error) if no_links(&error) => copy(&mut original, &corrupt, &name),
            kept => kept,
        };
        match kept {
            Ok(()) => {
                corrupt.sync().map_err(dir.error("sync", CORRUPT))?;
                return Ok(dir.path().join(path));
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(dir.error("keep a copy as", path)(error)),
        }
    }
    Err(dir.error("find a free name in", CORRUPT)(ErrorKind::AlreadyExists.into()))
}

/// The greatest generation of which any file is kept.
pub(super) fn newest_kept<F: Fs>(dir: &StateDir<F>) -> u64 {
    let names = |place| dir.fs().dir(place).and_then(|kept| kept.names()).unwrap_or_default();
    let names = [CORRUPT, SNAPSHOTS].into_iter().flat_map(names);
    names.filter_map(|name| name.split_once('-')?.0.parse().ok()).max().unwrap_or(0)
}

fn copy<F: Fs>(original: &mut F::File, target: &F, name: &str) -> io::Result<()> {
    let mut file = target.create(name)?;
    let mut buffer = vec![0; 64 * 1024];
    let copied = loop {
        match original.read(&mut buffer) {
            Ok(0) => break file.sync_data(),
            Ok(count) => {
                let part = buffer.get(..count).unwrap_or_default();
                if let Err(error) = write_all(&mut file, part) {
                    break Err(error);
                }
            }
            Err(error) => break Err(error),
        }
    };
    if copied.is_err() {
        // Half a copy is worth less than the error that is reported.
        let _ = target.remove(name);
    }
    copied
}

/// Whether this file system, or this file, takes no second name.
pub(super) fn no_links(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(
        Errno::from_io_error(error),
        Some(Errno::PERM | Errno::XDEV | Errno::MLINK | Errno::OPNOTSUPP | Errno::NOSYS)
    )
}

pub(crate) const CORRUPT: &str = "corrupt";
const MAX_BACKUPS: u32 = 100_000;
