//! Where OpenCode keeps its conversations: all of them in one database, a row
//! each, with their messages as rows of another table.
//!
//! A row names the directory that the conversation belongs to. Opened in another
//! one, OpenCode sends the request and then never ends, so that is refused.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{OptionalExtension, params};
use signaltty_core::agent::{Conversation, FileIdentity};
use signaltty_core::restore::{FailureCode, Refusal};

use crate::AgentHost;
use crate::anchor::{MAX_MESSAGES, Rows};
use crate::preflight;
use crate::sqlite::Database;

/// A conversation as it was found.
pub(super) struct Found {
    pub(super) rows: Rows,
    pub(super) path: PathBuf,
    pub(super) file: FileIdentity,
}

/// Reads all messages of a conversation.
pub(super) fn read(conversation: &Conversation, host: &dyn AgentHost) -> Result<Found, Refusal> {
    let Some(path) = path_of(conversation, host) else {
        let why =
            "neither XDG_DATA_HOME nor a home directory says where opencode keeps its records";
        return Err(Refusal::new(FailureCode::Unreadable, why));
    };
    let database = Database::open(&path)?;
    let id = conversation.id.as_str();
    // One reading of one state, also while OpenCode writes.
    let begun = database.connection.unchecked_transaction();
    let begun = begun.map_err(|error| database.refusal(&error))?;
    let directory: Option<String> = begun
        .query_row(DIRECTORY, params![id], |row| row.get(0))
        .optional()
        .map_err(|error| database.refusal(&error))?;
    let Some(directory) = directory else {
        return Err(gone(conversation, &database.path().display().to_string()));
    };
    in_its_directory(conversation, &directory)?;
    let what = format!("of {id} in {}", database.path().display());
    let mut rows = Rows::new(what, conversation.anchor.as_ref());
    let mut broken = None;
    let mut walk = || {
        let mut messages = begun.prepare(MESSAGES)?;
        let mut found = messages.query(params![id])?;
        while let Some(row) = found.next()? {
            let message: String = row.get(0)?;
            match row.get::<_, Option<String>>(1)? {
                Some(role) => rows.message(&message, role == "user"),
                None => broken = Some(message),
            }
            if broken.is_some() || rows.messages() > MAX_MESSAGES as u64 {
                break;
            }
        }
        Ok(())
    };
    walk().map_err(|error: rusqlite::Error| database.refusal(&error))?;
    if let Some(message) = broken {
        let what = format!("has a message without a role, {message}, with which opencode ends");
        return Err(database.damaged(what));
    }
    if rows.messages() > MAX_MESSAGES as u64 {
        let why = format!("{} has more than {MAX_MESSAGES} messages of {id}", path.display());
        return Err(Refusal::new(FailureCode::Unreadable, why));
    }
    drop(begun);
    let file = database.file();
    Ok(Found { rows, path, file })
}

/// The directory that the row of a conversation names.
pub(super) fn directory(conversation: &Conversation, host: &dyn AgentHost) -> Option<PathBuf> {
    let database = Database::open(&path_of(conversation, host)?).ok()?;
    let id = conversation.id.as_str();
    let asked = database.connection.query_row(DIRECTORY, params![id], |row| row.get(0));
    asked.ok().map(|directory: String| directory.into())
}

/// Refuses a conversation that belongs to another directory than the one in
/// which it is to be opened. OpenCode writes the resolved directory.
pub(super) fn in_its_directory(conversation: &Conversation, found: &str) -> Result<(), Refusal> {
    let (cwd, found) = (conversation.cwd.as_path(), Path::new(found));
    if found == cwd {
        return Ok(());
    }
    preflight::cwd_is_there(cwd)?;
    let resolved = |path: &Path| fs::canonicalize(path).ok();
    if resolved(cwd).is_some_and(|cwd| cwd == found || resolved(found).as_ref() == Some(&cwd)) {
        return Ok(());
    }
    Err(Refusal::new(
        FailureCode::Damaged,
        format!(
            "opencode has the conversation {} for the directory {}, not for {}, where it would \
             hang; give its own one with --cwd",
            conversation.id,
            found.display(),
            cwd.display()
        ),
    ))
}

/// The refusal for a conversation that nobody knows.
pub(super) fn gone(conversation: &Conversation, place: &str) -> Refusal {
    Refusal::new(
        FailureCode::Gone,
        format!(
            "opencode has no conversation {} in {place}; start a new one in this pane, or restore \
             the database",
            conversation.id
        ),
    )
}

pub(super) fn path_of(conversation: &Conversation, host: &dyn AgentHost) -> Option<PathBuf> {
    let data = match conversation.config_env.var("XDG_DATA_HOME") {
        Some(data) => PathBuf::from(data),
        None => host.home()?.join(".local/share"),
    };
    Some(data.join("opencode").join("opencode.db"))
}

const DIRECTORY: &str = "SELECT directory FROM session WHERE id = ?1";

/// In OpenCode's own order. The role is null where the message is no JSON.
const MESSAGES: &str = "SELECT id, CASE WHEN json_valid(data) THEN json_extract(data, '$.role') END \
                        FROM message WHERE session_id = ?1 ORDER BY time_created, id";
