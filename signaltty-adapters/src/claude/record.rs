//! Where Claude keeps a conversation: a file of lines below a directory that is
//! named after the project.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use signaltty_core::agent::{AgentSessionId, Conversation};
use signaltty_core::env::ConfigEnv;
use signaltty_core::restore::{FailureCode, Refusal};

use crate::AgentHost;
use crate::records::{Record, io_error};

/// The directory in which Claude keeps everything.
pub(super) fn config_dir(env: &ConfigEnv, host: &dyn AgentHost) -> Option<PathBuf> {
    match env.var(super::CONFIG_VAR) {
        Some(dir) => Some(PathBuf::from(dir)),
        None => host.home().map(|home| home.join(".claude")),
    }
}

/// Finds the transcript of a conversation as Claude does: in the directory of
/// the project, else in the only other one that has it. The project's directory
/// is named after the saved spelling of the working directory, or after the
/// resolved one, which Claude itself uses.
pub(super) fn find(conversation: &Conversation, host: &dyn AgentHost) -> Result<PathBuf, Refusal> {
    let Some(config) = config_dir(&conversation.config_env, host) else {
        return Err(Refusal::new(
            FailureCode::Unreadable,
            "neither CLAUDE_CONFIG_DIR nor a home directory says where claude keeps its records",
        ));
    };
    let projects = config.join("projects");
    let file = format!("{}.jsonl", conversation.id);
    let resolved = fs::canonicalize(&conversation.cwd).ok();
    let own = [Some(conversation.cwd.as_path()), resolved.as_deref()]
        .into_iter()
        .flatten()
        .map(|cwd| projects.join(project_dir(cwd)).join(&file))
        .find(|path| is_there(path));
    match own {
        Some(path) => Ok(path),
        None => find_elsewhere(&projects, &file, &conversation.id),
    }
}

fn find_elsewhere(projects: &Path, file: &str, id: &AgentSessionId) -> Result<PathBuf, Refusal> {
    let gone = || {
        Refusal::new(
            FailureCode::Gone,
            format!(
                "claude has no conversation {id} on this machine: {file} is in no directory \
                 below {}; start a new one in this pane, or restore the file",
                projects.display()
            ),
        )
    };
    let entries = match fs::read_dir(projects) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(gone()),
        Err(error) => return Err(io_error("listing", projects, error).refusal()),
    };
    let mut found: Option<PathBuf> = None;
    for entry in entries.take(MAX_PROJECTS) {
        let entry = entry.map_err(|error| io_error("listing", projects, error).refusal())?;
        let path = entry.path().join(file);
        if !is_there(&path) {
            continue;
        }
        if let Some(other) = found {
            return Err(Refusal::new(
                FailureCode::Unreadable,
                format!(
                    "two projects hold a conversation {id}, so nobody can say which one it is: \
                     {} and {}; move one of them away",
                    other.display(),
                    path.display()
                ),
            ));
        }
        found = Some(path);
    }
    found.ok_or_else(gone)
}

/// The directory of the project that a transcript lies below, as its own lines
/// spell it. Claude works there, wherever it was started.
pub(super) fn directory(conversation: &Conversation, host: &dyn AgentHost) -> Option<PathBuf> {
    #[derive(Deserialize)]
    struct Line {
        cwd: PathBuf,
    }
    if conversation.anchor.is_some() {
        return None;
    }
    let path = find(conversation, host).ok()?;
    let project = path.parent()?.file_name()?.to_str()?;
    let record = Record::open(&path).ok()?;
    let lines = BufReader::new(record.contents().take(MOST_LINES)).split(b'\n');
    let said = lines.map_while(Result::ok).filter_map(|line| {
        let line: Line = serde_json::from_slice(&line).ok()?;
        Some(line.cwd)
    });
    said.into_iter().find(|cwd| project_dir(cwd) == project)
}

/// The name of a project's directory: everything but letters and digits becomes
/// a dash, counted in the units of UTF-16 as Claude does.
pub(super) fn project_dir(cwd: &Path) -> String {
    cwd.to_string_lossy()
        .chars()
        .flat_map(|c| {
            let (shown, times) =
                if c.is_ascii_alphanumeric() { (c, 1) } else { ('-', c.len_utf16()) };
            std::iter::repeat_n(shown, times)
        })
        .collect()
}

fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// How much of a transcript is looked through for its directory.
const MOST_LINES: u64 = 16 << 20;

/// The most project directories that are looked through.
const MAX_PROJECTS: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c056_project_directories_are_named_as_claude_does() {
        for (cwd, name) in [
            ("/home/me/proj", "-home-me-proj"),
            ("/w/a b.c_d-E9", "-w-a-b-c-d-E9"),
            ("/w/\u{e4}", "-w--"),
            ("/w/\u{1f980}", "-w---"),
        ] {
            assert_eq!(project_dir(Path::new(cwd)), name, "{cwd}");
        }
    }
}
