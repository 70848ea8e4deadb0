//! Older snapshots under `snapshots/`: at most 48, one in 15 minutes.
//!
//! A snapshot is kept when it is about to be replaced, by a second name for the
//! same file, which cannot be torn. Order is by generation and distance by
//! monotonic time, so a clock that jumps neither evicts nor adds any (C017).
//! Empty sessions are not kept.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use signaltty_core::time::UnixMillis;

use super::SNAPSHOT;
use super::backup::no_links;
use super::schema::MAX_BYTES;
use crate::dir::StateDir;
use crate::error::PathError;
use crate::fs::{Content, Fs, FsFile, ensure_dir, read_bounded};
use crate::replace::{Sync, Temporaries};

/// How many older snapshots are kept.
pub(super) const KEPT: usize = 48;

/// The least time between two that are kept.
pub(super) const INTERVAL: Duration = Duration::from_secs(15 * 60);

/// An older snapshot.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct HistoryEntry {
    /// Which save it is from.
    pub generation: u64,
    /// When that was, by the wall clock of that time.
    pub saved_at: UnixMillis,
    /// Where it is.
    pub path: PathBuf,
}

/// Lists the older snapshots that are kept, the oldest first.
///
/// # Errors
///
/// If the directory cannot be read.
pub fn history<F: Fs>(dir: &StateDir<F>) -> Result<Vec<HistoryEntry>, PathError> {
    let names = match dir.fs().dir(SNAPSHOTS).and_then(|kept| kept.names()) {
        Ok(names) => names,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(dir.error("list", SNAPSHOTS)(error)),
    };
    Ok(entries(&names)
        .into_iter()
        .map(|(stamp, name)| HistoryEntry {
            generation: stamp.generation,
            saved_at: UnixMillis(stamp.saved_at),
            path: dir.path().join(SNAPSHOTS).join(name),
        })
        .collect())
}

/// Which snapshot a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stamp {
    pub(super) generation: u64,
    pub(super) saved_at: u64,
}

/// When a snapshot was kept last.
#[derive(Debug, Default)]
pub(super) struct Rotation {
    last: Option<Duration>,
}

impl Rotation {
    /// Keeps the snapshot that is in place, if it is time to, and says whether
    /// it did. `synced` says that its content is durable already.
    pub(super) fn keep<F: Fs>(
        &mut self,
        dir: &StateDir<F>,
        temporaries: &mut Temporaries,
        current: Stamp,
        synced: bool,
        now: Duration,
    ) -> Result<bool, PathError> {
        if self.last.is_some_and(|last| now.saturating_sub(last) < INTERVAL) {
            return Ok(false);
        }
        let kept = place_of_history(dir)?;
        // Of an earlier process only the wall clock is known. Many restarts
        // within one interval must not push out what is older.
        let names = kept.names().map_err(dir.error("list", SNAPSHOTS))?;
        let newest = entries(&names).last().map(|(stamp, _)| stamp.saved_at);
        let apart = |saved_at: u64| Duration::from_millis(current.saved_at.abs_diff(saved_at));
        if self.last.is_none() && newest.is_some_and(|newest| apart(newest) < INTERVAL) {
            return Ok(false);
        }
        link_present(dir, &kept, temporaries, current, synced)?;
        self.last = Some(now);
        Ok(true)
    }

    /// Removes the oldest beyond the limit.
    pub(super) fn prune<F: Fs>(dir: &StateDir<F>) -> Result<(), PathError> {
        let kept = match dir.fs().dir(SNAPSHOTS) {
            Ok(kept) => kept,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(dir.error("open", SNAPSHOTS)(error)),
        };
        let names = kept.names().map_err(dir.error("list", SNAPSHOTS))?;
        let entries = entries(&names);
        for (_, name) in entries.iter().take(entries.len().saturating_sub(KEPT)) {
            kept.remove(name).map_err(dir.error("remove", format!("{SNAPSHOTS}/{name}")))?;
        }
        Ok(())
    }
}

/// The directory of older snapshots, made where it is missing.
fn place_of_history<F: Fs>(dir: &StateDir<F>) -> Result<F, PathError> {
    let (kept, made) = ensure_dir(dir.fs(), SNAPSHOTS).map_err(dir.error("make", SNAPSHOTS))?;
    if made {
        dir.fs().sync().map_err(dir.error("sync", ""))?;
    }
    Ok(kept)
}

/// Keeps the snapshot that is in place among the older ones, however short a time
/// after the last. It must be whole.
pub(super) fn keep_now<F: Fs>(
    dir: &StateDir<F>,
    temporaries: &mut Temporaries,
    current: Stamp,
) -> Result<HistoryEntry, PathError> {
    let kept = place_of_history(dir)?;
    let name = link_present(dir, &kept, temporaries, current, false)?;
    Ok(HistoryEntry {
        generation: current.generation,
        saved_at: UnixMillis(current.saved_at),
        path: dir.path().join(SNAPSHOTS).join(name),
    })
}

/// Gives the snapshot that is in place a second, durable name; that name.
fn link_present<F: Fs>(
    dir: &StateDir<F>,
    kept: &F,
    temporaries: &mut Temporaries,
    current: Stamp,
    synced: bool,
) -> Result<String, PathError> {
    let place = dir.snapshot();
    let mut file = place.fs.open(place.name).map_err(dir.error("open", SNAPSHOT))?;
    if !synced {
        file.sync_data().map_err(dir.error("sync", SNAPSHOT))?;
    }
    let name = format!("{}-{}.json", current.generation, current.saved_at);
    let linked = match place.fs.link(place.name, kept, &name) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) if no_links(&error) => match read_bounded(&mut file, MAX_BYTES) {
            Ok(Content::Whole(bytes)) => temporaries.replace(kept, &name, &[&bytes], Sync::Data),
            Ok(Content::Beginning(_)) => Err(ErrorKind::FileTooLarge.into()),
            Err(error) => Err(error),
        },
        linked => linked,
    };
    linked.and_then(|()| kept.sync()).map_err(dir.error("keep", format!("{SNAPSHOTS}/{name}")))?;
    Ok(name)
}

/// The names that are ours, the oldest generation first. Others are left alone.
fn entries(names: &[String]) -> Vec<(Stamp, &str)> {
    let stamp = |name: &str| {
        let (generation, saved_at) = name.strip_suffix(".json")?.split_once('-')?;
        Some(Stamp { generation: generation.parse().ok()?, saved_at: saved_at.parse().ok()? })
    };
    let mut entries: Vec<_> =
        names.iter().filter_map(|name| Some((stamp(name)?, name.as_str()))).collect();
    entries.sort();
    entries
}

pub(super) const SNAPSHOTS: &str = "snapshots";
