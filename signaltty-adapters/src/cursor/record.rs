//! Where Cursor keeps a chat: `chats/<md5 of the directory>/<id>/store.db`, with
//! a `meta.json` beside it.
//!
//! The contents of the database are undocumented, so its rows are counted and
//! not understood: a chat's store only grows. When the chat was created stands
//! in `meta.json`; a chat that was begun anew under the same id has another time.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use md5::{Digest, Md5};
use serde::Deserialize;
use signaltty_core::agent::{Anchor, Conversation, Extent, FileIdentity, Fingerprint, Relation};
use signaltty_core::restore::{FailureCode, Refusal};

use crate::AgentHost;
use crate::records::{io_error, read_small};
use crate::sqlite::Database;

/// A chat's store, as it was found.
pub(super) struct Store {
    path: PathBuf,
    file: FileIdentity,
    rows: u64,
    created: Option<u64>,
}

/// Finds the store of a chat, in whatever directory's place it is.
pub(super) fn find(conversation: &Conversation, host: &dyn AgentHost) -> Result<Store, Refusal> {
    let Some(config) = config_dir(conversation, host) else {
        let why = "neither CURSOR_CONFIG_DIR, XDG_CONFIG_HOME nor a home directory says where \
                   cursor keeps its chats";
        return Err(Refusal::new(FailureCode::Unreadable, why));
    };
    let chats = config.join("chats");
    let gone = || {
        Refusal::new(
            FailureCode::Gone,
            format!(
                "cursor has no chat {} below {}, and would begin a new one under that id; it \
                 removes old chats by itself; start a new one in this pane",
                conversation.id,
                chats.display()
            ),
        )
    };
    let entries = match fs::read_dir(&chats) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(gone()),
        Err(error) => return Err(io_error("listing", &chats, error).refusal()),
    };
    let mut found: Option<PathBuf> = None;
    for entry in entries.take(MAX_PROJECTS) {
        let entry = entry.map_err(|error| io_error("listing", &chats, error).refusal())?;
        let path = entry.path().join(conversation.id.as_str()).join("store.db");
        if fs::symlink_metadata(&path).is_err() {
            continue;
        }
        if let Some(other) = found {
            let why = format!(
                "two directories have a chat {}: {} and {}; move one of them away",
                conversation.id,
                other.display(),
                path.display()
            );
            return Err(Refusal::new(FailureCode::Unreadable, why));
        }
        found = Some(path);
    }
    Store::read(found.ok_or_else(gone)?)
}

/// Refuses a chat in the place of another directory than the one in which it is
/// to be opened: Cursor would not find it, and begin a new one under its id.
pub(super) fn is_where_cursor_looks(
    conversation: &Conversation,
    store: &Path,
) -> Result<(), Refusal> {
    let resolved = fs::canonicalize(&conversation.cwd).ok();
    let place = store.ancestors().nth(2).and_then(Path::file_name);
    let looks = [Some(conversation.cwd.as_path()), resolved.as_deref()]
        .into_iter()
        .flatten()
        .any(|cwd| place.is_some_and(|place| place == name_of(cwd).as_str()));
    if looks {
        return Ok(());
    }
    Err(Refusal::new(
        // Not to be overridden: it would not be opened.
        FailureCode::Gone,
        format!(
            "the chat {} is in {}, where cursor does not look when it is started in {}: it would \
             begin a new chat under that id; give the chat's own directory with --cwd",
            conversation.id,
            store.display(),
            conversation.cwd.display()
        ),
    ))
}

impl Store {
    fn read(path: PathBuf) -> Result<Self, Refusal> {
        let database = Database::open(&path)?;
        let rows = count(&database.connection).map_err(|error| database.refusal(&error))?;
        let file = database.file();
        let meta = read_small(&path.with_file_name("meta.json"), MAX_META);
        let meta = meta.ok().and_then(|text| serde_json::from_slice::<Meta>(&text).ok());
        let created = meta.and_then(|meta| meta.created);
        Ok(Self { path, file, rows, created })
    }

    /// Anchors a chat of which nothing was saved yet.
    pub(super) fn first_anchor(self) -> Result<Anchor, Refusal> {
        if self.rows == 0 {
            let why = format!("nobody has said anything yet: {} is empty", self.path.display());
            return Err(Refusal::new(FailureCode::Gone, why));
        }
        Ok(self.anchored())
    }

    /// Compares the chat with what was saved of it.
    pub(super) fn compare(self, anchor: &Anchor) -> Result<Fingerprint, Refusal> {
        let damaged = |what: String| {
            let path = self.path.display();
            let why = format!("the chat's store {path} {what}; restore it from a backup");
            Err(Refusal::new(FailureCode::Damaged, why))
        };
        let Extent::Rows { messages: saved } = anchor.extent else {
            return damaged("was anchored in another form".to_owned());
        };
        if self.rows < saved {
            return damaged(format!("has {} rows, {saved} were saved", self.rows));
        }
        if self.created_as_text().as_deref() != anchor.last_message.as_deref() {
            return damaged("is of a chat that was created at another time".to_owned());
        }
        Ok(Fingerprint::new(Relation::Extends, self.anchored()))
    }

    /// No ids of messages are known. In their place stands what tells two chats
    /// of one id apart.
    fn created_as_text(&self) -> Option<String> {
        self.created.map(|at| format!("created-{at}"))
    }

    fn anchored(self) -> Anchor {
        Anchor {
            last_message: self.created_as_text().map(Into::into),
            extent: Extent::Rows { messages: self.rows },
            record: self.path,
            file: Some(self.file),
            // They cannot be told apart; a store that holds something was
            // spoken to.
            user_messages: 1,
            base: None,
        }
    }
}

#[derive(Deserialize)]
struct Meta {
    #[serde(rename = "createdAtMs")]
    created: Option<u64>,
}

/// The rows of everything but what is kept about the chat itself.
fn count(connection: &rusqlite::Connection) -> rusqlite::Result<u64> {
    let mut tables = connection.prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' \
         ESCAPE '\\' AND name <> 'meta' LIMIT 64",
    )?;
    let names: Result<Vec<String>, _> = tables.query_map([], |row| row.get(0))?.collect();
    let mut rows = 0_u64;
    for name in names? {
        let asked = format!("SELECT count(*) FROM \"{}\"", name.replace('"', "\"\""));
        let count: i64 = connection.query_row(&asked, [], |row| row.get(0))?;
        rows = rows.saturating_add(u64::try_from(count).unwrap_or(0));
    }
    Ok(rows)
}

fn config_dir(conversation: &Conversation, host: &dyn AgentHost) -> Option<PathBuf> {
    let env = &conversation.config_env;
    if let Some(dir) = env.var("CURSOR_CONFIG_DIR") {
        return Some(PathBuf::from(dir));
    }
    match env.var("XDG_CONFIG_HOME") {
        Some(dir) => Some(Path::new(dir).join("cursor")),
        None => host.home().map(|home| home.join(".cursor")),
    }
}

/// The name of a directory's place.
fn name_of(cwd: &Path) -> String {
    let digest = Md5::digest(cwd.as_os_str().as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

const MAX_META: u64 = 1 << 20;

const MAX_PROJECTS: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_named_by_the_digest_of_the_directory() {
        // From md5sum(1).
        assert_eq!(name_of(Path::new("/work")), "1e0bb3bee2d09d2e4ad3523530d3b40c");
    }
}
