//! The text form.

use proptest::prelude::*;

use crate::layout::{
    Layout, LayoutViolation, Limits, ParseError, ParseErrorKind, Size, fuzz_layout_text,
};

use super::model::{apply, edits};
use super::{layout, numbers};

#[test]
fn printing_is_canonical() {
    for (text, printed) in [
        ("v1:a", "v1:a"),
        ("v1:[a*2|[b/c]]", "v1:[a*2|[b/c]]"),
        ("v1:[a*1|b*01]", "v1:[a|b]"),
        ("v1:[[a/b]*65535|c]", "v1:[[a/b]*65535|c]"),
        ("v1:[%61|b]", "v1:[a|b]"),
    ] {
        assert_eq!(layout(text).to_string(), printed);
    }
}

#[test]
fn any_character_of_a_leaf_is_escaped_where_needed() {
    let mut escaped = Layout::single('[');
    let leaves = [']', '|', '/', '*', '%', ' ', '\n', '\u{7f}', '\u{2003}', 'é', '😀', '-'];
    for leaf in leaves {
        escaped
            .split('[', crate::layout::Direction::Right, leaf, &Limits::default(), None)
            .unwrap();
    }
    let text = escaped.to_string();
    assert!(text.starts_with("v1:[%5B|-|😀|é|%E2%80%83|%7F|%0A|%20|%25|"), "{text}");
    assert_eq!(layout(&text), escaped);
}

fn check_error(text: &str, at: usize, kind: ParseErrorKind<u32>) {
    let result = Layout::<u32>::parse(text, &super::limits(3, 5, Size::default()));
    assert_eq!(result, Err(ParseError { at, kind }), "{text}");
}

#[test]
fn errors_say_what_and_where() {
    use LayoutViolation as V;
    use ParseErrorKind as K;
    for (text, at, kind) in [
        ("", 0, K::Version),
        ("1", 0, K::Version),
        ("v2:1", 0, K::Version),
        ("v1:", 3, K::ExpectedNode),
        ("v1:[1|", 6, K::ExpectedNode),
        ("v1:[|1]", 4, K::ExpectedNode),
        ("v1:[1|2|]", 8, K::ExpectedNode),
        ("v1: 1", 3, K::ExpectedNode),
        ("v1:[1", 5, K::Unclosed),
        ("v1:[1|[2/3]", 11, K::Unclosed),
        ("v1:[", 4, K::ExpectedNode),
        ("v1:1]", 4, K::Unexpected),
        ("v1:1*2", 4, K::Unexpected),
        ("v1:[1|2]*2", 8, K::Unexpected),
        ("v1:[1|2]x", 8, K::Unexpected),
        ("v1:[1 |2]", 5, K::Unexpected),
        ("v1:[1|2/3]", 7, K::MixedSigns),
        ("v1:[1*0|2]", 6, K::Weight),
        ("v1:[1*|2]", 6, K::Weight),
        ("v1:[1*65536|2]", 6, K::Weight),
        ("v1:[1*+1|2]", 6, K::Weight),
        ("v1:[1*0.5|2]", 6, K::Weight),
        ("v1:[1|%zz]", 6, K::Escape),
        ("v1:[1|%3]", 6, K::Escape),
        ("v1:[1|%FF]", 6, K::Escape),
        ("v1:[1|x]", 6, K::Leaf { reason: "invalid digit found in string".into() }),
        ("v1:[]", 3, K::Invalid(V::FewChildren { found: 0 })),
        ("v1:[[1]|2]", 4, K::Invalid(V::FewChildren { found: 1 })),
        ("v1:[1|[2|3]]", 6, K::Invalid(V::SameAxis)),
        ("v1:[1|[2/1]]", 9, K::Invalid(V::DuplicateLeaf(1))),
        ("v1:[1|[2/[3|[4/5]]]]", 12, K::Invalid(V::TooDeep { limit: 3 })),
        ("v1:[1|2|3|4|5|6]", 14, K::Invalid(V::TooManyLeaves { limit: 5 })),
    ] {
        check_error(text, at, kind);
    }
    let error = "v1:[1|[2/1]]".parse::<Layout<u32>>().unwrap_err();
    assert_eq!(error.to_string(), "pane 1 appears more than once at byte 9");
}

#[test]
fn input_of_any_length_and_depth_is_safe() {
    let deep = format!("v1:{}", "[".repeat(1_000_000));
    let violation = LayoutViolation::TooDeep { limit: 32 };
    assert_eq!(
        deep.parse::<Layout<u32>>(),
        Err(ParseError { at: 35, kind: ParseErrorKind::Invalid(violation) })
    );
    let unclosed = Layout::<u32>::parse_lenient(&deep, &Limits::default());
    assert_eq!(unclosed.unwrap_err().kind, ParseErrorKind::ExpectedNode);
    let closed = format!("{deep}7{}", "]".repeat(1_000_000));
    let repaired = Layout::<u32>::parse_lenient(&closed, &Limits::default()).unwrap();
    assert_eq!(repaired.layout, Some(Layout::single(7)));
    assert_eq!(repaired.problems.len() + repaired.unlisted, 1_000_000);
}

#[test]
fn lenient_parsing_repairs_what_is_well_formed() {
    for (text, expected, problems) in [
        ("v1:[1|2*3]", "v1:[1|2*3]", 0),
        ("v1:[1|[2|3]]", "v1:[1*2|2|3]", 1),
        ("v1:[1*null|2*4]", "v1:[1|2]", 1),
        ("v1:[1*0.3|2*0.7]", "v1:[1*3|2*7]", 0),
        ("v1:[1|1|2]", "v1:[1|2]", 1),
        ("v1:[[[]/1]|[]]", "v1:1", 2),
    ] {
        let repaired = Layout::<u32>::parse_lenient(text, &Limits::default()).unwrap();
        assert_eq!(repaired.layout, Some(numbers(expected)), "{text}");
        assert_eq!(repaired.problems.len(), problems, "{text} {:?}", repaired.problems);
    }
    let cut = Layout::<u32>::parse_lenient("v1:[1|2", &Limits::default());
    assert_eq!(cut.unwrap_err().at, 7);
}

proptest! {
    #[test]
    fn inv_l7_print_then_parse_is_the_identity(edits in edits(0..100)) {
        let mut layout = Layout::single(0);
        for (new, edit) in (1..).zip(edits) {
            apply(&mut layout, edit, new, &Limits::default(), None).ok();
        }
        prop_assert_eq!(layout.to_string().parse(), Ok(layout));
    }

    #[test]
    fn texts_near_the_grammar_never_panic(text in "(v1:)?([\\[\\]|/]|[0-9]{1,2}|\\*[0-9.e-]{0,4}|%[0-9a-f]{0,2}|é){0,60}") {
        fuzz_layout_text(text.as_bytes());
    }

    #[test]
    fn trees_with_errors_never_panic(text in "v1:(\\[[0-9](\\*[0-9])?[|/]){0,60}[0-9]{1,2}(\\](\\*-?[0-9.]{1,3})?){0,60}") {
        fuzz_layout_text(text.as_bytes());
    }

    #[test]
    fn any_bytes_never_panic(data in prop::collection::vec(any::<u8>(), 0..200)) {
        fuzz_layout_text(&data);
        fuzz_layout_text(&[b"v1:", data.as_slice()].concat());
    }
}
