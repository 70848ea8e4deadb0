//! Keys of a question.

use std::path::{Path, PathBuf};

use crossterm::event::KeyCode;
use serde_json::{Value, json};
use signaltty_core::id::PaneId;

use super::{Effects, scrolling};
use crate::protocol::WireOs;
use crate::tui::dialog::{Dialog, Open, Then};
use crate::tui::field::{Field, words};
use crate::tui::input::Key;
use crate::tui::model::{Mode, Model};
use crate::tui::msg::{After, Effect};

pub(super) fn key(model: &mut Model, key: Key, out: &mut Effects) {
    let Mode::Dialog(dialog) = &mut model.mode else { return };
    if let Dialog::Over(_) = dialog {
        model.mode = Mode::Normal;
        return;
    }
    if key.code == KeyCode::Esc || key.control('c') {
        let search = matches!(dialog, Dialog::Line(line) if line.then == Then::Search);
        if search {
            return scrolling::searched(model, None);
        }
        model.mode = Mode::Normal;
        return;
    }
    match dialog {
        Dialog::Open(open) => open_key(open, key, &model.agents),
        Dialog::Line(line) => {
            line.field.key(key);
        }
        Dialog::Confirm(_) | Dialog::Answer(_) | Dialog::Over(_) => {
            return decide(model, key, out);
        }
    }
    if key.code == KeyCode::Enter {
        enter(model, out);
    }
}

pub(super) fn paste(dialog: &mut Dialog, text: &str) {
    match dialog {
        Dialog::Open(open) => {
            open.choice = open.choice.filter(|_| !open.on_command);
            field(open).insert(text);
        }
        Dialog::Line(line) => line.field.insert(text),
        Dialog::Confirm(_) | Dialog::Answer(_) | Dialog::Over(_) => {}
    }
}

fn field(open: &mut Open) -> &mut Field {
    if open.on_command { &mut open.command } else { &mut open.cwd }
}

fn open_key(open: &mut Open, key: Key, agents: &[String]) {
    open.error = None;
    match key.code {
        KeyCode::Tab | KeyCode::Up | KeyCode::Down => open.on_command = !open.on_command,
        KeyCode::Left | KeyCode::Right if open.on_command && open.choice.is_some() => {
            // The shell, then the agents that are there.
            let count = agents.len() + 1;
            let by = if key.code == KeyCode::Left { count - 1 } else { 1 };
            open.choice = open.choice.map(|choice| (choice + by) % count);
            let choice = open.choice.and_then(|choice| choice.checked_sub(1));
            let name = choice.and_then(|choice| agents.get(choice));
            open.command = Field::new(name.cloned().unwrap_or_default());
        }
        _ if open.on_command => {
            if open.command.key(key) {
                open.choice = open.command.text().is_empty().then_some(0);
            }
        }
        _ => {
            open.cwd.key(key);
        }
    }
}

fn enter(model: &mut Model, out: &mut Effects) {
    let Mode::Dialog(dialog) = &mut model.mode else { return };
    match dialog {
        Dialog::Open(open) => match opened(open, &model.cwd) {
            Ok(effect) => {
                out.push(effect);
                model.mode = Mode::Normal;
            }
            Err(why) => open.error = Some(why),
        },
        Dialog::Line(line) => {
            let text = line.field.text().to_owned();
            match line.then.clone() {
                Then::Search => scrolling::searched(model, Some(text)),
                Then::Checkout { cwd } => {
                    model.mode = Mode::Normal;
                    let params = json!({ "branch": text, "cwd": cwd });
                    let after = After::Made(cwd);
                    out.push(Effect::Call { method: "worktree.create", params, env: true, after });
                }
                Then::Call { method, mut params, name } => {
                    if let Value::Object(map) = &mut params {
                        map.insert(name.to_owned(), text.into());
                    }
                    model.mode = Mode::Normal;
                    let after = After::Say(String::new());
                    out.push(Effect::Call { method, params, env: false, after });
                }
            }
        }
        Dialog::Confirm(_) | Dialog::Answer(_) | Dialog::Over(_) => {}
    }
}

fn opened(open: &Open, base: &Path) -> Result<Effect, String> {
    let argv: Vec<WireOs> =
        words(open.command.text())?.iter().map(|word| WireOs::from(word.as_str())).collect();
    let mut params = json!({ "argv": argv });
    if let (Some(cwd), Value::Object(map)) = (directory(open, base)?, &mut params) {
        map.insert("cwd".to_owned(), json!(WireOs::from(cwd.as_path())));
    }
    let method = match (open.beside, &mut params) {
        (Some(pane), Value::Object(map)) => {
            map.insert("pane".to_owned(), pane.to_string().into());
            map.insert("direction".to_owned(), "right".into());
            "pane.split"
        }
        _ => "workspace.new",
    };
    Ok(Effect::Call { method, params, env: true, after: After::Show })
}

/// A directory as it was typed. Whether it is there is the server's to say; so is
/// what to start in where none was typed, on another machine.
fn directory(open: &Open, base: &Path) -> Result<Option<PathBuf>, String> {
    let text = open.cwd.text().trim();
    if open.far {
        return match text {
            "" | "~" => Ok(None),
            text if text.starts_with('/') => Ok(Some(text.into())),
            _ => Err("say the whole path, from / on, or nothing for your home there".to_owned()),
        };
    }
    if text.is_empty() {
        return Err("say in which directory to start".to_owned());
    }
    let path = match text.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
            let home = home.ok_or("~ stands for $HOME, which is not set")?;
            Path::new(&home).join(rest.trim_start_matches('/'))
        }
        _ => PathBuf::from(text),
    };
    Ok(Some(crate::cli::absolute(base, &path)))
}

/// Yes or no.
fn decide(model: &mut Model, key: Key, out: &mut Effects) {
    let Mode::Dialog(dialog) = &model.mode else { return };
    let effect = match (dialog, key.char()) {
        (Dialog::Confirm(confirm), Some('y' | 'Y')) => Some(Effect::Call {
            method: confirm.method,
            params: confirm.params.clone(),
            env: confirm.env,
            after: After::Say(String::new()),
        }),
        (Dialog::Answer(asked), Some(c @ ('y' | 'n'))) => {
            let decision = if c == 'y' { "allow" } else { "deny" };
            Some(Effect::Call {
                method: "pane.answer",
                params: json!({
                    "pane": asked.pane.to_string(),
                    "decision_id": asked.id,
                    "answer": decision,
                }),
                env: false,
                after: After::Say(String::new()),
            })
        }
        (_, Some('n' | 'N')) => None,
        // Anything else may have been meant for a pane.
        _ => return,
    };
    model.mode = Mode::Normal;
    out.extend(effect);
}

/// What a pane asks by now is known. The question that a person looks at may have
/// ended, or another have taken its place: the answer to it is for neither.
pub(super) fn asks_now(model: &mut Model, pane: PaneId, now: Option<&str>) {
    let Mode::Dialog(Dialog::Answer(asked)) = &model.mode else { return };
    if asked.pane != pane || now == Some(&asked.id) {
        return;
    }
    let why = match now {
        Some(_) => "It asks something else by now; nothing was decided.",
        None => "It does not ask any more; nothing was decided here.",
    };
    model.mode = Mode::Dialog(Dialog::Over(why.to_owned()));
}

/// The question in front, if it is one, is looked up again.
pub(super) fn still_asks(model: &mut Model) {
    if let Mode::Dialog(Dialog::Answer(asked)) = &model.mode {
        let pane = asked.pane;
        let now = model.node(pane).and_then(|node| node.decision_id.clone());
        asks_now(model, pane, now.as_deref());
    }
}
