//! `signaltty-server doctor`: what is in the state directory.
//!
//! Needs no server and changes nothing, so it can be run before anything is
//! touched. The exit code is 0 where all is sound, 1 where something is damaged
//! or degraded, and 6 where a start would be refused.

use clap::Args;
use serde_json::{Value, json};
use signaltty_persist::inspect::{Inspection, SnapshotFound, inspect};

use super::{FAILED, REFUSED, fail, print, safe, time};
use crate::config::Paths;
use crate::daemon::Means;

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(paths: &Paths, args: &DoctorArgs) -> u8 {
    let found = match inspect(&paths.state_dir) {
        Ok(found) => found,
        Err(error) if error.source.kind() == std::io::ErrorKind::NotFound => {
            return missing(paths, args.json);
        }
        Err(error) => {
            let message = format!("{error}; a server could not start either");
            return fail(args.json, REFUSED, "STATE_REFUSED", &message);
        }
    };
    let verdict = verdict(&found);
    let text = match args.json {
        true => format!("{}\n", as_json(&found, &verdict)),
        false => as_text(&found, &verdict),
    };
    print(&text, verdict.exit)
}

fn missing(paths: &Paths, json: bool) -> u8 {
    let path = paths.state_dir.display();
    let text = match json {
        true => format!(
            "{}\n",
            json!({"state_dir": path.to_string(), "state": "missing", "problems": []})
        ),
        false => format!("{path}: there is no state yet; the first start makes it\n"),
    };
    print(&text, 0)
}

/// What it comes to.
struct Verdict {
    exit: u8,
    state: &'static str,
    problems: Vec<String>,
    notes: Vec<String>,
}

fn verdict(found: &Inspection) -> Verdict {
    let (mut refused, mut problems, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    if let Some(refusal) = &found.refusal {
        refused.push(refusal.to_string());
    }
    if let Some(holder) = &found.held {
        refused.push(format!("another server owns it{holder}; stop that one first"));
    }
    snapshot(found, &mut refused, &mut problems);
    match &found.journal {
        Ok(report) => {
            if let Some(format) = report.future_format {
                problems.push(format!(
                    "the journal has format {format}, which is newer than this program; events \
                     will have no numbers"
                ));
            }
            problems.extend(report.remarks.iter().cloned());
            for lost in &report.lost {
                notes.push(format!("events {} to {} are lost ({})", lost.from, lost.to, lost.why));
            }
        }
        Err(error) => problems.push(error.to_string()),
    }
    for name in &found.tails.damaged {
        problems.push(format!("history/{name} is damaged and will not be shown"));
    }
    if let Err(error) = &found.history {
        problems.push(error.to_string());
    }
    if let (SnapshotFound::Missing, Ok(older)) = (&found.snapshot, &found.history)
        && let Some(newest) = older.last()
    {
        notes.push(format!(
            "snapshot.json is gone, and {} older snapshots are there; a start would begin empty; \
             `signaltty-server history restore {}` goes back to the state of {}",
            older.len(),
            newest.generation,
            time(newest.saved_at)
        ));
    }
    // What the directory itself lets others do is among the refusals.
    let open = found.open_to_others.iter();
    for (name, mode) in open.filter(|(name, _)| name != "." || found.refusal.is_none()) {
        problems.push(format!("{name} has mode {mode:o}; others should have no access"));
    }
    if found.set_aside > 0 {
        notes.push(format!("{} files were set aside under corrupt/", found.set_aside));
    }
    match found.file_system.as_str() {
        "tmpfs" | "overlayfs" => {
            notes.push("this file system may not survive a restart of the machine".to_owned());
        }
        "nfs" | "cifs" => problems.push("nothing is promised on a network file system".to_owned()),
        _ => {}
    }
    let (exit, state) = match (refused.is_empty(), problems.is_empty()) {
        (false, _) => (REFUSED, "refused"),
        (true, false) => (FAILED, "damaged"),
        (true, true) => (0, "sound"),
    };
    refused.extend(problems);
    Verdict { exit, state, problems: refused, notes }
}

fn snapshot(found: &Inspection, refused: &mut Vec<String>, problems: &mut Vec<String>) {
    match Means::of(&found.snapshot) {
        Means::Used(repaired) => problems.extend(repaired),
        Means::SetAside(line) => problems.push(format!("{line}; see `history list`")),
        Means::Refused(line) => refused.push(line),
    }
}

/// The load outcome in one word.
fn word(found: &SnapshotFound) -> &'static str {
    match found {
        SnapshotFound::Missing => "missing",
        SnapshotFound::Loaded { problems, .. } if problems.is_empty() => "loaded",
        SnapshotFound::Loaded { .. } => "loaded_with_repairs",
        SnapshotFound::Empty => "empty_file",
        SnapshotFound::Corrupt(_) => "corrupt",
        SnapshotFound::FutureVersion(_) => "too_new",
        SnapshotFound::Foreign => "foreign",
        SnapshotFound::Unreadable(_) => "unreadable",
        _ => "unknown",
    }
}

