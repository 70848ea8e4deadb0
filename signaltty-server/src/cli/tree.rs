//! `ls`: the tree of workspaces, tabs and panes, for people.
//!
//! Nothing here may suggest that a process survived: only a live pane reads
//! "working", a pane without a process says what became of it and what a person
//! can do.

use clap::Args;
use jiff::Timestamp;

use super::time::ago;
use super::{Context, Failure, safe};
use crate::protocol::{AgentNode, Empty, ExitNode, PaneNode, Tree, WireOs, WorkspaceNode};

/// Arguments of `ls`.
#[derive(Debug, Args)]
pub(super) struct LsArgs {
    /// Archived workspaces too; JSON always has them
    #[arg(long)]
    all: bool,
}

/// Runs `ls`.
pub(super) async fn run(context: &Context, args: LsArgs) -> Result<(), Failure> {
    let look = Look { now: Timestamp::now(), colours: context.colours(), archived: args.all };
    let human = |tree: &Tree| render(tree, look);
    context.ask("session.list", &Empty {}, human).await
}

/// How the tree is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    /// The time that relative times refer to.
    pub(super) now: Timestamp,
    /// Whether there are colours.
    pub(super) colours: bool,
    /// Whether archived workspaces are shown.
    pub(super) archived: bool,
}

/// The tree as text.
pub(super) fn render(tree: &Tree, look: Look) -> String {
    let mut text = String::new();
    let (shown, hidden): (Vec<_>, Vec<_>) =
        (tree.workspaces.iter()).partition(|workspace| look.archived || !workspace.archived);
    for workspace in &shown {
        text.push_str(&heading(workspace, look));
        for tab in &workspace.tabs {
            let (title, id) = (look.paint(Ink::Bold, &safe(&tab.title)), safe(&tab.id));
            text.push_str(&format!("  {title}  {}\n", look.paint(Ink::Dim, &id)));
            for pane in &tab.panes {
                let mark = if pane.id == tab.active_pane_id { '*' } else { ' ' };
                text.push_str(&format!("  {mark} {}\n", pane_line(pane, look)));
                for note in notes(pane, look.now) {
                    text.push_str(&format!("      {}\n", look.paint(Ink::Dim, &note)));
                }
            }
        }
    }
    match hidden.len() {
        0 if shown.is_empty() => text.push_str("no workspaces; open one with: signaltty new\n"),
        0 => {}
        n => text.push_str(&format!("{n} archived, see them with: signaltty ls --all\n")),
    }
    text
}

fn heading(workspace: &WorkspaceNode, look: Look) -> String {
    let mut line = look.paint(Ink::Bold, &safe(&workspace.handle));
    if workspace.name != workspace.handle {
        line.push_str(&format!("  {}", safe(&workspace.name)));
    }
    line.push_str(&format!("  {}", safe(&workspace.cwd.0.to_string_lossy())));
    let switches = [
        (workspace.auto_resume, "auto-resume"),
        (workspace.auto_continue, "auto-continue"),
        (!workspace.history, "history off"),
        (workspace.archived, "archived"),
    ];
    for (_, name) in switches.into_iter().filter(|(shown, _)| *shown) {
        line.push_str(&format!("  [{name}]"));
    }
    line.push('\n');
    line
}

fn pane_line(pane: &PaneNode, look: Look) -> String {
    let ink = match pane.state.as_str() {
        "live" => Ink::Green,
        "resumable" => Ink::Yellow,
        "resuming" => Ink::Cyan,
        _ => Ink::Dim,
    };
    let mut parts = vec![safe(&pane.id), look.paint(ink, &state_words(pane))];
    if let Some(agent) = &pane.agent {
        parts.push(agent_words(pane, agent));
    }
    if !matches!(pane.attention.as_str(), "none" | "") {
        let words = safe(&pane.attention).replace('_', " ");
        parts.push(look.paint(Ink::Red, &words));
    }
    let title = if pane.title.is_empty() { command_words(&pane.argv) } else { safe(&pane.title) };
    parts.push(title);
    parts.join("  ")
}

