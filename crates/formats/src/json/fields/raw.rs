//! A value that is kept as its raw text, and functions on such texts.
//!
//! Most fields of a foreign file do not need a type. Kept raw, a field costs two words; the functions here examine it
//! later, if it matters. They take the text of one value without surrounding whitespace.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde_json::value::RawValue;

use super::{Fields, each, object, want};
use crate::json::{number, string};

/// Any value, kept as the text it is spelled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw<'a>(pub(crate) &'a str);

impl<'de: 'a, 'a> Deserialize<'de> for Raw<'a> {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(want::RAW, RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    #[inline]
    fn visit_borrowed_str<E: Error>(self, raw: &'de str) -> Result<Self::Value, E> {
        Ok(Raw(raw))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, other: D) -> Result<Self::Value, D::Error> {
        <&RawValue>::deserialize(other).map(|raw| Raw(raw.get()))
    }
}

impl<'a> Raw<'a> {
    /// The value's text.
    pub fn text(self) -> &'a str {
        self.0
    }

    /// Its decoded text, if it is a string.
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        as_str(self.text())
    }

    /// Its decoded text if it is a string, and otherwise its own text: `3` and `"3"` are the same.
    pub(crate) fn spoken(self) -> String {
        self.as_str().unwrap_or(Cow::Borrowed(self.0)).into_owned()
    }

    /// The integer it stands for, if it is one; see [`as_i64`].
    pub fn as_i64(self) -> Option<i64> {
        as_i64(self.text())
    }

    /// Its fields; `None` if it is not an object.
    pub fn object<T: Fields<'a>>(self) -> Option<T> {
        object(self.0).ok().flatten()
    }

    /// Whether it is a string.
    pub fn is_string(self) -> bool {
        is_string(self.text())
    }

    /// Whether JavaScript takes it for true; see [`truthy`].
    pub fn is_truthy(self) -> bool {
        truthy(self.text())
    }

    /// The range of bytes the value takes in the text it was read from; see [`offset_in`].
    pub fn range_in(self, outer: &str) -> Option<Range<usize>> {
        let start = offset_in(outer, self.text())?;
        Some(start..start + self.text().len())
    }
}

/// What is asked of a member that its object may lack, as most may.
pub(crate) trait OptionalRaw<'a>: Sized {
    /// The value, if there is one.
    fn value(self) -> Option<Raw<'a>>;

    /// Its decoded text, if it is a string.
    fn string(self) -> Option<Cow<'a, str>> {
        self.value()?.as_str()
    }

    /// The same, to be kept.
    fn owned(self) -> Option<String> {
        self.string().map(Cow::into_owned)
    }

    /// Whether it is this string.
    fn is(self, text: &str) -> bool {
        self.string().is_some_and(|own| own == text)
    }

    /// The integer it stands for, if it is one; see [`as_i64`].
    fn integer(self) -> Option<i64> {
        self.value()?.as_i64()
    }

    /// The same as a number of tokens: zero if it is none.
    fn count(self) -> i64 {
        self.integer().unwrap_or(0)
    }

    /// Whether JavaScript takes it for true; see [`truthy`].
    fn truthy(self) -> bool {
        self.value().is_some_and(Raw::is_truthy)
    }

    /// The value, unless it is `null`.
    fn unless_null(self) -> Option<Raw<'a>> {
        self.value().filter(|raw| !is_null(raw.text()))
    }

    /// The value, if it is a string.
    fn if_string(self) -> Option<Raw<'a>> {
        self.value().filter(|raw| raw.is_string())
    }

    /// Its fields; all empty if it is not an object.
    fn fields<T: Fields<'a>>(self) -> T {
        self.value().and_then(Raw::object).unwrap_or_default()
    }

    /// Its elements; none if it is not a list.
    fn elements(self) -> Vec<Raw<'a>> {
        let mut elements = Vec::new();
        // The value was read before, so it is JSON.
        _ = self.value().map(|list| each(list.text(), |element| elements.push(element)));
        elements
    }
}

impl<'a> OptionalRaw<'a> for Option<Raw<'a>> {
    fn value(self) -> Self {
        self
    }
}

