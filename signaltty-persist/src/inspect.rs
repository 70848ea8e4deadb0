//! Looks at a state directory without owning it, and changes nothing.
//!
//! A server may be running meanwhile; then what is said may be out of date when
//! it is read.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use signaltty_core::id::PaneId;
use signaltty_core::time::UnixMillis;

use crate::dir::{LOCK, StateDir, read_holder};
use crate::error::{Holder, OpenError, PathError};
use crate::fs::{Content, Fs, OsFs, read_bounded};
use crate::journal::{JournalReport, report};
use crate::schema::{DecodeError, MAX_BYTES, from_json};
use crate::snapshot::{CORRUPT, Corruption, HistoryEntry, Problem, SNAPSHOT, history};
use crate::tail::{self, HISTORY, Tail};

/// What a state directory holds.
#[derive(Debug)]
#[non_exhaustive]
pub struct Inspection {
    /// Where it is, with links resolved.
    pub path: PathBuf,
    /// The file system that it is on: a name, or a number in hexadecimal.
    pub file_system: String,
    /// Why a server would not use the directory, if it would not.
    pub refusal: Option<OpenError>,
    /// The server that owns it now.
    pub held: Option<Holder>,
    /// The saved session.
    pub snapshot: SnapshotFound,
    /// The journal, or why it cannot be read.
    pub journal: Result<JournalReport, PathError>,
    /// The saved output.
    pub tails: TailsFound,
    /// The older snapshots, or why they cannot be listed.
    pub history: Result<Vec<HistoryEntry>, PathError>,
    /// How many files were set aside.
    pub set_aside: usize,
    /// Names that others than the owner may read or change.
    pub open_to_others: Vec<(String, u32)>,
}

/// What a load would find.
#[derive(Debug)]
#[non_exhaustive]
pub enum SnapshotFound {
    /// No file.
    Missing,
    /// A session.
    Loaded {
        /// Which save it is from.
        generation: u64,
        /// When that was.
        saved_at: UnixMillis,
        /// The last event that is part of it.
        journal_seq: u64,
        /// How many workspaces, tabs and panes it has.
        counts: [usize; 3],
        /// What is not as it was written.
        problems: Vec<Problem>,
    },
    /// A file without content.
    Empty,
    /// A file that cannot be used.
    Corrupt(Corruption),
    /// A file of a newer version.
    FutureVersion(u64),
    /// A file of another program.
    Foreign,
    /// A file that cannot be read.
    Unreadable(PathError),
}

/// How many panes have saved output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TailsFound {
    /// As it was written.
    pub sound: usize,
    /// Not as it was written; it is not shown.
    pub damaged: Vec<String>,
}

/// Looks at a state directory.
///
/// # Errors
///
/// When there is none, or it cannot be entered.
pub fn inspect(path: &Path) -> Result<Inspection, PathError> {
    let error = |operation, path: &Path| {
        let path = path.to_owned();
        move |source| PathError { operation, path, source }
    };
    let real = path.canonicalize().map_err(error("find", path))?;
    let fs = OsFs::open_dir(&real).map_err(error("open", &real))?;
    let held = fs.is_locked(LOCK).map_err(error("look at the lock of", &real))?;
    let held = held.then(|| read_holder(&fs).unwrap_or_default());
    let file_system = fs.file_system().map_or_else(|_| "unknown".to_owned(), named);
    let open_to_others = open_to_others(&fs).map_err(error("list", &real))?;
    let dir = StateDir::look(fs, real.clone());
    let snapshot = snapshot(&dir);
    let floor = match &snapshot {
        SnapshotFound::Loaded { journal_seq, .. } => *journal_seq,
        _ => 0,
    };
    let refusal = StateDir::refusal(&real);
    Ok(Inspection {
        path: real,
        file_system,
        refusal,
        held,
        snapshot,
        journal: report(&dir, floor),
        tails: tails(&dir),
        history: history(&dir),
        set_aside: dir.fs().dir(CORRUPT).and_then(|kept| kept.names()).map_or(0, |n| n.len()),
        open_to_others,
    })
}

/// A state directory that is only read, without its lock.
///
/// # Errors
///
/// When there is none, or it cannot be entered.
pub fn read_only(path: &Path) -> Result<ReadOnly, PathError> {
    let error = |source| PathError { operation: "open", path: path.to_owned(), source };
    let real = path.canonicalize().map_err(error)?;
    let error = |source| PathError { operation: "open", path: real.clone(), source };
    let fs = OsFs::open_dir(&real).map_err(error)?;
    Ok(ReadOnly(StateDir::look(fs, real)))
}

/// A state directory that is only read.
#[derive(Debug)]
pub struct ReadOnly(StateDir);

impl ReadOnly {
    /// Why a server would not use the directory, if it would not. Whether
    /// another one has it is [`held`](Self::held).
    pub fn refusal(&self) -> Option<OpenError> {
        StateDir::refusal(self.0.path())
    }

    /// The server that owns it now.
    ///
    /// # Errors
    ///
    /// When the lock cannot be looked at.
    pub fn held(&self) -> Result<Option<Holder>, PathError> {
        let fs = self.0.fs();
        let held = fs.is_locked(LOCK).map_err(self.0.error("look at the lock of", LOCK))?;
        Ok(held.then(|| read_holder(fs).unwrap_or_default()))
    }

