//! Where Grok keeps a conversation: in a directory of its own, below one that is
//! named after the project.
//!
//! The summary says whose the directory is, which Grok itself does not compare.
//! The chat history is what the model gets; Grok would make a missing one anew
//! from another file, with another content.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use signaltty_core::agent::{AgentSessionId, Conversation};
use signaltty_core::env::ConfigEnv;
use signaltty_core::restore::{FailureCode, Refusal};

use super::line;
use crate::AgentHost;
use crate::anchor::Scan;
use crate::records::{ReadError, io_error, read_small};

/// The directory in which Grok keeps everything.
pub(super) fn home(env: &ConfigEnv, host: &dyn AgentHost) -> Option<PathBuf> {
    match env.var(super::HOME_VAR) {
        Some(dir) => Some(PathBuf::from(dir)),
        None => host.home().map(|home| home.join(".grok")),
    }
}

/// The directory of all conversations, by project.
pub(super) fn sessions(home: &Path) -> PathBuf {
    home.join("sessions")
}

/// The directory of a conversation, where it is known.
pub(super) fn dir(conversation: &Conversation, host: &dyn AgentHost) -> Option<PathBuf> {
    find(&sessions(&home(&conversation.config_env, host)?), conversation).ok()
}

/// Reads a conversation's record, with its anchor as what was saved.
pub(super) fn scan(conversation: &Conversation, host: &dyn AgentHost) -> Result<Scan, Refusal> {
    let Some(home) = home(&conversation.config_env, host) else {
        return Err(Refusal::new(
            FailureCode::Unreadable,
            "neither GROK_HOME nor a home directory says where grok keeps its records",
        ));
    };
    let dir = find(&sessions(&home), conversation)?;
    check_summary(&dir, conversation)?;
    let history = dir.join("chat_history.jsonl");
    Scan::read(&history, conversation.anchor.as_ref(), line::read).map_err(|error| match error {
        ReadError::Missing { .. } if conversation.anchor.is_some() => {
            damaged(&history, "is missing, and grok would make up another one")
        }
        error => error.refusal(),
    })
}

/// Finds the directory of a conversation: below the one of its project, else
/// below the only other one that has it.
fn find(sessions: &Path, conversation: &Conversation) -> Result<PathBuf, Refusal> {
    let id = &conversation.id;
    let resolved = fs::canonicalize(&conversation.cwd).ok();
    let own = [Some(conversation.cwd.as_path()), resolved.as_deref()]
        .into_iter()
        .flatten()
        .map(|cwd| sessions.join(project_dir(cwd)).join(id.as_str()))
        .find(|dir| dir.is_dir());
    match own {
        Some(dir) => Ok(dir),
        None => find_elsewhere(sessions, id),
    }
}

fn find_elsewhere(sessions: &Path, id: &AgentSessionId) -> Result<PathBuf, Refusal> {
    let gone = || {
        let message = format!(
            "grok has no conversation {id} on this machine: no directory below {} has its name; \
             start a new one in this pane, or restore it",
            sessions.display()
        );
        Refusal::new(FailureCode::Gone, message)
    };
    let entries = match fs::read_dir(sessions) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(gone()),
        Err(error) => return Err(io_error("listing", sessions, error).refusal()),
    };
    let mut found: Option<PathBuf> = None;
    for entry in entries.take(MAX_PROJECTS) {
        let entry = entry.map_err(|error| io_error("listing", sessions, error).refusal())?;
        let dir = entry.path().join(id.as_str());
        if !dir.is_dir() {
            continue;
        }
        if let Some(other) = found.replace(dir) {
            let message = format!(
                "two projects hold a conversation {id}, so nobody can say which one it is: {} is \
                 one; move one of them away",
                other.display()
            );
            return Err(Refusal::new(FailureCode::Unreadable, message));
        }
    }
    found.ok_or_else(gone)
}

/// The directory that a conversation's summary names.
pub(super) fn directory(conversation: &Conversation, host: &dyn AgentHost) -> Option<PathBuf> {
    let info = read_summary(&dir(conversation, host)?).ok()?;
    (info.id == conversation.id.as_str()).then_some(info.cwd)
}

#[derive(Deserialize)]
struct Summary {
    info: Info,
}

#[derive(Deserialize)]
struct Info {
    id: String,
    cwd: PathBuf,
}

fn check_summary(dir: &Path, conversation: &Conversation) -> Result<(), Refusal> {
    let info = read_summary(dir)?;
    let path = dir.join(SUMMARY);
    if info.id != conversation.id.as_str() {
        return Err(damaged(&path, "names another conversation"));
    }
    if !is_same(&info.cwd, &conversation.cwd) {
        let cwd = conversation.cwd.display();
        return Err(damaged(&path, &format!("names another directory than {cwd}")));
    }
    Ok(())
}

fn read_summary(dir: &Path) -> Result<Info, Refusal> {
    let path = dir.join(SUMMARY);
    let bytes = read_small(&path, MAX_SUMMARY).map_err(|error| match error {
        ReadError::Missing { .. } => Refusal::new(
            FailureCode::Gone,
            format!(
                "{} is missing; grok would open a fork of the conversation, or ask a server for \
                 it; restore the file",
                path.display()
            ),
        ),
        error => error.refusal(),
    })?;
    match serde_json::from_slice(&bytes) {
        Ok(Summary { info }) => Ok(info),
        Err(_) => Err(damaged(&path, "does not name a conversation")),
    }
}

/// What names the conversation in its directory.
const SUMMARY: &str = "summary.json";

fn is_same(a: &Path, b: &Path) -> bool {
    let resolved = || Some(fs::canonicalize(a).ok()? == fs::canonicalize(b).ok()?);
    a == b || resolved() == Some(true)
}

fn damaged(path: &Path, what: &str) -> Refusal {
    let message = format!("the agent's record {} {what}", path.display());
    Refusal::new(FailureCode::Damaged, message)
}

/// The name of a project's directory: its path in the encoding of addresses.
fn project_dir(cwd: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(byte);
    cwd.as_os_str()
        .as_bytes()
        .iter()
        .map(|byte| if plain(byte) { char::from(*byte).into() } else { format!("%{byte:02X}") })
        .collect()
}

/// The most project directories that are looked through.
const MAX_PROJECTS: usize = 1 << 16;

const MAX_SUMMARY: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c056_project_directories_are_named_as_grok_does() {
        for (cwd, name) in [
            ("/home/me/proj", "%2Fhome%2Fme%2Fproj"),
            ("/w/a b_c.d~\u{e9}+&(x)@'q", "%2Fw%2Fa%20b_c.d~%C3%A9%2B%26%28x%29%40%27q"),
        ] {
            assert_eq!(project_dir(Path::new(cwd)), name, "{cwd}");
        }
    }
}
