//! Where a key goes.

use crossterm::event::KeyCode;
use signaltty_core::id::PaneId;

use super::{Effects, actions, boards, dialogs, places, say, scrolling, tombstone};
use crate::tui::ahead::Typed;
use crate::tui::flow::Into;
use crate::tui::input::{Action, Key, encode};
use crate::tui::list::{self, Line};
use crate::tui::model::{Dirty, Link, Mode, Model, Stream, is_live};
use crate::tui::msg::Effect;
use crate::tui::view::last_page;

pub(super) fn key(model: &mut Model, key: Key, out: &mut Effects) {
    // What is typed into a program changes nothing here; its echo will.
    if !goes_through(model, key) {
        model.draw(Dirty::Foreground);
    }
    if !stays(model, key == model.gui.bindings.prefix, out) {
        return;
    }
    if let Link::Gone(_) = model.link {
        model.flow.ends();
        return gone(key, out);
    }
    // The prefix still works: a server that does not answer holds nobody.
    if held(model) && key != model.gui.bindings.prefix {
        return model.ahead.hold(Typed::Key(key));
    }
    match &mut model.mode {
        Mode::Prefix => return after_prefix(model, key, out),
        Mode::Dialog(_) => {
            model.flow.goes_on(Into::Here, model.clock);
            return dialogs::key(model, key, out);
        }
        Mode::Board(_) => {
            model.message = None;
            return boards::key(model, key, out);
        }
        Mode::Help(_) | Mode::About(..) => return in_page(model, key),
        Mode::Scroll(_) if key != model.gui.bindings.prefix => {
            return scrolling::key(model, key, out);
        }
        Mode::Scroll(_) | Mode::Normal => {}
    }
    model.message = None;
    if key == model.gui.bindings.prefix {
        model.mode = Mode::Prefix;
    } else if model.sidebar.focused {
        in_sidebar(model, key, out);
    } else if let Some(pane) = model.focus() {
        in_pane(model, pane, key, out);
    } else {
        welcome(model, key, out);
    }
}

/// Whether a key goes where keys go now. What is typed in one go stays with the
/// pane that it began in, whoever else moved the focus, and is dropped where that
/// takes no keys any more.
fn stays(model: &mut Model, prefix: bool, out: &mut Effects) -> bool {
    let Some(into) = model.flow.now(model.clock) else { return true };
    if prefix {
        model.flow.ends();
        return true;
    }
    let gone = matches!(model.link, Link::Gone(_));
    let Into::Pane(pane) = into else {
        if gone {
            model.flow.goes_on(into, model.clock);
        }
        return !gone;
    };
    let own = !matches!(model.mode, Mode::Normal) || model.sidebar.focused || held(model);
    if own && !gone {
        return true;
    }
    if !gone && model.node(pane).is_some_and(is_live) {
        if model.focus() != Some(pane) {
            places::go(model, pane, out);
        }
        return true;
    }
    model.flow.goes_on(into, model.clock);
    let what = if gone { "the server went away" } else { "the program ended" };
    let text = format!("{what} while you typed, and what you typed since was not sent");
    say(model, &text, true);
    false
}

/// A key while there is something to read.
fn in_page(model: &mut Model, key: Key) {
    let last = last_page(model);
    let page = model.size.1.saturating_sub(2).max(1);
    let (Mode::Help(line) | Mode::About(_, line)) = &mut model.mode else { return };
    let next = match key.code {
        KeyCode::Up | KeyCode::Char('k') => line.saturating_sub(1),
        KeyCode::Down | KeyCode::Char('j') => line.saturating_add(1),
        KeyCode::PageUp | KeyCode::Char('b') => line.saturating_sub(page),
        KeyCode::PageDown | KeyCode::Char(' ' | 'f') => line.saturating_add(page),
        KeyCode::Home | KeyCode::Char('g') => 0,
        KeyCode::End | KeyCode::Char('G') => last,
        _ => {
            model.mode = Mode::Normal;
            return;
        }
    };
    *line = next.min(last);
}

/// Whether what is typed is for a pane that is still being made.
fn held(model: &Model) -> bool {
    model.ahead.holds() && matches!(model.mode, Mode::Normal) && !model.sidebar.focused
}