fn as_json(found: &Inspection, verdict: &Verdict) -> Value {
    let mut snapshot = json!({"load": word(&found.snapshot)});
    if let SnapshotFound::Loaded { generation, saved_at, journal_seq, counts, .. } = &found.snapshot
    {
        let [workspaces, tabs, panes] = counts;
        snapshot = json!({
            "load": word(&found.snapshot), "generation": generation, "saved_at": time(*saved_at),
            "journal_seq": journal_seq, "workspaces": workspaces, "tabs": tabs, "panes": panes,
        });
    }
    let journal = match &found.journal {
        Ok(report) => json!({
            "journal_id": report.id, "last_seq": report.last,
            "retained_after": report.retained_after, "reserved_until": report.reserved_until,
            "closed": report.closed, "files": report.files, "records": report.records,
            "bytes": report.bytes,
            "lost": report.lost.iter()
                .map(|lost| json!({"from": lost.from, "to": lost.to, "why": lost.why}))
                .collect::<Vec<_>>(),
        }),
        Err(error) => json!({"error": error.to_string()}),
    };
    json!({
        "state_dir": found.path.display().to_string(),
        "state": verdict.state,
        "file_system": found.file_system,
        "held": found.held.as_ref().map(|holder| json!({"pid": holder.pid})),
        "snapshot": snapshot,
        "journal": journal,
        "tails": {"sound": found.tails.sound, "damaged": found.tails.damaged},
        "history": found.history.as_ref().map_or(0, Vec::len),
        "set_aside": found.set_aside,
        "problems": verdict.problems,
        "notes": verdict.notes,
    })
}

fn as_text(found: &Inspection, verdict: &Verdict) -> String {
    let mut out =
        format!("{}: {} (on {})\n", found.path.display(), verdict.state, found.file_system);
    let mut line = |name: &str, text: String| {
        out.push_str(&format!("  {name:<9} {}\n", safe(&text)));
    };
    match &found.snapshot {
        SnapshotFound::Loaded {
            generation, saved_at, counts: [workspaces, tabs, panes], ..
        } => {
            line(
                "snapshot",
                format!(
                    "{}: number {generation} of {}, {workspaces} workspaces, {tabs} tabs, {panes} panes",
                    word(&found.snapshot),
                    time(*saved_at)
                ),
            );
        }
        other => line("snapshot", word(other).to_owned()),
    }
    match &found.journal {
        Ok(report) if report.id.is_none() => line("journal", "none yet".to_owned()),
        Ok(report) => line(
            "journal",
            format!(
                "{} events up to {}, kept after {}, {} bytes in {} files, numbers reserved up to {}, {}",
                report.records,
                report.last,
                report.retained_after,
                report.bytes,
                report.files.len(),
                report.reserved_until,
                if report.closed { "closed" } else { "not closed" }
            ),
        ),
        Err(_) => line("journal", "unreadable".to_owned()),
    }
    line("output", format!("{} panes", found.tails.sound));
    line("history", format!("{} older snapshots", found.history.as_ref().map_or(0, Vec::len)));
    verdict.problems.iter().for_each(|problem| line("problem", problem.clone()));
    verdict.notes.iter().for_each(|note| line("note", note.clone()));
    out
}
