//! Writes the snapshot and what belongs to it.
//!
//! The order is tails, temporary, data sync, a second name for the old snapshot
//! if it is time for one, rename, directory sync, and only then the removal of
//! tails that the snapshot no longer names and of history. A stop anywhere
//! leaves the old snapshot or the new one, whole, and at worst some extra tails
//! and a temporary.
//!
//! A [`Store`] exists only after a load that succeeded, so a file that this
//! program cannot read is never replaced (P3).

use std::io::ErrorKind;
use std::time::Duration;

use signaltty_core::id::PaneId;
use signaltty_core::saved::SavedSession;

use super::SNAPSHOT;
use super::backup::CORRUPT;
use super::encode::Content;
use super::load::{Loaded, load_with_generation};
use super::rotation::{Rotation, SNAPSHOTS, Stamp};
use super::schema::Header;
use super::tails::{Fingerprint, TailFailure, Tails};
use crate::dir::StateDir;
use crate::error::{LoadError, PathError, SaveError};
use crate::fs::{FileStat, Fs, FsFile as _, OsFs};
use crate::replace::{PREFIX, Sync, Temporaries, put, sweep};
use crate::tail::HISTORY;

/// The one writer of a state directory.
#[derive(Debug)]
pub struct Store<F: Fs = OsFs> {
    dir: StateDir<F>,
    program: Program,
    temporaries: Temporaries,
    /// Those beside the snapshot, wherever that is.
    beside: Temporaries,
    /// The newest generation that was ever used.
    generation: u64,
    /// What a load of the file gives, as far as that is known.
    saved: Option<Fingerprint>,
    /// Which snapshot is in place, if there is a file.
    current: Option<Stamp>,
    /// That file, as it was put or found there.
    placed: Option<FileStat>,
    /// The file has something in it that a person could miss.
    full: bool,
    /// The file survives a loss of power.
    durable: bool,
    /// This store wrote the file that is in place.
    written: bool,
    tails: Tails<F>,
    rotation: Rotation,
}

/// Who writes: for the header.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Program {
    /// The version of the program.
    pub version: String,
    /// The version of the protocol that it speaks.
    pub protocol: u32,
}

/// A store and what it found.
#[derive(Debug)]
#[non_exhaustive]
pub struct Opened<F: Fs = OsFs> {
    /// The store.
    pub store: Store<F>,
    /// What was there.
    pub loaded: Loaded,
    /// Why temporaries of an earlier process could not all be removed. Harmless.
    pub sweep_failure: Option<PathError>,
}

/// What a save has to survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The end of this process. After a loss of power the old state may be
    /// there, or a damaged file, which is noticed.
    Relaxed,
    /// A loss of power.
    Synced,
}

/// One save.
#[derive(Debug, Clone, Copy)]
pub struct Save<'a> {
    /// The session.
    pub session: &'a SavedSession,
    /// What it has to survive.
    pub durability: Durability,
    /// Output that may have changed, by pane.
    pub tails: &'a [(PaneId, &'a [u8])],
    /// Panes that a person closed since the last save. Their tails go once a
    /// durable snapshot no longer has them.
    pub closed: &'a [PaneId],
    /// Monotonic time since an arbitrary start. Spaces the history.
    pub now: Duration,
}

/// What a save did.
#[derive(Debug)]
#[non_exhaustive]
pub struct SaveReport {
    /// The generation that is in place.
    pub generation: u64,
    /// A snapshot was written; otherwise it was the same already.
    pub written: bool,
    /// The snapshot in place survives a loss of power.
    pub durable: bool,
    /// How many tails were written.
    pub tails_written: usize,
    /// Tails that could not be written or removed. The next save that is given
    /// them tries again.
    pub tail_failures: Vec<TailFailure>,
    /// Why the history could not be kept or pruned. The next save tries again.
    pub history_failure: Option<PathError>,
}

impl<F: Fs> Store<F> {
    /// Loads what is there and takes over the directory.
    ///
    /// # Errors
    ///
    /// Those of [`load`](super::load). The lock is given up then.
    pub fn open(dir: StateDir<F>, program: Program) -> Result<Opened<F>, LoadError> {
        let (loaded, generation) = load_with_generation(&dir)?;
        let (current, full, saved) = match &loaded {
            Loaded::Snapshot { session, generation, .. } => {
                let stamp = Stamp { generation: *generation, saved_at: session.saved_at.0 };
                let saved = Content::of(session).ok().map(|content| content.fingerprint());
                (Some(stamp), !session.is_empty(), saved)
            }
            _ => (None, false, None),
        };
        let placed = current.and_then(|_| stat(&dir));
        let sweep_failure = sweep_all(&dir).err();
        let beside = Temporaries::with_prefix(dir.snapshot().prefix);
        let store = Self {
            dir,
            program,
            temporaries: Temporaries::new(),
            beside,
            generation,
            saved,
            current,
            placed,
            full,
            durable: false,
            written: false,
            tails: Tails::new(),
            rotation: Rotation::default(),
        };
        Ok(Opened { store, loaded, sweep_failure })
    }

    /// The directory.
    pub fn dir(&self) -> &StateDir<F> {
        &self.dir
    }

    /// Says what became of the session that was loaded: until it changes, the
    /// file stays as it is. So a file that could only be read in part is not
    /// replaced before a person has done something with what is left (D-5).
    ///
    /// Does nothing where no snapshot was loaded.
    pub fn stands_for(&mut self, session: &SavedSession) {
        if self.current.is_some() {
            self.saved = Content::of(session).ok().map(|content| content.fingerprint());
        }
    }

