//! What changes when something happens. Pure: the same model and message give
//! the same model and the same effects.

mod actions;
mod boards;
mod dialogs;
mod keys;
mod mouse;
mod places;
mod scrolling;
mod streams;
mod tombstone;

pub(crate) use tombstone::ways;

use serde_json::Value;
use signaltty_core::id::PaneId;

use super::ahead::Ahead;
use super::dialog::Dialog;
use super::model::{Dirty, Link, Message, Mode, Model, is_live};
use super::msg::{After, Effect, FromStream, Msg};
use crate::protocol::{EventLine, Tree, WireError};

type Effects = Vec<Effect>;

/// Takes one message.
pub(crate) fn update(model: &mut Model, msg: Msg) -> Effects {
    let mut out = Effects::new();
    // What a pane prints changes nothing that streams depend on.
    let settles =
        !matches!(&msg, Msg::Stream { what: FromStream::Output(_) | FromStream::Repaint(_), .. });
    match msg {
        Msg::Key(key) => keys::key(model, key.into(), &mut out),
        Msg::Mouse(event) => mouse::mouse(model, &event, &mut out),
        Msg::Paste(text) => keys::paste(model, &text, &mut out),
        Msg::Resized(cols, rows) => {
            model.size = (cols, rows);
            model.draw(Dirty::Foreground);
        }
        Msg::Watched(watched) => {
            model.watched = watched;
            streams::focus_report(model, watched, &mut out);
            if watched {
                see(model, &mut out);
            }
        }
        Msg::Listed(tree) => listed(model, tree, &mut out),
        Msg::Lost(why) => {
            model.link = Link::Gone(why);
            model.listed = false;
            out.extend(model.panes.drain().map(|(pane, _)| Effect::Shut { pane }));
            model.area_asked.clear();
            model.ahead = Ahead::default();
            model.checkouts.lost();
            model.draw(Dirty::Foreground);
        }
        Msg::Event(event) => happened(model, &event, &mut out),
        Msg::Stream { pane, number, what } => streams::brought(model, pane, number, what, &mut out),
        Msg::Tail { pane, result } => streams::tail(model, pane, result),
        Msg::Done { after, result } => done(model, after, result, &mut out),
        Msg::Beat => {
            if waits(model) && model.gui.animation {
                model.beat = model.beat.wrapping_add(1);
                model.draw(Dirty::Background);
            }
        }
    }
    if settles {
        streams::settle(model, &mut out);
        boards::settle(model, &mut out);
    }
    model.ahead.ask(out.iter().filter(|effect| effect.makes()).count());
    keys::catch_up(model, &mut out);
    out
}

/// Whether something is waited for that an animation shows.
pub(crate) fn waits(model: &Model) -> bool {
    model.link == Link::Starting || model.nodes().any(|(_, _, pane)| pane.state == "resuming")
}

fn listed(model: &mut Model, tree: Tree, out: &mut Effects) {
    let first = !model.listed;
    if first || model.tree != tree {
        model.draw(Dirty::Foreground);
    }
    if let (Link::Gone(_), Some(host)) = (&model.link, &model.host) {
        let text = format!("the link to {host} is back");
        say(model, &text, false);
    }
    model.link = Link::Up;
    model.listed = true;
    streams::follow_changes(model, &tree);
    model.tree = tree;
    let made = model.ahead.awaited();
    model.ahead.listed(made.is_some_and(|pane| model.node(pane).is_some()));
    if let Some(pane) = model.ahead.awaits_again() {
        match model.node(pane) {
            Some(node) if is_live(node) => model.ahead.is_again(true),
            Some(_) => {}
            None => model.ahead.is_again(false),
        }
    }
    dialogs::still_asks(model);
    if model.settle_scope() {
        out.push(Effect::SaveScope(model.scope.clone()));
    }
    if model.shown().is_none() {
        places::show_something(model, out);
    }
    if first {
        model.banner = model.resumable().0 > 0;
        out.push(boards::ask_inbox());
    }
    if model.resumable().0 == 0 {
        model.banner = false;
    }
    let last = super::list::lines(model).len().saturating_sub(1);
    model.sidebar.cursor = model.sidebar.cursor.min(last);
}

fn happened(model: &mut Model, event: &EventLine, out: &mut Effects) {
    out.push(Effect::List);
    match event.event.as_str() {
        "notification.created" | "notification.read" => out.push(boards::ask_inbox()),
        name if name.starts_with("workspace.") => model.checkouts.refresh(None),
        _ => {}
    }
    let text = |name: &str| event.payload.get(name).and_then(Value::as_str).unwrap_or_default();
    let Ok(pane) = text("pane_id").parse::<PaneId>() else {
        return;
    };
    match event.event.as_str() {
        "decision.asked" => dialogs::asks_now(model, pane, Some(text("decision_id"))),
        "decision.ended" => {
            let ended = text("decision_id");
            if matches!(&model.mode, Mode::Dialog(Dialog::Answer(asked)) if asked.id == ended) {
                dialogs::asks_now(model, pane, None);
            }
        }
        "attention.changed" if text("attention") != "none" => {
            if model.watched && model.focus() == Some(pane) && matches!(model.mode, Mode::Normal) {
                out.push(call_for(pane, "pane.seen"));
            } else {
                let (title, body) = words(model, pane, text("attention"));
                out.push(Effect::Reach { title, body });
            }
        }
        _ => {}
    }
}

