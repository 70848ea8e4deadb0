//! Weights from weights that nobody has checked.
//!
//! Whole numbers from 1 to 65,535 stay as they are if all weights of a split
//! are such. Otherwise the run is converted, since ratios mean something only
//! beside their siblings: a weight that is too large becomes the largest sane
//! one of the run, one that is too small a twentieth of that, and one that is
//! no number the mean. The sane ones are held to the same range.

use super::weight::fit;
use super::{RawWeight, Weight};

/// The weights of a run, and which of them were found so.
pub(super) struct SaneRun {
    pub(super) weights: Vec<Weight>,
    pub(super) is_sane: Vec<bool>,
}

/// Makes weights of whatever was found.
pub(super) fn sane_run(found: &[RawWeight]) -> SaneRun {
    if let Some(weights) = found.iter().copied().map(whole).collect() {
        return SaneRun { weights, is_sane: vec![true; found.len()] };
    }
    let usables: Vec<f64> = found.iter().copied().filter_map(usable).collect();
    let largest = usables.iter().copied().reduce(f64::max).unwrap_or(1.0);
    let least = largest * LEAST_SHARE;
    let sum: f64 = usables.iter().sum();
    let mean = if usables.is_empty() { largest } else { sum / usables.len() as f64 };

    let share = |weight| value(weight).unwrap_or(mean).clamp(least, largest);
    let shares: Vec<f64> = found.iter().copied().map(share).collect();
    let total: f64 = shares.iter().sum();
    // The cast saturates, and no share comes out as nothing.
    let scale = |share: f64| ((share / total * SCALE).round() as u64).max(1);
    let run: Vec<u64> = shares.into_iter().map(scale).collect();

    let sane = |weight| whole(weight).is_some() || usable(weight).is_some_and(|v| v >= least);
    SaneRun { weights: fit(&run), is_sane: found.iter().copied().map(sane).collect() }
}

/// The weight, if it needs no conversion.
fn whole(weight: RawWeight) -> Option<Weight> {
    match weight {
        RawWeight::Whole(value) => u16::try_from(value).ok().and_then(Weight::new),
        RawWeight::Ratio(_) | RawWeight::Unreadable => None,
    }
}

/// The value of a weight, if it is a number.
fn value(weight: RawWeight) -> Option<f64> {
    match weight {
        RawWeight::Whole(value) => Some(value as f64),
        RawWeight::Ratio(value) => (!value.is_nan()).then_some(value),
        RawWeight::Unreadable => None,
    }
}

/// The same, if it is positive and not absurdly large.
fn usable(weight: RawWeight) -> Option<f64> {
    value(weight).filter(|value| *value > 0.0 && *value <= f64::from(u16::MAX))
}

/// A fraction below this part of the largest in its split is not sane.
const LEAST_SHARE: f64 = 0.05;
/// The sum of a run of converted fractions, before it is reduced.
const SCALE: f64 = 10_000.0;
