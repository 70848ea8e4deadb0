//! One test's directory.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// A directory with everything that one test makes; gone with it.
pub struct Home {
    dir: tempfile::TempDir,
}

impl Home {
    pub fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("st").tempdir().unwrap();
        for name in ["state", "run", "work", "demo"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        for name in ["state", "run"] {
            use std::os::unix::fs::PermissionsExt as _;
            let private = fs::Permissions::from_mode(0o700);
            fs::set_permissions(dir.path().join(name), private).unwrap();
        }
        Self { dir }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The state directory.
    pub fn state(&self) -> PathBuf {
        self.path("state")
    }

    /// Where panes start.
    pub fn work(&self) -> PathBuf {
        self.path("work")
    }

    pub fn socket(&self) -> PathBuf {
        self.path("run/s")
    }

    /// Where the demonstration agent keeps its records.
    pub fn demo(&self) -> PathBuf {
        self.path("demo")
    }

    pub fn snapshot_path(&self) -> PathBuf {
        self.path("state/snapshot.json")
    }

    pub fn snapshot(&self) -> Value {
        serde_json::from_slice(&fs::read(self.snapshot_path()).unwrap()).unwrap()
    }

    /// Every file of the state with its bytes, but for the lock file, whose
    /// content names the process that looked last.
    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = files_below(&self.state());
        files.retain(|path, _| path.file_name().is_none_or(|name| name != "server.lock"));
        files
    }

    /// The files of the state that contain `text`.
    pub fn files_with(&self, text: &str) -> Vec<PathBuf> {
        let holds = |bytes: &[u8]| bytes.windows(text.len()).any(|part| part == text.as_bytes());
        files_below(&self.state())
            .into_iter()
            .filter(|(path, bytes)| holds(bytes) || holds(path.as_os_str().as_encoded_bytes()))
            .map(|(path, _)| path)
            .collect()
    }
}

/// Whatever a test had saved is what the published schema says.
impl Drop for Home {
    fn drop(&mut self) {
        // A test that failed has said why.
        if std::thread::panicking() {
            return;
        }
        let older = files_below(&self.path("state/snapshots")).into_values();
        for bytes in fs::read(self.snapshot_path()).into_iter().chain(older) {
            super::shape::snapshot(&bytes);
        }
    }
}

/// Every file below a directory with its bytes.
pub fn files_below(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            files.extend(files_below(&path));
        } else if kind.is_file()
            && let Ok(bytes) = fs::read(&path)
        {
            files.insert(path, bytes);
        }
    }
    files
}
