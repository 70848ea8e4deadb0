//! From text to an unchecked tree.
//!
//! The text is untrusted. Nothing recurses, memory is linear in the text, and
//! the strict way stops as soon as a limit is passed.

use std::fmt::Display;
use std::str::FromStr;

use super::text::{PREFIX, is_reserved, sign};
use super::{
    Axis, LayoutViolation, Limits, ParseError, ParseErrorKind, RawChild, RawChildren, RawNode,
    RawWeight,
};

/// Reads one text; with limits it is strict.
pub(super) struct Parser<'a, L> {
    text: &'a str,
    at: usize,
    limits: Option<&'a Limits>,
    leaves: usize,
    open: Vec<Open<L>>,
}

/// A split whose `]` has not been read.
struct Open<L> {
    begin: usize,
    axis: Option<Axis>,
    children: RawChildren<L>,
}

impl<'a, L> Parser<'a, L>
where
    L: FromStr,
    L::Err: Display,
{
    pub(super) fn new(text: &'a str, limits: Option<&'a Limits>) -> Self {
        Self { text, at: 0, limits, leaves: 0, open: Vec::new() }
    }

    pub(super) fn run(mut self) -> Result<RawNode<L>, ParseError<L>> {
        if !self.text.starts_with(PREFIX) {
            return self.fail(ParseErrorKind::Version);
        }
        self.at = PREFIX.len();
        loop {
            // A node begins here.
            let begin = self.at;
            let first = if self.eat('[') {
                self.open(begin)?;
                if self.peek() != Some(']') {
                    continue;
                }
                None
            } else {
                Some((begin, RawNode::Leaf(self.leaf()?)))
            };
            if let Some(root) = self.close_up(first)? {
                return Ok(root);
            }
        }
    }

    /// Hands a finished node to the split around it, and closes the splits
    /// that end here. Gives the root when the text ends.
    fn close_up(
        &mut self,
        mut node: Option<(usize, RawNode<L>)>,
    ) -> Result<Option<RawNode<L>>, ParseError<L>> {
        loop {
            if let Some((offset, node)) = node.take() {
                if self.open.is_empty() {
                    if self.at < self.text.len() {
                        return self.fail(ParseErrorKind::Unexpected);
                    }
                    return Ok(Some(node));
                }
                let weight = self.weight()?;
                if let Some(open) = self.open.last_mut() {
                    open.children.push(RawChild { weight, node, offset });
                }
            }
            let next = self.peek();
            if next == Some(']') {
                self.at += 1;
                node = self.open.pop().map(|Open { begin, axis, children }| {
                    // A split without a sign is refused or repaired anyway.
                    let axis = axis.unwrap_or(Axis::Row);
                    (begin, RawNode::Split { axis, children })
                });
                continue;
            }
            let axis = match next {
                Some(c) if c == sign(Axis::Row) => Axis::Row,
                Some(c) if c == sign(Axis::Column) => Axis::Column,
                Some(_) => return self.fail(ParseErrorKind::Unexpected),
                None => return self.fail(ParseErrorKind::Unclosed),
            };
            if self.open.last_mut().map(|open| *open.axis.get_or_insert(axis)) != Some(axis) {
                return self.fail(ParseErrorKind::MixedSigns);
            }
            self.at += 1;
            return Ok(None);
        }
    }

    fn open(&mut self, begin: usize) -> Result<(), ParseError<L>> {
        if let Some(limits) = self.limits {
            if self.open.len() >= usize::from(limits.depth) {
                let violation = LayoutViolation::TooDeep { limit: limits.depth };
                return self.fail_at(begin, ParseErrorKind::Invalid(violation));
            }
        }
        self.open.push(Open { begin, axis: None, children: RawChildren::default() });
        Ok(())
    }

    fn leaf(&mut self) -> Result<L, ParseError<L>> {
        let begin = self.at;
        let token = self.token(|c| is_reserved(c) && c != '%');
        if token.is_empty() {
            return self.fail(ParseErrorKind::ExpectedNode);
        }
        self.leaves += 1;
        if let Some(limits) = self.limits {
            if self.leaves > usize::from(limits.leaves) {
                let violation = LayoutViolation::TooManyLeaves { limit: limits.leaves };
                return self.fail_at(begin, ParseErrorKind::Invalid(violation));
            }
        }
        let Some(plain) = unescape(token) else {
            return self.fail_at(begin, ParseErrorKind::Escape);
        };
        match plain.parse() {
            Ok(leaf) => Ok(leaf),
            Err(error) => {
                self.fail_at(begin, ParseErrorKind::Leaf { reason: L::Err::to_string(&error) })
            }
        }
    }

    fn weight(&mut self) -> Result<RawWeight, ParseError<L>> {
        if !self.eat('*') {
            return Ok(RawWeight::Whole(1));
        }
        let begin = self.at;
        let token = self.token(|c| matches!(c, '[' | ']' | '|' | '/' | '*'));
        let digits = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
        if self.limits.is_none() {
            return Ok(if digits {
                RawWeight::Whole(token.parse().unwrap_or(i64::MAX))
            } else {
                token.parse().map_or(RawWeight::Unreadable, RawWeight::Ratio)
            });
        }
        match token.parse::<u16>() {
            Ok(value) if digits && value > 0 => Ok(RawWeight::Whole(i64::from(value))),
            _ => self.fail_at(begin, ParseErrorKind::Weight),
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    /// The text up to a character that ends it.
    fn token(&mut self, ends: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let token = rest.find(ends).and_then(|end| rest.get(..end)).unwrap_or(rest);
        self.at += token.len();
        token
    }

    fn fail<T>(&self, kind: ParseErrorKind<L>) -> Result<T, ParseError<L>> {
        self.fail_at(self.at, kind)
    }

    fn fail_at<T>(&self, at: usize, kind: ParseErrorKind<L>) -> Result<T, ParseError<L>> {
        Err(ParseError { at, kind })
    }
}

fn unescape(token: &str) -> Option<String> {
    let mut plain = Vec::with_capacity(token.len());
    let mut bytes = token.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let high = char::from(bytes.next()?).to_digit(16)?;
            let low = char::from(bytes.next()?).to_digit(16)?;
            plain.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            plain.push(byte);
        }
    }
    String::from_utf8(plain).ok()
}
