//! Numbers and texts as people read them.

/// A whole number with thousands separators: `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
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

/// A share of a whole in percent; `0 %` if the whole is 0.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "0 %".to_owned();
    }
    format!("{:.1} %", part as f64 * 100.0 / whole as f64)
}

/// A count with its noun, in the plural unless it is 1.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number))
}

/// US dollars and cents: `$1.20`, `-$0.03`.
pub(crate) fn dollars(amount: f64) -> String {
    let cents = (amount * 100.0).round() / 100.0;
    if cents < 0.0 { format!("-${:.2}", -cents) } else { format!("${:.2}", cents.abs()) }
}

/// A text in one line, without control characters that a terminal would obey.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The first `width` characters of a text, in one line.
pub(crate) fn shortened(text: &str, width: usize) -> String {
    let line = printable(text);
    if line.chars().count() <= width {
        return line;
    }
    let kept: String = line.chars().take(width.saturating_sub(1)).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_000), "1,000");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(counted(1, "result"), "1 result");
        assert_eq!(percent(1, 0), "0 %");
        assert_eq!([1.204, -0.034, -0.001].map(dollars), ["$1.20", "-$0.03", "$0.00"]);
    }

    #[test]
    fn control_characters_are_removed() {
        assert_eq!(printable("a\u{1b}]0;title\u{7}b\n"), "a ]0;title b ");
        assert_eq!(shortened("abcdef", 4), "abc…");
    }
}
