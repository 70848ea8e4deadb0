//! The first and the last lines of a record, without the rest of it.

#[cfg(feature = "codex")]
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::{ReadError, Record, io_error};

impl Record {
    /// Its first line; `None` where that is not whole, or longer than `limit`.
    #[cfg(feature = "codex")]
    pub(crate) fn first_line(&self, path: &Path, limit: u64) -> Result<Option<Vec<u8>>, ReadError> {
        let mut line = Vec::new();
        BufReader::new(self.contents().take(limit))
            .read_until(b'\n', &mut line)
            .map_err(|source| io_error("reading", path, source))?;
        Ok((line.pop() == Some(b'\n')).then_some(line))
    }

    /// Its whole lines among the last `limit` bytes.
    pub(crate) fn last_lines(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        let from = self.bytes().saturating_sub(limit);
        let length = usize::try_from(self.bytes().saturating_sub(from)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; length];
        let mut done = 0;
        while let Some(rest) = bytes.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let at = from.saturating_add(done as u64);
            match self.file.read_at(rest, at).map_err(|e| io_error("reading", path, e))? {
                // It became shorter meanwhile.
                0 => break,
                read => done = done.saturating_add(read),
            }
        }
        bytes.truncate(done);
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        bytes.truncate(end);
        if from > 0 {
            let cut = bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            bytes.drain(..cut);
        }
        Ok(bytes)
    }
}

#[cfg(all(test, feature = "codex"))]
mod tests {
    use super::*;

    #[test]
    fn only_whole_lines_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("record");
        for (text, first, limit, last) in [
            ("", None, 9, ""),
            ("cut", None, 9, ""),
            ("one\n", Some("one"), 9, "one\n"),
            ("one\ntwo\ncut", Some("one"), 99, "one\ntwo\n"),
            ("one\ntwo\nthree\n", Some("one"), 8, "three\n"),
            ("one\ntwo\nthree\n", Some("one"), 3, ""),
            ("\n", Some(""), 9, "\n"),
        ] {
            std::fs::write(&path, text).unwrap();
            let record = Record::open(&path).unwrap();
            let line = record.first_line(&path, 9).unwrap();
            assert_eq!(line.as_deref(), first.map(str::as_bytes), "{text:?}");
            let lines = record.last_lines(&path, limit).unwrap();
            assert_eq!(lines, last.as_bytes(), "{text:?} {limit}");
        }
        std::fs::write(&path, "0123456789\n").unwrap();
        let record = Record::open(&path).unwrap();
        assert_eq!(record.first_line(&path, 9).unwrap(), None);
    }
}
