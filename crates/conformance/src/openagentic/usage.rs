//! A provider's usage report as openagentic reads it.
//!
//! Providers disagree on names and, behind gateways, on types. openagentic looks under each name in
//! turn with Python's `or`, so an alias is read not only when the first name is missing but also when
//! it holds zero, an empty string or null; then it takes Python's `int()` of whatever it found, and
//! zero where that fails. Thus `950.9` and `" 950 "` are 950, and `"950.9"` is nothing.
//!
//! A report without a positive total is no report: both versions then never compact. The total a
//! provider gives wins over the sum of the parts; the sum is taken before negative parts are raised to
//! zero, so the parts shown may add up to more than the total.

use serde_json::{Value, json};

use crate::value::is_truthy_py;

/// A version of openagentic-sdk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SdkVersion {
    /// January 2026: tokens written to the cache are ignored.
    Seed,
    /// 0.1.4, February 2026: they count towards the total.
    Head,
}

/// Tokens of one model call; none is negative, and `total` is positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsageTotals {
    /// Tokens of the prompt, without those read from the cache.
    pub input: i64,
    /// Tokens of the response.
    pub output: i64,
    /// Tokens read from the provider's cache.
    pub cache_read: i64,
    /// Tokens written to the provider's cache; zero for [`SdkVersion::Seed`].
    pub cache_write: i64,
    /// The number that is compared with the window.
    pub total: i64,
}

impl UsageTotals {
    /// The totals under openagentic's names.
    pub fn to_json(self, version: SdkVersion) -> Value {
        let mut totals = json!({
            "input_tokens": self.input,
            "output_tokens": self.output,
            "cache_read_tokens": self.cache_read,
            "cache_write_tokens": self.cache_write,
            "total_tokens": self.total,
        });
        if let (SdkVersion::Seed, Some(fields)) = (version, totals.as_object_mut()) {
            fields.shift_remove("cache_write_tokens");
        }
        totals
    }
}

/// Reads a usage report; `None` if it is no object or its total is not positive.
pub fn totals(usage: &Value, version: SdkVersion) -> Option<UsageTotals> {
    let usage = usage.is_object().then_some(usage)?;
    let input = count(usage, &["input_tokens", "prompt_tokens"]);
    let output = count(usage, &["output_tokens", "completion_tokens"]);
    let cache_read = count(usage, &["cache_read_tokens", "cached_tokens"]);
    let cache_write = match version {
        SdkVersion::Seed => 0,
        SdkVersion::Head => count(usage, &["cache_write_tokens"]),
    };
    let given = count(usage, &["total_tokens"]);
    let sum = || [output, cache_read, cache_write].into_iter().fold(input, i64::saturating_add);
    let total = if given > 0 { given } else { sum() };
    (total > 0).then(|| UsageTotals {
        input: input.max(0),
        output: output.max(0),
        cache_read: cache_read.max(0),
        cache_write: cache_write.max(0),
        total,
    })
}

/// The number under the first name that holds something truthy.
fn count(usage: &Value, names: &[&str]) -> i64 {
    names.iter().filter_map(|name| usage.get(name)).find(|value| is_truthy_py(value)).map_or(0, to_int)
}

/// Python's `int(value)`, or zero where it raises. Integers past 64 bits are held at the bound.
fn to_int(value: &Value) -> i64 {
    match value {
        Value::Bool(flag) => i64::from(*flag),
        // The cast truncates towards zero, as Python does.
        Value::Number(number) => {
            number.as_i64().or_else(|| number.as_f64().map(|float| float as i64)).unwrap_or(0)
        }
        Value::String(text) => parse_int(text).unwrap_or(0),
        Value::Null | Value::Array(_) | Value::Object(_) => 0,
    }
}

/// A decimal literal: white space around it, one sign, and single underscores between digits.
fn parse_int(text: &str) -> Option<i64> {
    let text = text.trim();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.starts_with('_') || digits.ends_with('_') || digits.contains("__") {
        return None;
    }
    let mut magnitude = None;
    for digit in digits.chars().filter(|&character| character != '_') {
        let digit = i64::from(digit.to_digit(10)?);
        magnitude = Some(magnitude.unwrap_or(0_i64).saturating_mul(10).saturating_add(digit));
    }
    magnitude.map(|magnitude| if negative { -magnitude } else { magnitude })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(value: &Value) -> i64 {
        totals(&json!({"input_tokens": value, "total_tokens": 1}), SdkVersion::Head).unwrap().input
    }

    #[test]
    fn numbers_are_read_as_python_reads_them() {
        for (value, expected) in [
            (json!(950.9), 950),
            (json!(" +1_000\n"), 1000),
            (json!("007"), 7),
            (json!(true), 1),
            (json!("950.9"), 0),
            (json!("1__0"), 0),
            (json!("-"), 0),
            (json!([9]), 0),
            (json!(1e300), i64::MAX),
        ] {
            assert_eq!(input(&value), expected, "{value}");
        }
    }

    #[test]
    fn an_alias_is_read_when_the_first_name_is_falsy() {
        for empty in [json!(0), json!(0.0), json!(""), json!(null), json!([]), json!(false)] {
            let report = json!({"input_tokens": empty, "prompt_tokens": 5});
            assert_eq!(totals(&report, SdkVersion::Seed).unwrap().input, 5, "{empty}");
        }
        assert_eq!(totals(&json!({"input_tokens": "0", "prompt_tokens": 5}), SdkVersion::Seed), None);
    }

    #[test]
    fn a_positive_total_wins_and_parts_are_summed_before_they_are_raised() {
        let report = json!({"total_tokens": -5, "input_tokens": -50, "output_tokens": 2000});
        let read = totals(&report, SdkVersion::Head).unwrap();
        assert_eq!((read.input, read.output, read.total), (0, 2000, 1950));
        assert_eq!(
            totals(&json!({"total_tokens": 7, "input_tokens": 1}), SdkVersion::Head).unwrap().total,
            7
        );
    }

    #[test]
    fn only_the_later_version_counts_what_was_written_to_the_cache() {
        let report = json!({"input_tokens": 1, "cache_write_tokens": 2});
        assert_eq!(totals(&report, SdkVersion::Seed).unwrap().total, 1);
        assert_eq!(totals(&report, SdkVersion::Head).unwrap().total, 3);
        assert_eq!(
            totals(&report, SdkVersion::Seed).unwrap().to_json(SdkVersion::Seed).get("cache_write_tokens"),
            None
        );
    }

    #[test]
    fn what_holds_no_tokens_is_no_report() {
        for nothing in [json!(null), json!([]), json!({}), json!({"input_tokens": -1})] {
            assert_eq!(totals(&nothing, SdkVersion::Head), None, "{nothing}");
        }
    }
}