    /// Has the next save write, even if nothing changed.
    pub fn write_anew(&mut self) {
        self.saved = None;
    }

    /// Saves a session.
    ///
    /// # Errors
    ///
    /// With any error but [`SaveError::NotDurable`] the snapshot that was there
    /// is untouched. After every error the next save writes anew.
    pub fn save(&mut self, save: Save<'_>) -> Result<SaveReport, SaveError> {
        let Save { session, durability, .. } = save;
        self.tails.close(save.closed);
        if session.is_empty() && self.full && !session.emptied_by_user {
            return Err(SaveError::EmptyOverFull);
        }
        self.dir.settle().map_err(SaveError::Write)?;
        let content = Content::of(session)?;
        let fingerprint = content.fingerprint();
        // Replacing a name keeps the old content until the new one is there. A
        // new name has nothing behind it, so it is always synced.
        let synced = durability == Durability::Synced || self.current.is_none();
        let same = self.saved == Some(fingerprint) && self.is_in_place();
        let unchanged = same && (!synced || self.settled());
        let generation =
            if unchanged { self.generation } else { self.generation.saturating_add(1) };
        let mut tails =
            self.tails.write(&self.dir, &mut self.temporaries, save.tails, generation, synced);
        let mut history_failure = None;
        if !unchanged {
            let header = Header {
                generation,
                server_version: self.program.version.clone(),
                protocol: self.program.protocol,
            };
            let file = content.with_header(session, &header)?;
            self.generation = generation;
            history_failure = self.replace(&file, session, synced, save.now)?;
            self.saved = Some(fingerprint);
            self.full = !session.is_empty();
        }
        if self.durable {
            tails.failures.extend(self.tails.prune(&self.dir, session));
        }
        Ok(SaveReport {
            generation,
            written: !unchanged,
            durable: self.durable,
            tails_written: tails.written,
            tail_failures: tails.failures,
            history_failure,
        })
    }

    pub(super) fn remove_tails(&mut self, panes: &[PaneId]) -> Result<usize, PathError> {
        self.tails.remove(&self.dir, panes)
    }

    /// Whether what was put in place is there still. Somebody may have removed,
    /// emptied or replaced the file; the session is still known here.
    fn is_in_place(&self) -> bool {
        self.placed.is_none() || stat(&self.dir) == self.placed
    }

    /// Whether the file in place survives a loss of power. Of one that was
    /// loaded that is not known before it is synced.
    fn settled(&mut self) -> bool {
        if !self.durable && !self.written {
            let place = self.dir.snapshot();
            let synced = place.fs.open(place.name).and_then(|mut file| file.sync_data());
            self.durable = synced.and_then(|()| place.fs.sync()).is_ok();
        }
        self.durable
    }

    /// Puts a file in the place of the snapshot. Gives what went wrong with the
    /// history, which never keeps a session from being saved.
    fn replace(
        &mut self,
        file: &[u8],
        session: &SavedSession,
        synced: bool,
        now: Duration,
    ) -> Result<Option<PathError>, SaveError> {
        let write = |error| SaveError::Write(self.dir.error("save", SNAPSHOT)(error));
        let sync = if synced { Sync::Data } else { Sync::No };
        let place = self.dir.snapshot();
        let temporary = self.beside.write(place.fs, &[file], sync).map_err(write)?;
        // What is not the file that was put there has no number.
        let kept = match self.current.filter(|_| self.full && self.is_in_place()) {
            Some(old) => {
                self.rotation.keep(&self.dir, &mut self.temporaries, old, self.durable, now)
            }
            None => Ok(false),
        };
        put(place.fs, &temporary, place.name).map_err(write)?;
        // From here on a reader sees the new file, but a crash may bring back
        // the old one: neither is known to be what is on the disk.
        self.saved = None;
        self.durable = false;
        self.written = true;
        self.placed = stat(&self.dir);
        self.full |= !session.is_empty();
        self.current = Some(Stamp { generation: self.generation, saved_at: session.saved_at.0 });
        if synced {
            let sync = |error| SaveError::NotDurable(self.dir.error("sync", "")(error));
            place.fs.sync().map_err(sync)?;
            self.durable = true;
        }
        Ok(match kept {
            Ok(true) => Rotation::prune(&self.dir).err(),
            Ok(false) => None,
            Err(error) => Some(error),
        })
    }
}

/// What stands in the place of the snapshot.
fn stat<F: Fs>(dir: &StateDir<F>) -> Option<FileStat> {
    let place = dir.snapshot();
    place.fs.stat(place.name).ok()
}

fn sweep_all<F: Fs>(dir: &StateDir<F>) -> Result<(), PathError> {
    sweep(dir.fs(), PREFIX).map_err(dir.error("sweep", ""))?;
    let place = dir.snapshot();
    if place.prefix != PREFIX {
        sweep(place.fs, place.prefix).map_err(dir.error("sweep beside", SNAPSHOT))?;
    }
    for name in [HISTORY, CORRUPT, SNAPSHOTS] {
        match dir.fs().dir(name) {
            Ok(inner) => sweep(&inner, PREFIX).map_err(dir.error("sweep", name))?,
            Err(error) if error.kind() == ErrorKind::NotFound => 0,
            Err(error) => return Err(dir.error("open", name)(error)),
        };
    }
    Ok(())
}
