//! Weights from files.

use crate::layout::RawWeight::{Ratio, Unreadable, Whole};
use crate::layout::{Layout, LayoutViolation, Limits, rects};

use super::repair::repair;
use super::{row, size};

#[test]
fn c083_insane_weights_become_sane_shares() {
    for (weights, expected, bad) in [
        // Ratios of two, as a binary tree has them.
        ([Ratio(0.5), Ratio(0.5)], "v1:[a|b]", 0),
        ([Ratio(0.25), Ratio(0.75)], "v1:[a|b*3]", 0),
        ([Ratio(0.0), Ratio(1.0)], "v1:[a*119|b*2381]", 1),
        ([Ratio(1.0), Ratio(0.0)], "v1:[a*2381|b*119]", 1),
        ([Ratio(-1.0), Ratio(2.0)], "v1:[a*119|b*2381]", 1),
        ([Ratio(5.0), Ratio(-4.0)], "v1:[a*2381|b*119]", 1),
        ([Ratio(1e39), Ratio(-1e39)], "v1:[a*2381|b*119]", 2),
        ([Ratio(1e-9), Ratio(1.0 - 1e-9)], "v1:[a*119|b*2381]", 1),
        ([Ratio(f64::NAN), Ratio(f64::INFINITY)], "v1:[a|b]", 2),
        ([Unreadable, Unreadable], "v1:[a|b]", 2),
        ([Unreadable, Ratio(0.5)], "v1:[a|b]", 1),
        ([Ratio(f64::MIN_POSITIVE), Ratio(5e-324)], "v1:[a*2381|b*119]", 1),
        // Whole numbers.
        ([Whole(65_535), Whole(1)], "v1:[a*65535|b]", 0),
        ([Whole(0), Whole(0)], "v1:[a|b]", 2),
        ([Whole(0), Whole(7)], "v1:[a*119|b*2381]", 1),
        ([Whole(65_536), Whole(1)], "v1:[a|b]", 1),
        ([Whole(i64::MIN), Whole(i64::MAX)], "v1:[a*119|b*2381]", 2),
    ] {
        let repaired = repair(row(&weights));
        let found = repaired.layout.unwrap();
        assert_eq!(found.to_string(), expected, "{weights:?}");
        let is_bad = |p: &LayoutViolation<char>| matches!(p, LayoutViolation::BadWeight { .. });
        assert_eq!(repaired.problems.iter().filter(|p| is_bad(p)).count(), bad, "{weights:?}");
        assert_eq!(repaired.problems.len(), bad);
        assert!(rects(&found, size(80, 24).into()).iter().all(|(_, rect)| !rect.is_empty()));
        // The strict way draws the line at the same place.
        let strict = Layout::from_raw(row(&weights), &Limits::default());
        assert_eq!(strict.is_ok(), bad == 0, "{weights:?}");
    }
    let found = repair(row(&[Whole(1), Ratio(1e39)])).problems;
    assert_eq!(found[0].to_string(), "weight 1e39 is not a sane share");
}
