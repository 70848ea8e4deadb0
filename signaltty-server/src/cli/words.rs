//! What a pane is, in words: the only source of them, for `ls`, `pane info`,
//! `attach` and the full-screen client, so that none of them knows less.
//!
//! Nothing here may suggest that a process survived (D-28).

use jiff::Timestamp;

use super::safe;
use super::time::ago;
use crate::protocol::{AgentNode, ExitNode, FailureNode, NotificationNode, PaneNode, WireOs};

/// Something that a person should know of a pane; one line, without controls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) text: String,
    pub(crate) weight: Weight,
}

/// How much a note matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    /// It is so, and well.
    Fact,
    /// A person may want to do something about it.
    Hint,
    /// Something did not go as it should.
    Grave,
}

/// The state of a pane, with the stage of a resume or the end of its process.
pub(crate) fn state_words(pane: &PaneNode) -> String {
    let state = safe(&pane.state);
    match (&pane.stage, &pane.exit) {
        (Some(stage), _) => format!("{state} ({})", safe(stage)),
        (None, Some(exit)) if pane.state == "exited" => format!("{state} ({})", exit_words(exit)),
        _ => state,
    }
}

/// How a process ended.
pub(crate) fn exit_words(exit: &ExitNode) -> String {
    match (exit.code, exit.signal) {
        (Some(code), _) => format!("code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "nobody saw how".to_owned(),
    }
}

/// The agent of a pane, what it does or did, and how sure its conversation is.
pub(crate) fn agent_words(pane: &PaneNode, agent: &AgentNode) -> String {
    let mut text = safe(&agent.kind);
    if agent.place == "left" {
        text.push_str(" ended");
    }
    let lifecycle = safe(&pane.lifecycle);
    match pane.state.as_str() {
        _ if pane.lifecycle == "unknown" => {}
        "live" => text.push_str(&format!(" {lifecycle}")),
        _ => text.push_str(&format!(" was {lifecycle}")),
    }
    if let Some(verdict) = &agent.verdict {
        text.push_str(&format!(", {}", safe(verdict)));
    }
    text
}

/// A title, which any program may set: in quotes where it could be taken for what
/// signaltty says of the pane beside it.
pub(crate) fn title_words(title: &str) -> String {
    let shown = safe(title);
    let one_of = |ours: &[&str], word: &str| ours.iter().any(|o| word.eq_ignore_ascii_case(o));
    let parted = shown.contains("  ") || shown.contains('·') || shown.starts_with('"');
    let mut words = shown.split(|c: char| !c.is_alphanumeric());
    if parted || one_of(&STATES, &shown) || words.any(|word| one_of(&VERDICTS, word)) {
        return format!("\"{}\"", shown.replace('"', "\\\""));
    }
    shown
}

/// How sure a conversation is. Nothing else may say such a word of a pane.
const VERDICTS: [&str; 3] = ["verified", "unconfirmed", "contradicted"];

/// What stands before a title.
const STATES: [&str; 8] =
    ["live", "resuming", "resumable", "restored", "exited", "unread", "warning", "input required"];

/// A command as people write it; not for a shell.
pub(crate) fn command_words(argv: &[WireOs]) -> String {
    let words: Vec<_> = (argv.iter()).map(|word| safe(&word.0.to_string_lossy())).collect();
    words.join(" ")
}

/// A pane in all detail, as names and values.
pub(crate) fn facts(pane: &PaneNode) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("pane", safe(&pane.id)),
        ("title", safe(&pane.title)),
        ("state", state_words(pane)),
        ("directory", safe(&pane.cwd.0.to_string_lossy())),
        ("command", command_words(&pane.argv)),
        ("size", format!("{} × {}", pane.cols, pane.rows)),
        ("attention", safe(&pane.attention)),
    ];
    facts.extend(pane.last_message.iter().map(|message| ("message", safe(message))));
    if let Some(agent) = &pane.agent {
        let id = agent.agent_session_id.as_deref().unwrap_or("unknown");
        facts.push(("agent", agent_words(pane, agent)));
        facts.push(("conversation", safe(id)));
        facts.extend(agent.evidence.iter().map(|seen| ("evidence", safe(seen))));
    }
    facts
}

