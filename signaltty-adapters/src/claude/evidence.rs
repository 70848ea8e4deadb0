//! Claude's list of what runs: one small file per process.
//!
//! An entry counts only while the process that it names lives with the same
//! start time: a killed Claude leaves its entry behind, and process ids come
//! again. An entry without a status is one of the picker or of a start that is
//! not through, and shows an id that may never be used.
//!
//! A person can send the conversation to the background, with the left arrow or
//! `/bg`, and open it from there: it goes on in another process under another id,
//! as a fork, and the entry of the process in the terminal names that job.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use signaltty_core::agent::{
    AgentReport, AgentSessionId, Conversation, RecordRead, Witness, WitnessSource,
};
use signaltty_core::pane::{Attention, Lifecycle};

use super::record::{self, config_dir};
use super::turn;
use crate::records::read_small;
use crate::stamp;
use crate::text::one_line;
use crate::{AgentHost, AgentSpec, InstanceView, ProcessInfo};

/// What the instance's processes show.
pub(super) fn inspect(
    spec: &AgentSpec,
    view: &InstanceView,
    host: &dyn AgentHost,
) -> Option<AgentReport> {
    let sessions = config_dir(&view.config_env, host)?.join("sessions");
    let tree = host.tree(view.pid);
    // The process is not the one that was started: its number came again.
    let root = tree.first()?;
    if root.pid != view.pid || root.start_ticks != view.start_ticks {
        return None;
    }
    let mut shown = BTreeSet::new();
    let mut first: Option<Entry> = None;
    let mut holders = BTreeSet::new();
    for process in &tree {
        // The tree lists parents first, so what a Claude started comes after
        // it: an agent within an agent does not speak for the pane (C031).
        if holders.contains(&process.parent) {
            holders.insert(process.pid);
            continue;
        }
        let Some(entry) = entry_of(&sessions, process) else {
            continue;
        };
        holders.insert(process.pid);
        if entry.status.is_none() || entry.is_headless() {
            continue;
        }
        // What the terminal shows then is the job's, a fork under another id.
        let entry = match &entry.parked {
            None => entry,
            Some(job) => {
                match entries(&sessions, host).find(|other| other.job.as_ref() == Some(job)) {
                    Some(job) => job,
                    None => continue,
                }
            }
        };
        let Ok(id) = spec.id_form.parse(&entry.session_id) else {
            continue;
        };
        shown.insert(id);
        first.get_or_insert(entry);
    }
    let first = first?;
    let (lifecycle, attention) = first.meaning();
    let accepted_prompt = has_prompt(&first, &shown, view, host, &tree);
    Some(AgentReport {
        witness: Some(Witness {
            instance: view.instance,
            source: WitnessSource::LiveRegistry,
            detail: detail(&first, &shown).into(),
            sessions: shown,
            loaded: None,
            record: RecordRead::Pending,
        }),
        lifecycle,
        attention,
        accepted_prompt,
        ..AgentReport::default()
    })
}

/// Whether somebody said something in the conversation that is shown since its
/// process began. The list itself does not tell: it says `busy` also while hooks
/// run that may block the prompt.
fn has_prompt(
    entry: &Entry,
    shown: &BTreeSet<AgentSessionId>,
    view: &InstanceView,
    host: &dyn AgentHost,
    tree: &[ProcessInfo],
) -> bool {
    let process = tree.iter().find(|process| process.pid == entry.pid);
    let since = process.and_then(|process| stamp::of(host.started(process)?));
    let (Some(since), Some(id)) = (since, shown.first().filter(|_| shown.len() == 1)) else {
        return false;
    };
    let conversation = Conversation {
        id: id.clone(),
        cwd: entry.cwd.as_ref().map_or_else(|| view.cwd.clone(), PathBuf::from),
        config_env: view.config_env.clone(),
        anchor: None,
        previous: None,
    };
    record::find(&conversation, host).is_ok_and(|path| turn::taken(&path, since))
}

/// Who has the conversation open.
pub(super) fn holder(
    spec: &AgentSpec,
    conversation: &Conversation,
    host: &dyn AgentHost,
) -> Option<String> {
    let sessions = config_dir(&conversation.config_env, host)?.join("sessions");
    let entry = entries(&sessions, host).find(|entry| {
        // One that was left for a job is not open any more.
        entry.parked.is_none() && entry.session_id == conversation.id.as_str()
    })?;
    let place = entry.cwd.as_deref().and_then(one_line);
    let place = place.map_or_else(String::new, |cwd| format!(" in {cwd}"));
    let job = entry.job.as_deref().and_then(one_line);
    let job = job.map_or_else(String::new, |job| {
        format!(" as a background job (`claude attach {job}` shows it)")
    });
    Some(format!("process {} ({}{place}) has it open{job}", entry.pid, spec.kind))
}

