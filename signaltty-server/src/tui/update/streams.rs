//! Which panes are followed, and what they bring.

use std::collections::HashSet;

use serde_json::json;
use signaltty_core::id::PaneId;
use signaltty_core::layout::{Layout, Point, Rect, Size as Area, rects};
use signaltty_pty::{HistoryLimit, Screen, Size};

use super::{Effects, say};
use crate::protocol::{PaneNode, PaneText, Tree};
use crate::tui::areas::{Areas, arrangement, on_screen};
use crate::tui::model::{Dirty, Link, Mode, Model, PaneState, Stream, Tail, is_live};
use crate::tui::msg::{After, Effect, FromStream};
use crate::tui::scroll::Scroll;

/// Lines that have left a pane's screen are asked of the server when they are
/// wanted, so the client keeps next to none itself.
const KEPT: HistoryLimit = HistoryLimit { lines: 1, bytes: 4096 };

/// Opens and shuts streams so that every pane that is shown is followed, and
/// asks for the area that the panes are shown in.
pub(super) fn settle(model: &mut Model, out: &mut Effects) {
    if model.link != Link::Up {
        return;
    }
    ask_area(model, out);
    fit_scroll(model);
    let shown: Vec<PaneId> = arrangement(model)
        .map(|found| found.rects.into_iter().filter(|(_, rect)| !rect.is_empty()))
        .map_or_else(Vec::new, |rects| rects.map(|(pane, _)| pane).collect());
    let wanted: HashSet<PaneId> = shown.iter().copied().collect();
    let unwanted: Vec<_> = model.panes.keys().copied().filter(|p| !wanted.contains(p)).collect();
    for pane in unwanted {
        if let Some(PaneState { stream: Stream::Open { .. }, .. }) = model.panes.remove(&pane) {
            out.push(Effect::Shut { pane });
        }
    }
    // Who attaches to the only pane of a tab sizes the tab, so that has to be the
    // size that is wanted and not the one that there was.
    let alone = model.shown().filter(|(_, tab)| tab.panes.len() == 1);
    let alone = alone.and_then(|(_, tab)| model.area_asked.get(&tab.id).copied());
    for pane in shown {
        let Some(node) = model.node(pane) else { continue };
        let (live, size) = (is_live(node), (node.cols, node.rows));
        let state = model.panes.entry(pane).or_default();
        match state.stream {
            // A terminal that changed its size is asked for its screen anew: what
            // it printed meanwhile was meant for the new size.
            Stream::Open { size: old, .. } if live && old != size => {}
            Stream::None if live => {}
            _ => {
                if !live {
                    state.screen = None;
                }
                if state.screen.is_none() && state.tail == Tail::Unknown {
                    state.tail = Tail::Asked;
                    out.push(Effect::ReadTail { pane });
                }
                continue;
            }
        }
        model.streams += 1;
        let number = model.streams;
        state.stream = Stream::Open { number, size };
        out.push(Effect::Open { pane, number, size: alone.unwrap_or(size) });
        // An answer that was on its way came from the stream that this one replaces.
        let waits = |scroll: &Scroll| scroll.pane == pane && !scroll.loaded;
        let waiting = match &model.mode {
            Mode::Scroll(scroll) => waits(scroll),
            _ => model.scrolled.as_deref().is_some_and(waits),
        };
        if waiting {
            out.push(Effect::History { pane });
        }
    }
}

/// Gives what is scrolled the size that its pane has now.
fn fit_scroll(model: &mut Model) {
    let Mode::Scroll(scroll) = &model.mode else { return };
    let pane = scroll.pane;
    let found = arrangement(model).and_then(|found| {
        found.rects.into_iter().find(|(leaf, _)| *leaf == pane).map(|(_, rect)| rect)
    });
    match found.map(|rect| on_screen(model, rect)).filter(|rect| !rect.is_empty()) {
        Some(rect) => {
            if let Mode::Scroll(scroll) = &mut model.mode {
                scroll.resize((rect.width, rect.height));
            }
        }
        None => model.mode = Mode::Normal,
    }
}

/// A pane that changed its state is followed anew.
pub(super) fn follow_changes(model: &mut Model, tree: &Tree) {
    let before = |id: &str| model.nodes().find(|(_, _, node)| node.id == id).map(|found| found.2);
    let key = |node: &PaneNode| (node.state.clone(), node.stage.clone(), node.exit.clone());
    let nodes = tree.workspaces.iter().flat_map(|w| &w.tabs).flat_map(|tab| &tab.panes);
    let changed: Vec<PaneId> = nodes
        .filter(|node| before(&node.id).is_some_and(|old| key(old) != key(node)))
        .filter_map(|node| node.id.parse().ok())
        .collect();
    for pane in changed {
        if let Some(state) = model.panes.get_mut(&pane) {
            state.tail = Tail::Unknown;
            if state.stream == Stream::Failed {
                state.stream = Stream::None;
            }
        }
    }
}

/// Asks for the area that this client shows panes in, once for each size.
fn ask_area(model: &mut Model, out: &mut Effects) {
    let panes = Areas::of(model).panes;
    let Some((_, tab)) = model.shown() else { return };
    if panes.width < 2 || panes.height < 1 {
        return;
    }
    let (wanted, zoomed) = match (model.zoom(), tab.layout.parse::<Layout<PaneId>>()) {
        (Some(pane), Ok(layout)) => (zoomed_area(&layout, pane, panes.width, panes.height), true),
        _ => ((panes.width, panes.height), false),
    };
    let tab = tab.id.clone();
    if model.area_asked.get(&tab) == Some(&wanted) {
        return;
    }
    let params = json!({ "tab": tab, "cols": wanted.0, "rows": wanted.1, "zoomed": zoomed });
    model.area_asked.insert(tab, wanted);
    out.push(Effect::Call { method: "tab.area", params, env: false, after: After::Nothing });
}

