//! Patterns that the user adds to the built-in rules.
//!
//! They run over the whole text, because it is unknown how their matches begin. The regex engine takes linear time
//! for any pattern; its memory is limited here.

use std::ops::Range;
use std::sync::Arc;

use regex::{Regex, RegexBuilder};

use super::error::RedactError;
use super::marker::is_rule_name;

/// The most patterns.
pub(super) const PATTERNS_MAX: usize = 64;

/// The most bytes of a compiled pattern, and of its cache while it runs.
const SIZE_MAX: usize = 256 * 1024;

/// How deep a pattern may nest.
const NEST_MAX: u32 = 32;

/// The group that is replaced, if a pattern has it; otherwise the whole match is.
const GROUP: &str = "secret";

/// A user's pattern.
#[derive(Debug)]
pub(super) struct UserPattern {
    pub(super) name: Arc<str>,
    regex: Regex,
    grouped: bool,
}

impl UserPattern {
    pub(super) fn new(name: &str, regex: &str) -> Result<Self, RedactError> {
        if !is_rule_name(name) {
            return Err(RedactError::Name { name: name.chars().take(80).collect() });
        }
        let built = RegexBuilder::new(regex)
            .size_limit(SIZE_MAX)
            .dfa_size_limit(SIZE_MAX)
            .nest_limit(NEST_MAX)
            .build();
        let regex = built
            .map_err(|source| RedactError::Pattern { name: name.to_owned(), source: Box::new(source) })?;
        if regex.is_match("") {
            return Err(RedactError::Empty { name: name.to_owned() });
        }
        let grouped = regex.capture_names().flatten().any(|group| group == GROUP);
        Ok(Self { name: name.into(), regex, grouped })
    }

    /// Finds everything that is to be replaced.
    pub(super) fn find_all(&self, text: &str, mut found: impl FnMut(Range<usize>)) {
        if !self.grouped {
            for hit in self.regex.find_iter(text).filter(|hit| !hit.is_empty()) {
                found(hit.range());
            }
            return;
        }
        for captures in self.regex.captures_iter(text) {
            if let Some(group) = captures.name(GROUP).filter(|group| !group.is_empty()) {
                found(group.range());
            }
        }
    }
}
