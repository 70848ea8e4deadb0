//! Keys of the lists over the panes, and what fills these lists.

use crossterm::event::KeyCode;
use serde_json::{Value, json};

use super::{Effects, places, say, tombstone};
use crate::protocol::{Notifications, WireError, WireOs, WorktreeNode, Worktrees};
use crate::tui::board::{Board, Kind};
use crate::tui::dialog::{Dialog, Line, Then};
use crate::tui::field::Field;
use crate::tui::input::Key;
use crate::tui::model::{Dirty, Link, Mode, Model};
use crate::tui::msg::{After, Effect};

pub(super) fn key(model: &mut Model, key: Key, out: &mut Effects) {
    let Mode::Board(board) = &model.mode else { return };
    let (board, last) = (board.clone(), board.len(model).saturating_sub(1));
    let to = |model: &mut Model, line: usize| {
        if let Mode::Board(board) = &mut model.mode {
            board.cursor = line.min(last);
        }
    };
    match key.code {
        KeyCode::Up | KeyCode::Char('k') => to(model, board.cursor.saturating_sub(1)),
        KeyCode::Down | KeyCode::Char('j') => to(model, board.cursor + 1),
        KeyCode::PageUp => to(model, board.cursor.saturating_sub(10)),
        KeyCode::PageDown => to(model, board.cursor + 10),
        KeyCode::Home | KeyCode::Char('g') => to(model, 0),
        KeyCode::End | KeyCode::Char('G') => to(model, last),
        KeyCode::Esc | KeyCode::Char('q') => model.mode = Mode::Normal,
        _ if key.control('c') => model.mode = Mode::Normal,
        _ => match &board.kind {
            Kind::Inbox => in_inbox(model, &board, key, out),
            Kind::Checkouts(_) => in_checkouts(model, &board, key, out),
        },
    }
}

/// Shows what people were told.
pub(super) fn inbox(model: &mut Model, out: &mut Effects) {
    model.mode = Mode::Board(Board::new(Kind::Inbox));
    out.push(ask_inbox());
}

/// Shows the checkouts of the shown workspace's repository.
pub(super) fn checkouts(model: &mut Model) {
    let Some((workspace, _)) = model.shown() else {
        return say(model, "no workspace is shown", false);
    };
    let (name, root) = (workspace.name.clone(), model.root_of(workspace));
    if model.checkouts.of(&root).is_empty() {
        let text = format!("{name} is in no Git repository, as far as is known");
        return say(model, &text, true);
    }
    model.checkouts.refresh(Some(&root));
    model.mode = Mode::Board(Board::new(Kind::Checkouts(root)));
}

pub(super) fn ask_inbox() -> Effect {
    let after = After::Inbox;
    Effect::Call { method: "notification.list", params: json!({}), env: false, after }
}

fn in_inbox(model: &mut Model, board: &Board, key: Key, out: &mut Effects) {
    let chosen = board.notification(model).cloned();
    let read = |params: Value| Effect::Call {
        method: "notification.read",
        params,
        env: false,
        after: After::Nothing,
    };
    match (key.code, chosen) {
        (KeyCode::Enter, Some(node)) => {
            out.push(read(json!({ "notification": node.id })));
            let pane = node.pane_id.and_then(|pane| pane.parse().ok());
            match pane.filter(|pane| model.node(*pane).is_some()) {
                Some(pane) => {
                    model.mode = Mode::Normal;
                    places::go(model, pane, out);
                }
                None => say(model, "no pane that is still there goes with it", false),
            }
        }
        (KeyCode::Char('d' | ' '), Some(node)) => {
            out.push(read(json!({ "notification": node.id })));
        }
        (KeyCode::Char('D'), Some(_)) => out.push(read(json!({}))),
        _ => {}
    }
}

fn in_checkouts(model: &mut Model, board: &Board, key: Key, out: &mut Effects) {
    let Kind::Checkouts(root) = &board.kind else { return };
    let at = json!(WireOs::from(root.as_path()));
    match (key.code, board.checkout(model).cloned()) {
        (KeyCode::Enter | KeyCode::Char('l'), Some(node)) => {
            model.mode = Mode::Normal;
            let id = node.workspaces.first().map(|workspace| workspace.id.clone());
            let workspace = model.tree.workspaces.iter().find(|w| Some(&w.id) == id.as_ref());
            match workspace.and_then(|workspace| workspace.tabs.first()) {
                Some(tab) => {
                    let tab = tab.id.clone();
                    places::show_tab(model, &tab, out);
                }
                None => out.push(open(&at, &node)),
            }
        }
        (KeyCode::Char('n' | 'c'), _) => {
            let then = Then::Checkout { cwd: at };
            let title = "Branch to check out beside the others".to_owned();
            model.mode = Mode::Dialog(Dialog::Line(Line { title, field: Field::new(""), then }));
        }
        (KeyCode::Char('x'), Some(node)) => {
            let shown = node.path.as_path().display();
            let text = vec![
                format!("Remove the checkout {shown}?"),
                "Its branch stays. Git refuses where anything would be lost.".to_owned(),
            ];
            let params = json!({ "worktree": node.path, "cwd": at });
            tombstone::ask(model, text, "worktree.remove", params, true);
        }
        _ => {}
    }
}

fn open(at: &Value, node: &WorktreeNode) -> Effect {
    let params = json!({ "worktree": node.path, "cwd": at });
    Effect::Call { method: "worktree.open", params, env: true, after: After::Show }
}

/// A checkout was made: a workspace is opened in it.
pub(super) fn made(value: Value, at: &Value, out: &mut Effects) {
    if let Ok(node) = serde_json::from_value::<WorktreeNode>(value) {
        out.push(open(at, &node));
    }
}

/// Asks Git, through the server, about the next directory that is not known.
pub(super) fn settle(model: &mut Model, out: &mut Effects) {
    if model.link != Link::Up {
        return;
    }
    if let Some(dir) = model.checkouts.next(&model.tree) {
        let params = json!({ "cwd": WireOs::from(dir.as_path()) });
        let after = After::Checkouts(dir);
        out.push(Effect::Call { method: "worktree.list", params, env: true, after });
    }
}

/// What Git said about a directory.
pub(super) fn listed(
    model: &mut Model,
    dir: std::path::PathBuf,
    result: Result<Value, WireError>,
    out: &mut Effects,
) {
    let found = result.ok().and_then(|value| serde_json::from_value::<Worktrees>(value).ok());
    let before = model.complete();
    model.checkouts.take(&model.tree, dir, found.map(|found| found.worktrees));
    if model.settle_scope() {
        out.push(Effect::SaveScope(model.scope.clone()));
    }
    // What is shown first was chosen before it was known what is in scope.
    let hidden = model.shown().is_some_and(|(w, _)| !model.scope.shows(&model.root_of(w)));
    if !before && model.complete() && hidden {
        places::show_something(model, out);
    }
    model.draw(Dirty::Foreground);
}

/// What people were told, newest first.
pub(super) fn told(model: &mut Model, result: Result<Value, WireError>) {
    let found = result.ok().and_then(|value| serde_json::from_value::<Notifications>(value).ok());
    let Some(found) = found.filter(|found| found.notifications != model.inbox) else { return };
    model.inbox = found.notifications;
    if let Mode::Board(board) = &model.mode {
        let last = board.len(model).saturating_sub(1);
        if let Mode::Board(board) = &mut model.mode {
            board.cursor = board.cursor.min(last);
        }
    }
    model.draw(Dirty::Foreground);
}
