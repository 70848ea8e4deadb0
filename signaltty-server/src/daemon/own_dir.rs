//! The part of the runtime directory that is one server's alone.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::leftovers::{Children, Leftovers};

/// What of the runtime directory is this server's alone. Servers with other
/// state directories may share the rest, and the state has one server at a
/// time.
pub(crate) fn of(runtime_dir: &Path, state_dir: &Path) -> io::Result<PathBuf> {
    use std::os::unix::fs::MetadataExt as _;
    let state = fs::metadata(state_dir)?;
    Ok(runtime_dir.join(format!("{PREFIX}{:x}-{:x}", state.dev(), state.ino())))
}

/// Where the files of launches are, with nothing else in it.
pub(crate) fn launches(own_dir: &Path) -> PathBuf {
    own_dir.join("launch")
}

/// Clears up after a server that was killed, and says what of it may run still.
/// Only to be called by who holds the state and the socket.
pub(crate) fn take_over(children: &Children, own_dir: &Path, state_dir: &Path) -> Leftovers {
    remove_dir(&launches(own_dir));
    let mut found = children.sweep();
    // Where a server without `XDG_RUNTIME_DIR` has its files, and where earlier
    // versions had them, with the login shell's environment among them.
    let below_state = state_dir.join("run");
    // Whoever links it elsewhere may share it.
    if !fs::symlink_metadata(&below_state).is_ok_and(|found| found.is_dir()) {
        return found;
    }
    let its_own = of(&below_state, state_dir).ok();
    for entry in fs::read_dir(&below_state).into_iter().flatten().flatten() {
        let path = entry.path();
        let ours = entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes());
        if !ours || path == own_dir || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        // Another's came with a copy of the state, and its server may run.
        if its_own.as_ref() == Some(&path) {
            let before = found.lines().count();
            found.join(children.of_another(&path).sweep());
            // What is in doubt is in doubt at the next start, too.
            if found.lines().count() > before {
                remove_dir(&launches(&path));
                remove_environments(&path);
                continue;
            }
        }
        remove_dir(&path);
    }
    remove_environments(own_dir);
    found
}

/// Removes it at the end of its server, but for notes of what runs on.
pub(crate) fn give_up(children: &Children, own_dir: &Path) {
    remove_dir(&launches(own_dir));
    for dir in [children.dir(), own_dir] {
        // It need not be empty, or there.
        let _ = fs::remove_dir(dir);
    }
}

/// Earlier versions had the login shell print into files here.
fn remove_environments(own_dir: &Path) {
    for entry in fs::read_dir(own_dir).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(b"login-")
            && let Err(error) = fs::remove_file(entry.path())
        {
            tracing::warn!("{} was not removed: {error}", entry.path().display());
        }
    }
}

fn remove_dir(dir: &Path) {
    match fs::remove_dir_all(dir) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => tracing::warn!("{} was not removed: {error}", dir.display()),
    }
}

/// How the name of such a part begins.
const PREFIX: &str = "server-";
