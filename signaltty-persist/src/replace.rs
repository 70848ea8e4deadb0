//! Temporary files, and what is left of them.
//!
//! A temporary has a name that no other file has: it tells the process and a
//! count. One that a killed process left is removed by the next owner of the
//! directory, under the lock, and is never read.

use std::io;
use std::io::ErrorKind;

use crate::fs::{Fs, FsFile, write_all};

/// Whether the content must be durable before it gets its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sync {
    /// It must.
    Data,
    /// It need not: after a loss of power the file may be damaged, which its
    /// checksum shows.
    No,
}

/// Makes names for temporaries.
#[derive(Debug)]
pub(crate) struct Temporaries {
    prefix: String,
    count: u64,
}

impl Temporaries {
    pub(crate) fn new() -> Self {
        Self::with_prefix(PREFIX)
    }

    pub(crate) fn with_prefix(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned(), count: 0 }
    }

    /// Writes a file that nobody reads yet, and gives its name. On an error
    /// nothing of it is left, as far as the system permits.
    pub(crate) fn write<F: Fs>(
        &mut self,
        fs: &F,
        parts: &[&[u8]],
        sync: Sync,
    ) -> io::Result<String> {
        let (name, mut file) = self.create(fs)?;
        let written = parts.iter().try_for_each(|part| write_all(&mut file, part));
        let written = written.and_then(|()| match sync {
            Sync::Data => file.sync_data(),
            Sync::No => Ok(()),
        });
        match written {
            Ok(()) => Ok(name),
            Err(error) => {
                // If this fails too, the next start sweeps it.
                let _ = fs.remove(&name);
                Err(error)
            }
        }
    }

    /// Makes an empty file and gives its name.
    pub(crate) fn create<F: Fs>(&mut self, fs: &F) -> io::Result<(String, F::File)> {
        loop {
            self.count += 1;
            let name = format!("{}{}-{}", self.prefix, std::process::id(), self.count);
            match fs.create(&name) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                file => return Ok((name, file?)),
            }
        }
    }

    /// Writes a file and puts it in the place of `name`.
    pub(crate) fn replace<F: Fs>(
        &mut self,
        fs: &F,
        name: &str,
        parts: &[&[u8]],
        sync: Sync,
    ) -> io::Result<()> {
        let temporary = self.write(fs, parts, sync)?;
        put(fs, &temporary, name)
    }
}

/// Puts a temporary in the place of `name`.
pub(crate) fn put<F: Fs>(fs: &F, temporary: &str, name: &str) -> io::Result<()> {
    fs.rename(temporary, name).inspect_err(|_| {
        // If this fails too, the next start sweeps it.
        let _ = fs.remove(temporary);
    })
}

/// Removes what an earlier process left, and says how much.
pub(crate) fn sweep<F: Fs>(fs: &F, prefix: &str) -> io::Result<usize> {
    let mut swept = 0;
    for name in fs.names()?.iter().filter(|name| name.starts_with(prefix)) {
        match fs.remove(name) {
            Ok(()) => swept += 1,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(swept)
}

pub(crate) const PREFIX: &str = ".tmp-";
