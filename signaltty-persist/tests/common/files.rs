//! State directories on the real file system.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use signaltty_persist::{LoadError, Opened, Save, StateDir, Store};

use super::{open, owner, pane_id, program, session, synced};

pub(crate) fn try_open(path: &Path) -> Result<Opened, LoadError> {
    Store::open(StateDir::open(path, &owner()).unwrap(), program())
}

/// Every file and link below, but not the lock.
pub(crate) fn tree(path: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        let kind = path.symlink_metadata().unwrap().file_type();
        if kind.is_dir() {
            found.insert(path.clone(), b"directory".to_vec());
            found.extend(tree(&path));
        } else if kind.is_file() && path.file_name().unwrap() != "server.lock" {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    found
}

/// A state directory with a saved session of pane 1 and its tail.
pub(crate) fn saved() -> (tempfile::TempDir, PathBuf) {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("state");
    let mut opened = open(&path);
    let session = session("api", &[1]);
    let tails = [(pane_id(1), &b"tail\n"[..])];
    opened.store.save(Save { tails: &tails, ..synced(&session) }).unwrap();
    (temporary, path)
}