/// Where a process that has the conversation open says that it works: the place
/// from which Claude finds it again, also after `/cd` moved it.
pub(super) fn directory(conversation: &Conversation, host: &dyn AgentHost) -> Option<PathBuf> {
    let sessions = config_dir(&conversation.config_env, host)?.join("sessions");
    let id = conversation.id.as_str();
    let entry = entries(&sessions, host).find(|entry| entry.session_id == id)?;
    entry.cwd.map(PathBuf::from)
}

/// Whatever lists itself and lives.
fn entries<'a>(sessions: &'a Path, host: &'a dyn AgentHost) -> impl Iterator<Item = Entry> + 'a {
    let files = std::fs::read_dir(sessions).into_iter().flatten();
    files.take(MAX_ENTRIES).flatten().filter_map(|file| {
        let name = file.file_name();
        let pid = name.to_str()?.strip_suffix(".json")?.parse().ok()?;
        entry_of(sessions, &host.process(pid)?)
    })
}

#[derive(Deserialize)]
struct Entry {
    pid: u32,
    #[serde(rename = "sessionId")]
    session_id: String,
    #[serde(rename = "procStart")]
    proc_start: Ticks,
    cwd: Option<String>,
    entrypoint: Option<String>,
    status: Option<String>,
    #[serde(rename = "waitingFor")]
    waiting_for: Option<String>,
    /// The background job that it is.
    #[serde(rename = "jobId")]
    job: Option<String>,
    /// The background job to which its conversation went.
    #[serde(rename = "parkedJobId")]
    parked: Option<String>,
}

/// The start time is written as a text of digits.
#[derive(Deserialize)]
#[serde(untagged)]
enum Ticks {
    Text(String),
    Number(u64),
}

impl Entry {
    /// A run without a terminal, such as one in a script, lists itself too.
    fn is_headless(&self) -> bool {
        self.entrypoint.as_deref().is_some_and(|entrypoint| entrypoint.starts_with("sdk"))
    }

    fn is_of(&self, process: &ProcessInfo) -> bool {
        let start = match &self.proc_start {
            Ticks::Text(text) => text.parse().ok(),
            Ticks::Number(number) => Some(*number),
        };
        self.pid == process.pid && start == Some(process.start_ticks)
    }

    /// Being idle does not say that nothing new is to be seen, so it leaves
    /// attention alone.
    fn meaning(&self) -> (Option<Lifecycle>, Option<Attention>) {
        match self.status.as_deref() {
            Some("idle") => (Some(Lifecycle::Idle), None),
            Some("busy") => (Some(Lifecycle::Working), Some(Attention::None)),
            Some("waiting") => {
                let permission =
                    self.waiting_for.as_deref().is_some_and(|what| what.contains("permission"));
                let attention = if permission {
                    Attention::PermissionRequired
                } else {
                    Attention::InputRequired
                };
                (Some(Lifecycle::Blocked), Some(attention))
            }
            _ => (None, None),
        }
    }
}

fn entry_of(sessions: &Path, process: &ProcessInfo) -> Option<Entry> {
    let path = sessions.join(format!("{}.json", process.pid));
    let bytes = read_small(&path, MAX_ENTRY_BYTES).ok()?;
    let entry: Entry = serde_json::from_slice(&bytes).ok()?;
    entry.is_of(process).then_some(entry)
}

fn detail(entry: &Entry, shown: &BTreeSet<AgentSessionId>) -> String {
    let ids: Vec<_> = shown.iter().map(AgentSessionId::as_str).collect();
    let status = entry.status.as_deref().and_then(one_line);
    let job = entry.job.as_deref().and_then(one_line);
    let job = job.map_or_else(String::new, |job| format!(" as the background job {job}"));
    format!(
        "process {} lists itself with {}{job}, {}",
        entry.pid,
        ids.join(", "),
        status.as_deref().unwrap_or("no status")
    )
}

const MAX_ENTRY_BYTES: u64 = 64 << 10;

const MAX_ENTRIES: usize = 4096;
