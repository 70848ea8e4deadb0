//! The file that is written now.

use std::io;
use std::io::ErrorKind;

use super::file::{ACTIVE, Scan};
use super::retention::FileV1;
use crate::fs::{Fs, FsFile, write_all};

/// The newest file, open for more records.
#[derive(Debug)]
pub(super) struct Segment<F: FsFile> {
    file: F,
    identity: (u64, u64),
    pub(super) first: u64,
    pub(super) last: u64,
    /// How many bytes it has; all are synced.
    pub(super) bytes: u64,
    crc: crc32fast::Hasher,
}

/// Why bytes were not added.
#[derive(Debug)]
pub(super) enum Broken {
    /// The system refused. What was there before is as it was.
    Refused(io::Error),
    /// Somebody else changed, replaced or removed the file. Nothing in it can
    /// be relied on.
    Changed,
}

impl<F: FsFile> Segment<F> {
    /// A file that was just made, with content that is synced.
    pub(super) fn new(file: F, first: u64, last: u64, content: &[u8]) -> io::Result<Self> {
        let mut crc = crc32fast::Hasher::new();
        crc.update(content);
        let identity = file.identity()?;
        Ok(Self { file, identity, first, last, bytes: size(content), crc })
    }

    /// Goes on in a file that was found. Cuts what is no record.
    pub(super) fn resume<S: Fs<File = F>>(fs: &S, scan: &Scan) -> io::Result<Self> {
        let mut file = fs.append(ACTIVE)?;
        if scan.good < scan.len {
            file.cut(scan.good)?;
            file.sync_data()?;
        }
        let identity = file.identity()?;
        Ok(Self {
            file,
            identity,
            first: scan.first().unwrap_or(0),
            last: scan.last().unwrap_or(0),
            bytes: scan.good,
            crc: scan.crc.clone(),
        })
    }

    /// Adds records and syncs them. After an error the file must not be written
    /// any longer.
    pub(super) fn add<S: Fs<File = F>>(
        &mut self,
        fs: &S,
        content: &[u8],
        last: u64,
    ) -> Result<(), Broken> {
        write_all(&mut self.file, content).map_err(Broken::Refused)?;
        self.file.sync_data().map_err(Broken::Refused)?;
        let bytes = self.bytes + size(content);
        match fs.stat(ACTIVE) {
            Ok(stat) if stat.identity == self.identity && stat.len == bytes => {}
            Ok(_) => return Err(Broken::Changed),
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(Broken::Changed),
            Err(error) => return Err(Broken::Refused(error)),
        }
        self.bytes = bytes;
        self.last = last;
        self.crc.update(content);
        Ok(())
    }

    /// What the evidence says about it once nothing is added any longer.
    pub(super) fn closed(&self, name: String) -> FileV1 {
        FileV1 {
            name,
            first: self.first,
            last: self.last,
            bytes: self.bytes,
            crc: format!("{:08x}", self.crc.clone().finalize()),
        }
    }
}

fn size(content: &[u8]) -> u64 {
    u64::try_from(content.len()).unwrap_or(u64::MAX)
}
