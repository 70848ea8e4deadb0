//! Reads files that agents wrote, within bounds.
//!
//! A record is untrusted: in its place there may be a pipe, a device, a link to
//! something else, or a file without end. A record must be a regular file and
//! not a link itself, while a linked directory on the way to it is normal.
//! Nothing here waits for another process. Nothing here writes.

#[cfg(any(feature = "claude", feature = "codex", feature = "grok"))]
mod ends;
#[cfg(feature = "codex")]
mod packed;

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use signaltty_core::agent::FileIdentity;
use signaltty_core::restore::{FailureCode, Refusal};

/// The largest record that is read: 1 GiB. It is streamed, so this bounds time
/// and not memory.
pub const MAX_RECORD_BYTES: u64 = 1 << 30;

/// A record that was opened.
#[derive(Debug)]
pub struct Record {
    file: File,
    identity: FileIdentity,
    bytes: u64,
    #[cfg(feature = "codex")]
    is_packed: bool,
}

/// Why a record could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There is nothing at this path.
    #[error("{} is not there", .path.display())]
    Missing {
        /// Where.
        path: PathBuf,
    },
    /// There is something else than a regular file.
    #[error("{} is not a regular file", .path.display())]
    NotRegular {
        /// Where.
        path: PathBuf,
    },
    /// The file, or a line in it, is larger than what is read.
    #[error("{} is too large: {what} has more than {limit} bytes", .path.display())]
    TooLarge {
        /// Where.
        path: PathBuf,
        /// What is too large.
        what: &'static str,
        /// The bound.
        limit: u64,
    },
    /// The system refused.
    #[error("{operation} {} failed: {source}", .path.display())]
    Io {
        /// What was tried.
        operation: &'static str,
        /// Where.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl Record {
    /// Opens the regular file at `path`.
    ///
    /// # Errors
    ///
    /// When there is none, when it is something else, or when it is larger than
    /// [`MAX_RECORD_BYTES`].
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let file = open_regular(path)?;
        let about = file.metadata().map_err(|source| io_error("looking at", path, source))?;
        if about.len() > MAX_RECORD_BYTES {
            return Err(ReadError::TooLarge {
                path: path.to_owned(),
                what: "the file",
                limit: MAX_RECORD_BYTES,
            });
        }
        Ok(Self {
            file,
            identity: FileIdentity { device: about.dev(), inode: about.ino() },
            bytes: about.len(),
            #[cfg(feature = "codex")]
            is_packed: false,
        })
    }

    /// Which file it is.
    pub fn identity(&self) -> FileIdentity {
        self.identity
    }

    /// How long it was when it was opened.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What it held when it was opened; what is appended meanwhile is left out.
    pub fn contents(&self) -> impl Read + '_ {
        let contents = (&self.file).take(self.bytes);
        #[cfg(feature = "codex")]
        let contents = packed::Contents::new(contents, self.is_packed);
        contents
    }
}

impl ReadError {
    /// The refusal that a person sees, with the kind of failure that it is.
    pub fn refusal(&self) -> Refusal {
        let code = match self {
            Self::Missing { .. } => FailureCode::Gone,
            Self::NotRegular { .. } | Self::TooLarge { .. } | Self::Io { .. } => {
                FailureCode::Unreadable
            }
        };
        Refusal::new(code, self.to_string())
    }
}

/// Reads a small file whole.
///
/// # Errors
///
/// When it is not a regular file, or larger than `limit` bytes.
pub fn read_small(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    let file = open_regular(path)?;
    // Files of the kernel have no length to go by, and are short.
    let mut bytes = Vec::with_capacity(1024);
    let read = file
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|source| io_error("reading", path, source))?;
    if u64::try_from(read).map_or(true, |read| read > limit) {
        return Err(ReadError::TooLarge { path: path.to_owned(), what: "the file", limit });
    }
    Ok(bytes)
}

/// Which regular file is at `path`, and how long it is. For files of any size
/// that something else reads.
#[cfg(any(feature = "cursor", feature = "opencode"))]
pub(crate) fn identify(path: &Path) -> Result<(FileIdentity, u64), ReadError> {
    let about =
        open_regular(path)?.metadata().map_err(|source| io_error("looking at", path, source))?;
    Ok((FileIdentity { device: about.dev(), inode: about.ino() }, about.len()))
}

pub(crate) fn io_error(operation: &'static str, path: &Path, source: io::Error) -> ReadError {
    ReadError::Io { operation, path: path.to_owned(), source }
}

fn open_regular(path: &Path) -> Result<File, ReadError> {
    // Without blocking, so that a pipe without a writer is opened at once and
    // then refused by its type.
    let flags =
        OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => {
            return Err(ReadError::Missing { path: path.to_owned() });
        }
        // What open(2) says of a link, and of a socket or a device without a
        // driver.
        Err(rustix::io::Errno::LOOP | rustix::io::Errno::NXIO | rustix::io::Errno::NODEV) => {
            return Err(ReadError::NotRegular { path: path.to_owned() });
        }
        Err(source) => return Err(io_error("opening", path, source.into())),
    };
    let about = file.metadata().map_err(|source| io_error("looking at", path, source))?;
    if about.is_file() { Ok(file) } else { Err(ReadError::NotRegular { path: path.to_owned() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_read_and_nothing_hangs() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("file"), "text").unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), Mode::from_raw_mode(0o600)).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        for path in [dir.path().to_owned(), at("link"), at("pipe"), at("socket")] {
            let error = Record::open(&path).unwrap_err();
            assert!(matches!(error, ReadError::NotRegular { .. }), "{error}");
            assert_eq!(error.refusal().code, FailureCode::Unreadable);
        }
        let device = read_small(Path::new("/dev/zero"), 10).unwrap_err();
        assert!(matches!(device, ReadError::NotRegular { .. }), "{device}");
        for path in [at("none"), at("file/none")] {
            let error = Record::open(&path).unwrap_err();
            assert_eq!(error.refusal().code, FailureCode::Gone, "{error}");
        }
        assert_eq!(read_small(&at("file"), 4).unwrap(), b"text");
    }

    #[test]
    fn a_linked_directory_on_the_way_is_normal() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().join("real");
        std::fs::create_dir(&real).unwrap();
        std::fs::write(real.join("file"), "text").unwrap();
        std::os::unix::fs::symlink(&real, dir.path().join("link")).unwrap();
        assert_eq!(Record::open(&dir.path().join("link/file")).unwrap().bytes(), 4);
    }

    #[test]
    fn sizes_are_bounded() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, "text").unwrap();
        let error = read_small(&path, 3).unwrap_err();
        assert!(matches!(error, ReadError::TooLarge { .. }), "{error}");
        // Sparse, so it takes no room.
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(MAX_RECORD_BYTES + 1).unwrap();
        let error = Record::open(&path).unwrap_err();
        assert_eq!(error.refusal().code, FailureCode::Unreadable);
    }
}
