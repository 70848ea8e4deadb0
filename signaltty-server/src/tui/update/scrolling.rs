//! Moving through a pane's output.

use crossterm::event::KeyCode;
use signaltty_core::id::PaneId;

use super::{Effects, say};
use crate::tui::dialog::{Dialog, Line, Then};
use crate::tui::field::Field;
use crate::tui::input::Key;
use crate::tui::model::{Dirty, Mode, Model, Tail, is_live};
use crate::tui::msg::Effect;
use crate::tui::scroll::Scroll;

/// Begins to scroll the focused pane.
pub(super) fn begin(model: &mut Model, up: usize, search: bool, out: &mut Effects) {
    let Some(pane) = model.focus() else { return };
    start(model, pane, up, out);
    if search {
        ask(model);
    }
}

/// Begins to scroll a pane: its lines are asked for.
pub(super) fn start(model: &mut Model, pane: PaneId, up: usize, out: &mut Effects) {
    let Some(node) = model.node(pane) else { return };
    let live = is_live(node);
    let mut size = (node.cols, node.rows);
    if let Some(found) = crate::tui::areas::arrangement(model)
        && let Some((_, rect)) = found.rects.into_iter().find(|(leaf, _)| *leaf == pane)
    {
        let rect = crate::tui::areas::on_screen(model, rect);
        size = (rect.width, rect.height);
    }
    let mut scroll = Scroll::waiting(pane, size, up, false);
    match model.panes.get(&pane).map(|state| &state.tail) {
        Some(Tail::Text(text)) if !live => scroll.load(text),
        _ if live => out.push(Effect::History { pane }),
        _ => scroll.load(""),
    }
    model.mode = Mode::Scroll(Box::new(scroll));
    model.draw(Dirty::Foreground);
}

fn ask(model: &mut Model) {
    // The question takes the keys; what is scrolled waits beside it.
    if let Mode::Scroll(scroll) = std::mem::take(&mut model.mode) {
        let field = Field::new(scroll.search.clone());
        model.scrolled = Some(scroll);
        let line = Line { title: "Search".to_owned(), field, then: Then::Search };
        model.mode = Mode::Dialog(Dialog::Line(line));
    }
}

/// Goes on scrolling after a question, with what to search for.
pub(super) fn searched(model: &mut Model, text: Option<String>) {
    let Some(mut scroll) = model.scrolled.take() else {
        model.mode = Mode::Normal;
        return;
    };
    if let Some(text) = text {
        scroll.find(&text);
        if scroll.loaded && scroll.found.is_empty() && !text.is_empty() {
            say(model, &format!("{text:?} is not in the output that is kept"), true);
        }
    }
    model.mode = Mode::Scroll(scroll);
}

pub(super) fn key(model: &mut Model, key: Key, out: &mut Effects) {
    let Mode::Scroll(scroll) = &mut model.mode else { return };
    let page = isize::try_from(scroll.page()).unwrap_or(1);
    let (row, col) = (scroll.row, scroll.col);
    match key.code {
        KeyCode::Up | KeyCode::Char('k') => scroll.go(row.saturating_sub(1), col),
        KeyCode::Down | KeyCode::Char('j') => scroll.go(row + 1, col),
        KeyCode::Left | KeyCode::Char('h') => scroll.go(row, col.saturating_sub(1)),
        KeyCode::Right | KeyCode::Char('l') => scroll.go(row, col + 1),
        KeyCode::Home | KeyCode::Char('0') => scroll.go(row, 0),
        KeyCode::End | KeyCode::Char('$') => scroll.go(row, usize::MAX),
        KeyCode::PageUp => scroll.scroll(-page),
        KeyCode::PageDown | KeyCode::Char(' ') if scroll.mark.is_none() => scroll.scroll(page),
        _ if key.control('u') => scroll.scroll(-page / 2),
        _ if key.control('d') => scroll.scroll(page / 2),
        _ if key.control('b') => scroll.scroll(-page),
        _ if key.control('f') => scroll.scroll(page),
        KeyCode::Char('g') => scroll.go(0, 0),
        KeyCode::Char('G') => scroll.go(usize::MAX, 0),
        KeyCode::Char('/' | '?') => ask(model),
        KeyCode::Char('n') => scroll.next(true),
        KeyCode::Char('N') => scroll.next(false),
        KeyCode::Char('v' | 'V') => {
            scroll.mark = if scroll.mark.is_some() { None } else { Some((row, col)) };
        }
        KeyCode::Char('y') | KeyCode::Enter => copy(model, out),
        KeyCode::Esc if scroll.mark.is_some() => scroll.mark = None,
        KeyCode::Esc | KeyCode::Char('q') => model.mode = Mode::Normal,
        _ if key.control('c') => model.mode = Mode::Normal,
        _ => {}
    }
}

/// Copies what is selected, which only a person's own key or button does.
pub(super) fn copy(model: &mut Model, out: &mut Effects) {
    let Mode::Scroll(scroll) = &model.mode else { return };
    let text = scroll.selected();
    model.mode = Mode::Normal;
    if text.is_empty() {
        return say(model, "nothing to copy", false);
    }
    let lines = text.lines().count();
    say(model, &format!("copied {lines} line{}", if lines == 1 { "" } else { "s" }), false);
    out.push(Effect::Copy(text));
}
