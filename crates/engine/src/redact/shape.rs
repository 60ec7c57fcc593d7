//! Credentials that are known by how they look.
//!
//! Most services give their keys a beginning of their own, so that scanners can find them. A [`CredentialShape`] is
//! such a beginning and a pattern for what follows. The beginnings go into the automaton that reads the text;
//! the pattern is tried only where a beginning was found, anchored there. So the number of shapes costs
//! nothing where there are no credentials, and a pattern never runs over a whole text.

mod clouds;
mod forges;
mod models;
mod services;

use std::ops::Range;

use regex::bytes::{Regex, RegexBuilder};

use super::boundary::{begins_token, is_word};
use super::irregularity::is_irregular;
use super::placeholder::is_placeholder;

/// What has to be true of a match beyond its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    /// The shape is distinctive. Only obvious placeholders are let through.
    Shape,
    /// The beginning is short or also found in ordinary names, so the rest has to look like chance.
    Irregular,
}

/// What stands before the literal and belongs to the credential.
#[derive(Clone, Copy, Debug)]
struct ShapePrefix {
    class: fn(&u8) -> bool,
    least: usize,
    most: usize,
}

/// One kind of credential.
#[derive(Clone, Copy, Debug)]
pub(super) struct CredentialShape {
    /// The name that replaces it.
    pub(super) rule: &'static str,
    /// How it begins, or the literal in it that gives it away.
    pub(super) starts: &'static [&'static str],
    rest: &'static str,
    proof: Proof,
    before: Option<ShapePrefix>,
    extent: ReplacedExtent,
}

/// How much of a match is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReplacedExtent {
    /// All of it: the literal is a part of the credential.
    Whole,
    /// What follows the literal, which is only the name of the credential.
    Rest,
}

/// A shape that is distinctive enough by itself.
const fn exact(rule: &'static str, starts: &'static [&'static str], rest: &'static str) -> CredentialShape {
    CredentialShape { rule, starts, rest, proof: Proof::Shape, before: None, extent: ReplacedExtent::Whole }
}

/// A shape whose rest has to look random.
const fn irregular(
    rule: &'static str,
    starts: &'static [&'static str],
    rest: &'static str,
) -> CredentialShape {
    CredentialShape {
        rule,
        starts,
        rest,
        proof: Proof::Irregular,
        before: None,
        extent: ReplacedExtent::Whole,
    }
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
    [models::SHAPES, clouds::SHAPES, forges::SHAPES, services::SHAPES].into_iter().flatten()
}

/// A shape, ready to be tried.
#[derive(Debug)]
pub(super) struct ShapeMatcher {
    shape: &'static CredentialShape,
    rest: Regex,
}

/// What came of trying a shape somewhere.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Trial {
    /// A credential.
    Found(Range<usize>),
    /// The shape is there up to this byte, but it is no credential. There is no use in looking again before
    /// it.
    Refused(usize),
    /// The shape is not there.
    Missed,
}

impl ShapeMatcher {
    /// None if the pattern does not compile, which a test rules out.
    pub(super) fn new(shape: &'static CredentialShape) -> Option<Self> {
        let pattern = format!(r"\A(?:{})", shape.rest);
        let rest = RegexBuilder::new(&pattern).unicode(false).build().ok()?;
        Some(Self { shape, rest })
    }

    pub(super) fn starts(&self) -> &'static [&'static str] {
        self.shape.starts
    }

    pub(super) fn rule(&self) -> &'static str {
        self.shape.rule
    }

    /// Tries the shape where its literal was found.
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
