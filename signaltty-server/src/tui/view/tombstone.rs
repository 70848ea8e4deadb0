//! A pane without a process: its last lines, what it is and what can be done.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use unicode_width::UnicodeWidthStr as _;

use super::pane::{draw_row, wrap};
use super::{ACCENT, FAINT, STRONG, about, put, words};
use crate::cli::{self, Weight, safe};
use crate::protocol::PaneNode;
use crate::tui::input::Action;
use crate::tui::model::{Model, Tail};
use crate::tui::styled;
use crate::tui::update::ways;

/// What gives way where there is no room for all, the first last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Keys,
    Failure,
    What,
    Agent,
    Hint,
    Fact,
    Rule,
    Message,
    Evidence,
}

struct Part {
    rank: Rank,
    lines: Vec<String>,
    style: Style,
}

pub(super) fn draw(
    model: &Model,
    node: &PaneNode,
    tail: Option<&Tail>,
    area: Rect,
    buffer: &mut Buffer,
) {
    // Of a large pane a third is the output's, as far as there is any.
    let output = match tail {
        _ if area.height < 15 => 0,
        Some(Tail::Text(text)) => last_rows(text, area.width, area.height / 3).len(),
        _ => 1,
    };
    let lines = foot(model, node, area.width, usize::from(area.height).saturating_sub(output));
    let above = area.height.saturating_sub(u16::try_from(lines.len()).unwrap_or(u16::MAX));
    let rows = match tail {
        Some(Tail::Text(text)) => last_rows(text, area.width, above),
        Some(Tail::None(why)) => {
            vec![vec![styled::Piece { text: format!("({why})"), style: FAINT }]]
        }
        _ => Vec::new(),
    };
    for (y, row) in (area.y..area.y + above).zip(&rows) {
        draw_row(row, area.x, y, area.width, buffer);
    }
    for (y, (text, style)) in (area.y + above..area.bottom()).zip(lines) {
        put(buffer, area.x, y, area.width, &text, style);
    }
}

/// The lines below a tombstone's output, as many as there is room for.
fn foot(model: &Model, node: &PaneNode, width: u16, room: usize) -> Vec<(String, Style)> {
    let mut parts = parts(model, node, width);
    let count = |parts: &[Part]| parts.iter().map(|part| part.lines.len()).sum::<usize>();
    let mut hidden = false;
    while count(&parts) > room {
        let last = parts.iter().map(|part| part.rank).max();
        let Some(last) = last.filter(|rank| *rank > Rank::Keys) else { break };
        // A rule alone is missed by nobody.
        hidden |= last != Rank::Rule;
        let at = parts.iter().rposition(|part| Some(part.rank) == Some(last));
        if let Some(at) = at {
            parts.remove(at);
        }
    }
    let mut lines: Vec<_> = (parts.into_iter())
        .flat_map(|part| part.lines.into_iter().map(move |line| (line, part.style)))
        .collect();
    let more = format!("… {} tells all", model.gui.bindings.hint(Action::About));
    if hidden && lines.len() < room {
        lines.push((more, FAINT));
    }
    lines.truncate(room);
    lines
}

fn parts(model: &Model, node: &PaneNode, width: u16) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut add = |rank, text: &str, style| {
        parts.push(Part { rank, lines: wrap(text, width), style });
    };
    add(Rank::Rule, &"─".repeat(width.into()), FAINT);
    let what = match node.state.as_str() {
        "resumable" => "Its process is gone; its conversation can be reopened.".to_owned(),
        "resuming" => format!("{} {}", words::spinner(model), words::state_words(node)),
        "exited" => match &node.exit {
            Some(exit) => format!("Its process ended: {}.", cli::exit_words(exit)),
            None => "Its process ended.".to_owned(),
        },
        _ => "Its process did not survive; this is what was saved.".to_owned(),
    };
    add(Rank::What, &what, STRONG);
    if let Some(agent) = &node.agent {
        let id = agent.agent_session_id.as_deref().unwrap_or("no conversation yet");
        let text = format!("{}: {}", cli::agent_words(node, agent), safe(id));
        add(Rank::Agent, &text, Style::new());
    } else {
        add(Rank::Agent, &format!("$ {}", cli::command_words(&node.argv)), FAINT);
    }
    for note in cli::notes(node, model.now) {
        let rank = match note.weight {
            Weight::Grave => Rank::Failure,
            Weight::Hint => Rank::Hint,
            Weight::Fact => Rank::Fact,
        };
        add(rank, &note.text, about::style(note.weight));
    }
    if let Some(message) = &node.last_message {
        add(Rank::Message, &format!("last said: {}", safe(message)), Style::new());
    }
    for seen in node.agent.iter().flat_map(|agent| &agent.evidence) {
        add(Rank::Evidence, &format!("seen: {}", safe(seen)), FAINT);
    }
    if node.state != "resuming" {
        let keys: Vec<_> =
            ways(node).iter().map(|(_, key, what)| format!("[{key}] {what}")).collect();
        let style = ACCENT.add_modifier(Modifier::BOLD);
        parts.push(Part { rank: Rank::Keys, lines: beside(&keys, width), style });
    }
    parts
}

/// Texts beside each other, as many on a line as fit; a key is not parted from
/// what it does.
fn beside(texts: &[String], width: u16) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for text in texts {
        match lines.last_mut() {
            Some(line) if line.width() + 2 + text.width() <= usize::from(width) => {
                line.push_str("  ");
                line.push_str(text);
            }
            _ => lines.extend(wrap(text, width)),
        }
    }
    lines
}

/// The last rows of a tail.
fn last_rows(text: &str, width: u16, height: u16) -> Vec<styled::Row> {
    let mut rows = Vec::new();
    for line in text.lines().rev() {
        if rows.len() >= usize::from(height) {
            break;
        }
        rows.extend(styled::rows(line, width).into_iter().rev());
    }
    rows.truncate(height.into());
    rows.reverse();
    rows
}
