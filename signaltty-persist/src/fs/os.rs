//! The real file system, by descriptor.
//!
//! Modes are given at creation and never widened. Every descriptor is
//! close-on-exec from birth, so a pane's child inherits neither the lock nor a
//! file (T1).

use std::io;
use std::io::ErrorKind;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Access, AtFlags, Dir, FileType, FlockOperation, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use super::{FileStat, Fs, FsFile};

/// An open directory of the system.
#[derive(Debug)]
pub struct OsFs {
    fd: OwnedFd,
}

/// An open file of the system.
#[derive(Debug)]
pub struct OsFile {
    fd: OwnedFd,
}

impl OsFs {
    /// Opens a directory by its path. The last component is not followed if it
    /// is a link.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn open_dir(path: &Path) -> io::Result<Self> {
        let fd = retry_on_intr(|| rustix::fs::open(path, DIRECTORY, Mode::empty()))?;
        Ok(Self { fd })
    }

    /// Whether somebody holds the lock of a file. Takes none for longer than it
    /// needs to know.
    pub(crate) fn is_locked(&self, name: &str) -> io::Result<bool> {
        let file = match self.open(name) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            file => file?,
        };
        match exclusive(&file.fd) {
            Ok(()) => Ok(false),
            Err(Errno::WOULDBLOCK) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// Owner and permission bits of a name, which is not followed.
    pub(crate) fn owner_and_mode(&self, name: &str) -> io::Result<(u32, u32)> {
        let stat = retry_on_intr(|| rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW))?;
        Ok((stat.st_uid, Mode::from_raw_mode(stat.st_mode).as_raw_mode()))
    }

    /// Whether names can be made in it and taken away.
    ///
    /// # Errors
    ///
    /// Those of the system: `EACCES`, or `EROFS` for a read-only file system.
    pub(crate) fn writable(&self) -> io::Result<()> {
        let asked = Access::WRITE_OK | Access::EXEC_OK;
        Ok(retry_on_intr(|| rustix::fs::accessat(&self.fd, ".", asked, AtFlags::EACCESS))?)
    }

    /// Whether a name is that of a symbolic link.
    pub(crate) fn is_link(&self, name: &str) -> bool {
        rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
    }

    /// The number that says which file system this is (statfs(2)).
    pub(crate) fn file_system(&self) -> io::Result<u64> {
        let statfs = retry_on_intr(|| rustix::fs::fstatfs(&self.fd))?;
        Ok(u64::try_from(statfs.f_type).unwrap_or(0))
    }

    /// What the directory's descriptor says about itself.
    pub(crate) fn stat(&self) -> io::Result<rustix::fs::Stat> {
        Ok(rustix::fs::fstat(&self.fd)?)
    }
}

impl Fs for OsFs {
    type File = OsFile;