/// What a notification of a pane says.
fn words(model: &Model, pane: PaneId, attention: &str) -> (String, String) {
    let what = match attention {
        "permission_required" => "asks for permission",
        "input_required" => "waits for you",
        "error" => "failed",
        "warning" => "has a warning",
        _ => "has news",
    };
    match model.place(pane) {
        Some((workspace, _, node)) => {
            let title = format!("{}: {}", workspace.name, node.title);
            let body = node.last_message.clone().unwrap_or_default();
            (crate::cli::safe(&format!("{title} {what}")), crate::cli::safe(&body))
        }
        None => (format!("a pane {what}"), String::new()),
    }
}

/// Tells the server that a person looks at the focused pane.
fn see(model: &mut Model, out: &mut Effects) {
    let Some(pane) = model.focus() else { return };
    let unseen = model.node(pane).is_some_and(|node| node.attention != "none");
    if unseen && model.watched && model.link == Link::Up {
        out.push(call_for(pane, "pane.seen"));
    }
}

fn call_for(pane: PaneId, method: &'static str) -> Effect {
    let params = serde_json::json!({ "pane": pane.to_string() });
    Effect::Call { method, params, env: false, after: After::Nothing }
}

fn done(model: &mut Model, after: After, result: Result<Value, WireError>, out: &mut Effects) {
    let result = match after {
        After::Checkouts(dir) => return boards::listed(model, dir, result, out),
        After::Inbox => return boards::told(model, result),
        _ => result,
    };
    if let After::Again(pane) | After::Resumed(pane) | After::Continued(pane) = after
        && model.ahead.awaits_again() == Some(pane)
    {
        model.ahead.is_again(result.is_ok());
    }
    if after == After::Show {
        let made = result.as_ref().ok().and_then(|value| value.get("pane_id")?.as_str());
        model.ahead.answered(made.and_then(|pane| pane.parse().ok()));
    }
    let value = match result {
        Ok(value) => value,
        Err(error) => {
            // A pane that went away meanwhile is what the list will say.
            let nothing = matches!(after, After::Nothing | After::Again(_));
            if !nothing || !error.code.starts_with("NO_SUCH") {
                say(model, &error.message, true);
            }
            out.push(Effect::List);
            return;
        }
    };
    match after {
        After::Nothing | After::Again(_) | After::Checkouts(_) | After::Inbox => {}
        After::Made(at) => boards::made(value, &at, out),
        After::Show => {
            let text = |name: &str| value.get(name).and_then(Value::as_str);
            if let (Some(tab), Some(Ok(pane))) = (text("tab_id"), text("pane_id").map(str::parse)) {
                model.tab = Some(tab.to_owned());
                model.focused.insert(tab.to_owned(), pane);
                model.zoomed = None;
                model.sidebar.focused = false;
            }
            out.push(Effect::List);
        }
        After::Resumed(pane) => reopened(model, pane, &value),
        After::Continued(pane) => match value.get("verdict") {
            // It was only reopened: nothing was proven, or there was no turn.
            Some(_) => reopened(model, pane, &value),
            None => {
                let receipt = value.get("receipt").and_then(Value::as_str);
                let receipt = receipt.map_or_else(String::new, |receipt| format!("; {receipt}"));
                let text = format!("{}: the interrupted turn goes on{receipt}", title(model, pane));
                say(model, &text, false);
            }
        },
        After::Say(text) => say(model, &text, false),
    }
}

fn title(model: &Model, pane: PaneId) -> String {
    model.node(pane).map_or_else(String::new, |node| node.title.clone())
}

/// Says how sure it is that a conversation that is open again is the saved one.
fn reopened(model: &mut Model, pane: PaneId, value: &Value) {
    let title = title(model, pane);
    match value.get("verdict").and_then(Value::as_str).unwrap_or("unconfirmed") {
        "verified" => say(model, &format!("{title}: the same conversation, verified"), false),
        verdict => {
            let text = format!("{title}: open, but {verdict}: nothing proves that it is the same");
            say(model, &text, true);
        }
    }
}

/// Shows a line to the person.
fn say(model: &mut Model, text: &str, bad: bool) {
    model.message = Some(Message { text: crate::cli::safe(text), bad });
    model.draw(Dirty::Foreground);
}
