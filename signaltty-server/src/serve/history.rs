//! `signaltty-server history`: older snapshots, and the way back to one.

use std::collections::BTreeMap;
use std::path::Path;

use clap::Subcommand;
use serde_json::{Value, json};
use signaltty_core::pane::SavedPane;
use signaltty_core::saved::SavedSession;
use signaltty_persist::inspect::{ReadOnly, SnapshotFound, read_only};
use signaltty_persist::{Owner, Replaced, RestoreError, StateDir, restore};

use super::{FAILED, REFUSED, fail, print, safe, time};
use crate::config::Paths;

/// Verbs of `history`.
#[derive(Debug, Subcommand)]
pub(super) enum HistoryVerb {
    /// List the older snapshots, the oldest first
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one, and what differs from the present one
    Show {
        /// Its number, as `list` shows it
        #[arg(value_name = "N")]
        number: u64,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Put one in the place of the present one, which becomes an older one; the
    /// server must be stopped
    Restore {
        /// Its number, as `list` shows it
        #[arg(value_name = "N")]
        number: u64,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

pub(super) fn run(paths: &Paths, verb: HistoryVerb) -> u8 {
    let path = paths.state_dir.as_path();
    match verb {
        HistoryVerb::List { json } => list(path, json),
        HistoryVerb::Show { number, json } => show(path, number, json),
        HistoryVerb::Restore { number, json } => bring_back(path, number, json),
    }
}

fn list(path: &Path, json: bool) -> u8 {
    let found = read_only(path).and_then(|dir| dir.history().map(|entries| (dir, entries)));
    let (dir, entries) = match found {
        Ok(found) => found,
        Err(error) => return fail(json, FAILED, "IO_ERROR", &error.to_string()),
    };
    let present = present(&dir);
    let mut lines = Vec::new();
    let mut list = Vec::new();
    for entry in entries {
        let (number, at) = (entry.generation, time(entry.saved_at));
        match dir.older(number) {
            Ok(decoded) => {
                let session = decoded.session;
                let (workspaces, panes) = (session.workspaces.len(), session.panes.len());
                let differs = differences(&session, &present).len();
                lines.push(format!(
                    "{number}  {at}  {workspaces} workspaces, {panes} panes, {differs} differences\n"
                ));
                list.push(json!({
                    "number": number, "saved_at": at, "workspaces": workspaces, "panes": panes,
                    "differences": differs, "path": entry.path.display().to_string(),
                }));
            }
            Err(error) => {
                lines.push(format!("{number}  {at}  {}\n", safe(&error.to_string())));
                list.push(json!({"number": number, "saved_at": at, "error": error.to_string()}));
            }
        }
    }
    let aside = match dir.set_aside() {
        Ok(aside) => aside,
        Err(error) => return fail(json, FAILED, "IO_ERROR", &error.to_string()),
    };
    if json {
        let aside: Vec<_> = aside.iter().map(|path| path.display().to_string()).collect();
        return print(&format!("{}\n", json!({"history": list, "set_aside": aside})), 0);
    }
    if lines.is_empty() {
        lines.push("no older snapshots are kept yet\n".to_owned());
    }
    if !aside.is_empty() {
        lines.push("kept as they were found, since they could not be read whole:\n".to_owned());
    }
    lines.extend(aside.iter().map(|path| format!("  {}\n", safe(&path.to_string_lossy()))));
    print(&lines.concat(), 0)
}

fn show(path: &Path, number: u64, json: bool) -> u8 {
    let dir = match read_only(path) {
        Ok(dir) => dir,
        Err(error) => return fail(json, FAILED, "IO_ERROR", &error.to_string()),
    };
    let session = match dir.older(number) {
        Ok(decoded) => decoded.session,
        Err(error) => return refused(json, &error),
    };
    let differences = differences(&session, &present(&dir));
    if json {
        let value = json!({
            "number": number,
            "saved_at": time(session.saved_at),
            "workspaces": session.workspaces.iter().map(|workspace| json!({
                "id": workspace.id.to_string(), "handle": &*workspace.handle,
                "name": &*workspace.name, "cwd": workspace.cwd.display().to_string(),
            })).collect::<Vec<Value>>(),
            "panes": session.panes.iter().map(|pane| json!({
                "id": pane.id.to_string(), "title": &*pane.title,
                "cwd": pane.cwd.display().to_string(),
            })).collect::<Vec<Value>>(),
            "differences": differences,
        });
        return print(&format!("{value}\n"), 0);
    }
    let mut out = format!("number {number}, saved at {}\n", time(session.saved_at));
    for workspace in &session.workspaces {
        let (handle, name) = (&*workspace.handle, safe(&workspace.name));
        out.push_str(&format!("  {handle}  {name}  {}\n", safe(&workspace.cwd.to_string_lossy())));
        let tabs = session.tabs.iter().filter(|tab| tab.workspace == workspace.id);
        for pane in tabs.flat_map(|tab| session.panes.iter().filter(|pane| pane.tab == tab.id)) {
            out.push_str(&format!("    {}\n", describe(pane)));
        }
    }
    out.push_str(match differences.len() {
        0 => "the same as the present one\n",
        _ => "going back to it would mean:\n",
    });
    differences.iter().for_each(|line| out.push_str(&format!("  {line}\n")));
    print(&out, 0)
}

fn bring_back(path: &Path, number: u64, json: bool) -> u8 {
    if !path.exists() {
        let message = format!("there is no state in {}", path.display());
        return fail(json, FAILED, "IO_ERROR", &message);
    }
    let owner = Owner {
        pid: std::process::id(),
        started_at: signaltty_core::time::UnixMillis(0),
        socket: None,
    };
    let dir = match StateDir::open(path, &owner) {
        Ok(dir) => dir,
        Err(error) => {
            let message = format!("{error}; stop the server first (`signaltty shutdown`)");
            return fail(json, REFUSED, "STATE_REFUSED", &message);
        }
    };
    match restore(&dir, number) {
        Ok(kept) => {
            let path = kept.as_ref().map(|kept| kept.path().display().to_string());
            let before = match &kept {
                Some(Replaced::Older(entry)) => Some(entry.generation),
                Some(Replaced::Aside(_)) | None => None,
            };
            if json {
                let value = json!({"restored": number, "kept": path, "before": before});
                return print(&format!("{value}\n"), 0);
            }
            let kept = match (before, path) {
                (Some(before), _) => format!(
                    "; the state before is number {before}: `signaltty-server history restore \
                     {before}` goes back to it"
                ),
                (None, Some(path)) => format!(
                    "; the state before could not be read whole and is kept as {}",
                    safe(&path)
                ),
                (None, None) => String::new(),
            };
            print(&format!("number {number} is the state of the next start{kept}\n"), 0)
        }
        Err(error) => refused(json, &error),
    }
}

fn refused(json: bool, error: &RestoreError) -> u8 {
    match error {
        RestoreError::Present(_) => fail(json, REFUSED, "STATE_REFUSED", &error.to_string()),
        RestoreError::Missing { .. } => {
            let message = format!("{error}; `signaltty-server history list` shows them");
            fail(json, FAILED, "NO_SUCH_SNAPSHOT", &message)
        }
        _ => fail(json, FAILED, "IO_ERROR", &error.to_string()),
    }
}

/// The present session, or an empty one where none can be read.
fn present(dir: &ReadOnly) -> SavedSession {
    match dir.snapshot() {
        Ok(Some(decoded)) => decoded.session,
        Ok(None) | Err(SnapshotFound::Missing) | Err(_) => SavedSession::default(),
    }
}

/// What would be different after going back from `now` to `then`, a line each.
fn differences(then: &SavedSession, now: &SavedSession) -> Vec<String> {
    let mut lines = Vec::new();
    let workspaces = |session: &SavedSession| -> BTreeMap<_, _> {
        session.workspaces.iter().map(|w| (w.id, (w.name.clone(), w.handle.clone()))).collect()
    };
    let (before, after) = (workspaces(now), workspaces(then));
    for (id, (name, handle)) in &after {
        match before.get(id) {
            None => lines.push(format!("workspace {handle} ({}) comes back", safe(name))),
            Some((other, _)) if other != name => {
                lines.push(format!("workspace {handle} is called {} again", safe(name)));
            }
            Some(_) => {}
        }
    }
    for (id, (name, handle)) in &before {
        if !after.contains_key(id) {
            lines.push(format!("workspace {handle} ({}) goes", safe(name)));
        }
    }
    let panes = |session: &SavedSession| -> BTreeMap<_, _> {
        session.panes.iter().map(|pane| (pane.id, pane.clone())).collect()
    };
    let (before, after) = (panes(now), panes(then));
    for (id, pane) in &after {
        match before.get(id) {
            None => lines.push(format!("pane {} comes back", describe(pane))),
            Some(other) => {
                let changed = changed(other, pane);
                if !changed.is_empty() {
                    lines.push(format!("pane {}: {}", describe(pane), changed.join(", ")));
                }
            }
        }
    }
    for (id, pane) in &before {
        if !after.contains_key(id) {
            lines.push(format!("pane {} goes", describe(pane)));
        }
    }
    let layouts = then.tabs.iter().filter(|tab| {
        now.tabs.iter().any(|other| other.id == tab.id && other.layout != tab.layout)
    });
    lines.extend(layouts.map(|tab| format!("tab {} has another layout", safe(&tab.title))));
    lines
}

fn changed(now: &SavedPane, then: &SavedPane) -> Vec<&'static str> {
    let conversation = |pane: &SavedPane| {
        let agent = pane.agent.as_ref();
        agent.and_then(|agent| agent.conversation.as_ref()).map(|c| c.id.to_string())
    };
    let facts = [
        (now.title != then.title, "another title"),
        (now.cwd != then.cwd, "another directory"),
        (now.argv != then.argv, "another command"),
        (conversation(now) != conversation(then), "another conversation"),
        (now.tab != then.tab, "another tab"),
    ];
    facts.into_iter().filter(|(differs, _)| *differs).map(|(_, what)| what).collect()
}

fn describe(pane: &SavedPane) -> String {
    let program = pane.argv.first().map(|arg| arg.to_string_lossy().into_owned());
    let program = program.unwrap_or_else(|| "shell".to_owned());
    format!("{} {} in {}", pane.id, safe(&program), safe(&pane.cwd.to_string_lossy()))
}
