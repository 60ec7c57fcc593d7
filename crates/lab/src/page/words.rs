//! Words and numbers as people read them, safe inside of markup.
//!
//! Names of sessions, projects and policies come from anywhere. Marks of HTML are escaped, and characters that would
//! be invisible or would turn the direction of what follows are shown by number.

use std::fmt::Write;

/// A text as the content of an element or of an attribute in quotes.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for point in shown(text).chars() {
        match point {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            _ => safe.push(point),
        }
    }
    safe
}

/// A text in one line, with everything in it visible.
pub(super) fn shown(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for point in text.chars() {
        match point {
            '\n' | '\r' | '\t' => line.push(' '),
            '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{feff}' => _ = write!(line, "[U+{:04X}]", point as u32),
            _ if point.is_control() => _ = write!(line, "[U+{:04X}]", point as u32),
            _ => line.push(point),
        }
    }
    line
}

/// A number with so many places; a dash if it is none.
pub(super) fn fixed(number: f64, places: usize) -> String {
    if !number.is_finite() {
        return "–".to_owned();
    }
    let text = format!("{number:.places$}");
    // No minus before zero.
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|point| matches!(point, '0' | '.')) => rest.to_owned(),
        Some(rest) => format!("−{rest}"),
        None => text,
    }
}

/// A share in percent, without a line break before its sign.
pub(super) fn percent(number: f64, places: usize) -> String {
    format!("{}\u{a0}%", fixed(number, places))
}

/// A whole number in groups of three digits.
pub(super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of things.
pub(super) fn counted(number: usize, noun: &str) -> String {
    format!("{}\u{a0}{noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Things one after the other, the last after an "and".
pub(super) fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [start @ .., last] => format!("{} and {last}", start.join(", ")),
    }
}

/// A round step that cuts a span into about so many.
pub(super) fn step(span: f64, about: f64) -> f64 {
    let rough = (span / about).max(1e-6);
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= rough - 1e-9);
    factor.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_name_is_markup_or_hidden() {
        assert_eq!(escaped("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
        assert_eq!(escaped("a\u{202e}b\nc\u{0}"), "a[U+202E]b c[U+0000]");
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(fixed(-0.04, 1), "0.0");
        assert_eq!(fixed(-1.25, 1), "−1.2");
        assert_eq!(fixed(f64::NAN, 1), "–");
        assert_eq!(counted(1, "session"), "1\u{a0}session");
        assert_eq!(listed(&["a".to_owned(), "b".to_owned(), "c".to_owned()]), "a, b and c");
        assert_eq!([step(5.4, 6.0), step(100.0, 6.0), step(0.5, 5.0)], [1.0, 20.0, 0.1]);
    }
}
