//! The files of the demonstration agent: a record of lines per conversation,
//! and one small file per running process.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use signaltty_core::agent::{Anchor, Receipt, TurnRecord};

use crate::ProcessInfo;
use crate::anchor::Line;
use crate::lines;
use crate::records::read_small;

/// The place of everything below the home directory, where no variable says
/// another.
pub(super) const DEFAULT_HOME: &str = ".signaltty-demo";

/// One message.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Message {
    pub(super) by: By,
    pub(super) uuid: String,
    pub(super) parent: Option<String>,
    pub(super) text: String,
}

/// Who wrote a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum By {
    Person,
    Agent,
}

/// What a running agent says of itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Live {
    pub(super) pid: u32,
    pub(super) start_ticks: u64,
    pub(super) session_id: String,
    pub(super) cwd: String,
    pub(super) status: Status,
    /// How many messages it loaded when it started.
    pub(super) loaded: u64,
    /// How many prompts it took since.
    #[serde(default)]
    pub(super) prompts: u64,
}

/// Whether it works on an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    Idle,
    Busy,
}

impl Live {
    /// What this living process says; nothing where its file is another's.
    pub(super) fn of(home: &Path, process: &ProcessInfo) -> Option<Self> {
        let path = live_path(home, process.pid);
        let live: Self = serde_json::from_slice(&read_small(&path, MAX_LIVE_BYTES).ok()?).ok()?;
        (live.pid == process.pid && live.start_ticks == process.start_ticks).then_some(live)
    }

    /// Replaces the file of this process at once, so that a reader sees the old
    /// or the new one.
    pub(super) fn write(&self, home: &Path) -> io::Result<()> {
        fs::create_dir_all(live_dir(home))?;
        let new = live_dir(home).join(format!(".{}.new", self.pid));
        fs::write(&new, serde_json::to_vec(self)?)?;
        fs::rename(new, live_path(home, self.pid))
    }
}

pub(super) fn live_dir(home: &Path) -> PathBuf {
    home.join("live")
}

pub(super) fn live_path(home: &Path, pid: u32) -> PathBuf {
    live_dir(home).join(format!("{pid}.json"))
}

/// Where a conversation of a directory is kept.
pub(super) fn path_of(home: &Path, cwd: &Path, id: &str) -> PathBuf {
    let project: String = cwd
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    home.join("conversations").join(project).join(format!("{id}.jsonl"))
}

/// Adds messages to a record, which is made with its first one.
pub(super) fn append(path: &Path, messages: &[Message]) -> io::Result<()> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    let mut lines = Vec::new();
    for message in messages {
        serde_json::to_writer(&mut lines, message)?;
        lines.push(b'\n');
    }
    File::options().create(true).append(true).open(path)?.write_all(&lines)
}

/// Ends a last line that an earlier run did not finish, so that the next one
/// stands alone.
pub(super) fn end_last_line(path: &Path) -> io::Result<()> {
    let bytes = read_small(path, MAX_LOADED_BYTES).map_err(io::Error::other)?;
    match bytes.last() {
        None | Some(b'\n') => Ok(()),
        Some(_) => File::options().append(true).open(path)?.write_all(b"\n"),
    }
}

/// All whole messages of a record.
pub(super) fn load(path: &Path) -> io::Result<Vec<Message>> {
    let bytes = read_small(path, MAX_LOADED_BYTES).map_err(io::Error::other)?;
    Ok(bytes
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect())
}

/// What the record says of the newest turn. A prompt is one line of its person,
/// and its end the agent's answer; a person who wants a tool says so.
pub(super) fn read_turn(path: &Path, anchor: Option<&Anchor>) -> Option<TurnRecord> {
    let after = lines::after(path, anchor)?;
    let messages = load(path).ok()?;
    let last = messages.last()?;
    let said = |line: &[u8]| serde_json::from_slice::<Message>(line).ok();
    let ours = |message: &Message| message.by == By::Person && message.text == crate::PROMPT;
    let unfinished = last.by == By::Person;
    let tool = messages.iter().rev().find(|message| message.by == By::Person)?;
    let last_tool = tool.text.strip_prefix("run ").map(|tool| Receipt {
        tool: crate::text::one_line(tool).unwrap_or_default(),
        finished: !unfinished,
        read_only: tool == "read",
    });
    Some(TurnRecord {
        unfinished: Some(unfinished),
        prompted: Some(after.split(|byte| *byte == b'\n').filter_map(said).any(|m| ours(&m))),
        last_tool,
    })
}

/// Reads one line of a record for its anchor.
pub(super) fn read_line(line: &[u8]) -> Line {
    match serde_json::from_slice::<Message>(line) {
        Ok(message) => Line::Message {
            by_person: message.by == By::Person,
            id: message.uuid,
            parent: message.parent,
        },
        Err(_) => Line::Broken,
    }
}

const MAX_LIVE_BYTES: u64 = 64 << 10;

/// The most that the agent reads of its own record.
const MAX_LOADED_BYTES: u64 = 16 << 20;
