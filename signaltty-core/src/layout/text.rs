//! Printing the text form; its grammar is in the documentation of
//! [`Layout::parse`].
//!
//! Another version gets another prefix, which this version refuses as such and
//! never misreads.

use std::fmt::{self, Write as _};

use super::{Axis, Layout, Node, Weight};

/// The prefix of this version.
pub(super) const PREFIX: &str = "v1:";

impl<L: fmt::Display> fmt::Display for Layout<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        print(&self.root, f)
    }
}

/// The sign between the children of a split.
pub(super) const fn sign(axis: Axis) -> char {
    match axis {
        Axis::Row => '|',
        Axis::Column => '/',
    }
}

/// Whether a character must be escaped in a leaf.
pub(super) fn is_reserved(c: char) -> bool {
    matches!(c, '[' | ']' | '|' | '/' | '*' | '%') || c.is_whitespace() || c.is_control()
}

fn print<L: fmt::Display>(node: &Node<L>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let split = match node {
        Node::Leaf(leaf) => return write!(Escape(f), "{leaf}"),
        Node::Split(split) => split,
    };
    f.write_char('[')?;
    for (index, child) in split.children.iter().enumerate() {
        if index > 0 {
            f.write_char(sign(split.axis))?;
        }
        print(&child.node, f)?;
        if child.weight != Weight::ONE {
            write!(f, "*{}", child.weight)?;
        }
    }
    f.write_char(']')
}

/// Escapes what is written through it.
struct Escape<'a, 'b>(&'a mut fmt::Formatter<'b>);

impl fmt::Write for Escape<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            if is_reserved(c) {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    write!(self.0, "%{byte:02X}")?;
                }
            } else {
                self.0.write_char(c)?;
            }
        }
        Ok(())
    }
}
