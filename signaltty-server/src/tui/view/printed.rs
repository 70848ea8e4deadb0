//! Only what panes printed. A key changes one row of one pane, and drawing the
//! whole screen for it would take longer than everything else on the way of its
//! echo. What comes out is what [`view`](super::view) would draw there.

use std::collections::HashMap;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use signaltty_core::id::PaneId;
use signaltty_pty::{Drawn, Screen};

use super::{Cursor, cells, pane};
use crate::tui::areas::{Areas, arrangement, on_screen};
use crate::tui::model::{Link, Mode, Model, is_live};

/// What was drawn of the panes' screens.
#[derive(Debug, Default)]
pub(crate) struct Printed {
    panes: HashMap<PaneId, Drawn>,
}

impl Printed {
    /// Notes that everything was drawn.
    pub(crate) fn all(&mut self, model: &Model) {
        let shown = screens(model);
        self.panes.retain(|pane, _| shown.iter().any(|(shown, ..)| shown == pane));
        for (pane, screen, _) in shown {
            screen.changed_rows(self.panes.entry(pane).or_default());
        }
    }

    /// The rows that changed since, of all panes or of one, and the cursor. `None`
    /// where something lies over the panes: then everything is to be drawn.
    pub(crate) fn rows(
        &mut self,
        model: &Model,
        only: Option<PaneId>,
    ) -> Option<(Vec<Buffer>, Option<Cursor>)> {
        let plain = matches!(model.mode, Mode::Normal | Mode::Prefix) && model.scrolled.is_none();
        if !plain || model.link != Link::Up || Areas::of(model).over {
            return None;
        }
        let focus = model.focus().filter(|_| !model.sidebar.focused);
        let (mut rows, mut cursor) = (Vec::new(), None);
        for (pane, screen, area) in screens(model) {
            // One that was not drawn yet may have something else in its place.
            let drawn = self.panes.get_mut(&pane)?;
            if drawn.size() != screen.size() {
                return None;
            }
            if focus == Some(pane) {
                cursor = pane::cursor(screen, area);
            }
            if only.is_some_and(|only| only != pane) {
                continue;
            }
            let width = area.width.min(screen.size().cols);
            for row in screen.changed_rows(drawn) {
                if row < area.height {
                    let mut line = Buffer::empty(Rect::new(area.x, area.y + row, width, 1));
                    cells::draw_row(screen, row, line.area, &mut line);
                    rows.push(line);
                }
            }
        }
        Some((rows, cursor))
    }
}

/// The screens that are shown, and where.
fn screens(model: &Model) -> Vec<(PaneId, &Screen, Rect)> {
    let rects = arrangement(model).map(|found| found.rects).unwrap_or_default();
    let screen = |(pane, rect)| {
        let area = on_screen(model, rect);
        let live = model.node(pane).is_some_and(is_live) && !area.is_empty();
        let screen = model.panes.get(&pane).filter(|_| live)?.screen.as_ref()?;
        Some((pane, screen, area))
    };
    rects.into_iter().filter_map(screen).collect()
}
