//! Dividing the cells of a split between its children.
//!
//! Cells are granted in proportion to the weights; those left over by rounding
//! go to the largest remainders, to the first child among equals. No child gets
//! less than the leaves in it need to show one cell each, if the extent has
//! room for that. If it has not, each child keeps one cell; and where even that
//! is too much, the last children get none.

use super::{Axis, Child, Node};

/// Divides an extent between children and the separators before all but the
/// first; gives the length of each child.
pub(super) fn share_out<L>(extent: u16, axis: Axis, children: &[Child<L>]) -> Vec<u16> {
    // Each child after the first needs two cells, one of them its separator.
    let visible = children.len().min(usize::from(extent.div_ceil(2)));
    let lines = visible.saturating_sub(1) as u64;
    let cells = u64::from(extent).saturating_sub(lines);
    let mut claims: Vec<Claim> = children
        .iter()
        .take(visible)
        .map(|child| Claim {
            weight: u64::from(child.weight.get()),
            least: need(&child.node, axis),
            granted: None,
        })
        .collect();
    if claims.iter().map(|claim| claim.least).sum::<u64>() > cells {
        for claim in &mut claims {
            claim.least = 1;
        }
    }
    grant(&mut claims, cells);
    let granted = claims.iter().map(|claim| claim.granted.unwrap_or(0));
    let hidden = std::iter::repeat_n(0, children.len() - visible);
    granted.chain(hidden).map(|length| u16::try_from(length).unwrap_or(u16::MAX)).collect()
}

/// A child's claim on the cells of its split.
struct Claim {
    weight: u64,
    least: u64,
    granted: Option<u64>,
}

/// Grants all `cells`, at least `least` to each claim; those must fit in.
fn grant(claims: &mut [Claim], cells: u64) {
    let mut free = cells;
    loop {
        // Claims whose proportional part is below their minimum get the
        // minimum, which leaves less for the others; so look again.
        let total = open_weight(claims);
        let mut settled = 0;
        for claim in claims.iter_mut().filter(|claim| claim.granted.is_none()) {
            if free * claim.weight < claim.least * total {
                claim.granted = Some(claim.least);
                settled += claim.least;
            }
        }
        if settled == 0 {
            break;
        }
        free = free.saturating_sub(settled);
    }
    let total = open_weight(claims).max(1);
    let mut open: Vec<&mut Claim> =
        claims.iter_mut().filter(|claim| claim.granted.is_none()).collect();
    let whole: u64 = open.iter().map(|claim| free * claim.weight / total).sum();
    // The sort is stable, so among equal remainders the first child is first.
    open.sort_by_key(|claim| std::cmp::Reverse(free * claim.weight % total));
    let mut left_over = free.saturating_sub(whole);
    for claim in open {
        let extra = left_over.min(1);
        left_over -= extra;
        claim.granted = Some(free * claim.weight / total + extra);
    }
}

fn open_weight(claims: &[Claim]) -> u64 {
    claims.iter().filter(|claim| claim.granted.is_none()).map(|claim| claim.weight).sum()
}

/// The cells along an axis with which every leaf of a node shows one.
fn need<L>(node: &Node<L>, axis: Axis) -> u64 {
    let Node::Split(split) = node else { return 1 };
    let needs = split.children.iter().map(|child| need(&child.node, axis));
    if split.axis == axis {
        needs.sum::<u64>() + split.children.len().saturating_sub(1) as u64
    } else {
        needs.max().unwrap_or(1)
    }
}