/// The state of a pane, with the stage of a resume or the end of its process.
pub(super) fn state_words(pane: &PaneNode) -> String {
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
pub(super) fn agent_words(pane: &PaneNode, agent: &AgentNode) -> String {
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

/// A command as people write it; not for a shell.
pub(super) fn command_words(argv: &[WireOs]) -> String {
    let words: Vec<_> = (argv.iter()).map(|word| safe(&word.0.to_string_lossy())).collect();
    words.join(" ")
}

/// What a person should know of a pane, a line each, with what to do.
pub(super) fn notes(pane: &PaneNode, now: Timestamp) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(question) = &pane.decision {
        notes.push(format!("asks for a permission: {}", safe(question)));
        let id = safe(&pane.id);
        notes.push(format!("decide with: signaltty answer {id} allow, or deny"));
    }
    if let Some(agent) = &pane.agent {
        if agent.interrupted {
            notes.push(match agent.attempts {
                0 => "a turn was interrupted".to_owned(),
                1 => "a turn was interrupted; continuing it was tried once by itself".to_owned(),
                n => format!("a turn was interrupted; continuing it was tried {n} times by itself"),
            });
            if agent.marked {
                notes.push("it is marked: a start of the server looks whether it goes on".into());
            }
            if let Some(receipt) = &agent.receipt {
                notes.push(safe(receipt));
            }
        }
        if agent.question_expired {
            notes.push("its question expired with the restart; nobody can answer it".to_owned());
        }
        if let (Some(at), 1..) = (&agent.proven_at, agent.resumed) {
            let times = if agent.resumed == 1 { "once" } else { "times" };
            let count =
                if agent.resumed == 1 { String::new() } else { format!("{} ", agent.resumed) };
            notes.push(format!("resumed {count}{times}, proven {}", ago(now, at)));
        }
        if let Some(failure) = &agent.last_failure {
            let (code, message) = (safe(&failure.code), safe(&failure.message));
            let when = ago(now, &failure.at);
            // One that was left open for a person to look at is resumed, only
            // not proven.
            let open = pane.state == "live" && failure.code == "unconfirmed";
            let what = match failure.code.as_str() {
                _ if open => "not proven",
                "not_continued" => "not continued",
                _ => "not resumed",
            };
            notes.push(format!("{what} {when} ({code}): {message}"));
        }
        if let Some(argv) = &agent.reported_argv {
            notes.push(format!("reopened by hand, with its own command: {}", command_words(argv)));
        }
        if let Some(integration) = &agent.integration {
            notes.push(safe(integration));
        }
    }
    if !pane.missing_env.is_empty() {
        let names = safe(&pane.missing_env.join(", "));
        notes.push(format!("started without {names}, which its first launch had"));
    }
    notes.extend(advice(pane));
    notes
}

/// What a person can do about a pane in which nothing runs.
pub(super) fn advice(pane: &PaneNode) -> Option<String> {
    let id = safe(&pane.id);
    let agent = pane.agent.as_ref();
    let conversation = agent.is_some_and(|agent| agent.agent_session_id.is_some());
    let failure = agent.and_then(|agent| agent.last_failure.as_ref());
    let interrupted = agent.is_some_and(|agent| agent.interrupted);
    let verified = agent.is_some_and(|agent| agent.verdict.as_deref() == Some("verified"));
    match (pane.state.as_str(), failure.map(|f| f.code.as_str())) {
        ("live", _) if interrupted && verified => {
            Some(format!("let its turn go on with: signaltty continue {id}"))
        }
        ("resumable", Some("cwd_missing")) => {
            Some(format!("resume it elsewhere with: signaltty resume {id} --cwd DIR"))
        }
        ("resumable", Some("damaged" | "rewritten" | "busy")) => {
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
        ("restored", _) => Some(format!(
            "its process ended with the server; run the command again with: signaltty pane \
             restart {id}"
        )),
        ("exited", _) => Some(format!("run it again with: signaltty pane restart {id}")),
        _ => None,
    }
}

#[derive(Debug, Clone, Copy)]
enum Ink {
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
    Cyan,
}

impl Look {
    fn paint(self, ink: Ink, text: &str) -> String {
        let code = match ink {
            _ if !self.colours || text.is_empty() => return text.to_owned(),
            Ink::Bold => 1,
            Ink::Dim => 2,
            Ink::Red => 31,
            Ink::Green => 32,
            Ink::Yellow => 33,
            Ink::Cyan => 36,
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}