/// Types what was held once the pane that it is for takes it. Where it never
/// will, the person is told: nothing else gets it.
pub(super) fn catch_up(model: &mut Model, out: &mut Effects) {
    if let Some(pane) = model.ahead.ready_for() {
        let Some(node) = model.node(pane) else { return };
        let state = model.panes.get(&pane);
        if is_live(node) && model.focus() == Some(pane) {
            if state.is_none_or(|state| state.screen.is_none() && state.stream != Stream::Failed) {
                return;
            }
            let (held, over) = model.ahead.take();
            for typed in held {
                // One of them may have asked for yet another pane.
                if model.ahead.holds() {
                    model.ahead.hold(typed);
                    continue;
                }
                let asked = out.len();
                match typed {
                    Typed::Key(typed) => key(model, typed, out),
                    Typed::Paste(text) => paste(model, &text, out),
                }
                model.ahead.ask(out.iter().skip(asked).filter(|effect| effect.makes()).count());
            }
            if over {
                say(model, "not everything that was typed so fast was sent", true);
            }
            return;
        }
    } else if !model.ahead.stranded() {
        return;
    }
    let (held, _) = model.ahead.take();
    if !held.is_empty() {
        let why = model.message.take().map_or_else(String::new, |message| message.text + "; ");
        say(model, &format!("{why}what you typed meanwhile was not sent"), true);
    }
}

/// Whether a key is for the program in the focused pane.
fn goes_through(model: &Model, key: Key) -> bool {
    matches!(model.mode, Mode::Normal)
        && model.link == Link::Up
        && model.message.is_none()
        && !model.sidebar.focused
        && key != model.gui.bindings.prefix
        && model.focus_node().is_some_and(is_live)
}

/// A key while the server is away.
fn gone(key: Key, out: &mut Effects) {
    match key.code {
        KeyCode::Enter => out.push(Effect::Connect { start: true }),
        KeyCode::Char('q') | KeyCode::Esc => out.push(Effect::Quit),
        _ if key.control('c') => out.push(Effect::Quit),
        _ => {}
    }
}

fn after_prefix(model: &mut Model, key: Key, out: &mut Effects) {
    model.mode = Mode::Normal;
    // It is about the pane that is to come, not about the one that is there.
    if held(model) && model.gui.bindings.action(key) != Some(Action::Detach) {
        model.ahead.hold(Typed::Key(model.gui.bindings.prefix));
        return model.ahead.hold(Typed::Key(key));
    }
    if key == model.gui.bindings.prefix {
        if let Some(pane) = model.focus() {
            in_pane(model, pane, key, out);
        }
        return;
    }
    if let Some(action) = model.gui.bindings.action(key) {
        return actions::act(model, action, out);
    }
    if let Some(number @ 1..=9) = key.char().and_then(|c| c.to_digit(10)) {
        return places::tab_number(model, usize::try_from(number).unwrap_or(1), out);
    }
    if key.code != KeyCode::Esc {
        let bindings = &model.gui.bindings;
        let help = bindings.hint(Action::Help);
        let text = format!("{} {key} does nothing; {help} shows the keys", bindings.prefix);
        say(model, &text, true);
    }
}

fn in_pane(model: &mut Model, pane: PaneId, key: Key, out: &mut Effects) {
    let Some(node) = model.node(pane) else { return };
    if !is_live(node) {
        return tombstone::key(model, pane, key, out);
    }
    model.flow.goes_on(Into::Pane(pane), model.clock);
    let screen = model.panes.get(&pane).and_then(|state| state.screen.as_ref());
    let application = screen.is_some_and(signaltty_pty::Screen::application_cursor);
    typed(model, pane, encode::key(key, application), out);
}

/// Sends bytes to a pane's program. Whoever types also says how large it is.
pub(super) fn typed(model: &mut Model, pane: PaneId, bytes: Vec<u8>, out: &mut Effects) {
    if bytes.is_empty() {
        return;
    }
    if let Some((_, tab)) = model.shown() {
        let known = (tab.cols, tab.rows);
        let id = tab.id.clone();
        // Another client has taken the area since.
        if model.area_asked.get(&id).is_some_and(|asked| *asked != known) {
            model.area_asked.remove(&id);
        }
    }
    out.push(Effect::Type { pane, bytes });
}

/// A paste goes where keys go.
pub(super) fn paste(model: &mut Model, text: &str, out: &mut Effects) {
    if let Mode::Dialog(dialog) = &mut model.mode {
        dialogs::paste(dialog, text);
        model.draw(Dirty::Foreground);
        return;
    }
    if held(model) {
        return model.ahead.hold(Typed::Paste(text.to_owned()));
    }
    if !stays(model, false, out) {
        return;
    }
    let Some(pane) = model.focus().filter(|_| matches!(model.mode, Mode::Normal)) else {
        return;
    };
    let state = model.panes.get(&pane);
    if let Some(screen) = state.and_then(|state| state.screen.as_ref()) {
        let bytes = encode::paste(text, screen.bracketed_paste());
        model.flow.goes_on(Into::Pane(pane), model.clock);
        typed(model, pane, bytes, out);
    }
}

