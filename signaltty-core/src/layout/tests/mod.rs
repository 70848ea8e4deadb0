//! Tests of the layout module. Layouts are written in the text form and drawn
//! where the picture matters.

#[allow(clippy::disallowed_methods, reason = "the inputs of these tests are files")]
mod corpus;
mod edit;
mod focus;
mod geometry;
mod limits;
mod map;
mod model;
mod repair;
mod sane;
mod text;
mod weight;

use super::{Axis, Layout, Limits, RawChild, RawNode, RawWeight, Size};

fn layout(text: &str) -> Layout<char> {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn numbers(text: &str) -> Layout<u32> {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn limits(depth: u8, leaves: u16, min_pane: Size) -> Limits {
    Limits { depth, leaves, min_pane }
}

fn size(cols: u16, rows: u16) -> Size {
    Size { cols, rows }
}

/// A split whose children all have weight 1.
fn split<L>(axis: Axis, children: impl IntoIterator<Item = RawNode<L>>) -> RawNode<L> {
    RawNode::split(axis, children.into_iter().map(|node| RawChild::new(1_i64, node)))
}

/// A row of panes `a`, `b`, … with these weights.
fn row(weights: &[RawWeight]) -> RawNode<char> {
    let children = ('a'..).zip(weights);
    let child = |(leaf, weight): (char, &RawWeight)| RawChild::new(*weight, RawNode::Leaf(leaf));
    RawNode::split(Axis::Row, children.map(child))
}