/// Whether a raw value is a string.
pub fn is_string(raw: &str) -> bool {
    raw.starts_with('"')
}

/// Whether a raw value is `null`.
pub fn is_null(raw: &str) -> bool {
    raw == "null"
}

/// Whether JavaScript takes a raw value for true: all but `null`, `false`, the empty string and whatever
/// number rounds to zero. A text that is empty is false, too.
pub fn truthy(raw: &str) -> bool {
    match raw {
        "" | "null" | "false" | "\"\"" => false,
        _ => as_f64(raw) != Some(0.0),
    }
}

/// The decoded text of a raw string; see [`string::decode`].
pub fn as_str(raw: &str) -> Option<Cow<'_, str>> {
    is_string(raw).then(|| string::decode(raw))
}

/// The float a raw number stands for, infinite if it is too large, as in JavaScript.
pub fn as_f64(raw: &str) -> Option<f64> {
    number::parse(raw)
}

/// The integer a raw number stands for, however it is spelled: `1e3` is 1000. Nothing if it has a fraction,
/// or if it is too large to be exact.
pub fn as_i64(raw: &str) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_991.0;
    raw.parse().ok().or_else(|| {
        let value = as_f64(raw).filter(|value| value.abs() <= EXACT && value.fract() == 0.0)?;
        // The language has no checked conversion; the range was checked above.
        Some(value as i64)
    })
}

/// Where a piece of text begins inside the text it was borrowed from, in bytes; nothing if it was borrowed
/// from somewhere else, even if it reads the same.
pub fn offset_in(outer: &str, inner: &str) -> Option<usize> {
    let start = inner.as_ptr().addr().checked_sub(outer.as_ptr().addr())?;
    (start + inner.len() <= outer.len()).then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truth_is_that_of_javascript() {
        for raw in ["", "null", "false", "\"\"", "0", "-0", "0.0", "-0.0e5", "1e-400"] {
            assert!(!truthy(raw), "{raw}");
        }
        for raw in ["true", "\"0\"", "\" \"", r#""\u0000""#, "[]", "{}", "1", "5e-324", "1e400", "-1"] {
            assert!(truthy(raw), "{raw}");
        }
    }

    #[test]
    fn numbers_are_read_whatever_their_spelling() {
        assert_eq!(as_f64("1.50"), Some(1.5));
        assert_eq!(as_f64("-1e999"), Some(f64::NEG_INFINITY));
        assert_eq!(as_f64("\"1\""), None);
        assert_eq!(as_f64("nan"), None);
        assert_eq!(as_i64("1e3"), Some(1000));
        assert_eq!(as_i64("-7.0"), Some(-7));
        assert_eq!(as_i64("9223372036854775807"), Some(i64::MAX));
        assert_eq!(as_i64("9223372036854775808"), None);
        assert_eq!(as_i64("0.5"), None);
        assert_eq!(as_i64("null"), None);
    }

    #[test]
    fn only_strings_have_text() {
        assert_eq!(as_str(r#""a\n""#).as_deref(), Some("a\n"));
        assert_eq!(as_str("1"), None);
        assert!(is_string("\"\"") && !is_string("[\"\"]"));
        assert!(is_null("null") && !is_null("\"null\""));
    }

    #[test]
    fn a_piece_is_found_where_it_was_borrowed_and_nowhere_else() {
        let outer = String::from("abcabc");
        let copy = outer.clone();
        assert_eq!(offset_in(&outer, &outer[3..]), Some(3));
        assert_eq!(offset_in(&outer, &outer[6..]), Some(6));
        assert_eq!(offset_in(&outer[..4], &outer[3..]), None);
        assert_eq!(offset_in(&outer[3..], &outer[..3]), None);
        assert_eq!(offset_in(&outer, &copy), None);
    }

    #[test]
    fn a_raw_value_knows_its_range() {
        let text = r#"{"a": [1, 2] }"#;
        let map: std::collections::BTreeMap<&str, Raw<'_>> = serde_json::from_str(text).unwrap();
        let range = map["a"].range_in(text);
        assert_eq!(range, Some(6..12));
        assert_eq!(range.and_then(|range| text.get(range)), Some(map["a"].text()));
    }
}