fn welcome(model: &mut Model, key: Key, out: &mut Effects) {
    match key.code {
        KeyCode::Enter | KeyCode::Char('w' | 'n') => {
            actions::act(model, Action::NewWorkspace, out);
        }
        KeyCode::Char('?') => model.mode = Mode::Help(0),
        KeyCode::Char('q' | 'd') | KeyCode::Esc => out.push(Effect::Quit),
        _ if key.control('c') => out.push(Effect::Quit),
        _ => {}
    }
}

fn in_sidebar(model: &mut Model, key: Key, out: &mut Effects) {
    let lines = list::lines(model);
    let chosen = lines.get(model.sidebar.cursor).cloned();
    match key.code {
        KeyCode::Up | KeyCode::Char('k') => step(model, &lines, -1),
        KeyCode::Down | KeyCode::Char('j') => step(model, &lines, 1),
        KeyCode::Home | KeyCode::Char('g') => model.sidebar.cursor = 0,
        KeyCode::End | KeyCode::Char('G') => {
            model.sidebar.cursor = lines.len();
            step(model, &lines, -1);
        }
        KeyCode::Enter | KeyCode::Right | KeyCode::Char('l' | ' ') => {
            if let Some(line) = chosen {
                open(model, &line, out);
            }
        }
        KeyCode::Esc | KeyCode::Left | KeyCode::Char('q' | 'h') => model.sidebar.focused = false,
        KeyCode::Char('p') => actions::act(model, Action::Scope, out),
        KeyCode::Char('w' | 'n') => actions::act(model, Action::NewWorkspace, out),
        KeyCode::Char('?') => model.mode = Mode::Help(0),
        KeyCode::Char('R') => actions::act(model, Action::ResumeAll, out),
        KeyCode::Char('r' | 'x') => match chosen.as_ref().and_then(pane_of) {
            Some(pane) if key.code == KeyCode::Char('r') => out.push(tombstone::resume(pane)),
            Some(pane) => tombstone::close(model, pane, out),
            None => say(model, "this line is no pane; j and k go to one", false),
        },
        _ => say(
            model,
            "j k move, Enter opens, p project, w new, r resume, x close, Esc back",
            false,
        ),
    }
}

/// Chooses the line of the pane that has the focus: it is what one came from.
pub(super) fn choose_focus(model: &mut Model) {
    let focus = model.focus();
    let of_focus = |line: &Line| match line {
        Line::Pane(pane) | Line::Tab(_, Some(pane)) => Some(*pane) == focus,
        _ => false,
    };
    if let Some(at) = list::lines(model).iter().position(of_focus) {
        model.sidebar.cursor = at;
    }
}

fn step(model: &mut Model, lines: &[Line], by: isize) {
    let mut next = model.sidebar.cursor;
    loop {
        next = next.saturating_add_signed(by);
        match lines.get(next) {
            None => return,
            Some(line) if line.selectable() => {
                model.sidebar.cursor = next;
                return;
            }
            Some(_) if next == 0 => return,
            Some(_) => {}
        }
    }
}

fn pane_of(line: &Line) -> Option<PaneId> {
    match line {
        Line::Need(pane) | Line::Pane(pane) | Line::Tab(_, Some(pane)) => Some(*pane),
        _ => None,
    }
}

/// Does what a line of the sidebar is for.
pub(super) fn open(model: &mut Model, line: &Line, out: &mut Effects) {
    match line {
        Line::Scope => actions::act(model, Action::Scope, out),
        Line::News(_) => actions::act(model, Action::Notifications, out),
        Line::Project(_) => {}
        Line::Need(pane) | Line::Pane(pane) => places::go(model, *pane, out),
        Line::Tab(tab, _) => places::show_tab(model, tab, out),
        Line::Workspace(id) => {
            let workspace = model.tree.workspaces.iter().find(|workspace| workspace.id == *id);
            let tab = workspace.and_then(|workspace| workspace.tabs.first());
            if let Some(tab) = tab.map(|tab| tab.id.clone()) {
                places::show_tab(model, &tab, out);
            }
        }
        Line::Needs(_) | Line::Blank | Line::Empty => {}
    }
}
