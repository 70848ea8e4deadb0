//! The sidebar.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use signaltty_core::id::PaneId;
use signaltty_core::scope::Scope;

use super::{ACCENT, CHOSEN, FAINT, STRONG, URGENT, put, wipe, words};
use crate::cli::safe;
use crate::protocol::{PaneNode, WorktreeNode};
use crate::tui::areas::Areas;
use crate::tui::list::{self, Line};
use crate::tui::model::{Model, urgency};

pub(super) fn draw(model: &Model, areas: &Areas, buffer: &mut Buffer) {
    let area = areas.sidebar;
    wipe(buffer, area, Style::new());
    let border = if areas.over && area.right() == model.size.0 { None } else { Some(area.right()) };
    if let Some(x) = border {
        for y in area.y..area.bottom() {
            if let Some(cell) = buffer.cell_mut((x, y)) {
                cell.set_symbol("│").set_style(FAINT);
            }
        }
    }
    let lines = list::lines(model);
    let top = list::top(lines.len(), model.sidebar.cursor, area.height);
    for (y, (number, line)) in (area.y..area.bottom()).zip(lines.iter().enumerate().skip(top)) {
        let chosen = model.sidebar.focused && number == model.sidebar.cursor;
        draw_line(model, line, Rect::new(area.x, y, area.width, 1), chosen, buffer);
    }
}

fn draw_line(model: &Model, line: &Line, area: Rect, chosen: bool, buffer: &mut Buffer) {
    let mut pen = Pen { x: area.x, area, buffer };
    match line {
        Line::Scope => {
            let text = match &model.scope {
                Scope::All => "All projects".to_owned(),
                Scope::Project(root) => {
                    let name = root.file_name().unwrap_or(root.as_os_str());
                    format!("Project {}", safe(&name.to_string_lossy()))
                }
            };
            pen.put(&text, ACCENT);
        }
        Line::Needs(count) => pen.put(&format!("NEEDS YOU ({count})"), URGENT),
        Line::Need(pane) => {
            if let Some((workspace, _, node)) = model.place(*pane) {
                pen.attention(node);
                pen.put(&format!("{}: ", safe(&workspace.name)), Style::new());
                pen.put(&words::title(node), Style::new());
            }
        }
        Line::News(count) => {
            let text = if *count == 1 { "1 notification" } else { "notifications" };
            let text = if *count == 1 { text.to_owned() } else { format!("{count} {text}") };
            pen.put(&text, STRONG);
        }
        Line::Project(root) => {
            let name = root.file_name().unwrap_or(root.as_os_str());
            pen.put(&format!("{}/", safe(&name.to_string_lossy())), ACCENT);
        }
        Line::Workspace(id) => {
            let found = model.tree.workspaces.iter().find(|workspace| workspace.id == *id);
            if let Some(workspace) = found {
                pen.put(&safe(&workspace.name), STRONG);
                if let Some(branch) = model.checkouts.checkout(workspace).and_then(branch) {
                    pen.put(&format!(" {}", safe(branch)), FAINT);
                }
                if workspace.auto_resume {
                    pen.put(" auto", FAINT);
                }
            }
        }
        Line::Tab(id, only) => tab(model, id, *only, &mut pen),
        Line::Pane(pane) => {
            if let Some(node) = model.node(*pane) {
                pen.put(if model.focus() == Some(*pane) { "   > " } else { "     " }, STRONG);
                pen.pane(node);
            }
        }
        Line::Empty => pen.put("nothing is open here", FAINT),
        Line::Blank => {}
    }
    if chosen {
        buffer.set_style(area, CHOSEN);
    }
}

/// What tells a checkout from the others of its repository.
fn branch(node: &WorktreeNode) -> Option<&str> {
    node.branch.as_deref().filter(|_| !node.main)
}

fn tab(model: &Model, id: &str, only: Option<PaneId>, pen: &mut Pen<'_>) {
    let Some((workspace, tab)) = model.tabs().find(|(_, tab)| tab.id == id) else {
        return;
    };
    let number = workspace.tabs.iter().position(|tab| tab.id == id).map_or(0, |at| at + 1);
    let shown = model.tab.as_deref() == Some(id);
    pen.put(
        &format!("{}{number} ", if shown { "> " } else { "  " }),
        if shown { STRONG } else { FAINT },
    );
    match only.and_then(|pane| model.node(pane)) {
        Some(node) => pen.pane(node),
        None => pen.put(&safe(&tab.title), Style::new()),
    }
}

/// Writes pieces one after the other, as far as there is room.
struct Pen<'a> {
    x: u16,
    area: Rect,
    buffer: &'a mut Buffer,
}

impl Pen<'_> {
    fn put(&mut self, text: &str, style: Style) {
        let room = self.area.right().saturating_sub(self.x);
        self.x = put(self.buffer, self.x, self.area.y, room, text, style);
    }

    /// The sign of the attention, in two columns.
    fn attention(&mut self, node: &PaneNode) {
        let (sign, style) = words::attention_sign(&node.attention);
        self.put(&format!("{sign:<2} "), style);
    }

    /// A pane: its state, its title and what it needs, which is never cut off.
    fn pane(&mut self, node: &PaneNode) {
        let (sign, style) = words::state_sign(node);
        self.put(sign, style);
        self.put(" ", Style::new());
        let (need, look) = words::attention_sign(&node.attention);
        let right = self.area.right();
        if urgency(node) > 0 && self.area.width > 6 {
            let width = u16::try_from(need.len()).unwrap_or(0);
            put(self.buffer, right - width, self.area.y, width, need, look);
            self.area.width -= width + 1;
        }
        self.put(&words::title(node), Style::new());
        if node.state != "live" {
            let word = if node.state == "resuming" { "resuming" } else { &node.state };
            self.put(&format!(" {}", safe(word)), FAINT);
        }
    }
}