/// The smallest area in which the layout gives a pane this size, or the largest
/// that there is. So a pane that is shown alone fills the screen, and its size
/// is still that of the layout (D-10).
fn zoomed_area(layout: &Layout<PaneId>, pane: PaneId, cols: u16, rows: u16) -> (u16, u16) {
    let size = |cols, rows| {
        let area = Rect::new(Point { col: 0, row: 0 }, Area { cols, rows });
        let found = rects(layout, area).into_iter().find(|(leaf, _)| *leaf == pane);
        found.map_or(Area { cols: 0, rows: 0 }, |(_, rect)| rect.size())
    };
    let least = |from: u16, most: u16, enough: &dyn Fn(u16) -> bool| {
        let (mut low, mut high) = (from, most.max(from));
        while low < high {
            let middle = low + (high - low) / 2;
            if enough(middle) { high = middle } else { low = middle + 1 }
        }
        low
    };
    let wide = least(cols, 1000, &|width| size(width, 500).cols >= cols);
    let tall = least(rows, 500, &|height| size(wide, height).rows >= rows);
    (wide, tall)
}

/// What came from a pane's stream.
pub(super) fn brought(
    model: &mut Model,
    pane: PaneId,
    number: u64,
    what: FromStream,
    out: &mut Effects,
) {
    let focused = model.focus() == Some(pane);
    let Some(state) = model.panes.get_mut(&pane) else {
        return;
    };
    if !matches!(state.stream, Stream::Open { number: current, .. } if current == number) {
        return;
    }
    match what {
        FromStream::Begun { cols, rows } => {
            // The old screen is shown until the new one is there.
            if state.screen.as_ref().is_none_or(|screen| screen.size() != Size::new(cols, rows)) {
                state.screen = Some(screen(cols, rows));
                // What is around a smaller one is drawn with it.
                model.whole = true;
            }
            return;
        }
        FromStream::Output(bytes) => {
            if let Some(screen) = &mut state.screen {
                screen.advance(&bytes);
                // The server tells of titles, bells and notifications.
                screen.take_events();
            }
        }
        FromStream::Repaint(bytes) => {
            if let Some(old) = &mut state.screen {
                let size = old.size();
                *old = screen(size.cols, size.rows);
                old.advance(&bytes);
                old.take_events();
            }
        }
        FromStream::History(bytes) => {
            // What to search for may be asked meanwhile.
            let waiting = match &mut model.mode {
                Mode::Scroll(scroll) => Some(scroll),
                _ => model.scrolled.as_mut(),
            };
            if let Some(scroll) = waiting.filter(|scroll| scroll.pane == pane && !scroll.loaded) {
                scroll.load(&String::from_utf8_lossy(&bytes));
                model.draw(Dirty::Foreground);
            }
            return;
        }
        FromStream::Notice(text) => return say(model, &text, true),
        FromStream::Ended => {
            // Until the list says what became of it.
            state.stream = Stream::Failed;
            out.push(Effect::List);
            model.whole = true;
        }
        FromStream::Failed(why) => {
            state.stream = Stream::Failed;
            out.push(Effect::List);
            // A process that is only being started has no terminal yet.
            if model.node(pane).is_some_and(|node| node.state == "live") {
                say(model, &why, true);
            }
            return;
        }
    }
    model.printed(if focused { Dirty::Foreground } else { Dirty::Background });
}

fn screen(cols: u16, rows: u16) -> Screen {
    let mut screen = Screen::new(Size::new(cols, rows), KEPT);
    // The server answers a program's questions, or the terminal of an `attach`.
    screen.set_attached(true);
    screen
}

/// The saved output of a tombstone.
pub(super) fn tail(model: &mut Model, pane: PaneId, result: Result<PaneText, String>) {
    if let Some(state) = model.panes.get_mut(&pane) {
        state.tail = match result {
            Ok(text) if text.source == "none" => Tail::None("no output was saved".to_owned()),
            Ok(text) if text.source == "damaged" => {
                Tail::None("the saved output is damaged".to_owned())
            }
            Ok(text) => Tail::Text(text.text),
            Err(why) => Tail::None(why),
        };
        model.draw(Dirty::Foreground);
    }
    let text = match model.panes.get(&pane).map(|state| &state.tail) {
        Some(Tail::Text(text)) => text.clone(),
        _ => return,
    };
    if let Mode::Scroll(scroll) = &mut model.mode
        && scroll.pane == pane
        && !scroll.loaded
    {
        scroll.load(&text);
    }
}

/// Tells the focused pane's program that its person looked away, or is back.
pub(super) fn focus_report(model: &Model, watched: bool, out: &mut Effects) {
    let Some(pane) = model.focus() else { return };
    let screen = model.panes.get(&pane).and_then(|state| state.screen.as_ref());
    if screen.is_some_and(Screen::focus_reports) {
        let bytes = if watched { b"\x1b[I".to_vec() } else { b"\x1b[O".to_vec() };
        out.push(Effect::Type { pane, bytes });
    }
}
