//! Settings of Claude's that keep every hook from running.
//!
//! Where they say so Claude runs none, also none of its launch: measured with
//! 2.1.332. They are the person's, and are only read.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::records::read_small;

/// What keeps Claude from running our hooks.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Off {
    /// The member that is true.
    pub(super) switch: &'static str,
    /// The file that it stands in.
    pub(super) file: PathBuf,
}

/// What keeps our hooks from running in a Claude that is started with these
/// variables in this directory. The first file that says anything of all hooks
/// decides, as for Claude itself; an administrator may let only hooks of their
/// own run.
pub(super) fn turned_off(
    var: impl Fn(&str) -> Option<std::ffi::OsString>,
    cwd: &Path,
) -> Option<Off> {
    turned_off_in(Path::new(MANAGED), var, cwd)
}

fn turned_off_in(
    managed: &Path,
    var: impl Fn(&str) -> Option<std::ffi::OsString>,
    cwd: &Path,
) -> Option<Off> {
    let set = |name| var(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let own = set(super::CONFIG_VAR).or_else(|| Some(set("HOME")?.join(".claude")));
    let project = cwd.join(".claude");
    let managed = managed_files(managed);
    let theirs = [
        Some(project.join("settings.local.json")),
        Some(project.join("settings.json")),
        own.map(|dir| cwd.join(dir).join("settings.json")),
    ];
    let off = |switch, file: &PathBuf| Off { switch, file: file.clone() };
    let only = managed.iter().find(|file| says(file, MANAGED_ONLY) == Some(true));
    only.map(|file| off(MANAGED_ONLY, file)).or_else(|| {
        let files = managed.into_iter().chain(theirs.into_iter().flatten());
        let said = files.filter_map(|file| Some((says(&file, SWITCH)?, file))).next();
        said.filter(|(off, _)| *off).map(|(_, file)| off(SWITCH, &file))
    })
}

/// An administrator's files: those of the directory beside the first, whichever
/// comes last by name deciding, and the first.
fn managed_files(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir.join("managed-settings.d")).into_iter().flatten();
    let mut files: Vec<_> = entries
        .take(MAX_FILES)
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .collect();
    files.sort();
    files.reverse();
    files.push(dir.join("managed-settings.json"));
    files
}

fn says(file: &Path, switch: &str) -> Option<bool> {
    let bytes = read_small(file, MAX_BYTES).ok()?;
    let settings: Value = serde_json::from_slice(&bytes).ok()?;
    settings.get(switch)?.as_bool()
}

/// A variable of a launch.
pub(super) fn of<'a>(
    env: &'a [(std::ffi::OsString, std::ffi::OsString)],
) -> impl Fn(&str) -> Option<std::ffi::OsString> + 'a {
    |name| {
        let found = env.iter().rev().find(|(key, _)| key.as_os_str() == OsStr::new(name));
        found.map(|(_, value)| value.clone())
    }
}

/// The member that turns all hooks off.
pub(super) const SWITCH: &str = "disableAllHooks";

/// The member of an administrator's that turns off all hooks but theirs.
const MANAGED_ONLY: &str = "allowManagedHooksOnly";

/// Where a machine's administrator sets it up.
const MANAGED: &str = "/etc/claude-code";

const MAX_FILES: usize = 256;

const MAX_BYTES: u64 = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d12_hooks_that_an_administrator_keeps_to_their_own_are_off() {
        let dir = tempfile::tempdir().unwrap();
        let [managed, home] = ["etc", "home"].map(|name| dir.path().join(name));
        std::fs::create_dir_all(managed.join("managed-settings.d")).unwrap();
        std::fs::create_dir_all(home.join(".claude")).unwrap();
        let var = |name: &str| (name == "HOME").then(|| home.clone().into_os_string());
        let found = || turned_off_in(&managed, var, dir.path());
        let write = |name: &str, text: &str| {
            let file = managed.join(name);
            std::fs::write(&file, text).unwrap();
            file
        };
        assert_eq!(found(), None);
        let all = write("managed-settings.json", r#"{"allowManagedHooksOnly": true}"#);
        assert_eq!(found(), Some(Off { switch: MANAGED_ONLY, file: all }));
        write("managed-settings.json", "{}");
        let part = write("managed-settings.d/10-hooks.json", r#"{"allowManagedHooksOnly": true}"#);
        assert_eq!(found(), Some(Off { switch: MANAGED_ONLY, file: part }));
        write("managed-settings.d/10-hooks.json", r#"{"disableAllHooks": false}"#);
        let own = home.join(".claude/settings.json");
        // It is nothing in a person's own settings, and theirs decide nothing here.
        std::fs::write(&own, r#"{"allowManagedHooksOnly": true, "disableAllHooks": true}"#)
            .unwrap();
        assert_eq!(found(), None);
        write("managed-settings.d/10-hooks.json", "{}");
        assert_eq!(found(), Some(Off { switch: SWITCH, file: own }));
    }
}
