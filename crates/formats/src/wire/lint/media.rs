//! Limits in bytes, which every provider has, and none the same.

use super::body::{BodyNode, LintBody};
use super::report::FindingsReport;
use super::rule::Rule;

/// Reports a body that is larger than the provider takes.
pub(crate) fn check_size(
    body: &LintBody<'_>,
    root: BodyNode<'_>,
    largest: usize,
    report: &mut FindingsReport,
) {
    let size = body.text().len();
    if size > largest {
        let message = format!("the body has {size} bytes; the provider takes at most {largest}");
        report.unfixable(root, Rule::TooLarge, message, "cut media or old results from the history");
    }
}

/// Reports a list that is longer than the provider takes.
pub(crate) fn check_count(list: BodyNode<'_>, largest: usize, report: &mut FindingsReport) {
    if list.len() > largest {
        let message = format!("the list has {} elements; the provider takes at most {largest}", list.len());
        report.unfixable(list, Rule::TooLarge, message, "send fewer elements");
    }
}

/// Reports a string that is longer than the provider takes. The length is that of the
/// literal, which is never shorter than the text.
pub(crate) fn check_string(node: BodyNode<'_>, longest: usize, report: &mut FindingsReport) {
    let raw = node.raw();
    if raw.len() <= longest || !raw.starts_with('"') {
        return;
    }
    let points = crate::json::lengths(raw).points;
    if points > longest as u64 {
        let message = format!("the text has {points} characters; the provider takes at most {longest}");
        report.unfixable(node, Rule::TooLarge, message, "cut the text");
    }
}

/// The bytes of a literal between its quotes.
pub(crate) fn literal_len(node: BodyNode<'_>) -> usize {
    node.raw().len().saturating_sub(2)
}

/// Every escape in the text that is half of a surrogate pair without its other half, by its position.
pub(crate) fn lone_surrogates(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let unit = |at: usize| -> Option<u32> {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    let mut lone = Vec::new();
    let mut past = 0;
    for (at, _) in text.match_indices("\\u") {
        let row = bytes.get(..at).unwrap_or_default().iter().rev().take_while(|&&byte| byte == b'\\');
        if at < past || row.count() % 2 == 1 {
            continue;
        }
        match unit(at) {
            Some(0xD800..=0xDBFF) if matches!(unit(at + 6), Some(0xDC00..=0xDFFF)) => past = at + 12,
            Some(0xD800..=0xDFFF) => lone.push(at),
            _ => {}
        }
    }
    lone
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_halves_without_their_other_half_are_lone() {
        assert!(lone_surrogates(r#""\ud83d\ude00""#).is_empty());
        assert_eq!(lone_surrogates(r#""\ud83d" "\uDE00""#), [1, 10]);
        assert_eq!(lone_surrogates(r#""\ud83d\ud83d\ude00""#), [1]);
        assert!(lone_surrogates(r#""\\ud83d \u00e9""#).is_empty());
        assert_eq!(lone_surrogates(r#""\\\ud83d""#), [3]);
    }
}
