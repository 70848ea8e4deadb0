//! The locks that Codex holds: one for each conversation that it has open for
//! writing. The file of a lock stays when the lock is gone, and says nothing.
//!
//! A Codex keeps the locks of conversations that were in front before, after
//! `/new` or `/fork`, and may hold one for a conversation that is not written
//! yet. The one in front is taken to be that in which a person acted last.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use signaltty_core::agent::{
    AgentReport, AgentSessionId, Conversation, RecordRead, Witness, WitnessSource,
};

use super::rollout::Meta;
use super::{launch, line, record};
use crate::stamp::{self, Millis};
use crate::turns::{self, Newest};
use crate::{AgentHost, AgentSpec, InstanceView, OpenFile, ProcessInfo};

/// What the instance's processes show.
pub(super) fn inspect(
    spec: &AgentSpec,
    view: &InstanceView,
    host: &dyn AgentHost,
) -> Option<AgentReport> {
    let home = record::home(&view.config_env, host)?;
    // Open files are shown without links.
    let locks = fs::canonicalize(record::locks(&home)).ok()?;
    let tree = host.tree(view.pid);
    // The process is not the one that was started: its number came again.
    let root = tree.first()?;
    if root.pid != view.pid || root.start_ticks != view.start_ticks {
        return None;
    }
    let mut holders = BTreeSet::new();
    let mut held: Vec<Held> = Vec::new();
    for process in &tree {
        // The tree lists parents first, so what a Codex started comes after it:
        // an agent within an agent does not speak for the pane (C031).
        if holders.contains(&process.parent) {
            holders.insert(process.pid);
            continue;
        }
        // It is a child of the terminal that happened to start it, and holds the
        // locks of them all.
        if launch::is_shared_server(&process.argv) {
            holders.insert(process.pid);
            continue;
        }
        let open = host.open_files(process.pid);
        let locked = open.iter().filter(|file| file.locked && file.path.parent() == Some(&locks));
        let ids = locked.filter_map(|file| record::locked_id(&file.path));
        let ids: Vec<_> = ids.filter_map(|id| spec.id_form.parse(id).ok()).collect();
        if ids.is_empty() {
            continue;
        }
        holders.insert(process.pid);
        if !launch::is_headless(&process.argv) {
            held.extend(ids.into_iter().map(|id| Held::new(id, process, &open)));
        }
    }
    let front = in_front(held)?;
    let since = front.first().and_then(|held| stamp::of(host.started(&held.process)?));
    Some(report(view, &front, since))
}

/// Who has the conversation open.
pub(super) fn holder(
    spec: &AgentSpec,
    conversation: &Conversation,
    host: &dyn AgentHost,
) -> Option<String> {
    let home = record::home(&conversation.config_env, host)?;
    let holders = host.lockers(&record::lock(&home, &conversation.id));
    let process = holders.first()?;
    let pid = process.pid;
    let shared = process.argv.iter().any(|arg| arg == "app-server");
    Some(if shared {
        format!(
            "process {pid} ({}'s shared server, which works for all terminals) has it open",
            spec.kind
        )
    } else {
        format!("process {pid} ({}) has it open", spec.kind)
    })
}

/// A conversation whose lock a process holds.
struct Held {
    id: AgentSessionId,
    process: ProcessInfo,
    written: Option<Written>,
}

/// What its rollout says, where it has one.
struct Written {
    newest: Option<Newest>,
    acted: Option<Millis>,
    is_beside: bool,
}

impl Held {
    fn new(id: AgentSessionId, process: &ProcessInfo, open: &[OpenFile]) -> Self {
        // Codex keeps the rollout open while it has the conversation.
        let rollout = open
            .iter()
            .find(|file| record::rollout_id(&file.path) == Some(id.as_str()))
            .map(|file| file.path.clone());
        let written = rollout.and_then(|path| Written::read(&path, &id));
        Self { id, process: process.clone(), written }
    }

    fn acted(&self) -> Option<Millis> {
        self.written.as_ref().and_then(|written| written.acted)
    }
}

impl Written {
    fn read(path: &Path, id: &AgentSessionId) -> Option<Self> {
        let meta = Meta::read(path, id).ok()?;
        let newest = turns::newest(path, line::step);
        let acted = newest.map(|turn| turn.at).max(meta.made());
        Some(Self { newest, acted, is_beside: meta.is_beside() })
    }
}

/// The conversation in front; all of them where nothing is written yet.
fn in_front(held: Vec<Held>) -> Option<Vec<Held>> {
    let mut by_id: BTreeMap<AgentSessionId, Held> = BTreeMap::new();
    let beside = |held: &Held| held.written.as_ref().is_some_and(|written| written.is_beside);
    for one in held.into_iter().filter(|held| !beside(held)) {
        by_id.entry(one.id.clone()).or_insert(one);
    }
    let (written, empty): (Vec<_>, Vec<_>) =
        by_id.into_values().partition(|held| held.written.is_some());
    let front = match written.into_iter().max_by_key(Held::acted) {
        Some(front) => vec![front],
        None => empty,
    };
    (!front.is_empty()).then_some(front)
}

fn report(view: &InstanceView, front: &[Held], since: Option<Millis>) -> AgentReport {
    let ids: Vec<_> = front.iter().map(|held| held.id.as_str()).collect();
    let pid = front.first().map_or(view.pid, |held| held.process.pid);
    let detail = format!("process {pid} holds the lock of {}", ids.join(", "));
    let newest = front.iter().find_map(|held| held.written.as_ref()?.newest);
    AgentReport {
        witness: Some(Witness {
            instance: view.instance,
            source: WitnessSource::HeldLock,
            sessions: front.iter().map(|held| held.id.clone()).collect(),
            loaded: None,
            detail: detail.into(),
            record: RecordRead::Pending,
        }),
        ..newest.map(|turn| turn.report(since)).unwrap_or_default()
    }
}
