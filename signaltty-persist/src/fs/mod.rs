//! The file operations that saved state needs, and nothing else.
//!
//! An [`Fs`] is one open directory. Names are single components, so no name can
//! lead out of it. [`OsFs`] is the real one; the `testing` feature brings one
//! that fails and crashes on command, which is why this is a trait.
//!
//! Every operation is one step on which a process may be killed: none hides a
//! second change of the directory in itself.

mod os;

use std::fmt;
use std::io;
use std::io::ErrorKind;

pub use os::{OsFile, OsFs};

/// One open directory.
pub trait Fs: Sized + fmt::Debug {
    /// An open file in it.
    type File: FsFile;

    /// Makes a subdirectory that only its owner may enter.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` if the name is taken, by whatever.
    fn make_dir(&self, name: &str) -> io::Result<()>;

    /// Opens a subdirectory, not following a link.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is none.
    fn dir(&self, name: &str) -> io::Result<Self>;

    /// Opens a regular file for reading, never following a link and never
    /// waiting, whatever the name stands for.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is none, `InvalidInput` if it is not a regular file.
    fn open(&self, name: &str) -> io::Result<Self::File>;

    /// Makes a file that only its owner may read.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` if the name is taken, by whatever.
    fn create(&self, name: &str) -> io::Result<Self::File>;

    /// Opens a regular file that is there so that every write goes to its end,
    /// wherever that is by then.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is none, `InvalidInput` if it is not a regular file.
    fn append(&self, name: &str) -> io::Result<Self::File>;

    /// Opens or makes a regular file whose bytes are changed in place.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if it is not a regular file.
    fn update(&self, name: &str) -> io::Result<Self::File>;

    /// Says what a name stands for, not following a link.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is none.
    fn stat(&self, name: &str) -> io::Result<FileStat>;

    /// Opens or makes a file and takes its exclusive lock without waiting. The
    /// lock lasts as long as the file that is returned.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if somebody else holds the lock.
    fn lock(&self, name: &str) -> io::Result<Self::File>;

    /// Renames a file within this directory, replacing what had the new name.
    ///
    /// # Errors
    ///
    /// Those of the system.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Gives a file of this directory a second name in `target`.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` if the name is taken; other errors where the file system
    /// has no hard links.
    fn link(&self, from: &str, target: &Self, to: &str) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    ///
    /// Those of the system.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes the names in this directory durable.
    ///
    /// # Errors
    ///
    /// After one, nothing is known of the changes since the last success.
    fn sync(&self) -> io::Result<()>;

    /// The names in this directory that are UTF-8, sorted.
    ///
    /// # Errors
    ///
    /// Those of the system.
    fn names(&self) -> io::Result<Vec<String>>;
}

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStat {
    /// Device and inode, as [`FsFile::identity`] gives them.
    pub identity: (u64, u64),
    /// How many bytes there are.
    pub len: u64,
}

/// An open file.
pub trait FsFile: fmt::Debug {
    /// Reads some bytes; 0 at the end.
    ///
    /// # Errors
    ///
    /// Those of the system.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize>;

    /// Writes some bytes and says how many.
    ///
    /// # Errors
    ///
    /// Those of the system.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Makes the content durable. Final: after an error the content must be
    /// written anew, to another file.
    ///
    /// # Errors
    ///
    /// Those of the system.
    fn sync_data(&mut self) -> io::Result<()>;

    /// Writes some bytes at the beginning, over what is there, and says how many.
    ///
    /// # Errors
    ///
    /// Those of the system.
    fn write_start(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Makes the file so long; what is beyond is gone.
    ///
    /// # Errors
    ///
    /// Those of the system.
    fn cut(&mut self, len: u64) -> io::Result<()>;

    /// Empties the file.
    ///
    /// # Errors
    ///
    /// Those of the system.
    fn truncate(&mut self) -> io::Result<()>;

    /// Which file it is: device and inode.
    ///
    /// # Errors
    ///
    /// Those of the system.
    fn identity(&self) -> io::Result<(u64, u64)>;
}

/// Writes everything, going on after short writes.
pub(crate) fn write_all(file: &mut impl FsFile, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = file.write(bytes)?;
        match bytes.get(written..) {
            Some(rest) if written > 0 => bytes = rest,
            _ => return Err(ErrorKind::WriteZero.into()),
        }
    }
    Ok(())
}

/// What a bounded read gave.
pub(crate) enum Content {
    /// All of the file.
    Whole(Vec<u8>),
    /// The beginning of a file that is larger than the bound.
    Beginning(Vec<u8>),
}

/// Reads at most `limit` bytes.
pub(crate) fn read_bounded(file: &mut impl FsFile, limit: usize) -> io::Result<Content> {
    let mut content = Vec::new();
    let mut buffer = vec![0; CHUNK];
    loop {
        let count = file.read(&mut buffer)?;
        let Some(part) = buffer.get(..count) else {
            return Err(ErrorKind::InvalidData.into());
        };
        if part.is_empty() {
            return Ok(Content::Whole(content));
        }
        content.extend_from_slice(part);
        if content.len() > limit {
            content.truncate(limit);
            return Ok(Content::Beginning(content));
        }
    }
}

/// Makes a subdirectory if it is missing, and opens it. Says whether it was
/// made, since its name is then not durable yet.
pub(crate) fn ensure_dir<F: Fs>(fs: &F, name: &str) -> io::Result<(F, bool)> {
    match fs.dir(name) {
        Ok(dir) => Ok((dir, false)),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            fs.make_dir(name)?;
            Ok((fs.dir(name)?, true))
        }
        Err(error) => Err(error),
    }
}

const CHUNK: usize = 64 * 1024;
