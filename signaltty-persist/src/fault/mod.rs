//! A file system in memory that fails and crashes on command.
//!
//! It counts operations, so a test can run a scenario once, see how many there
//! are, and then run it again for each of them with a fault at that place. It
//! keeps what is durable apart from what is merely there, so it can say what a
//! loss of power may leave: any part of the unsynced changes, in any order.
//!
//! The model is harsher than common file systems. Only `sync_data` makes
//! content durable and only a directory's `sync` makes names durable.

mod disk;
mod image;
mod plan;

use std::collections::BTreeMap;
use std::io;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::fs::{FileStat, Fs, FsFile};
use disk::{Disk, NodeId, ROOT};

/// One directory of the file system. Clones see the same disk.
#[derive(Debug, Clone)]
pub struct FaultFs {
    disk: Arc<Mutex<Disk>>,
    dir: NodeId,
}

/// An open file of it.
#[derive(Debug)]
pub struct FaultFile {
    disk: Arc<Mutex<Disk>>,
    node: NodeId,
    at: usize,
    locks: bool,
}

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The operation fails with this error number, the next ones work.
    Once(i32),
    /// This operation and all later ones fail with this error number.
    Forever(i32),
    /// Writes from this operation on write half of what they are given, and
    /// with nothing left to halve fail with this error number, as on a disk
    /// that is running full.
    Short(i32),
    /// The process is killed: a write is half done, anything else not at all,
    /// and nothing happens after it.
    Crash,
}

impl Default for FaultFs {
    fn default() -> Self {
        Self::new()
    }
}

impl FaultFs {
    /// An empty disk.
    pub fn new() -> Self {
        Self { disk: Arc::new(Mutex::new(Disk::new())), dir: ROOT }
    }

    /// How many operations there have been.
    pub fn operations(&self) -> u64 {
        self.disk().plan.operations()
    }

    /// What the operations were, one word each, for messages.
    pub fn log(&self) -> Vec<&'static str> {
        self.disk().plan.log().to_vec()
    }

    /// Makes the operation with this number go wrong, counted from 1 at the
    /// beginning of this disk. There is one fault at a time.
    pub fn fail(&self, operation: u64, fault: Fault) {
        self.disk().plan.set(Some((operation, fault)));
    }

    /// Everything works again.
    pub fn heal(&self) {
        self.disk().plan.set(None);
    }

    /// The disk as a new process finds it after this one was killed.
    pub fn after_kill(&self) -> Self {
        Self::of(self.disk().after_kill())
    }

    /// The disks that may be found after a loss of power.
    pub fn after_power_loss(&self) -> Vec<Self> {
        self.disk().after_power_loss().into_iter().map(Self::of).collect()
    }

    /// All files by path, with their content.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        self.disk().files()
    }

    /// Puts a durable file into the root directory, as if it had always been
    /// there. Not counted.
    pub fn put(&self, name: &str, content: &[u8]) {
        self.disk().put(name, content);
    }

    fn of(disk: Disk) -> Self {
        Self { disk: Arc::new(Mutex::new(disk)), dir: ROOT }
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        lock(&self.disk)
    }

    fn file(&self, node: NodeId, locks: bool) -> FaultFile {
        FaultFile { disk: Arc::clone(&self.disk), node, at: 0, locks }
    }
}

impl Fs for FaultFs {
    type File = FaultFile;

    fn make_dir(&self, name: &str) -> io::Result<()> {
        let mut disk = self.disk();
        disk.begin("make_dir")?;
        disk.make(self.dir, name, true).map(drop)
    }

    fn dir(&self, name: &str) -> io::Result<Self> {
        let mut disk = self.disk();
        disk.begin("dir")?;
        let dir = disk.find(self.dir, name, true)?;
        Ok(Self { disk: Arc::clone(&self.disk), dir })
    }

    fn open(&self, name: &str) -> io::Result<FaultFile> {
        let mut disk = self.disk();
        disk.begin("open")?;
        Ok(self.file(disk.find(self.dir, name, false)?, false))
    }

    fn create(&self, name: &str) -> io::Result<FaultFile> {
        let mut disk = self.disk();
        disk.begin("create")?;
        Ok(self.file(disk.make(self.dir, name, false)?, false))
    }

    fn append(&self, name: &str) -> io::Result<FaultFile> {
        let mut disk = self.disk();
        disk.begin("append")?;
        Ok(self.file(disk.find(self.dir, name, false)?, false))
    }

    fn update(&self, name: &str) -> io::Result<FaultFile> {
        let mut disk = self.disk();
        disk.begin("update")?;
        let node = match disk.find(self.dir, name, false) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                disk.make(self.dir, name, false)?
            }
            found => found?,
        };
        Ok(self.file(node, false))
    }

    fn stat(&self, name: &str) -> io::Result<FileStat> {
        let mut disk = self.disk();
        disk.begin("stat")?;
        let node = disk.find(self.dir, name, false)?;
        Ok(FileStat { identity: (1, node), len: disk.len(node)? })
    }

    fn lock(&self, name: &str) -> io::Result<FaultFile> {
        let mut disk = self.disk();
        disk.begin("lock")?;
        let node = match disk.find(self.dir, name, false) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                disk.make(self.dir, name, false)?
            }
            found => found?,
        };
        disk.lock(node)?;
        Ok(self.file(node, true))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut disk = self.disk();
        disk.begin("rename")?;
        disk.rename(self.dir, from, to)
    }

    fn link(&self, from: &str, target: &Self, to: &str) -> io::Result<()> {
        let mut disk = self.disk();
        disk.begin("link")?;
        disk.link(self.dir, from, target.dir, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut disk = self.disk();
        disk.begin("remove")?;
        disk.remove(self.dir, name)
    }

    fn sync(&self) -> io::Result<()> {
        let mut disk = self.disk();
        disk.begin("sync")?;
        disk.sync_dir(self.dir)
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let mut disk = self.disk();
        disk.begin("names")?;
        disk.names(self.dir)
    }
}

impl FsFile for FaultFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut disk = lock(&self.disk);
        disk.begin("read")?;
        let count = disk.read(self.node, self.at, buffer)?;
        self.at += count;
        Ok(count)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut disk = lock(&self.disk);
        let count = disk.begin_write(self.node, bytes)?;
        self.at += count;
        Ok(count)
    }

    fn sync_data(&mut self) -> io::Result<()> {
        let mut disk = lock(&self.disk);
        disk.begin("sync_data")?;
        disk.sync_file(self.node)
    }

    fn write_start(&mut self, bytes: &[u8]) -> io::Result<usize> {
        lock(&self.disk).begin_write_start(self.node, bytes)
    }

    fn cut(&mut self, len: u64) -> io::Result<()> {
        let mut disk = lock(&self.disk);
        disk.begin("cut")?;
        disk.cut(self.node, len)
    }

    fn truncate(&mut self) -> io::Result<()> {
        let mut disk = lock(&self.disk);
        disk.begin("truncate")?;
        disk.truncate(self.node)
    }

    fn identity(&self) -> io::Result<(u64, u64)> {
        lock(&self.disk).begin("identity")?;
        Ok((1, self.node))
    }
}

impl Drop for FaultFile {
    fn drop(&mut self) {
        if self.locks {
            lock(&self.disk).unlock(self.node);
        }
    }
}

fn lock(disk: &Mutex<Disk>) -> MutexGuard<'_, Disk> {
    // A test that panicked elsewhere does not make the disk unusable.
    disk.lock().unwrap_or_else(PoisonError::into_inner)
}
