//! Grok's list of what runs: one file for all processes.
//!
//! A killed Grok leaves its entry behind until another one starts, and process
//! ids come again. So an entry counts only while its process has the events of
//! that very conversation open for writing, which the system shows.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use signaltty_core::agent::{
    AgentReport, AgentSessionId, Conversation, RecordRead, Witness, WitnessSource,
};

use super::{line, record};
use crate::records::read_small;
use crate::stamp::{self, Millis};
use crate::text::one_line;
use crate::turns::{self, Newest};
use crate::{AgentHost, AgentSpec, InstanceView};

/// What the instance's processes show.
pub(super) fn inspect(
    spec: &AgentSpec,
    view: &InstanceView,
    host: &dyn AgentHost,
) -> Option<AgentReport> {
    let list = List::read(&record::home(&view.config_env, host)?)?;
    let tree = host.tree(view.pid);
    // The process is not the one that was started: its number came again.
    let root = tree.first()?;
    if root.pid != view.pid || root.start_ticks != view.start_ticks {
        return None;
    }
    let mut holders = BTreeSet::new();
    let mut shown: Vec<Shown> = Vec::new();
    for process in &tree {
        // The tree lists parents first, so what a Grok started comes after it:
        // an agent within an agent does not speak for the pane (C031).
        if holders.contains(&process.parent) {
            holders.insert(process.pid);
            continue;
        }
        for entry in list.entries.iter().filter(|entry| entry.pid == process.pid) {
            let Ok(id) = spec.id_form.parse(&entry.session_id) else {
                continue;
            };
            if let Some(events) = list.open_events(&id, process.pid, host) {
                holders.insert(process.pid);
                shown.push(Shown::new(id, entry, &events));
            }
        }
    }
    // After a fork both conversations are listed. The one in front is taken to
    // be that in which a person acted last.
    let front =
        shown.into_iter().max_by_key(|one| one.opened.max(one.newest.map(|turn| turn.at)))?;
    let detail =
        format!("process {} lists itself with {} and writes its events", front.pid, front.id);
    Some(AgentReport {
        witness: Some(Witness {
            instance: view.instance,
            source: WitnessSource::LiveRegistry,
            sessions: [front.id].into(),
            loaded: None,
            detail: detail.into(),
            record: RecordRead::Pending,
        }),
        ..front.newest.map(|turn| turn.report(front.opened)).unwrap_or_default()
    })
}

/// Who has the conversation open.
pub(super) fn holder(
    spec: &AgentSpec,
    conversation: &Conversation,
    host: &dyn AgentHost,
) -> Option<String> {
    let list = List::read(&record::home(&conversation.config_env, host)?)?;
    list.entries.iter().find_map(|entry| {
        if entry.session_id != conversation.id.as_str() {
            return None;
        }
        list.open_events(&conversation.id, host.process(entry.pid)?.pid, host)?;
        let place = entry.cwd.as_deref().and_then(one_line);
        let place = place.map_or_else(String::new, |cwd| format!(" in {cwd}"));
        Some(format!("process {} ({}{place}) has it open", entry.pid, spec.kind))
    })
}

/// The list, and the directory of conversations that goes with it.
struct List {
    /// As the system shows open files: without links.
    sessions: PathBuf,
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    session_id: String,
    pid: u32,
    cwd: Option<String>,
    opened_at: Option<String>,
}

/// A conversation that a process lists and writes.
struct Shown {
    id: AgentSessionId,
    pid: u32,
    opened: Option<Millis>,
    newest: Option<Newest>,
}

impl List {
    fn read(home: &Path) -> Option<Self> {
        let bytes = read_small(&home.join("active_sessions.json"), MAX_LIST).ok()?;
        // One odd entry does not take the others with it.
        let entries: Vec<serde_json::Value> = serde_json::from_slice(&bytes).ok()?;
        let entries = entries.into_iter().filter_map(|one| serde_json::from_value(one).ok());
        Some(Self {
            sessions: fs::canonicalize(record::sessions(home)).ok()?,
            entries: entries.collect(),
        })
    }

    /// The file of a conversation's events, where the process has it open.
    fn open_events(&self, id: &AgentSessionId, pid: u32, host: &dyn AgentHost) -> Option<PathBuf> {
        let is_its = |path: &Path| {
            let dir = path.parent();
            let project = dir.and_then(Path::parent);
            path.file_name().is_some_and(|name| name == "events.jsonl")
                && dir.and_then(Path::file_name).is_some_and(|name| name == id.as_str())
                && project.and_then(Path::parent) == Some(self.sessions.as_path())
        };
        let open = host.open_files(pid).into_iter();
        open.map(|file| file.path).find(|path| is_its(path))
    }
}

impl Shown {
    fn new(id: AgentSessionId, entry: &Entry, events: &Path) -> Self {
        Self {
            id,
            pid: entry.pid,
            opened: entry.opened_at.as_deref().and_then(stamp::read),
            newest: turns::newest(events, line::step),
        }
    }
}

const MAX_LIST: u64 = 1 << 20;
