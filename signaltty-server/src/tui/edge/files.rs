//! The client's own files, in `$XDG_CONFIG_HOME/signaltty`.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use signaltty_core::scope::Scope;

use crate::config;
use crate::tui::gui::Gui;

/// Where a file of this name is; `None` without a home.
pub(crate) fn path(name: &str) -> Option<PathBuf> {
    let absolute = |var: &str| {
        let path = std::env::var_os(var).map(PathBuf::from)?;
        path.is_absolute().then_some(path)
    };
    let config = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")));
    Some(config?.join("signaltty").join(name))
}

/// The preferences; those of a file that is not there are the defaults.
///
/// # Errors
///
/// A file that cannot be read or understood, with its path.
pub(crate) fn load_gui(path: &Path) -> Result<Gui, String> {
    match config::read(path) {
        Ok(text) => Gui::parse(&text).map_err(|error| format!("{}: {error}", path.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Gui::default()),
        Err(error) => Err(format!("cannot read {}: {error}", path.display())),
    }
}

/// The saved scope. Whatever is wrong with the file, all projects are shown
/// (S0-47); the file is left as it is until the person chooses another project.
pub(crate) fn load_scope(path: &Path) -> Scope {
    let project = || -> Option<PathBuf> {
        let value: Value = serde_json::from_str(&config::read(path).ok()?).ok()?;
        Some(PathBuf::from(value.get("project")?.as_str()?))
    };
    Scope::from_saved(project().as_deref())
}

/// Saves the scope: written beside the file, then renamed over it, so that
/// whoever reads it finds the old or the new one (S0-46).
pub(crate) fn save_scope(path: &Path, scope: &Scope) -> io::Result<()> {
    let value = match scope {
        Scope::All => json!({ "project": null }),
        Scope::Project(root) => match root.to_str() {
            Some(root) => json!({ "project": root }),
            // JSON has no place for it; the next start shows all projects.
            None => json!({ "project": null }),
        },
    };
    let dir = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(dir)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Two clients may save at once.
    let fresh = dir.join(format!(".{name}.{}", std::process::id()));
    let write = || {
        let mut file = fs::File::create(&fresh)?;
        file.write_all(format!("{value}\n").as_bytes())?;
        fs::rename(&fresh, path)
    };
    write().inspect_err(|_| {
        let _ = fs::remove_file(&fresh);
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn one(root: &str) -> Scope {
        Scope::Project(root.into())
    }

    #[test]
    fn s0_46_a_reader_never_finds_half_a_scope() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("signaltty/project-scope.json");
        save_scope(&path, &one("/a")).unwrap();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let text = fs::read_to_string(&path).unwrap();
                    assert!(serde_json::from_str::<Value>(&text).is_ok(), "{text:?}");
                    assert_ne!(load_scope(&path), Scope::All);
                }
            });
            for round in 0..1000 {
                let root = format!("/{}", "x".repeat(round % 200));
                save_scope(&path, &one(&format!("{root}/a"))).unwrap();
            }
            over.store(true, Ordering::Relaxed);
        });
        let names: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().flatten().collect();
        assert_eq!(names.len(), 1, "{names:?}");
    }

    #[test]
    fn s0_47_a_scope_file_that_is_missing_invalid_or_empty_means_all_projects() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("project-scope.json");
        assert_eq!(load_scope(&path), Scope::All);
        for text in
            ["", "{", "[]", "{}", r#"{"project":null}"#, r#"{"project":""}"#, r#"{"project":"a"}"#]
        {
            fs::write(&path, text).unwrap();
            assert_eq!(load_scope(&path), Scope::All, "{text}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text, "left as it is");
        }
        save_scope(&path, &one("/src/api")).unwrap();
        assert_eq!(load_scope(&path), one("/src/api"));
        save_scope(&path, &Scope::All).unwrap();
        assert_eq!(load_scope(&path), Scope::All);
    }

    #[test]
    fn s0_50_preferences_that_cannot_be_read_are_named_with_their_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("gui.json");
        assert_eq!(load_gui(&path).unwrap(), Gui::default());
        fs::write(&path, r#"{"prefx":"C-a"}"#).unwrap();
        let error = load_gui(&path).unwrap_err();
        assert!(error.contains("gui.json: there is no prefx; did you mean prefix?"), "{error}");
    }
}
