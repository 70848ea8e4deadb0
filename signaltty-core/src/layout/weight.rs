//! Weights and the exact arithmetic on a run of them.
//!
//! A *run* is the list of weights of one split. Only their proportions matter:
//! `1 1` and `7 7` give the same picture. Edits that need fractions multiply
//! the whole run first and bring it back into range with [`fit`].

use std::fmt;
use std::num::NonZeroU16;

/// The share of a child in its split: a whole number from 1 to 65,535.
///
/// A child with weight 2 gets twice the cells of a sibling with weight 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Weight(NonZeroU16);

impl Weight {
    /// The smallest weight, and the usual one.
    pub const ONE: Self = Self(NonZeroU16::MIN);
    /// The largest weight, 65,535.
    pub const MAX: Self = Self(NonZeroU16::MAX);

    /// A weight, unless the value is zero.
    #[must_use]
    pub const fn new(value: u16) -> Option<Self> {
        match NonZeroU16::new(value) {
            Some(value) => Some(Self(value)),
            None => None,
        }
    }

    /// The value.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0.get()
    }

    /// The nearest weight to a value of any size.
    pub(super) fn saturating(value: u64) -> Self {
        let value = u16::try_from(value).unwrap_or(u16::MAX);
        Self::new(value).unwrap_or(Self::ONE)
    }
}

impl Default for Weight {
    fn default() -> Self {
        Self::ONE
    }
}

impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Turns proportions into weights.
///
/// They are reduced by their common divisor. If the largest still exceeds the
/// range, all are scaled down by the same factor and rounded, none below one;
/// only then are proportions inexact, by less than one part in 65,535 of the
/// largest.
pub(super) fn fit(values: &[u64]) -> Vec<Weight> {
    let divisor = values.iter().copied().fold(0, common_divisor).max(1);
    let largest = values.iter().copied().max().unwrap_or(0) / divisor;
    let bound = u64::from(u16::MAX);
    values
        .iter()
        .map(|value| {
            let value = value / divisor;
            if largest <= bound {
                return Weight::saturating(value);
            }
            // 128 bits, because a value may already use more than 48.
            let scaled = u128::from(value) * u128::from(bound) + u128::from(largest / 2);
            let rounded = scaled / u128::from(largest);
            Weight::saturating(u64::try_from(rounded).unwrap_or(bound))
        })
        .collect()
}

fn common_divisor(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
