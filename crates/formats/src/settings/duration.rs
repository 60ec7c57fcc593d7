//! OpenClaw's spelling of a time span: `5m`, `90s`, `1h30m`.
//!
//! A span is one number with an optional unit (a bare number counts minutes where the cache's
//! time-to-live is meant) or several numbers that all carry their unit, without spaces, in any order.
//! Units are `ms`, `s`, `m`, `h` and `d` in either case. Everything else, and every span whose
//! milliseconds a JavaScript number cannot count exactly, is not a span; configuration that holds such
//! a value falls back to the default rather than failing.
//!
//! The first version that knew spans read a single number only, and let it be as large as it liked.

use secateur::is_js_space;
use serde_json::Value;

/// How long a prompt cache is taken to live when nothing else is said: five minutes.
pub const DEFAULT_TTL_MS: f64 = 300_000.0;

const MINUTE: f64 = 60_000.0;
/// The largest integer below which JavaScript counts without gaps.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// How a version spells spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DurationSyntax {
    /// One number with an optional unit (January 2026).
    Single,
    /// Several numbers with their units (June 2026 and later).
    Composite,
}

impl DurationSyntax {
    /// The time-to-live in milliseconds that a configured `ttl` stands for.
    ///
    /// Only a string counts; a number does not mean minutes. Zero is valid and means that nothing ever expires.
    pub fn ttl_ms(self, raw: &Value) -> f64 {
        raw.as_str().and_then(|text| self.milliseconds(text)).unwrap_or(DEFAULT_TTL_MS)
    }

    /// Milliseconds in a span whose bare number counts minutes, rounded half up, as JavaScript counts them.
    pub fn milliseconds(self, text: &str) -> Option<f64> {
        let text = text.trim_matches(is_js_space).to_ascii_lowercase();
        let (number, unit) = split_number(&text)?;
        let sum = match self {
            _ if unit.is_empty() => number * MINUTE,
            Self::Single => match split_unit(unit)? {
                (milliseconds, "") => number * milliseconds,
                _ => return None,
            },
            Self::Composite => sum_components(&text)?,
        };
        let milliseconds = sum.round();
        let largest = match self {
            Self::Single => f64::MAX,
            // Larger values, infinity among them, would not survive a round trip through JavaScript.
            Self::Composite => MAX_SAFE_INTEGER,
        };
        (milliseconds <= largest).then_some(milliseconds)
    }
}

fn sum_components(text: &str) -> Option<f64> {
    let mut total = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let (number, tail) = split_number(rest)?;
        let (unit, tail) = split_unit(tail)?;
        total += number * unit;
        rest = tail;
    }
    Some(total)
}

/// Digits, optionally followed by a point and more digits; `1.` and `.5` are not numbers here.
fn split_number(text: &str) -> Option<(f64, &str)> {
    let whole = skip_digits(text)?;
    let rest = whole.strip_prefix('.').and_then(skip_digits).unwrap_or(whole);
    let number = text.strip_suffix(rest)?.parse().ok()?;
    Some((number, rest))
}

fn skip_digits(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|character: char| character.is_ascii_digit());
    (rest.len() < text.len()).then_some(rest)
}

fn split_unit(text: &str) -> Option<(f64, &str)> {
    // `ms` first: `m` would match its beginning.
    [("ms", 1.0), ("s", 1_000.0), ("m", MINUTE), ("h", 60.0 * MINUTE), ("d", 1_440.0 * MINUTE)]
        .into_iter()
        .find_map(|(unit, milliseconds)| Some((milliseconds, text.strip_prefix(unit)?)))
}

#[cfg(test)]
mod tests {
    use super::DurationSyntax::{Composite, Single};
    use super::*;
    use serde_json::json;

    #[test]
    fn spans_are_read() {
        for (text, expected) in [
            ("90s", 90_000.0),
            (" 2.5H\t", 9_000_000.0),
            ("1h30m", 5_400_000.0),
            ("30m1h", 5_400_000.0),
            ("1ms1m", 60_001.0),
            ("2.5", 150_000.0),
            ("0.5ms", 1.0),
            ("0", 0.0),
        ] {
            assert_eq!(Composite.milliseconds(text), Some(expected), "{text}");
            let single = (!text.contains("1h") && !text.contains("1ms")).then_some(expected);
            assert_eq!(Single.milliseconds(text), single, "{text}");
        }
    }

    #[test]
    fn what_is_not_a_span_is_refused() {
        for text in ["", "m", "5 m", "1.", ".5m", "1.m", "-1m", "1e3s", "1w", "1h30", "5min", "５m", "1h 30m"]
        {
            assert_eq!(Composite.milliseconds(text), None, "{text}");
            assert_eq!(Single.milliseconds(text), None, "{text}");
        }
        assert_eq!(Composite.milliseconds("9007199254740991ms"), Some(9_007_199_254_740_991.0));
        assert_eq!(Composite.milliseconds("9007199254740992ms"), None);
        assert_eq!(Single.milliseconds("9007199254740992ms"), Some(9_007_199_254_740_992.0));
        assert_eq!(Single.milliseconds(&"9".repeat(400)), None);
    }

    #[test]
    fn anything_else_is_five_minutes() {
        for raw in [json!(null), json!(7), json!("soon"), json!(["1h"])] {
            assert_eq!(Composite.ttl_ms(&raw), DEFAULT_TTL_MS, "{raw}");
        }
    }
}
