//! The state directory: who may use it, and its one owner.
//!
//! Having a [`StateDir`] means holding the lock (P7), so nothing can be read or
//! written without it. Opening changes nothing but the lock file: not before a
//! load has succeeded is a stale temporary removed.
//!
//! The lock excludes servers on the same state. It says nothing about sockets.

mod linked;
mod safety;

use std::io;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use signaltty_core::time::UnixMillis;

use self::linked::Linked;
use crate::error::{Holder, OpenError, PathError};
use crate::fs::{Content, Fs, FsFile, OsFs, read_bounded, write_all};
use crate::os_text::OsText;
use crate::replace::PREFIX;
use crate::snapshot::SNAPSHOT;

/// The directory that holds all saved state, locked for this process.
///
/// Copies share the directory and its lock, which ends when the last of them is
/// dropped: the snapshot and the journal are written by two threads of one
/// owner.
#[derive(Debug)]
pub struct StateDir<F: Fs = OsFs> {
    held: Arc<Held<F>>,
}

#[derive(Debug)]
struct Held<F: Fs> {
    fs: F,
    path: PathBuf,
    /// Held, never read: closing it would let another server in. `None` only
    /// where nothing is changed.
    _lock: Option<F::File>,
    owner_unwritten: Option<PathError>,
    /// Where the snapshot is, if a link in its place leads elsewhere.
    linked: Option<Linked<F>>,
    /// Directories in which a new name is not durable yet.
    unsettled: Mutex<Vec<PathBuf>>,
}

/// Where the snapshot is: a directory and its name there.
#[derive(Debug)]
pub(crate) struct Place<'a, F> {
    pub(crate) fs: &'a F,
    pub(crate) name: &'a str,
    /// What a temporary beside it begins with.
    pub(crate) prefix: &'a str,
}

/// What a server says of itself to one that finds the directory locked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Its process id.
    pub pid: u32,
    /// When it started.
    pub started_at: UnixMillis,
    /// Where it listens.
    pub socket: Option<PathBuf>,
}

impl StateDir<OsFs> {
    /// Makes the directory if it is missing, checks that nobody else can change
    /// it, and locks it.
    ///
    /// A link is resolved once, here; later changes of it have no effect. So is
    /// one in the place of the snapshot (C022).
    ///
    /// # Errors
    ///
    /// [`OpenError::Held`] if another server has it. Nothing is changed then.
    pub fn open(path: &Path, owner: &Owner) -> Result<Self, OpenError> {
        let (fs, path, changed) = safety::open_checked(path)?;
        let linked = writable_link(&path)?;
        Self::lock_with(fs, path, owner, linked, changed)
    }
}

impl StateDir<OsFs> {
    /// Why a server would not use this directory, if it would not; whether another
    /// one has it is not asked. Changes nothing.
    pub(crate) fn refusal(path: &Path) -> Option<OpenError> {
        let checked = safety::check(path);
        checked.and_then(|(_, path)| writable_link(&path)).err()
    }

    /// A directory that is only looked at. Must not be given to whoever changes
    /// anything.
    pub(crate) fn look(fs: OsFs, path: PathBuf) -> Self {
        // A link that cannot be followed is found again by whoever reads it.
        let linked = linked::resolve(&path.join(SNAPSHOT)).ok().flatten();
        Self::look_with(fs, path, linked)
    }
}

impl<F: Fs> StateDir<F> {
    /// Locks a directory that is open already. `path` is for messages.
    ///
    /// # Errors
    ///
    /// [`OpenError::Held`] if another server has it. Nothing is changed then.
    pub fn lock(fs: F, path: PathBuf, owner: &Owner) -> Result<Self, OpenError> {
        Self::lock_with(fs, path, owner, None, Vec::new())
    }

    fn lock_with(
        fs: F,
        path: PathBuf,
        owner: &Owner,
        linked: Option<Linked<F>>,
        changed: Vec<PathBuf>,
    ) -> Result<Self, OpenError> {
        let mut lock = match fs.lock(LOCK) {
            Ok(lock) => lock,
            Err(error) => return Err(refused(&fs, path, error)),
        };
        let owner_unwritten = write_owner(&mut lock, owner).err().map(|source| PathError {
            operation: "write",
            path: path.join(LOCK),
            source,
        });
        let (_lock, unsettled) = (Some(lock), Mutex::new(changed));
        let held = Held { fs, path, _lock, owner_unwritten, linked, unsettled };
        Ok(Self { held: Arc::new(held) })
    }

