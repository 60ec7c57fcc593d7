//! Numbers as JavaScript and Python read them, and as they print them again.
//!
//! JavaScript has one kind of number, a 64-bit float; Python keeps integers of any size apart from floats.
//! Both print the shortest digits that read back as the same float, but disagree on everything around them:
//! where exponents begin, how they look, whether `1.0` keeps its point.

use std::borrow::Cow;

/// How many digits an integer may have and still be printed by JavaScript as it was spelled.
const EXACT_DIGITS: usize = 15;

/// The float a number literal stands for, infinite if it is too large; nothing if it is no number.
pub(super) fn parse(raw: &str) -> Option<f64> {
    // The standard library also reads words such as `inf`.
    let numeric = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
    if raw.bytes().all(numeric) { raw.parse().ok() } else { None }
}

/// What `JSON.stringify` prints for a number literal. One that cannot be read is returned as it is.
pub(super) fn javascript(raw: &str) -> Cow<'_, str> {
    if raw.len() <= EXACT_DIGITS && is_integer(raw) && !raw.starts_with('-') {
        return Cow::Borrowed(raw);
    }
    match parse(raw) {
        Some(value) if value.is_finite() => Cow::Owned(ryu_js::Buffer::new().format_finite(value).to_owned()),
        Some(_) => Cow::Borrowed("null"),
        None => Cow::Borrowed(raw),
    }
}

/// What Python's `json.dumps` prints for a number literal. One that cannot be read is returned as it is.
///
/// Python refuses integers of more than 4300 digits; here they are printed like any other.
pub(super) fn python(raw: &str) -> Cow<'_, str> {
    if raw == "-0" {
        return Cow::Borrowed("0");
    }
    if is_integer(raw) {
        return Cow::Borrowed(raw);
    }
    match parse(raw) {
        Some(f64::INFINITY) => Cow::Borrowed("Infinity"),
        Some(f64::NEG_INFINITY) => Cow::Borrowed("-Infinity"),
        Some(value) => Cow::Owned(repr(value)),
        None => Cow::Borrowed(raw),
    }
}

/// Whether a number is spelled without point and exponent.
fn is_integer(raw: &str) -> bool {
    !raw.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'))
}

/// Python's `repr` of a finite float: plain from 0.0001 up to sixteen digits before the point, with an
/// exponent of at least two digits otherwise.
fn repr(value: f64) -> String {
    const PLAIN: std::ops::Range<i32> = -4..16;
    let (digits, exponent) = shortest(value.abs());
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if !PLAIN.contains(&exponent) {
        let (first, more) = digits.split_at_checked(1).unwrap_or((&digits, ""));
        let point = if more.is_empty() { "" } else { "." };
        let direction = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{first}{point}{more}e{direction}{:02}", exponent.unsigned_abs());
    }
    let Ok(before_point @ 1..) = usize::try_from(exponent + 1) else {
        return format!("{sign}0.{}{digits}", "0".repeat(exponent.unsigned_abs() as usize - 1));
    };
    match digits.split_at_checked(before_point) {
        Some((before, "")) => format!("{sign}{before}.0"),
        Some((before, after)) => format!("{sign}{before}.{after}"),
        None => format!("{sign}{digits:0<before_point$}.0"),
    }
}

/// The shortest digits that mean a float that is not negative, and the power of ten of the first of them.
///
/// They are read off JavaScript's notation: where two shortest numbers are equally near, it takes the even
/// one as Python does, while the standard library takes the larger.
fn shortest(value: f64) -> (String, i32) {
    let mut buffer = ryu_js::Buffer::new();
    let printed = buffer.format_finite(value);
    let (mantissa, exponent) = printed.split_once('e').unwrap_or((printed, "0"));
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = [before, after].concat();
    let significant = all.trim_start_matches('0');
    if significant.is_empty() {
        return ("0".to_owned(), 0);
    }
    // At most three digits of an exponent, or twenty-one before the point: no number of them can overflow.
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let leading = before.len() as i32 - (all.len() - significant.len()) as i32;
    (significant.trim_end_matches('0').to_owned(), exponent + leading - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_are_not_numbers() {
        assert_eq!(parse("-inf"), None);
        assert_eq!(parse("nan"), None);
        assert_eq!(parse(""), None);
        assert_eq!(parse("1e400"), Some(f64::INFINITY));
    }

    #[test]
    fn what_cannot_be_read_is_left_alone() {
        assert_eq!(javascript("1-2"), "1-2");
        assert_eq!(python("1e"), "1e");
    }

    #[test]
    fn of_two_nearest_the_even_one_is_printed() {
        assert_eq!(python("-72271639524304.125"), "-72271639524304.12");
        assert_eq!(javascript("-72271639524304.125"), "-72271639524304.12");
    }

    proptest! {
        /// Whatever the notation, the digits still mean the same float.
        #[test]
        fn printed_floats_read_back_as_themselves(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            let raw = format!("{value:e}");
            prop_assert_eq!(python(&raw).parse::<f64>().unwrap().to_bits(), bits);
            prop_assert_eq!(javascript(&raw).parse::<f64>().unwrap(), value);
        }
    }
}
