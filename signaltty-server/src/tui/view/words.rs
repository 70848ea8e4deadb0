//! Words and signs for states, the same everywhere; and what is shown where
//! there is no pane.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::pane::wrap;
use super::{ACCENT, BAD, FAINT, GOOD, STRONG, URGENT, centred};
use crate::cli::{self, safe};
use crate::protocol::PaneNode;
use crate::tui::input::Action;
use crate::tui::model::Model;

/// A sign for the state of a pane, of one column.
pub(super) fn state_sign(node: &PaneNode) -> (&'static str, Style) {
    match node.state.as_str() {
        "live" => match node.lifecycle.as_str() {
            "working" => ("▶", GOOD),
            "blocked" => ("◆", URGENT),
            _ => ("●", GOOD),
        },
        "resuming" => ("◐", ACCENT),
        "resumable" => ("◇", ACCENT),
        "exited" => ("×", FAINT),
        _ => ("○", FAINT),
    }
}

/// A sign for how much a pane needs a person, of at most two columns.
pub(super) fn attention_sign(attention: &str) -> (&'static str, Style) {
    match attention {
        "permission_required" => ("!!", URGENT),
        "input_required" => ("?", URGENT),
        "error" => ("E", BAD),
        "warning" => ("W", URGENT),
        "unread" => ("*", STRONG),
        _ => ("", Style::new()),
    }
}

/// The attention in words; empty where there is none.
pub(super) fn attention_words(attention: &str) -> &'static str {
    match attention {
        "permission_required" => "asks permission",
        "input_required" => "waits for you",
        "error" => "error",
        "warning" => "warning",
        "unread" => "unread",
        _ => "",
    }
}

/// The state in words.
pub(super) fn state_words(node: &PaneNode) -> String {
    let agent = node.agent.as_ref();
    match node.state.as_str() {
        // Only a live pane may read "working" (D-28).
        "live" => match (agent, node.lifecycle.as_str()) {
            (Some(_), word @ ("working" | "blocked" | "idle" | "done" | "failed")) => {
                word.to_owned()
            }
            _ => "live".to_owned(),
        },
        _ => cli::state_words(node),
    }
}

/// How sure it is that the conversation is the saved one.
pub(super) fn badge(node: &PaneNode) -> Option<(&'static str, Style)> {
    let agent = node.agent.as_ref()?;
    match agent.verdict.as_deref() {
        Some("verified") => Some(("verified", GOOD)),
        Some("unconfirmed") => Some(("unconfirmed", URGENT)),
        Some("contradicted") => Some(("contradicted", BAD)),
        _ => None,
    }
}

/// A title without anything that acts on a terminal, or that looks like what this
/// client says (C082).
pub(super) fn title(node: &PaneNode) -> String {
    if node.title.is_empty() { "(no title)".to_owned() } else { cli::title_words(&node.title) }
}

pub(super) fn gone(model: &Model, why: &str, area: Rect, buffer: &mut Buffer) {
    let wide = area.width.min(66);
    let (title, what, enter) = match &model.host {
        None => (
            "The server went away.".to_owned(),
            "What ran in its panes ended with it. The layout, the last output and each \
             conversation's identity are on the disk.",
            "start it again",
        ),
        Some(host) => (
            format!("The link to {} was lost.", safe(host)),
            "What runs there goes on. Connecting again; a server that ended is not started by \
             that.",
            "try now, and start a server",
        ),
    };
    let mut lines = vec![Line::styled(title, BAD), Line::default()];
    lines.extend(wrap(what, wide).into_iter().map(Line::raw));
    lines.push(Line::default());
    let why = why.lines().flat_map(|line| wrap(&safe(line), wide));
    lines.extend(why.map(|line| Line::styled(line, FAINT)));
    lines.push(Line::default());
    lines.push(keys(&[("Enter", enter), ("q", "leave")]));
    centred(buffer, area, &lines);
}

pub(super) fn starting(model: &Model, area: Rect, buffer: &mut Buffer) {
    let spin = spinner(model);
    centred(buffer, area, &[Line::raw(format!("{spin} looking for the server"))]);
}

/// A sign that moves while something is waited for.
pub(super) fn spinner(model: &Model) -> &'static str {
    if !model.gui.animation {
        return "…";
    }
    match model.beat % 4 {
        0 => "◐",
        1 => "◓",
        2 => "◑",
        _ => "◒",
    }
}

pub(super) fn welcome(model: &Model, area: Rect, buffer: &mut Buffer) {
    let help = model.gui.bindings.hint(Action::Help);
    let lines = [
        Line::styled("signaltty", STRONG),
        Line::default(),
        Line::raw("Nothing is open yet."),
        Line::default(),
        keys(&[("Enter", "open a workspace"), ("?", "keys"), ("q", "leave")]),
        Line::default(),
        Line::styled(format!("Later, {help} shows the keys."), FAINT),
    ];
    // On a small screen what can be done comes first.
    let short = usize::from(area.height) < lines.len();
    centred(buffer, area, lines.get(if short { 4..5 } else { 0..7 }).unwrap_or_default());
}

/// Keys with what they do.
pub(super) fn keys(keys: &[(&str, &str)]) -> Line<'static> {
    let mut spans = Vec::new();
    for (key, what) in keys {
        if !spans.is_empty() {
            spans.push(Span::raw("  "));
        }
        spans.push(Span::styled((*key).to_owned(), STRONG));
        spans.push(Span::raw(format!(" {what}")));
    }
    Line::from(spans)
}
