//! Reading the text form.
//!
//! The strict way refuses everything that is not a valid layout, the lenient way
//! only what the grammar does not allow.

use std::fmt::Display;
use std::str::FromStr;

use thiserror::Error;

use super::parser::Parser;
use super::repair::from_raw_located;
use super::text::PREFIX;
use super::{Layout, LayoutViolation, Limits, Repaired};

/// Why a text is not a layout, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{kind} at byte {at}")]
pub struct ParseError<L> {
    /// The offset in bytes at which the trouble begins.
    pub at: usize,
    /// The trouble.
    pub kind: ParseErrorKind<L>,
}

/// The trouble with a text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseErrorKind<L> {
    /// It does not begin with a version known here.
    #[error("not a layout of version 1")]
    Version,
    /// A pane or a split should begin here.
    #[error("no pane or `[`")]
    ExpectedNode,
    /// A sign between children, a `]` or the end of the text should be here.
    #[error("unexpected text")]
    Unexpected,
    /// A split mixes `|` and `/`.
    #[error("both `|` and `/` in one split")]
    MixedSigns,
    /// The text ends inside a split.
    #[error("text ends inside `[`")]
    Unclosed,
    /// A weight is not a number from 1 to 65535.
    #[error("bad weight")]
    Weight,
    /// A `%` is not followed by two hexadecimal digits, or what they spell is
    /// not text.
    #[error("bad escape")]
    Escape,
    /// The leaf's own type refuses its text.
    #[error("bad pane: {reason}")]
    Leaf {
        /// What that type says.
        reason: String,
    },
    /// The text is well formed, but the tree is not a valid layout.
    #[error("{0}")]
    Invalid(LayoutViolation<L>),
}

impl<L> Layout<L>
where
    L: Copy + Ord + FromStr,
    L::Err: Display,
{
    /// Reads a layout from its text form, which `Display` prints.
    ///
    /// ```text
    /// layout = "v1:" node
    /// node   = pane | "[" child *( "|" child ) "]"     a row, side by side
    ///               | "[" child *( "/" child ) "]"     a column, stacked
    /// child  = node [ "*" weight ]
    /// weight = 1*DIGIT                                 1 to 65535; 1 if absent
    /// pane   = 1*( any character but [ ] | / * % whitespace, control
    ///              / "%" HEX HEX )
    /// ```
    ///
    /// The sign between children is drawn like the line between them. So
    /// `v1:[a*2|[b/c]]` is
    ///
    /// ```text
    /// +-------+---+
    /// |   a   | b |
    /// |       +---+
    /// |       | c |
    /// +-------+---+
    /// ```
    ///
    /// Printing and reading again gives an equal layout (L7), provided the
    /// leaf's own text form does so and is never empty. Characters of a leaf
    /// that the form uses itself are written as `%` and two hexadecimal digits
    /// for each byte.
    ///
    /// # Errors
    ///
    /// Says what is wrong first, and at which byte.
    pub fn parse(text: &str, limits: &Limits) -> Result<Self, ParseError<L>> {
        let raw = Parser::new(text, Some(limits)).run()?;
        from_raw_located(raw, PREFIX.len(), limits)
            .map_err(|(at, violation)| ParseError { at, kind: ParseErrorKind::Invalid(violation) })
    }

    /// Reads a layout and repairs what is merely invalid: any weights, leaves
    /// that appear twice, splits with too few children or nested wrongly.
    ///
    /// # Errors
    ///
    /// Says where the text breaks off from the grammar, if it does.
    pub fn parse_lenient(text: &str, limits: &Limits) -> Result<Repaired<L>, ParseError<L>> {
        Ok(Self::repair(Parser::new(text, None).run()?, limits))
    }
}

impl<L> FromStr for Layout<L>
where
    L: Copy + Ord + FromStr,
    L::Err: Display,
{
    type Err = ParseError<L>;

    /// Reads a layout under the default limits.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text, &Limits::default())
    }
}