    fn make_dir(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(&self.fd, name, Mode::RWXU)?)
    }

    fn dir(&self, name: &str) -> io::Result<Self> {
        let fd = retry_on_intr(|| rustix::fs::openat(&self.fd, name, DIRECTORY, Mode::empty()))?;
        Ok(Self { fd })
    }

    fn open(&self, name: &str) -> io::Result<OsFile> {
        // Without O_NONBLOCK a fifo would make the open wait for a writer.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | SAFE;
        let fd = match retry_on_intr(|| rustix::fs::openat(&self.fd, name, flags, Mode::empty())) {
            Ok(fd) => fd,
            Err(Errno::LOOP) => return Err(not_regular("a symbolic link")),
            Err(Errno::NXIO) => return Err(not_regular("a socket")),
            Err(error) => return Err(error.into()),
        };
        regular(fd)
    }

    fn create(&self, name: &str) -> io::Result<OsFile> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | SAFE;
        let fd = retry_on_intr(|| rustix::fs::openat(&self.fd, name, flags, PRIVATE))?;
        // The umask may have taken the owner's own bits.
        rustix::fs::fchmod(&fd, PRIVATE)?;
        Ok(OsFile { fd })
    }

    fn append(&self, name: &str) -> io::Result<OsFile> {
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NONBLOCK | SAFE;
        let fd = retry_on_intr(|| rustix::fs::openat(&self.fd, name, flags, Mode::empty()));
        match fd {
            Ok(fd) => regular(fd),
            Err(Errno::LOOP) => Err(not_regular("a symbolic link")),
            Err(Errno::NXIO) => Err(not_regular("a fifo or a socket")),
            Err(Errno::ISDIR) => Err(not_regular("a directory")),
            Err(error) => Err(error.into()),
        }
    }

    fn update(&self, name: &str) -> io::Result<OsFile> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NONBLOCK | SAFE;
        regular(retry_on_intr(|| rustix::fs::openat(&self.fd, name, flags, PRIVATE))?)
    }

    fn stat(&self, name: &str) -> io::Result<FileStat> {
        let stat = retry_on_intr(|| rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW))?;
        Ok(FileStat { identity: identity(&stat), len: u64::try_from(stat.st_size).unwrap_or(0) })
    }

    fn lock(&self, name: &str) -> io::Result<OsFile> {
        // The directory's own lock also holds where somebody removes the file
        // while it is locked. Not every file system has it, so it comes on top.
        if let Err(Errno::WOULDBLOCK) = exclusive(&self.fd) {
            return Err(ErrorKind::WouldBlock.into());
        }
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NONBLOCK | SAFE;
        for _ in 0..LOCK_ATTEMPTS {
            let fd = retry_on_intr(|| rustix::fs::openat(&self.fd, name, flags, PRIVATE))?;
            let file = regular(fd)?;
            exclusive(&file.fd)?;
            // Somebody may have replaced the file between the open and the
            // lock; then this lock would exclude nobody.
            let named = rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW);
            match named {
                Ok(named) if identity(&named) == file.identity()? => return Ok(file),
                Ok(_) | Err(Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(ErrorKind::WouldBlock.into())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.fd, from, &self.fd, to)?)
    }

    fn link(&self, from: &str, target: &Self, to: &str) -> io::Result<()> {
        Ok(rustix::fs::linkat(&self.fd, from, &target.fd, to, AtFlags::empty())?)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.fd, name, AtFlags::empty())?)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(retry_on_intr(|| rustix::fs::fsync(&self.fd))?)
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(self.fd.as_fd())? {
            let entry = entry?;
            match entry.file_name().to_str() {
                Ok("." | "..") | Err(_) => {}
                Ok(name) => names.push(name.to_owned()),
            }
        }
        names.sort();
        Ok(names)
    }
}

impl FsFile for OsFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(retry_on_intr(|| rustix::io::read(&self.fd, &mut *buffer))?)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(retry_on_intr(|| rustix::io::write(&self.fd, bytes))?)
    }

    fn sync_data(&mut self) -> io::Result<()> {
        Ok(retry_on_intr(|| rustix::fs::fdatasync(&self.fd))?)
    }

    fn write_start(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(retry_on_intr(|| rustix::io::pwrite(&self.fd, bytes, 0))?)
    }

    fn cut(&mut self, len: u64) -> io::Result<()> {
        Ok(retry_on_intr(|| rustix::fs::ftruncate(&self.fd, len))?)
    }

    fn truncate(&mut self) -> io::Result<()> {
        Ok(retry_on_intr(|| rustix::fs::ftruncate(&self.fd, 0))?)
    }

    fn identity(&self) -> io::Result<(u64, u64)> {
        Ok(identity(&rustix::fs::fstat(&self.fd)?))
    }
}

fn exclusive(fd: &OwnedFd) -> rustix::io::Result<()> {
    retry_on_intr(|| rustix::fs::flock(fd, FlockOperation::NonBlockingLockExclusive))
}

fn regular(fd: OwnedFd) -> io::Result<OsFile> {
    let stat = rustix::fs::fstat(&fd)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(OsFile { fd }),
        FileType::Directory => Err(not_regular("a directory")),
        FileType::Fifo => Err(not_regular("a fifo")),
        _ => Err(not_regular("a device or the like")),
    }
}

fn not_regular(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, format!("it is {what}, not a regular file"))
}

#[expect(clippy::useless_conversion, reason = "the widths differ between systems")]
fn identity(stat: &rustix::fs::Stat) -> (u64, u64) {
    (stat.st_dev.into(), stat.st_ino.into())
}

const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);
const SAFE: OFlags = OFlags::CLOEXEC.union(OFlags::NOFOLLOW);
const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(SAFE);
const LOCK_ATTEMPTS: u32 = 8;
