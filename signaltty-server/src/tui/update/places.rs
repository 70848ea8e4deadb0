//! Going from pane to pane.

use signaltty_core::id::PaneId;
use signaltty_core::layout::{Direction, neighbour};
use signaltty_core::scope::{Catalog, Listed};

use super::{Effects, call_for, say, see};
use crate::tui::areas::arrangement;
use crate::tui::list;
use crate::tui::model::{Dirty, Mode, Model};
use crate::tui::msg::Effect;

/// Shows a pane, wherever it is.
pub(super) fn go(model: &mut Model, pane: PaneId, out: &mut Effects) {
    let Some((workspace, tab, _)) = model.place(pane) else {
        return;
    };
    let (root, tab) = (model.root_of(workspace), tab.id.clone());
    // Never led somewhere that the sidebar then does not show (S0-58).
    let projects = model.projects();
    let listed = if model.complete() { Listed::Completely } else { Listed::Partly };
    let catalog = Catalog { projects: &projects, listed };
    let scope = model.scope.clone().reveal(&root, &catalog);
    if scope != model.scope {
        model.scope = scope;
        out.push(Effect::SaveScope(model.scope.clone()));
    }
    if model.zoomed.is_some_and(|zoomed| zoomed != pane) {
        model.zoomed = None;
    }
    model.tab = Some(tab.clone());
    focus(model, &tab, pane, out);
}

/// Gives a pane of the shown tab the focus.
pub(super) fn focus(model: &mut Model, tab: &str, pane: PaneId, out: &mut Effects) {
    model.draw(Dirty::Foreground);
    if matches!(&model.mode, Mode::Scroll(scroll) if scroll.pane != pane) {
        model.mode = Mode::Normal;
    }
    let before = model.focused.insert(tab.to_owned(), pane);
    model.sidebar.focused = false;
    model.message = None;
    if before != Some(pane) {
        // The next client begins where this one left.
        out.push(call_for(pane, "pane.focus"));
    }
    see(model, out);
}

/// Shows the first tab in scope, after the shown one went away.
pub(super) fn show_something(model: &mut Model, out: &mut Effects) {
    model.zoomed = None;
    if matches!(model.mode, Mode::Scroll(_)) {
        model.mode = Mode::Normal;
    }
    let in_scope = model.in_scope().into_iter().find_map(|workspace| workspace.tabs.first());
    let first = in_scope.or_else(|| model.tabs().map(|(_, tab)| tab).next());
    let next = first.map(|tab| tab.id.clone());
    if model.tab != next {
        model.tab = next;
        see(model, out);
    }
}

pub(super) fn neighbouring(model: &Model, direction: Direction) -> Option<PaneId> {
    let from = model.focus()?;
    neighbour(&arrangement(model)?.rects, from, direction, None)
}

/// The pane so many places further in the tab, around its ends.
pub(super) fn further(model: &Model, by: isize) -> Option<PaneId> {
    let (_, tab) = model.shown()?;
    let panes: Vec<PaneId> = tab.panes.iter().filter_map(|node| node.id.parse().ok()).collect();
    let at = panes.iter().position(|pane| Some(*pane) == model.focus())?;
    let count = isize::try_from(panes.len()).ok()?;
    let next = (isize::try_from(at).ok()? + by).rem_euclid(count);
    panes.get(usize::try_from(next).ok()?).copied().filter(|pane| Some(*pane) != model.focus())
}

/// The tab so many places further among those in scope, or in the next
/// workspace.
pub(super) fn turn(model: &mut Model, by: isize, workspaces: bool, out: &mut Effects) {
    let places: Vec<(String, String)> = model
        .in_scope()
        .into_iter()
        .flat_map(|w| w.tabs.iter().map(move |tab| (w.id.clone(), tab.id.clone())))
        .collect();
    let shown = model.shown().map(|(workspace, tab)| (workspace.id.clone(), tab.id.clone()));
    let Some(at) = places.iter().position(|place| Some(place) == shown.as_ref()) else {
        return show_something(model, out);
    };
    let count = isize::try_from(places.len()).unwrap_or(1);
    let mut next = isize::try_from(at).unwrap_or(0);
    let own = shown.map(|(workspace, _)| workspace);
    for _ in 0..count {
        next = (next + by).rem_euclid(count);
        let place = usize::try_from(next).ok().and_then(|at| places.get(at));
        let Some((workspace, tab)) = place else { return };
        if !workspaces || Some(workspace) != own.as_ref() {
            let tab = tab.clone();
            return show_tab(model, &tab, out);
        }
    }
}

/// Shows a tab.
pub(super) fn show_tab(model: &mut Model, tab: &str, out: &mut Effects) {
    model.tab = Some(tab.to_owned());
    model.zoomed = None;
    if let Some(pane) = model.focus() {
        go(model, pane, out);
    }
}

/// Shows the tab with this number in the workspace, from 1.
pub(super) fn tab_number(model: &mut Model, number: usize, out: &mut Effects) {
    let tab = model.shown().and_then(|(workspace, _)| workspace.tabs.get(number - 1));
    match tab.map(|tab| tab.id.clone()) {
        Some(tab) => show_tab(model, &tab, out),
        None => say(model, &format!("there is no tab {number} in this workspace"), true),
    }
}

/// Goes to the pane that most needs a person; from there to the next.
pub(super) fn next_attention(model: &mut Model, out: &mut Effects) {
    let needs = list::needs(model);
    let here = model.focus();
    let at = needs.iter().position(|pane| Some(*pane) == here);
    let next = at.and_then(|at| needs.get(at + 1)).or_else(|| needs.first());
    match next.copied().filter(|pane| Some(*pane) != here) {
        Some(pane) => go(model, pane, out),
        None => say(model, "nothing else needs you", false),
    }
}
