//! What of this process goes along with a request: its directory and its
//! environment.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::failure::Failure;
use crate::protocol::{WireOs, code};

/// The working directory in the person's spelling: `$PWD` where that is the
/// same directory, so that a path through a symbolic link stays one. Agents
/// keep conversations by this spelling.
///
/// # Errors
///
/// Where there is none any more: it was removed, or may not be entered.
pub(crate) fn working_directory() -> Result<PathBuf, Failure> {
    let real = std::env::current_dir().map_err(|error| {
        let message = format!(
            "the current directory cannot be used ({error}); was it removed? go to another one, \
             or pass --cwd DIR"
        );
        Failure::new(code::IO_ERROR, message)
    })?;
    Ok(logical(real, std::env::var_os("PWD")))
}

/// What `dir` means here. The current directory is asked for only where `dir`
/// begins there.
pub(crate) fn from_here(dir: &Path) -> Result<PathBuf, Failure> {
    let base = if dir.is_absolute() || is_remote() { "/".into() } else { working_directory()? };
    Ok(absolute(&base, dir))
}

/// `dir` as an absolute path, seen from `base`. Its spelling is kept as far as
/// it leads to the same directory.
pub(crate) fn absolute(base: &Path, dir: &Path) -> PathBuf {
    if is_remote() {
        // The server says what it cannot use.
        return dir.to_owned();
    }
    let joined = base.join(dir);
    let mut tidy = PathBuf::new();
    for component in joined.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                tidy.pop();
            }
            other => tidy.push(other),
        }
    }
    // Through a symbolic link, `..` may lead elsewhere than the spelling says.
    if same_directory(&tidy, &joined) || !joined.components().any(|c| c == Component::ParentDir) {
        tidy
    } else {
        fs::canonicalize(&joined).unwrap_or(joined)
    }
}

/// This process's whole environment. The server takes out what must not go
/// along, uses the rest for one start and stores none of it (D-27). A variable
/// whose name is not UTF-8 has no place in JSON and is left out.
pub(crate) fn environment() -> BTreeMap<String, WireOs> {
    if is_remote() {
        return BTreeMap::new();
    }
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, WireOs(value))))
        .collect()
}

/// From now on requests go to another machine, where neither the directory nor
/// the environment of this process means anything.
pub(crate) fn go_remote() {
    REMOTE.store(true, Ordering::Relaxed);
}

/// Whether requests go to another machine.
pub(crate) fn is_remote() -> bool {
    REMOTE.load(Ordering::Relaxed)
}

static REMOTE: AtomicBool = AtomicBool::new(false);

fn logical(real: PathBuf, pwd: Option<OsString>) -> PathBuf {
    pwd.map(PathBuf::from)
        .filter(|pwd| pwd.is_absolute() && same_directory(pwd, &real))
        .filter(|pwd| !pwd.components().any(|part| part == Component::ParentDir))
        .unwrap_or(real)
}

fn same_directory(one: &Path, other: &Path) -> bool {
    let of = |path: &Path| fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    of(one).is_some_and(|found| Some(found) == of(other))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_spelling_through_a_link_is_kept_where_it_leads_to_the_same_place() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("real/sub")).unwrap();
        symlink("real/sub", root.join("link")).unwrap();
        let link = root.join("link");
        let real = root.join("real/sub");
        assert_eq!(logical(real.clone(), Some(link.clone().into())), link);
        assert_eq!(logical(real.clone(), Some("link".into())), real);
        assert_eq!(logical(real.clone(), Some(root.clone().into())), real);
        assert_eq!(logical(real.clone(), None), real);
        assert_eq!(absolute(&link, Path::new(".")), link);
        assert_eq!(absolute(&root, Path::new("./real/../link")), root.join("link"));
        // The parent of where the link leads is not the link's parent.
        assert_eq!(absolute(&link, Path::new("..")), root.join("real"));
        let missing = Path::new("not/there");
        assert_eq!(absolute(&root, missing), root.join("not/there"));
    }
}
