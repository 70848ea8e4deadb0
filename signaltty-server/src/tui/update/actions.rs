//! What bound keys do.

use serde_json::{Value, json};
use signaltty_core::id::PaneId;
use signaltty_core::layout::{Axis, Direction, Layout, Point, Rect, Size};
use signaltty_core::scope::Scope;

use super::{Effects, boards, keys, places, say, scrolling, tombstone};
use crate::tui::dialog::{Asked, Dialog, Line, Open, Then};
use crate::tui::field::Field;
use crate::tui::input::Action;
use crate::tui::model::{Link, Mode, Model, is_live};
use crate::tui::msg::{After, Effect};
use crate::tui::resize;

pub(super) fn act(model: &mut Model, action: Action, out: &mut Effects) {
    match action {
        Action::Help => model.mode = Mode::Help(0),
        Action::About => {
            if let Some(pane) = model.focus() {
                model.mode = Mode::About(pane, 0);
            }
        }
        Action::Detach => out.push(Effect::Quit),
        Action::Sidebar => {
            model.sidebar.focused = !model.sidebar.focused;
            keys::choose_focus(model);
        }
        Action::ToggleSidebar => model.sidebar.shown = !model.sidebar.shown,
        Action::NextAttention => places::next_attention(model, out),
        Action::Answer => answer(model),
        Action::Notifications => boards::inbox(model, out),
        Action::Checkouts => boards::checkouts(model),
        Action::NewWorkspace => {
            let cwd = model.cwd.display().to_string();
            let mut open = Open::new(None, &cwd);
            open.far = model.host.is_some();
            model.mode = Mode::Dialog(Dialog::Open(open));
        }
        Action::NewTab => {
            if let Some((workspace, _)) = model.shown() {
                let params = json!({ "workspace": workspace.id });
                out.push(make("tab.new", params));
            } else {
                act(model, Action::NewWorkspace, out);
            }
        }
        Action::NextTab => places::turn(model, 1, false, out),
        Action::PreviousTab => places::turn(model, -1, false, out),
        Action::NextWorkspace => places::turn(model, 1, true, out),
        Action::PreviousWorkspace => places::turn(model, -1, true, out),
        Action::SplitRight => split(model, "right", out),
        Action::SplitDown => split(model, "down", out),
        Action::RunRight => run_right(model),
        Action::FocusLeft => step(model, Direction::Left, out),
        Action::FocusDown => step(model, Direction::Down, out),
        Action::FocusUp => step(model, Direction::Up, out),
        Action::FocusRight => step(model, Direction::Right, out),
        Action::FocusNext => to(model, places::further(model, 1), out),
        Action::ResizeLeft => border(model, Axis::Row, -2, out),
        Action::ResizeRight => border(model, Axis::Row, 2, out),
        Action::ResizeUp => border(model, Axis::Column, -1, out),
        Action::ResizeDown => border(model, Axis::Column, 1, out),
        Action::MoveLeft => shift(model, Direction::Left, "left", out),
        Action::MoveDown => shift(model, Direction::Down, "down", out),
        Action::MoveUp => shift(model, Direction::Up, "up", out),
        Action::MoveRight => shift(model, Direction::Right, "right", out),
        Action::SwapNext => swap(model, 1, out),
        Action::SwapPrevious => swap(model, -1, out),
        Action::Equalise => with_tab(model, "tab.equalise", out),
        Action::Zoom => {
            model.zoomed = if model.zoom().is_some() { None } else { model.focus() };
        }
        Action::Scroll => scrolling::begin(model, 0, false, out),
        Action::Search => scrolling::begin(model, 0, true, out),
        Action::RenamePane | Action::RenameTab | Action::RenameWorkspace => rename(model, action),
        Action::ClosePane => {
            if let Some(pane) = model.focus() {
                tombstone::close(model, pane, out);
            }
        }
        Action::CloseTab => {
            if let Some((_, tab)) = model.shown() {
                let text =
                    format!("Close the tab {:?} and its {} panes?", tab.title, tab.panes.len());
                let params = json!({ "tab": tab.id });
                tombstone::ask(model, vec![text], "tab.close", params, false);
            }
        }
        Action::ResumeAll => all(model, false, out),
        Action::ContinueAll => all(model, true, out),
        Action::ResumeAlways => always(model, out),
        Action::Scope => scope(model, out),
        Action::Redraw => out.push(Effect::Clear),
    }
}

