//! The marker in place of a credential: `[redacted:RULE]`.
//!
//! A marker is never scanned again. Texts are redacted more than once, as input, as output and as part of the
//! previous summary, and the second time must change nothing.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// None if it does not compile, which a test rules out.
static MARKER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\[redacted:[a-z0-9-]{1,48}\]").ok());

const OPEN: &str = "[redacted:";

/// The longest name of a rule.
const NAME_MAX: usize = 48;

/// Whether this is a valid name of a rule: small letters, digits and hyphens.
pub(super) fn is_rule_name(name: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=NAME_MAX).contains(&name.len()) && name.bytes().all(legal)
}

/// Appends the marker of a rule.
pub(super) fn push_marker(out: &mut String, rule: &str) {
    out.push_str(OPEN);
    out.push_str(rule);
    out.push(']');
}

/// The pieces of a text between its markers.
pub(super) fn split_at_markers(text: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::with_capacity(1);
    let mut start = 0;
    for marker in MARKER.iter().flat_map(|marker| marker.find_iter(text)) {
        pieces.push(start..marker.start());
        start = marker.end();
    }
    pieces.push(start..text.len());
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_split_around_its_markers() {
        let text = "a [redacted:jwt] b[redacted:NOT] c[redacted:x";
        let pieces: Vec<&str> = split_at_markers(text).into_iter().map(|piece| &text[piece]).collect();
        assert_eq!(pieces, ["a ", " b[redacted:NOT] c[redacted:x"]);
    }

    #[test]
    fn what_is_pushed_is_what_is_recognised() {
        let mut text = String::new();
        push_marker(&mut text, "some-rule-2");
        assert!(split_at_markers(&text).is_empty());
    }
}
