//! `ls`: the tree of workspaces, tabs and panes, for people.
//!
//! Nothing here may suggest that a process survived: only a live pane reads
//! "working", a pane without a process says what became of it and what a person
//! can do.

use clap::Args;
use jiff::Timestamp;

use super::words::{self, agent_words, command_words, state_words, title_words};
use super::{Context, Failure, safe};
use crate::protocol::{Empty, PaneNode, Tree, WorkspaceNode};

// Arguments of `ls`.
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
                for note in words::remarks(pane, look.now) {
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
    parts.push(match &*pane.title {
        "" => title_words(&command_words(&pane.argv)),
        title => title_words(title),
    });
    parts.join("  ")
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
