//! The arithmetic on runs of weights.

use proptest::prelude::*;

use crate::layout::Weight;
use crate::layout::weight::fit;

fn fitted(values: &[u64]) -> Vec<u16> {
    fit(values).into_iter().map(Weight::get).collect()
}

#[test]
fn runs_are_reduced_and_only_scaled_when_too_large() {
    for (values, expected) in [
        (vec![], vec![]),
        (vec![6], vec![1]),
        (vec![2, 4, 6], vec![1, 2, 3]),
        (vec![3, 5], vec![3, 5]),
        (vec![131_070, 65_535], vec![2, 1]),
        (vec![65_536, 1], vec![65_535, 1]),
        (vec![1 << 40, (1 << 39) + 1], vec![65_535, 32_768]),
        (vec![u64::MAX, 1], vec![65_535, 1]),
    ] {
        assert_eq!(fitted(&values), expected, "{values:?}");
    }
}

#[test]
fn inv_l4_no_weight_is_zero() {
    assert_eq!(Weight::new(0), None);
    assert_eq!(Weight::saturating(0), Weight::ONE);
    assert_eq!(Weight::saturating(1 << 40), Weight::MAX);
}

proptest! {
    #[test]
    fn fitting_keeps_order_and_proportions(values in prop::collection::vec(1_u64..1 << 48, 1..20)) {
        let run = fitted(&values);
        let (largest, top) = (values.iter().max().unwrap(), run.iter().max().unwrap());
        for (value, weight) in values.iter().zip(&run) {
            let exact = *value as f64 / *largest as f64 * f64::from(*top);
            prop_assert!((f64::from(*weight) - exact).abs() <= 1.0, "{exact} {weight}");
        }
    }
}
