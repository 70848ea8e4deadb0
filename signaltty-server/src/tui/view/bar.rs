//! The last line: what happened, what can be done, where one is.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr as _;

use super::{BAD, CHOSEN, STRONG, put, wipe};
use crate::cli::safe;
use crate::tui::board;
use crate::tui::input::Action;
use crate::tui::list;
use crate::tui::model::{Link, Mode, Model, is_live};

pub(super) fn draw(model: &Model, area: Rect, buffer: &mut Buffer) {
    wipe(buffer, area, CHOSEN);
    let place = place(model);
    let width = u16::try_from(place.width()).unwrap_or(u16::MAX);
    // Where one is gives way to what is said.
    let (text, style) = said(model, area.width);
    let left = area.width.saturating_sub(u16::try_from(text.width()).unwrap_or(u16::MAX));
    let room = if left > width { area.width - width } else { area.width };
    if room < area.width {
        put(buffer, area.right() - width, area.y, width, &place, CHOSEN);
    }
    put(buffer, area.x, area.y, room, &text, CHOSEN.patch(style));
}

fn said(model: &Model, room: u16) -> (String, Style) {
    if let Mode::Prefix = model.mode {
        let bindings = &model.gui.bindings;
        let key = |action| bindings.keys(action).into_iter().next().unwrap_or_default();
        let mut text = format!(" {} ", bindings.prefix);
        for (action, what) in [
            (Action::Help, "keys"),
            (Action::Detach, "leave"),
            (Action::SplitRight, "split"),
            (Action::NewTab, "tab"),
            (Action::NewWorkspace, "workspace"),
            (Action::Sidebar, "sidebar"),
            (Action::Zoom, "zoom"),
            (Action::Scroll, "scroll"),
            (Action::ClosePane, "close"),
        ] {
            let piece = format!(" {} {what}", key(action));
            if text.width() + piece.width() < usize::from(room) {
                text.push_str(&piece);
            }
        }
        return (text, STRONG);
    }
    if let Link::Gone(_) = model.link {
        let enter = if model.host.is_some() { "tries now" } else { "starts it again" };
        return (format!(" Enter {enter}, q leaves"), STRONG);
    }
    if let Some(message) = model.message.as_ref().filter(|message| !message.text.is_empty()) {
        let style = if message.bad { BAD } else { Style::new() };
        return (format!(" {}", message.text), style);
    }
    if let Mode::Scroll(scroll) = &model.mode {
        let text = match (scroll.loaded, scroll.found.len()) {
            (false, _) => " reading the output".to_owned(),
            (true, 0) => " / search  v select  y copy  q back".to_owned(),
            (true, found) => format!(" {found} found  n next  v select  y copy  q back"),
        };
        return (text, STRONG);
    }
    if model.banner && model.link == Link::Up {
        return (banner(model), STRONG);
    }
    if model.sidebar.focused {
        return (" Enter open  p project  w new  r resume  x close  Esc back".to_owned(), STRONG);
    }
    let needs = list::needs(model).into_iter().filter(|pane| model.focus() != Some(*pane)).count();
    if needs > 0 {
        let next = model.gui.bindings.hint(Action::NextAttention);
        let verb = if needs == 1 { "pane needs" } else { "panes need" };
        return (format!(" {needs} {verb} you: {next}"), STRONG);
    }
    let unread = board::unread(model);
    if unread > 0 {
        let inbox = model.gui.bindings.hint(Action::Notifications);
        let what = if unread == 1 { "notification" } else { "notifications" };
        return (format!(" {unread} unread {what}: {inbox}"), Style::new());
    }
    (format!(" {} for keys", model.gui.bindings.hint(Action::Help)), Style::new())
}

/// What a person can do after a restart.
fn banner(model: &Model) -> String {
    let (resumable, interrupted) = model.resumable();
    // A process takes the keys itself; then they go behind the prefix.
    let live = model.focus_node().is_some_and(is_live);
    let key = |action: Action, plain: &str| {
        if live { model.gui.bindings.hint(action) } else { plain.to_owned() }
    };
    let mut text = format!(" {resumable} resumable: {} all", key(Action::ResumeAll, "R"));
    if interrupted > 0 {
        text.push_str(&format!(", {} continue {interrupted}", key(Action::ContinueAll, "C")));
    }
    // Only where there is something to switch on, and by its name: what is to be
    // resumed may be in others too.
    if let Some((workspace, _)) = model.shown().filter(|(workspace, _)| !workspace.auto_resume) {
        let name = safe(&workspace.name);
        text.push_str(&format!(", {} always in {name}", key(Action::ResumeAlways, "A")));
    }
    text
}

fn place(model: &Model) -> String {
    let Some((workspace, tab)) = model.shown().filter(|_| model.link == Link::Up) else {
        return String::new();
    };
    let number = workspace.tabs.iter().position(|other| other.id == tab.id).map_or(0, |at| at + 1);
    let host = model.host.as_ref().map_or_else(String::new, |host| format!("{}: ", safe(host)));
    format!(" {host}{} {number}/{} ", safe(&workspace.name), workspace.tabs.len())
}
