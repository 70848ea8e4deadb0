//! The size of a terminal in character cells.

/// A terminal size in character cells.
///
/// Any value is accepted everywhere: a size of zero is taken as one, and the
/// emulator never goes below two columns, which one wide character needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Size {
    /// Columns, the width.
    pub cols: u16,
    /// Rows, the height.
    pub rows: u16,
}

impl Size {
    /// A size of `cols` columns by `rows` rows.
    #[must_use]
    pub const fn new(cols: u16, rows: u16) -> Self {
        Self { cols, rows }
    }

    /// The size with no dimension below one, as a kernel terminal needs it.
    pub(crate) fn at_least_one(self) -> Self {
        Self { cols: self.cols.max(1), rows: self.rows.max(1) }
    }
}

impl Default for Size {
    /// 80 by 24.
    fn default() -> Self {
        Self::new(80, 24)
    }
}
