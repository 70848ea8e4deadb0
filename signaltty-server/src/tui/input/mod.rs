//! Keys and the mouse: what a person pressed, what it is bound to, and what a
//! program in a pane gets of it.

mod bindings;
pub(crate) mod encode;
mod key;

pub(crate) use bindings::{ACTIONS, Action, Bindings, Preset};
pub(crate) use key::Key;