    /// Where it is, with links resolved.
    pub fn path(&self) -> &Path {
        &self.held.path
    }

    /// The file that holds the lock.
    #[must_use]
    pub fn lock_path(&self) -> PathBuf {
        self.held.path.join(LOCK)
    }

    /// Why this process could not write its name into the lock file, if it
    /// could not. The lock holds all the same.
    pub fn owner_unwritten(&self) -> Option<&PathError> {
        self.held.owner_unwritten.as_ref()
    }

    fn look_with(fs: F, path: PathBuf, linked: Option<Linked<F>>) -> Self {
        let (_lock, owner_unwritten, unsettled) = (None, None, Mutex::default());
        let held = Held { fs, path, _lock, owner_unwritten, linked, unsettled };
        Self { held: Arc::new(held) }
    }

    /// Makes durable that the directory is there, if it was made at this start. To
    /// be done before anything in it is called durable, and not before a server
    /// listens.
    pub(crate) fn settle(&self) -> Result<(), PathError> {
        // The names are gone only once they are durable.
        let mut changed = self.held.unsettled.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(parent) = changed.first() {
            safety::sync(parent)?;
            changed.remove(0);
        }
        Ok(())
    }

    /// Where the snapshot is read and written.
    pub(crate) fn snapshot(&self) -> Place<'_, F> {
        match &self.held.linked {
            Some(linked) => {
                Place { fs: &linked.fs, name: &linked.name, prefix: &linked.temporaries }
            }
            None => Place { fs: &self.held.fs, name: SNAPSHOT, prefix: PREFIX },
        }
    }

    pub(crate) fn fs(&self) -> &F {
        &self.held.fs
    }

    /// An error about a name in this directory.
    pub(crate) fn error(
        &self,
        operation: &'static str,
        name: impl AsRef<Path>,
    ) -> impl FnOnce(io::Error) -> PathError {
        let path = self.held.path.join(name);
        move |source| PathError { operation, path, source }
    }
}

impl<F: Fs> Clone for StateDir<F> {
    fn clone(&self) -> Self {
        Self { held: Arc::clone(&self.held) }
    }
}

/// Where the snapshot is, if a link leads elsewhere; it must be possible to
/// write there.
fn writable_link(path: &Path) -> Result<Option<Linked<OsFs>>, OpenError> {
    let link = path.join(SNAPSHOT);
    let linked = linked::resolve(&link)?;
    if let Some(linked) = &linked {
        safety::check_writable(&linked.fs, &link)?;
    }
    Ok(linked)
}

/// The content of the lock file.
#[derive(Serialize, Deserialize)]
struct Note {
    pid: u32,
    started_at: u64,
    socket: Option<OsText>,
}

fn write_owner(lock: &mut impl FsFile, owner: &Owner) -> io::Result<()> {
    let note = Note {
        pid: owner.pid,
        started_at: owner.started_at.0,
        socket: owner.socket.as_deref().map(OsText::from),
    };
    let mut line = serde_json::to_vec(&note)?;
    line.push(b'\n');
    lock.truncate()?;
    write_all(lock, &line)
}

fn refused<F: Fs>(fs: &F, path: PathBuf, source: io::Error) -> OpenError {
    if source.kind() == ErrorKind::WouldBlock {
        return OpenError::Held { path, holder: read_holder(fs).unwrap_or_default() };
    }
    // What NFS and some FUSE file systems answer (C100).
    let unsupported = matches!(
        Errno::from_io_error(&source),
        Some(
            Errno::NOLCK
                | Errno::BADF
                | Errno::STALE
                | Errno::OPNOTSUPP
                | Errno::NOSYS
                | Errno::INVAL
        )
    );
    let error = PathError { operation: "lock", path: path.join(LOCK), source };
    if unsupported { OpenError::LocksUnsupported(error) } else { OpenError::Path(error) }
}

/// Whatever is in the file may be half written, so nothing depends on it.
pub(crate) fn read_holder<F: Fs>(fs: &F) -> Option<Holder> {
    let mut file = fs.open(LOCK).ok()?;
    let Content::Whole(bytes) = read_bounded(&mut file, NOTE_LIMIT).ok()? else {
        return None;
    };
    let note: Note = serde_json::from_slice(&bytes).ok()?;
    Some(Holder { pid: Some(note.pid), socket: note.socket.map(|text| text.into_path()) })
}

pub(crate) const LOCK: &str = "server.lock";
const NOTE_LIMIT: usize = 16 * 1024;
