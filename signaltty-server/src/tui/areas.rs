//! Where things are on the screen. Used to draw and to find what the mouse is at.

use ratatui::layout::Rect;
use signaltty_core::id::PaneId;
use signaltty_core::layout::{
    Arrangement, Axis, Layout, Point, Rect as CoreRect, Separator, Size, arrange,
};

use super::model::Model;
use crate::protocol::TabNode;

/// The parts of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Areas {
    /// The sidebar, its border not counted; empty where it is not shown.
    pub(crate) sidebar: Rect,
    /// Whether the sidebar lies over the panes, which then have the whole width.
    pub(crate) over: bool,
    /// The line above the panes, on which the titles of the first row are.
    pub(crate) top: Rect,
    /// What the panes of a tab share.
    pub(crate) panes: Rect,
    /// The last line.
    pub(crate) status: Rect,
}

/// Narrower than this, the sidebar is only shown while it has the focus.
const ROOM_FOR_SIDEBAR: u16 = 64;

impl Areas {
    pub(crate) fn of(model: &Model) -> Self {
        let (cols, rows) = model.size;
        let roomy = cols >= ROOM_FOR_SIDEBAR;
        let beside = roomy && model.sidebar.shown;
        let visible = beside || model.sidebar.focused;
        let body = rows.saturating_sub(1);
        let width = match (visible, beside) {
            (false, _) => 0,
            (true, true) => model.gui.sidebar_width.min(cols / 2),
            (true, false) => model.gui.sidebar_width.min(cols.saturating_sub(1)),
        };
        let left = if beside { width + 1 } else { 0 };
        Self {
            sidebar: Rect::new(0, 0, width, body),
            over: visible && !beside,
            top: Rect::new(left, 0, cols - left, body.min(1)),
            panes: Rect::new(left, body.min(1), cols - left, body.saturating_sub(1)),
            status: Rect::new(0, body, cols, rows.min(1)),
        }
    }
}

/// The panes of the shown tab and the lines between them, in cells of the
/// screen, as the server's layout has them in the tab's area.
pub(crate) fn arrangement(model: &Model) -> Option<Arrangement<PaneId>> {
    let (_, tab) = model.shown()?;
    let layout: Layout<PaneId> = tab.layout.parse().ok()?;
    let panes = Areas::of(model).panes;
    let at = Point { col: panes.x, row: panes.y };
    if let Some(pane) = model.zoom() {
        let whole = CoreRect::new(at, Size { cols: panes.width, rows: panes.height });
        return Some(Arrangement { rects: vec![(pane, whole)], separators: Vec::new() });
    }
    let (cols, rows) = match (tab.cols, tab.rows) {
        (0, _) | (_, 0) => (panes.width, panes.height),
        known => known,
    };
    Some(arrange(&layout, CoreRect::new(at, Size { cols, rows })))
}

/// The focused pane of a tab, where the terminal is so small that the layout
/// leaves one of its panes nothing to be seen in.
pub(crate) fn crowded_out(model: &Model, tab: &TabNode) -> Option<PaneId> {
    let panes = Areas::of(model).panes;
    let small = panes.width < SMALL.0 || panes.height < SMALL.1;
    if !small || tab.panes.len() < 2 || panes.is_empty() {
        return None;
    }
    let focus = model.focus()?;
    let layout: Layout<PaneId> = tab.layout.parse().ok()?;
    let whole = Size { cols: panes.width, rows: panes.height };
    let found = arrange(&layout, CoreRect::new(Point { col: 0, row: 0 }, whole)).rects;
    let crowded = |rect: &CoreRect| rect.cols() < LEAST.0 || rect.rows() < LEAST.1;
    found.iter().any(|(_, rect)| crowded(rect)).then_some(focus)
}

/// On a larger terminal nothing is crowded out by accident.
const SMALL: (u16, u16) = (40, 10);

/// Columns and rows in which something can be read.
const LEAST: (u16, u16) = (4, 1);

/// A rectangle of the layout as far as it is on the screen.
pub(crate) fn on_screen(model: &Model, rect: CoreRect) -> Rect {
    let rect = Rect::new(rect.col(), rect.row(), rect.cols(), rect.rows());
    rect.intersection(Areas::of(model).panes)
}

/// The pane at a cell of the screen.
pub(crate) fn pane_at(model: &Model, col: u16, row: u16) -> Option<(PaneId, CoreRect)> {
    let found = arrangement(model)?.rects.into_iter();
    found.into_iter().find(|(_, rect)| rect.contains(Point { col, row }))
}

/// The line between panes at a cell of the screen.
pub(crate) fn separator_at(model: &Model, col: u16, row: u16) -> Option<Separator> {
    let found = arrangement(model)?.separators;
    found.into_iter().find(|line| line.rect.contains(Point { col, row }))
}

/// The pane that ends at a line between panes, which moving it makes larger or
/// smaller: the line is right of it or below it.
pub(crate) fn before(model: &Model, line: &Separator, col: u16, row: u16) -> Option<PaneId> {
    let at = match line.axis {
        Axis::Row => (col.checked_sub(1)?, row),
        Axis::Column => (col, row.checked_sub(1)?),
    };
    pane_at(model, at.0, at.1).map(|(pane, _)| pane)
}
