//! The newest turn in the database: the last message of the person, the agent's
//! answers to it, and the tool calls in them.
//!
//! Columns and values as 1.18.33 writes them. A killed OpenCode leaves its last
//! answer without a time at which it was completed, for ever; one that was asked
//! to end notes the answer as aborted, as it notes a person who did.

use rusqlite::{Connection, OptionalExtension, Params, params};
use serde_json::Value;
use signaltty_core::agent::{Anchor, Conversation, TurnRecord};

use super::record;
use crate::AgentHost;
use crate::account::{Account, is_prompt, text};
use crate::sqlite::Database;

/// Reads it. Nothing is known where that fails.
pub(super) fn read(conversation: &Conversation, host: &dyn AgentHost) -> TurnRecord {
    let found = || {
        let path = record::path_of(conversation, host)?;
        let database = Database::open(&path).ok()?;
        // One reading of one state.
        let begun = database.connection.unchecked_transaction().ok()?;
        let id = conversation.id.as_str();
        let account = newest(&begun, id).ok()?;
        let anchor = conversation.anchor.as_ref();
        let prompted = anchor.and_then(|anchor| prompted(&begun, id, anchor).ok()?);
        Some(account.record(prompted))
    };
    found().unwrap_or_default()
}

fn newest(database: &Connection, id: &str) -> rusqlite::Result<Account> {
    let mut account = Account::default();
    let asked: Option<(i64, String)> =
        database.query_row(ASKED, params![id], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((at, asked)) = asked else {
        return Ok(account);
    };
    account.began();
    for answer in json(database, ANSWERS, params![id, at, asked])? {
        if answer.get("error").is_some_and(|error| !error.is_null()) {
            // By a person, or because its process was asked to end.
            account.unclear();
        } else if answer.pointer("/time/completed").is_none_or(Value::is_null) {
            account.goes_on();
        } else if text(&answer, "finish") == "tool-calls" {
            // Another one follows.
            account.goes_on();
        } else {
            account.ended();
        }
    }
    for part in json(database, PARTS, params![id, at, asked])? {
        if text(&part, "type") != "tool" {
            continue;
        }
        let (call, tool) = (text(&part, "callID"), text(&part, "tool"));
        account.called(call, tool, READS.contains(&tool));
        let state = part.get("state").unwrap_or(&Value::Null);
        let over = match text(state, "status") {
            "completed" => true,
            // What was aborted may have done a part of it.
            "error" => text(state, "error") != ABORTED,
            _ => false,
        };
        if over {
            account.returned(call);
        }
    }
    Ok(account)
}

/// Whether a message of ours came after the last one that was saved. `None`
/// where that one is not there, or a message of a person has no text yet: that
/// may be ours.
fn prompted(database: &Connection, id: &str, anchor: &Anchor) -> rusqlite::Result<Option<bool>> {
    let Some(last) = anchor.last_message.as_deref() else {
        return Ok(None);
    };
    let at: Option<i64> = database.query_row(AT, params![id, last], |row| row.get(0)).optional()?;
    let Some(at) = at else {
        return Ok(None);
    };
    let mut messages = database.prepare(SAID)?;
    let mut found = messages.query(params![id, at, last])?;
    let mut unclear = false;
    while let Some(row) = found.next()? {
        match row.get::<_, Option<String>>(0)? {
            Some(said) if is_prompt(&said) => return Ok(Some(true)),
            Some(_) => {}
            None => unclear = true,
        }
    }
    Ok((!unclear).then_some(false))
}

fn json(database: &Connection, asked: &str, with: impl Params) -> rusqlite::Result<Vec<Value>> {
    let mut asked = database.prepare(asked)?;
    let rows = asked.query_map(with, |row| row.get::<_, String>(0))?;
    // What is no JSON says nothing.
    rows.map(|row| Ok(serde_json::from_str(&row?).unwrap_or_default())).collect()
}

/// The last message of the person.
const ASKED: &str = "SELECT time_created, id FROM message WHERE session_id = ?1 AND \
                     CASE WHEN json_valid(data) THEN json_extract(data, '$.role') END = 'user' \
                     ORDER BY time_created DESC, id DESC LIMIT 1";

/// What the agent answered to it.
const ANSWERS: &str = "SELECT data FROM message WHERE session_id = ?1 AND \
                       (time_created, id) > (?2, ?3) ORDER BY time_created, id LIMIT 10000";

/// The parts of these answers.
const PARTS: &str = "SELECT part.data FROM part JOIN message ON message.id = part.message_id \
                     WHERE message.session_id = ?1 AND \
                     (message.time_created, message.id) > (?2, ?3) \
                     ORDER BY part.time_created, part.id LIMIT 10000";

/// When a message came.
const AT: &str = "SELECT time_created FROM message WHERE session_id = ?1 AND id = ?2";

/// What the person said after it; null where a message has no text.
const SAID: &str = "SELECT (SELECT json_extract(part.data, '$.text') FROM part WHERE \
                    part.message_id = message.id AND CASE WHEN json_valid(part.data) THEN \
                    json_extract(part.data, '$.type') END = 'text' \
                    ORDER BY part.time_created, part.id LIMIT 1) \
                    FROM message WHERE session_id = ?1 AND (time_created, id) > (?2, ?3) AND \
                    CASE WHEN json_valid(data) THEN json_extract(data, '$.role') END = 'user' \
                    ORDER BY time_created, id LIMIT 10000";

/// What it notes of a call that was broken off.
const ABORTED: &str = "Tool execution aborted";

/// The tools that only read, by the names that OpenCode gives them.
const READS: [&str; 5] = ["glob", "grep", "list", "read", "todoread"];