fn make(method: &'static str, params: Value) -> Effect {
    Effect::Call { method, params, env: true, after: After::Show }
}

fn split(model: &mut Model, direction: &str, out: &mut Effects) {
    match model.focus() {
        Some(pane) => {
            model.zoomed = None;
            let params = json!({ "pane": pane.to_string(), "direction": direction });
            out.push(make("pane.split", params));
        }
        None => act(model, Action::NewWorkspace, out),
    }
}

fn run_right(model: &mut Model) {
    let pane = model.focus();
    let cwd = model.focus_node().map(|node| node.cwd.clone().into_path());
    let cwd = cwd.unwrap_or_else(|| model.cwd.clone()).display().to_string();
    let mut open = Open::new(pane, &cwd);
    open.far = model.host.is_some();
    model.mode = Mode::Dialog(Dialog::Open(open));
}

fn step(model: &mut Model, direction: Direction, out: &mut Effects) {
    // While one pane is shown alone, the others take its place in turn.
    if model.zoom().is_some() {
        let by = if matches!(direction, Direction::Left | Direction::Up) { -1 } else { 1 };
        let next = places::further(model, by);
        to(model, next, out);
        return;
    }
    match places::neighbouring(model, direction) {
        None if direction == Direction::Left && model.sidebar.shown => {
            model.sidebar.focused = true;
            keys::choose_focus(model);
        }
        next => to(model, next, out),
    }
}

fn to(model: &mut Model, pane: Option<PaneId>, out: &mut Effects) {
    let tab = model.shown().map(|(_, tab)| tab.id.clone());
    if let (Some(tab), Some(pane)) = (tab, pane) {
        // Not where it is alone only for want of room.
        if model.zoomed.is_some() {
            model.zoomed = Some(pane);
        }
        places::focus(model, &tab, pane, out);
    }
}

/// Moves a line between panes by so many cells.
pub(super) fn border(model: &mut Model, axis: Axis, cells: i32, out: &mut Effects) {
    if let Some(pane) = model.focus() {
        move_border(model, pane, axis, cells, out);
    }
}

pub(super) fn move_border(
    model: &mut Model,
    pane: PaneId,
    axis: Axis,
    cells: i32,
    out: &mut Effects,
) -> bool {
    let Some((_, tab)) = model.shown().filter(|_| model.zoom().is_none()) else {
        return false;
    };
    let Ok(layout) = tab.layout.parse::<Layout<PaneId>>() else { return false };
    let area = Rect::new(Point { col: 0, row: 0 }, Size { cols: tab.cols, rows: tab.rows });
    let Some(next) = resize::moved(&layout, area, pane, axis, cells) else {
        return false;
    };
    let (id, text) = (tab.id.clone(), next.to_string());
    let params = json!({ "tab": id, "layout": text });
    // Shown at once; the server's next list has the last word.
    let tabs = model.tree.workspaces.iter_mut().flat_map(|workspace| &mut workspace.tabs);
    for tab in tabs.filter(|tab| tab.id == id) {
        tab.layout.clone_from(&text);
    }
    out.push(Effect::Call { method: "tab.layout", params, env: false, after: After::Nothing });
    true
}

fn shift(model: &mut Model, direction: Direction, word: &str, out: &mut Effects) {
    match (model.focus(), places::neighbouring(model, direction)) {
        (Some(pane), Some(beside)) => {
            let params = json!({
                "pane": pane.to_string(), "beside": beside.to_string(), "direction": word,
            });
            let after = After::Nothing;
            out.push(Effect::Call { method: "pane.move", params, env: false, after });
        }
        _ => say(model, &format!("there is no pane {word} of this one"), true),
    }
}

fn swap(model: &mut Model, by: isize, out: &mut Effects) {
    if let (Some(pane), Some(other)) = (model.focus(), places::further(model, by)) {
        let params = json!({ "pane": pane.to_string(), "other": other.to_string() });
        let after = After::Nothing;
        out.push(Effect::Call { method: "pane.swap", params, env: false, after });
    }
}

fn with_tab(model: &Model, method: &'static str, out: &mut Effects) {
    if let Some((_, tab)) = model.shown() {
        let params = json!({ "tab": tab.id });
        out.push(Effect::Call { method, params, env: false, after: After::Nothing });
    }
}

