//! stub
/// s
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// c
    pub cols: u16,
    /// r
    pub rows: u16,
}
/// l
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout<L>(L);
