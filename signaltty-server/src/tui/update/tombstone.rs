//! Keys of a pane without a process.

use crossterm::event::KeyCode;
use serde_json::json;
use signaltty_core::id::PaneId;

use super::{Effects, say};
use crate::protocol::PaneNode;
use crate::tui::dialog::{Confirm, Dialog};
use crate::tui::input::{Action, Key};
use crate::tui::model::{Mode, Model};
use crate::tui::msg::{After, Effect};

/// Something that a person can do with a tombstone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Reopen its conversation.
    Resume,
    /// The same, although something differs.
    Anyway,
    /// Reopen it and go on with the turn that was interrupted.
    Continue,
    /// Run the saved command again.
    Again,
    /// Run the saved command of an agent: another conversation.
    New,
    Close,
}

/// The ways that a tombstone has, with their keys and words.
pub(crate) fn ways(node: &PaneNode) -> Vec<(Way, &'static str, &'static str)> {
    let agent = node.agent.as_ref();
    let conversation = agent.is_some_and(|agent| agent.agent_session_id.is_some());
    let failure = agent.and_then(|agent| agent.last_failure.as_ref());
    let mut ways = Vec::new();
    if conversation {
        ways.push((Way::Resume, "r", "resume"));
        if failure.is_some_and(|failure| may_override(&failure.code)) {
            ways.push((Way::Anyway, "!", "resume anyway"));
        }
        if agent.is_some_and(|agent| agent.interrupted) {
            ways.push((Way::Continue, "c", "continue the turn"));
        }
    }
    if !node.argv.is_empty() {
        match agent {
            Some(_) => ways.push((Way::New, "n", "start new here")),
            None => ways.push((Way::Again, "Enter", "run again")),
        }
    }
    ways.push((Way::Close, "x", "close"));
    ways
}

/// Refusals that a person may override for one resume (D-3).
fn may_override(code: &str) -> bool {
    matches!(code, "damaged" | "rewritten" | "elsewhere" | "busy" | "cwd_missing" | "unconfirmed")
}

/// A key in a tombstone.
pub(super) fn key(model: &mut Model, pane: PaneId, key: Key, out: &mut Effects) {
    if model.banner {
        match key.char() {
            Some('R') => return super::actions::act(model, Action::ResumeAll, out),
            Some('C') => return super::actions::act(model, Action::ContinueAll, out),
            Some('A') => return super::actions::act(model, Action::ResumeAlways, out),
            _ if key.code == KeyCode::Esc => {
                model.banner = false;
                return;
            }
            _ => {}
        }
    }
    let Some(node) = model.node(pane) else { return };
    let name = key.to_string();
    let chosen = ways(node).into_iter().find(|(_, key, _)| *key == name);
    match chosen {
        Some((way, ..)) => choose(model, pane, way, out),
        None => {
            let keys: Vec<_> =
                ways(node).iter().map(|(_, key, what)| format!("{key} {what}")).collect();
            say(model, &format!("nothing runs in this pane: {}", keys.join(", ")), false);
        }
    }
}

fn choose(model: &mut Model, pane: PaneId, way: Way, out: &mut Effects) {
    let params = json!({ "pane": pane.to_string() });
    if matches!(way, Way::Resume | Way::Continue | Way::Again) {
        // What is typed from here on is for what runs then.
        model.ahead.again(pane);
    }
    match way {
        Way::Resume => out.push(resume(pane)),
        Way::Continue => {
            let after = After::Continued(pane);
            out.push(Effect::Call { method: "pane.continue", params, env: true, after });
        }
        Way::Again => {
            let after = After::Again(pane);
            out.push(Effect::Call { method: "pane.restart", params, env: true, after });
        }
        Way::Anyway => {
            let failure =
                model.node(pane).and_then(|node| node.agent.as_ref()?.last_failure.clone());
            let mut text: Vec<_> = failure.map(|failure| failure.message).into_iter().collect();
            text.push(
                "Resume it all the same? It stays unconfirmed until it is proven.".to_owned(),
            );
            let params = json!({ "pane": pane.to_string(), "anyway": true });
            ask(model, text, "pane.resume", params, true);
        }
        Way::New => {
            let text = vec![
                "Start the agent anew in this pane?".to_owned(),
                "That is another conversation than the one that is saved here.".to_owned(),
            ];
            ask(model, text, "pane.restart", params, true);
        }
        Way::Close => close(model, pane, out),
    }
}

/// Closes a pane, at once only where nothing is lost by it.
pub(super) fn close(model: &mut Model, pane: PaneId, out: &mut Effects) {
    let Some(node) = model.node(pane) else { return };
    let params = json!({ "pane": pane.to_string() });
    let agent = node.agent.as_ref();
    let conversation = agent.is_some_and(|agent| agent.agent_session_id.is_some());
    let text = match node.state.as_str() {
        "live" | "resuming" => format!("Close {:?} and end what runs in it?", node.title),
        _ if conversation => format!(
            "Close {:?}? Its output goes; the conversation stays with the agent.",
            node.title
        ),
        _ => {
            let after = After::Nothing;
            out.push(Effect::Call { method: "pane.close", params, env: false, after });
            return;
        }
    };
    ask(model, vec![text], "pane.close", params, false);
}

pub(super) fn ask(
    model: &mut Model,
    text: Vec<String>,
    method: &'static str,
    params: serde_json::Value,
    env: bool,
) {
    let text = text.iter().map(|line| crate::cli::safe(line)).collect();
    model.mode = Mode::Dialog(Dialog::Confirm(Confirm { text, method, params, env }));
}

/// A person's own resume.
pub(super) fn resume(pane: PaneId) -> Effect {
    let params = json!({ "pane": pane.to_string() });
    Effect::Call { method: "pane.resume", params, env: true, after: After::Resumed(pane) }
}