    /// The present snapshot.
    pub fn snapshot(&self) -> Result<Option<crate::schema::Decoded>, SnapshotFound> {
        match decoded(&self.0) {
            Ok(found) => Ok(found),
            Err(found) => Err(*found),
        }
    }

    /// The older snapshots, as `history` lists them.
    ///
    /// # Errors
    ///
    /// Those of `history`.
    pub fn history(&self) -> Result<Vec<HistoryEntry>, PathError> {
        history(&self.0)
    }

    /// The files that were set aside, by name.
    ///
    /// # Errors
    ///
    /// When the directory cannot be read.
    pub fn set_aside(&self) -> Result<Vec<PathBuf>, PathError> {
        match self.0.fs().dir(CORRUPT).and_then(|kept| kept.names()) {
            Ok(names) => {
                let path = |name| self.0.path().join(CORRUPT).join(name);
                Ok(names.into_iter().map(path).collect())
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(self.0.error("list", CORRUPT)(error)),
        }
    }

    /// An older snapshot, as `older` reads it.
    ///
    /// # Errors
    ///
    /// Those of `older`.
    pub fn older(&self, generation: u64) -> Result<crate::schema::Decoded, crate::RestoreError> {
        crate::older(&self.0, generation)
    }
}

fn snapshot<F: Fs>(dir: &StateDir<F>) -> SnapshotFound {
    match decoded(dir) {
        Ok(None) => SnapshotFound::Missing,
        Ok(Some(decoded)) => SnapshotFound::Loaded {
            generation: decoded.header.generation,
            saved_at: decoded.session.saved_at,
            journal_seq: decoded.session.journal_seq,
            counts: [
                decoded.session.workspaces.len(),
                decoded.session.tabs.len(),
                decoded.session.panes.len(),
            ],
            problems: decoded.problems,
        },
        Err(found) => *found,
    }
}

fn decoded<F: Fs>(dir: &StateDir<F>) -> Result<Option<crate::schema::Decoded>, Box<SnapshotFound>> {
    let unreadable = |operation, error| {
        Box::new(SnapshotFound::Unreadable(dir.error(operation, SNAPSHOT)(error)))
    };
    let place = dir.snapshot();
    let mut file = match place.fs.open(place.name) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable("open", error)),
    };
    let content = read_bounded(&mut file, MAX_BYTES).map_err(|error| unreadable("read", error))?;
    let bytes = match content {
        Content::Whole(bytes) => bytes,
        Content::Beginning(_) => {
            let limit = MAX_BYTES;
            return Err(Box::new(SnapshotFound::Corrupt(Corruption::TooLarge { limit })));
        }
    };
    from_json(&bytes).map(Some).map_err(|error| {
        Box::new(match error {
            DecodeError::FutureVersion { found } => SnapshotFound::FutureVersion(found),
            DecodeError::Foreign => SnapshotFound::Foreign,
            DecodeError::Corrupt(_) if bytes.is_empty() => SnapshotFound::Empty,
            DecodeError::Corrupt(why) => SnapshotFound::Corrupt(why),
        })
    })
}

fn tails<F: Fs>(dir: &StateDir<F>) -> TailsFound {
    let names = dir.fs().dir(HISTORY).and_then(|history| history.names()).unwrap_or_default();
    let mut found = TailsFound::default();
    for name in names {
        let Some(pane) = name.strip_suffix(".tail").and_then(|id| id.parse::<PaneId>().ok()) else {
            continue;
        };
        match tail::read(dir, pane) {
            Ok(Tail::Saved(_)) => found.sound += 1,
            Ok(Tail::NoSavedOutput) => {}
            Ok(Tail::Damaged) | Err(_) => found.damaged.push(name),
        }
    }
    found
}

fn open_to_others(fs: &OsFs) -> std::io::Result<Vec<(String, u32)>> {
    let mut open = Vec::new();
    let mut look = |fs: &OsFs, name: &str, shown: String| {
        // The mode of a link, which is always open, says nothing.
        if let Ok((_, mode)) = fs.owner_and_mode(name)
            && mode & OTHERS != 0
            && !fs.is_link(name)
        {
            open.push((shown, mode));
        }
    };
    look(fs, ".", ".".to_owned());
    for name in fs.names()? {
        look(fs, &name, name.clone());
        if let Ok(inner) = fs.dir(&name) {
            for below in inner.names().unwrap_or_default() {
                look(&inner, &below, format!("{name}/{below}"));
            }
        }
    }
    Ok(open)
}

/// Names of file systems by their numbers (statfs(2)).
fn named(number: u64) -> String {
    match number {
        0xef53 => "ext4",
        0x5846_5342 => "xfs",
        0x9123_683e => "btrfs",
        0x0102_1994 => "tmpfs",
        0x794c_7630 => "overlayfs",
        0x2fc1_2fc1 => "zfs",
        0xf2f5_2010 => "f2fs",
        0x6969 => "nfs",
        0x6573_5546 => "fuse",
        0xff53_4d42 => "cifs",
        other => return format!("{other:#x}"),
    }
    .to_owned()
}

const OTHERS: u32 = 0o077;