fn rename(model: &mut Model, action: Action) {
    let Some((workspace, tab)) = model.shown() else { return };
    let pane = model.focus().zip(model.focus_node());
    let (title, old, method, params, name) = match (action, pane) {
        (Action::RenameWorkspace, _) => (
            "Name of the workspace",
            workspace.name.clone(),
            "workspace.rename",
            json!({ "workspace": workspace.id }),
            "name",
        ),
        (Action::RenamePane, Some((pane, node))) => (
            "Title of the pane (empty: the program's own)",
            node.title.clone(),
            "pane.rename",
            json!({ "pane": pane.to_string() }),
            "title",
        ),
        _ => {
            ("Title of the tab", tab.title.clone(), "tab.rename", json!({ "tab": tab.id }), "title")
        }
    };
    let then = Then::Call { method, params, name };
    let line = Line { title: title.to_owned(), field: Field::new(old), then };
    model.mode = Mode::Dialog(Dialog::Line(line));
}

/// Resumes, or continues, every pane that can be.
fn all(model: &mut Model, only_interrupted: bool, out: &mut Effects) {
    let waiting = model.nodes().filter(|(workspace, _, node)| {
        let agent = node.agent.as_ref();
        let interrupted = agent.is_some_and(|agent| agent.interrupted);
        // One that was resumed by hand, and whose turn still waits.
        let proven = agent.is_some_and(|agent| agent.verdict.as_deref() == Some("verified"));
        let open = node.state == "resumable" || (only_interrupted && is_live(node) && proven);
        !workspace.archived && open && (interrupted || !only_interrupted)
    });
    let panes: Vec<PaneId> = waiting.filter_map(|(_, _, node)| node.id.parse().ok()).collect();
    model.banner = false;
    if panes.is_empty() {
        let what = if only_interrupted { "no turn was interrupted" } else { "nothing to resume" };
        return say(model, what, false);
    }
    say(model, &format!("{} on their way", panes.len()), false);
    for pane in panes {
        if only_interrupted {
            let after = After::Continued(pane);
            let params = json!({ "pane": pane.to_string() });
            out.push(Effect::Call { method: "pane.continue", params, env: true, after });
        } else {
            out.push(tombstone::resume(pane));
        }
    }
}

/// Lets the server resume the shown workspace by itself from now on, and
/// resumes what is there.
fn always(model: &mut Model, out: &mut Effects) {
    let Some((workspace, _)) = model.shown() else { return };
    let params = json!({ "workspace": workspace.id, "auto_resume": true });
    let said = format!("{} resumes by itself at every start from now on", workspace.name);
    let waiting = workspace.tabs.iter().flat_map(|tab| &tab.panes);
    let waiting = waiting.filter(|node| node.state == "resumable");
    let panes: Vec<PaneId> = waiting.filter_map(|node| node.id.parse().ok()).collect();
    let after = After::Say(said);
    out.push(Effect::Call { method: "workspace.set", params, env: false, after });
    out.extend(panes.into_iter().map(tombstone::resume));
}

/// All projects, then one after the other.
fn scope(model: &mut Model, out: &mut Effects) {
    if model.link != Link::Up {
        return;
    }
    let roots: Vec<_> = model.projects().into_iter().map(|project| project.root).collect();
    let next = match &model.scope {
        Scope::All => roots.first().cloned(),
        Scope::Project(own) => {
            let at = roots.iter().position(|root| root == own);
            at.and_then(|at| roots.get(at + 1)).cloned()
        }
    };
    model.scope = next.map_or(Scope::All, Scope::Project);
    model.sidebar.cursor = 0;
    out.push(Effect::SaveScope(model.scope.clone()));
    let hidden =
        model.shown().is_none_or(|(workspace, _)| !model.scope.shows(&model.root_of(workspace)));
    if hidden {
        places::show_something(model, out);
    }
}

/// Asks the person what an agent asked.
fn answer(model: &mut Model) {
    let here = model.focus().filter(|pane| asks(model, *pane));
    let pane =
        here.or_else(|| crate::tui::list::needs(model).into_iter().find(|p| asks(model, *p)));
    let asked = pane.and_then(|pane| {
        let node = model.node(pane)?;
        Some(Asked { pane, id: node.decision_id.clone()?, text: node.decision.clone()? })
    });
    match asked {
        Some(asked) => model.mode = Mode::Dialog(Dialog::Answer(asked)),
        None => say(
            model,
            "no agent asks here for permission; a question in its own pane is answered there",
            false,
        ),
    }
}

fn asks(model: &Model, pane: PaneId) -> bool {
    model.node(pane).is_some_and(|node| node.decision.is_some())
}
