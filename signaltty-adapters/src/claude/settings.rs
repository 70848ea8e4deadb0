//! Settings of Claude's that keep every hook from running.
//!
//! Where they say so Claude runs none, also none of its launch: measured with
//! 2.1.332. They are the person's, and are only read.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::records::read_small;

/// The file that turns all hooks off, for a Claude that is started with these
/// variables in this directory. The first that says anything of it decides, as
/// for Claude itself.
pub(super) fn turned_off(
    var: impl Fn(&str) -> Option<std::ffi::OsString>,
    cwd: &Path,
) -> Option<PathBuf> {
    let set = |name| var(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let own = set(super::CONFIG_VAR).or_else(|| Some(set("HOME")?.join(".claude")));
    let project = cwd.join(".claude");
    let files = [
        Some(PathBuf::from(MANAGED)),
        Some(project.join("settings.local.json")),
        Some(project.join("settings.json")),
        own.map(|dir| cwd.join(dir).join("settings.json")),
    ];
    let said = files.into_iter().flatten().find_map(|file| says(&file).map(|off| (file, off)));
    said.filter(|(_, off)| *off).map(|(file, _)| file)
}

fn says(file: &Path) -> Option<bool> {
    let bytes = read_small(file, MAX_BYTES).ok()?;
    let settings: Value = serde_json::from_slice(&bytes).ok()?;
    settings.get(SWITCH)?.as_bool()
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

/// Those of a machine's administrator.
const MANAGED: &str = "/etc/claude-code/managed-settings.json";

const MAX_BYTES: u64 = 4 << 20;
