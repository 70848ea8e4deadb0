//! Takes away what was shown.

use super::Screen;
use super::grid;
use super::parked::Parked;

impl Screen {
    /// Forgets every line that was shown until now, on both screens and in the
    /// history. Cursor, title and modes stay, so what the program writes next
    /// goes where it would have gone.
    pub fn forget(&mut self) {
        self.history.clear();
        self.blank();
        if self.parked.is_some() {
            self.with_primary(|screen| {
                screen.blank();
                screen.parked = Some(Parked::new(screen.view(), &screen.history));
            });
        }
    }

    fn blank(&mut self) {
        self.shadow.last_cleared = None;
        let grid = self.term.grid_mut();
        grid.reset_region(..);
        grid::mend(grid);
    }
}
