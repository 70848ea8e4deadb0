//! Reads agents' SQLite databases, without ever writing to one.
//!
//! Their owners run while we read, in WAL mode. With a log and its index there
//! we read through both and touch neither. A database without a log is whole
//! and nobody has it open, so it is read as a file that does not change. Only a
//! log without its index, as a copied home or a loss of power leaves it, makes
//! SQLite build that index beside it, which it also does for its owner.
//!
//! A database is untrusted: steps, row sizes and waiting are bounded.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use signaltty_core::agent::FileIdentity;
use signaltty_core::restore::{FailureCode, Refusal};

use crate::records;

/// An opened database.
#[derive(Debug)]
pub(crate) struct Database {
    pub(crate) connection: Connection,
    path: PathBuf,
    file: FileIdentity,
}

impl Database {
    /// Opens the database at `path` for reading.
    pub(crate) fn open(path: &Path) -> Result<Self, Refusal> {
        let (file, bytes) = records::identify(path).map_err(|error| error.refusal())?;
        if bytes == 0 {
            return Err(damaged(path, "is empty"));
        }
        let uri = uri(path, beside(path, "-wal"), beside(path, "-shm"));
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let open = || {
            let mut connection = Connection::open_with_flags(&uri, flags)?;
            connection.busy_timeout(BUSY)?;
            connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_ROW_BYTES)?;
            let mut steps = 0_u32;
            let count = move || {
                steps = steps.saturating_add(1);
                steps > MAX_STEPS
            };
            connection.progress_handler(STEP, Some(count))?;
            Ok(connection)
        };
        match open() {
            Ok(connection) => Ok(Self { connection, path: path.to_owned(), file }),
            Err(error) => Err(refusal(path, &error)),
        }
    }

    /// Where it is.
    #[cfg(feature = "opencode")]
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Which file it was when it was opened.
    pub(crate) fn file(&self) -> FileIdentity {
        self.file
    }

    /// The refusal for a question that failed.
    pub(crate) fn refusal(&self, error: &rusqlite::Error) -> Refusal {
        refusal(&self.path, error)
    }

    /// The refusal for contents that are not what the agent writes.
    #[cfg(feature = "opencode")]
    pub(crate) fn damaged(&self, what: impl std::fmt::Display) -> Refusal {
        damaged(&self.path, what)
    }
}

fn refusal(path: &Path, error: &rusqlite::Error) -> Refusal {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            damaged(path, format!("is no sound database: {error}"))
        }
        _ => Refusal::new(
            FailureCode::Unreadable,
            format!("reading {} failed: {error}", path.display()),
        ),
    }
}

fn damaged(path: &Path, what: impl std::fmt::Display) -> Refusal {
    Refusal::new(
        FailureCode::Damaged,
        format!("the agent's record {} {what}; restore it from a backup", path.display()),
    )
}

/// The name under which SQLite opens a file, with how.
fn uri(path: &Path, log: Option<u64>, index: Option<u64>) -> OsString {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                uri.push(char::from(*byte));
            }
            other => uri.push_str(&format!("%{other:02x}")),
        }
    }
    uri.push_str(match (log, index) {
        (Some(_), Some(_)) => "?mode=ro&readonly_shm=1",
        (Some(1..), None) => "?mode=ro",
        (Some(0) | None, _) => "?mode=ro&immutable=1",
    });
    uri.into()
}

/// How long a companion file of a database is.
fn beside(path: &Path, suffix: &str) -> Option<u64> {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    std::fs::symlink_metadata(PathBuf::from(name)).ok().map(|about| about.len())
}

/// How long a writer may keep us waiting. In WAL mode they do not.
const BUSY: Duration = Duration::from_millis(500);

/// The largest value that is read: 64 MiB.
const MAX_ROW_BYTES: i32 = 64 << 20;

/// After so many instructions SQLite asks whether to go on.
const STEP: i32 = 100_000;

/// How often it is told to: five billion instructions, some minutes.
const MAX_STEPS: u32 = 50_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<(String, u64)> {
        let mut names: Vec<_> = std::fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| {
                (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len())
            })
            .collect();
        names.sort();
        names
    }

    fn count(path: &Path) -> i64 {
        let database = Database::open(path).unwrap();
        database.connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn reading_changes_no_file() {
        let dir = tempfile::tempdir().unwrap();
        // Signs that mean something in an URI.
        let path = dir.path().join("a ?&#%41\u{e4}.db");
        let owner = Connection::open(&path).unwrap();
        owner.pragma_update(None, "journal_mode", "wal").unwrap();
        owner.execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1)").unwrap();
        let before = names(dir.path());
        assert_eq!(before.len(), 3, "{before:?}");
        assert_eq!(count(&path), 1);
        owner.execute_batch("INSERT INTO t VALUES (2)").unwrap();
        assert_eq!(count(&path), 2);
        drop(owner);
        let before = names(dir.path());
        assert_eq!(before.len(), 1, "{before:?}");
        assert_eq!(count(&path), 2);
        assert_eq!(names(dir.path()), before);
        let database = Database::open(&path).unwrap();
        assert!(database.connection.execute_batch("DELETE FROM t").is_err());
    }

    #[test]
    fn what_is_no_database_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        let code = |path: &Path| match Database::open(path) {
            Err(refusal) => refusal.code,
            Ok(database) => {
                let asked = database.connection.query_row("SELECT 1 FROM t", [], |_| Ok(()));
                database.refusal(&asked.unwrap_err()).code
            }
        };
        assert_eq!(code(&path), FailureCode::Gone);
        for (contents, expected) in [
            (&b""[..], FailureCode::Damaged),
            (&[b'x'; 4096], FailureCode::Damaged),
            (b"SQLite format 3\0", FailureCode::Damaged),
        ] {
            std::fs::write(&path, contents).unwrap();
            assert_eq!(code(&path), expected, "{}", contents.len());
        }
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        assert_eq!(code(&path), FailureCode::Unreadable);
    }
}
