//! The log of a server that a client started: two files of bounded length.
//!
//! The server writes to its standard error, which is the file, and changes the
//! files itself while it runs. A client changes them when it starts a server.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::ClientError;
use crate::config::MAX_LOG_BYTES;

/// A log file, open for appending.
#[derive(Debug)]
pub(crate) struct Log {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// Handed to the server.
    pub(crate) file: File,
    /// What was in it before.
    start: u64,
}

impl Log {
    /// Opens the log of a state directory, whose folders are made where they
    /// are missing. A log of more than 4 MiB is put aside first, in the
    /// place of the one that was put aside before.
    pub(crate) fn open(state_dir: &Path) -> Result<Self, ClientError> {
        let dir = state_dir.join("log");
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&dir);
        made.map_err(|source| ClientError::io("make", &dir, source))?;
        let path = dir.join("server.log");
        if fs::metadata(&path).is_ok_and(|found| found.len() > MAX_LOG_BYTES) {
            fs::rename(&path, dir.join("server.log.1"))
                .map_err(|source| ClientError::io("put aside", &path, source))?;
        }
        let opened =
            OpenOptions::new().create(true).append(true).read(true).mode(0o600).open(&path);
        let file = opened.map_err(|source| ClientError::io("open", &path, source))?;
        let start = file.metadata().map_or(0, |found| found.len());
        Ok(Self { path, file, start })
    }

    /// The last lines that were written since the log was opened.
    pub(crate) fn last_lines(&self) -> io::Result<Vec<String>> {
        let mut file = &self.file;
        let end = file.metadata()?.len();
        let from = self.start.max(end.saturating_sub(TAIL_BYTES));
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<_> = text.lines().map(str::to_owned).collect();
        let skipped = lines.len().saturating_sub(TAIL_LINES);
        Ok(lines.into_iter().skip(skipped).collect())
    }
}

const TAIL_BYTES: u64 = 8 * 1024;

const TAIL_LINES: usize = 10;

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_long_log_is_put_aside_and_only_new_lines_are_shown() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log/server.log");
        let log = Log::open(dir.path()).unwrap();
        (&log.file).write_all(b"old\n").unwrap();
        let log = Log::open(dir.path()).unwrap();
        assert_eq!(log.last_lines().unwrap(), Vec::<String>::new());
        for line in 0..20 {
            writeln!(&log.file, "line {line}").unwrap();
        }
        let shown = log.last_lines().unwrap();
        assert_eq!((shown.len(), shown[0].as_str()), (10, "line 10"));
        log.file.set_len(MAX_LOG_BYTES + 1).unwrap();
        Log::open(dir.path()).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), 0);
        let aside = fs::metadata(dir.path().join("log/server.log.1")).unwrap();
        assert_eq!(aside.len(), MAX_LOG_BYTES + 1);
    }
}
