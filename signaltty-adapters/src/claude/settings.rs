//! Settings of Claude's that keep every hook from running.
//!
//! Where they say so Claude runs none, also none of its launch: measured with
//! 2.1.332. They are the person's, and are only read.

use std::ffi::{OsStr, OsString};
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
pub(super) fn turned_off(var: impl Fn(&str) -> Option<OsString>, cwd: &Path) -> Option<Off> {
    turned_off_in(Path::new(MANAGED), var, cwd)
}

fn turned_off_in(
    managed: &Path,
    var: impl Fn(&str) -> Option<OsString>,
    cwd: &Path,
) -> Option<Off> {
    let project = cwd.join(".claude");
    let managed = managed_files(managed);
    let theirs = [
        Some(project.join("settings.local.json")),
        Some(project.join("settings.json")),
        own_dir(var, cwd).map(|dir| dir.join("settings.json")),
    ];
    let off = |switch, file: &PathBuf| Off { switch, file: file.clone() };
    let only = managed.iter().find(|file| says(file, MANAGED_ONLY) == Some(true));
    only.map(|file| off(MANAGED_ONLY, file)).or_else(|| {
        let files = managed.into_iter().chain(theirs.into_iter().flatten());
        let said = files.filter_map(|file| Some((says(&file, SWITCH)?, file))).next();
        said.filter(|(off, _)| *off).map(|(_, file)| off(SWITCH, &file))
    })
}

/// What a command gives with `--settings`: the last one, as for Claude itself.
pub(super) fn given(argv: &[OsString]) -> Option<&str> {
    let mut words = argv.iter().skip(1).map(|arg| arg.to_str().unwrap_or(""));
    let mut given = None;
    while let Some(word) = words.next() {
        match word.split_once('=') {
            _ if word == "--" => break,
            Some(("--settings", value)) => given = Some(value),
            _ if word == "--settings" => given = words.next().or(given),
            _ => {}
        }
    }
    given
}

/// Whether settings that a command gives, as JSON or by the name of a file,
/// turn all hooks off.
pub(super) fn turns_off(given: &str, cwd: &Path) -> bool {
    let written = serde_json::from_str::<Value>(given).ok();
    let said = match written {
        Some(settings) => settings.get(SWITCH).and_then(Value::as_bool),
        None => says(&cwd.join(given), SWITCH),
    };
    said == Some(true)
}

/// The file with which an administrator keeps Claude from taking plugins at its
/// start: with `--plugin-dir` it ends at once then.
pub(super) fn refuses_plugins(
    var: impl Fn(&str) -> Option<OsString>,
    cwd: &Path,
) -> Option<PathBuf> {
    refuses_plugins_in(Path::new(MANAGED), var, cwd)
}

fn refuses_plugins_in(
    managed: &Path,
    var: impl Fn(&str) -> Option<OsString>,
    cwd: &Path,
) -> Option<PathBuf> {
    let mut files = managed_files(managed);
    // What an administrator sets for an account is kept there.
    files.extend(own_dir(var, cwd).map(|dir| dir.join("remote-settings.json")));
    files.into_iter().find(|file| says(file, NO_PLUGINS) == Some(true))
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

/// Where Claude keeps everything.
fn own_dir(var: impl Fn(&str) -> Option<OsString>, cwd: &Path) -> Option<PathBuf> {
    let set = |name| var(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let own = set(super::CONFIG_VAR).or_else(|| Some(set("HOME")?.join(".claude")));
    own.map(|dir| cwd.join(dir))
}

fn says(file: &Path, switch: &str) -> Option<bool> {
    let bytes = read_small(file, MAX_BYTES).ok()?;
    let settings: Value = serde_json::from_slice(&bytes).ok()?;
    settings.get(switch)?.as_bool()
}

/// A variable of a launch.
pub(super) fn of<'a>(env: &'a [(OsString, OsString)]) -> impl Fn(&str) -> Option<OsString> + 'a {
    |name| {
        let found = env.iter().rev().find(|(key, _)| key.as_os_str() == OsStr::new(name));
        found.map(|(_, value)| value.clone())
    }
}

/// The member that turns all hooks off.
pub(super) const SWITCH: &str = "disableAllHooks";

/// The member of an administrator's that turns off all hooks but theirs.
const MANAGED_ONLY: &str = "allowManagedHooksOnly";

/// The member of an administrator's with which Claude takes no `--plugin-dir`.
pub(super) const NO_PLUGINS: &str = "disableSideloadFlags";

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

    #[test]
    fn d12_an_administrator_who_lets_no_plugin_in_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let [managed, home] = ["etc", "home"].map(|name| dir.path().join(name));
        std::fs::create_dir_all(managed.join("managed-settings.d")).unwrap();
        std::fs::create_dir_all(home.join(".claude")).unwrap();
        let var = |name: &str| (name == "HOME").then(|| home.clone().into_os_string());
        let found = || refuses_plugins_in(&managed, var, dir.path());
        std::fs::write(home.join(".claude/settings.json"), r#"{"disableSideloadFlags": true}"#)
            .unwrap();
        assert_eq!(found(), None, "only an administrator's word counts");
        for file in [
            home.join(".claude/remote-settings.json"),
            managed.join("managed-settings.json"),
            managed.join("managed-settings.d/10-plugins.json"),
        ] {
            std::fs::write(&file, r#"{"disableSideloadFlags": true}"#).unwrap();
            assert_eq!(found(), Some(file.clone()));
            std::fs::write(&file, "{}").unwrap();
        }
        assert_eq!(found(), None);
    }
}
