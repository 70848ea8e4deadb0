//! Options that a script adds by itself.
//!
//! A program that has an agent's name may be a script that starts the agent
//! with options of its own. What a launch of ours would add has to leave those
//! alone (D-12), and some agents take an option once.

use std::env::split_paths;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::Launch;
use crate::records::read_small;

/// The script that a launch starts, and the first of `words` that it has, where
/// it has one. In a script that was written for an agent an option of the agent
/// has no other meaning; comments do not count.
pub(crate) fn that_has<'a>(
    launch: &Launch,
    cwd: &Path,
    words: &[&'a str],
) -> Option<(PathBuf, &'a str)> {
    let path = program(launch, cwd)?;
    let bytes = read_small(&path, MAX_BYTES).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    if !text.starts_with("#!") {
        return None;
    }
    let lines = || text.lines().map(str::trim_start).filter(|line| !line.starts_with('#'));
    let word = words.iter().find(|word| lines().any(|line| has(line, word)))?;
    Some((path, *word))
}

/// What a launch starts, found as the system finds it.
fn program(launch: &Launch, cwd: &Path) -> Option<PathBuf> {
    let named = Path::new(launch.argv.first()?);
    if named.components().nth(1).is_some() || named.is_absolute() {
        return Some(cwd.join(named));
    }
    let path = |(name, _): &&(OsString, OsString)| name == OsStr::new("PATH");
    let (_, path) = launch.env.iter().rev().find(path)?;
    let mut dirs = split_paths(path).filter(|dir| dir.is_absolute());
    dirs.find_map(|dir| Some(dir.join(named)).filter(|path| path.is_file()))
}

/// Whether the word stands in a line by itself, and not as a part of another.
fn has(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    line.match_indices(word).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let after = line.get(at + word.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}

/// The longest script that is looked at; what is longer is a program.
const MAX_BYTES: u64 = 256 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d12_a_word_of_a_script_is_found_and_a_part_of_one_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("agent");
        let found = |text: &str, argv: &str| {
            std::fs::write(&file, text).unwrap();
            let env = vec![("PATH".into(), format!("/none:{}", dir.path().display()).into())];
            let launch = Launch { argv: vec![argv.into()], env };
            that_has(&launch, dir.path(), &["--port"]).map(|(_, word)| word)
        };
        let full = file.to_str().unwrap();
        for argv in ["agent", "./agent", full] {
            assert_eq!(found("#!/bin/sh\nexec x --port 1 \"$@\"", argv), Some("--port"), "{argv}");
            assert_eq!(found("#!/bin/sh\nexec x --port=$P", argv), Some("--port"));
            assert_eq!(found("#!/usr/bin/python3\nrun(['x', '--port'])", argv), Some("--port"));
            assert_eq!(found("#!/bin/sh\nexec x --portable --no--port", argv), None);
            assert_eq!(found("#!/bin/sh\n # not --port\nexec x", argv), None);
            assert_eq!(found("\x7fELF --port", argv), None, "no script");
        }
        assert_eq!(found("#!/bin/sh\n--port", "other"), None);
        assert_eq!(found("#!/bin/sh\n--port", ""), None);
    }
}
