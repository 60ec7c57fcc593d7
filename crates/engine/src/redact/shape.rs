//! Credentials that are recognised by their shape.
//!
//! Most services give their keys a distinct prefix, so that scanners can find them. A [`CredentialShape`] is such a
//! prefix and a pattern for the rest. The prefixes go into the automaton that reads the text; the pattern is only
//! tried where a prefix was found, anchored there. So the number of shapes costs nothing where there are no
//! credentials, and a pattern never runs over a whole text.

mod clouds;
mod forges;
mod hashes;
mod models;
mod services;

use std::ops::Range;

use regex::bytes::{Regex, RegexBuilder};

use super::boundary::{begins_token, is_word};
use super::irregularity::is_irregular;
use super::placeholder::is_placeholder;

/// What a match must satisfy beyond its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    /// The shape is distinctive. Only obvious placeholders are rejected.
    Shape,
    /// The prefix is short or occurs in ordinary names, so the rest must look random.
    Irregular,
}

/// Bytes before the literal that belong to the credential.
#[derive(Clone, Copy, Debug)]
struct ShapePrefix {
    class: fn(&u8) -> bool,
    least: usize,
    most: usize,
}

/// One kind of credential.
#[derive(Clone, Copy, Debug)]
pub(super) struct CredentialShape {
    /// The rule that its marker names.
    pub(super) rule: &'static str,
    /// Its prefix, or the literal in it that gives it away.
    pub(super) starts: &'static [&'static str],
    rest: &'static str,
    proof: Proof,
    before: Option<ShapePrefix>,
    extent: ReplacedExtent,
}

/// How much of a match is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReplacedExtent {
    /// All of it: the literal is part of the credential.
    Whole,
    /// What follows the literal, which is only the name of the credential.
    Rest,
}

/// A shape that is distinctive enough by itself.
const fn exact(rule: &'static str, starts: &'static [&'static str], rest: &'static str) -> CredentialShape {
    CredentialShape { rule, starts, rest, proof: Proof::Shape, before: None, extent: ReplacedExtent::Whole }
}

/// A shape whose rest must look random.
const fn irregular(
    rule: &'static str,
    starts: &'static [&'static str],
    rest: &'static str,
) -> CredentialShape {
    CredentialShape { proof: Proof::Irregular, ..exact(rule, starts, rest) }
}

impl CredentialShape {
    /// The same, with `least` to `most` bytes of a class before the literal.
    const fn after(self, class: fn(&u8) -> bool, least: usize, most: usize) -> Self {
        Self { before: Some(ShapePrefix { class, least, most }), ..self }
    }

    /// The same, but the literal stays.
    const fn keeping_literal(self) -> Self {
        Self { extent: ReplacedExtent::Rest, ..self }
    }
}

/// All built-in shapes.
pub(super) fn shapes() -> impl Iterator<Item = &'static CredentialShape> {
    [models::SHAPES, clouds::SHAPES, forges::SHAPES, hashes::SHAPES, services::SHAPES].into_iter().flatten()
}

/// A compiled shape.
#[derive(Debug)]
pub(super) struct ShapeMatcher {
    pub(super) shape: &'static CredentialShape,
    rest: Regex,
}

/// The result of trying a shape.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Trial {
    /// A credential.
    Found(Range<usize>),
    /// The shape matches up to this byte, but it is not a credential. Searching again before it is pointless.
    Refused(usize),
    /// The shape does not match.
    Missed,
}

impl ShapeMatcher {
    /// None if the pattern does not compile, which a test rules out.
    pub(super) fn new(shape: &'static CredentialShape) -> Option<Self> {
        let pattern = format!(r"\A(?:{})", shape.rest);
        let rest = RegexBuilder::new(&pattern).unicode(false).build().ok()?;
        Some(Self { shape, rest })
    }

    /// Tries the shape at its literal.
    pub(super) fn try_at(&self, text: &[u8], literal: Range<usize>) -> Trial {
        let Some(start) = self.start(text, literal.start) else { return Trial::Missed };
        let inside = text.get(start).is_some_and(|first| is_word(*first)) && !begins_token(text, start);
        if inside {
            return Trial::Missed;
        }
        let Some(found) = text.get(literal.end..).and_then(|rest| self.rest.find(rest)) else {
            return Trial::Missed;
        };
        let end = literal.end + found.end();
        let start = if self.shape.extent == ReplacedExtent::Whole { start } else { literal.end };
        let (body, rest) = (text.get(start..end).unwrap_or_default(), found.as_bytes());
        let telling = if self.shape.before.is_some() { body } else { rest };
        let proven = self.shape.proof == Proof::Shape || is_irregular(telling);
        if proven && !is_placeholder(telling) { Trial::Found(start..end) } else { Trial::Refused(end) }
    }

    fn start(&self, text: &[u8], literal: usize) -> Option<usize> {
        let Some(before) = &self.shape.before else { return Some(literal) };
        let bytes = text.get(..literal)?.iter().rev().take(before.most);
        let length = bytes.take_while(|byte| (before.class)(byte)).count();
        (length >= before.least).then(|| literal - length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_compiles() {
        for shape in shapes() {
            assert!(ShapeMatcher::new(shape).is_some(), "{}", shape.rule);
        }
    }

    #[test]
    fn every_rule_is_a_word_that_a_marker_can_hold() {
        for shape in shapes() {
            assert!(super::super::marker::is_rule_name(shape.rule), "{}", shape.rule);
        }
    }

    #[test]
    fn every_literal_is_long_enough_to_be_rare() {
        for shape in shapes() {
            for start in shape.starts {
                assert!(start.len() >= 2 && start.is_ascii(), "{}: {start}", shape.rule);
            }
        }
    }
}