/// What a person should know of a pane, a line each.
pub(crate) fn notes(pane: &PaneNode, now: Timestamp) -> Vec<Note> {
    let mut notes = Vec::new();
    let mut note = |weight, text: String| notes.push(Note { text, weight });
    if let Some(question) = &pane.decision {
        note(Weight::Hint, format!("asks for a permission: {}", safe(question)));
    }
    if let Some(agent) = &pane.agent {
        if let Some(other) = &agent.shared_with {
            let text = format!(
                "its conversation is open in pane {} too, and what one of them writes is lost; \
                 end one of the two",
                safe(other)
            );
            note(Weight::Grave, text);
        }
        if agent.interrupted {
            let text = match agent.attempts {
                0 => "a turn was interrupted".to_owned(),
                1 => "a turn was interrupted; continuing it was tried once by itself".to_owned(),
                n => format!("a turn was interrupted; continuing it was tried {n} times by itself"),
            };
            note(Weight::Hint, text);
            if agent.marked {
                let text = "it is marked: a start of the server looks whether it goes on";
                note(Weight::Fact, text.to_owned());
            }
            if let Some(receipt) = &agent.receipt {
                note(Weight::Fact, safe(receipt));
            }
        }
        if agent.question_expired {
            let text = "its question expired with the restart; nobody can answer it";
            note(Weight::Hint, text.to_owned());
        }
        if let (Some(at), 1..) = (&agent.proven_at, agent.resumed) {
            let often = match agent.resumed {
                1 => "once".to_owned(),
                n => format!("{n} times"),
            };
            note(Weight::Fact, format!("resumed {often}, proven {}", ago(now, at)));
        }
        if let Some(at) = &agent.rewritten_at {
            let text = "its agent rewrote its record while it was open, as it is compared since";
            note(Weight::Fact, format!("{text} {}", ago(now, at)));
        }
        if let Some(failure) = &agent.last_failure {
            note(Weight::Grave, failure_words(pane, failure, now));
        }
        if let Some(previous) = &agent.previous_session_id {
            let text = format!(
                "conversation {} is kept beside this one: one of them took the other's place when \
                 nothing was proven; go back to it with: signaltty resume {} --previous",
                safe(previous),
                safe(&pane.id)
            );
            note(Weight::Hint, text);
        }
        if let Some(argv) = &agent.reported_argv {
            let text = format!("reopened by hand, with its own command: {}", command_words(argv));
            note(Weight::Fact, text);
        }
        if let Some(integration) = &agent.integration {
            note(Weight::Hint, safe(integration));
        }
    }
    if !pane.missing_env.is_empty() {
        let names = safe(&pane.missing_env.join(", "));
        let text = format!("started without {names}, which its first launch had");
        note(Weight::Hint, text);
    }
    notes
}

fn failure_words(pane: &PaneNode, failure: &FailureNode, now: Timestamp) -> String {
    let (code, message) = (safe(&failure.code), safe(&failure.message));
    let when = ago(now, &failure.at);
    // One that was left open for a person to look at is resumed, only not proven.
    let open = pane.state == "live" && failure.code == "unconfirmed";
    let what = match failure.code.as_str() {
        _ if open => "not proven",
        "not_continued" => "not continued",
        "not_kept" => "not kept",
        _ => "not resumed",
    };
    format!("{what} {when} ({code}): {message}")
}

/// Whose word a notification is, where it is about a pane.
pub(crate) fn told_by(node: &NotificationNode) -> Option<String> {
    let pane = safe(node.pane_id.as_ref()?);
    Some(if node.from_program { format!("{pane}, its program") } else { pane })
}

/// The notes of a pane, and the commands that can be given about it.
pub(super) fn remarks(pane: &PaneNode, now: Timestamp) -> Vec<String> {
    let mut lines: Vec<String> = notes(pane, now).into_iter().map(|note| note.text).collect();
    if let Some(question) = &pane.decision_id {
        // Right behind what is asked, which is the first note.
        let (id, question) = (safe(&pane.id), safe(question));
        let at = lines.len().min(1);
        lines.insert(
            at,
            format!("decide with: signaltty answer {id} allow --question {question}, or deny"),
        );
    }
    lines.extend(advice(pane));
    lines
}

/// What a person can do about a pane in which nothing runs.
pub(super) fn advice(pane: &PaneNode) -> Option<String> {
    let id = safe(&pane.id);
    let agent = pane.agent.as_ref();
    let conversation = agent.is_some_and(|agent| agent.agent_session_id.is_some());
    let failure = agent.and_then(|agent| agent.last_failure.as_ref());
    let interrupted = agent.is_some_and(|agent| agent.interrupted);
    let left = agent.is_some_and(|agent| agent.place == "left");
    let verified = agent.is_some_and(|agent| agent.verdict.as_deref() == Some("verified"));
    match (pane.state.as_str(), failure.map(|f| f.code.as_str())) {
        ("live", _) if interrupted && verified => {
            Some(format!("let its turn go on with: signaltty continue {id}"))
        }
        ("resumable", Some("cwd_missing")) => {
            Some(format!("resume it elsewhere with: signaltty resume {id} --cwd DIR"))
        }
        ("resumable", Some("damaged" | "rewritten" | "elsewhere" | "busy")) => {
            Some(format!("resume it all the same with: signaltty resume {id} --anyway"))
        }
        ("resumable", _) if interrupted => Some(format!(
            "resume it with: signaltty resume {id}; and let its turn go on with: signaltty \
             continue {id}"
        )),
        ("resumable", _) => Some(format!("resume it with: signaltty resume {id}")),
        ("exited", _) if conversation => {
            Some(format!("it can be resumed by hand with: signaltty resume {id}"))
        }
        ("restored", _) if conversation && left => Some(format!(
            "its agent had ended before; resume its conversation with: signaltty resume {id}, or \
             run the command again with: signaltty pane restart {id}"
        )),
        ("restored", _) => Some(format!(
            "its process ended with the server; run the command again with: signaltty pane \
             restart {id}"
        )),
        ("exited", _) => Some(format!("run it again with: signaltty pane restart {id}")),
        _ => None,
    }
}
