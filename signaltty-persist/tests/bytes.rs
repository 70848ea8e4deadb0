//! Every way in which bytes can be damaged.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed step fails the test"
)]

mod common;

use signaltty_persist::Problem;
use signaltty_persist::schema::{DecodeError, Header, from_json, to_json};

use common::session;

fn snapshot_bytes() -> Vec<u8> {
    to_json(&session("api", &[1]), &Header::default()).unwrap()
}

#[test]
fn s0_34_deep_values_in_every_place_do_not_overrun_the_stack() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for text in [
        format!("{{\"snapshot_version\":1,\"panes\":[{deep}]}}"),
        format!("{{\"snapshot_version\":1,\"unknown\":{deep},\"panes\":[]}}"),
        format!("{{\"snapshot_version\":{deep}}}"),
        format!("{{\"generation\":{deep}}}"),
    ] {
        match from_json(text.as_bytes()) {
            Ok(decoded) => assert_eq!(decoded.problems, [Problem::EditedOrDamaged]),
            Err(error) => assert!(matches!(error, DecodeError::Corrupt(_)), "{error}"),
        }
    }
}

#[test]
fn s0_34_a_snapshot_cut_at_any_byte_is_never_loaded() {
    let whole = snapshot_bytes();
    for cut in 0..whole.len() - 1 {
        assert!(matches!(from_json(&whole[..cut]), Err(DecodeError::Corrupt(_))), "cut at {cut}");
    }
    // Only the line end is missing: everything is there, and it is said.
    let decoded = from_json(&whole[..whole.len() - 1]).unwrap();
    assert_eq!(decoded.problems, [Problem::EditedOrDamaged]);
}

#[test]
fn s0_34_no_flipped_bit_goes_unnoticed() {
    let whole = snapshot_bytes();
    assert_eq!(from_json(&whole).unwrap().problems, []);
    for bit in 0..whole.len() * 8 {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        if let Ok(decoded) = from_json(&bytes) {
            assert!(decoded.problems.contains(&Problem::EditedOrDamaged), "bit {bit}");
        }
    }
}
