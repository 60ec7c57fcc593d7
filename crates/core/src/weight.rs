//! Weighted length: UTF-16 units in which characters that take many tokens count more.
//!
//! A character of Chinese, Japanese or Korean text takes about as many tokens as four Latin letters, a rare one up to
//! four times that. Later versions of OpenClaw add a surcharge per code point to the plain length; these are the ranges of
//! the newest ([`weighted_len`]) and of the one before it ([`wide_len`]).

/// Surcharges by range of code points, ascending and disjoint.
const SURCHARGES: [(u32, u32, u8); 30] = [
    (0x00B7, 0x00B7, 3),
    (0x02C7, 0x02C7, 7),
    (0x02C9, 0x02CB, 7),
    (0x02D9, 0x02D9, 7),
    (0x02EA, 0x02EB, 7),
    (0x0305, 0x0305, 7),
    (0x0323, 0x0323, 7),
    (0x1100, 0x11FF, 11),
    (0x2E80, 0x2FFF, 11),
    (0x3000, 0x319F, 3),
    (0x31A0, 0x4DFF, 11),
    (0x4E00, 0x9FA5, 3),
    (0x9FA6, 0x9FFF, 11),
    (0xA000, 0xA4FF, 11),
    (0xA700, 0xA707, 11),
    (0xA960, 0xA97F, 11),
    (0xAC00, 0xD7AF, 3),
    (0xD7B0, 0xD7FF, 11),
    (0xF900, 0xFAFF, 11),
    (0xFE10, 0xFE4F, 7),
    (0xFF01, 0xFF60, 3),
    (0xFF61, 0xFFDC, 7),
    (0xFFE0, 0xFFE6, 7),
    (0x16FE0, 0x16FFF, 14),
    (0x1AFF0, 0x1AFFF, 14),
    (0x1B000, 0x1B16F, 14),
    (0x1D360, 0x1D371, 10),
    (0x1F200, 0x1F2FF, 14),
    (0x20000, 0x2FA1F, 14),
    (0x30000, 0x3347F, 14),
];

/// What a code point counts beyond its UTF-16 units.
fn surcharge(point: char) -> u64 {
    let point = u32::from(point);
    let index = SURCHARGES.partition_point(|&(_, last, _)| last < point);
    match SURCHARGES.get(index) {
        Some(&(first, _, extra)) if first <= point => extra.into(),
        _ => 0,
    }
}

/// The weighted length of a text.
///
/// ```
/// assert_eq!(secateur::weighted_len("plain"), 5);
/// assert_eq!(secateur::weighted_len("漢字"), 8);
/// ```
pub fn weighted_len(text: &str) -> u64 {
    // ASCII never carries a surcharge and is most of what agents read: count it by the byte.
    if text.is_ascii() {
        return text.len() as u64;
    }
    text.chars()
        .map(|point| point.len_utf16() as u64 + if point.is_ascii() { 0 } else { surcharge(point) })
        .sum()
}

/// The length of a text in which a character of Chinese, Japanese or Korean counts as four.
///
/// One outside the basic plane counts as four, too, not as four beside its second unit. OpenClaw looks for these by the
/// first unit of their pair, and only in a text that has such characters at all; a few more code points share those
/// units, which then count as one.
///
/// ```
/// assert_eq!(secateur::wide_len("漢字"), 8);
/// assert_eq!(secateur::wide_len("\u{20000}"), 4);
/// ```
pub fn wide_len(text: &str) -> u64 {
    if text.is_ascii() {
        return text.len() as u64;
    }
    let mut units = 0;
    let mut wide = 0;
    let mut pairs = 0;
    for point in text.chars() {
        units += point.len_utf16() as u64;
        wide += u64::from(is_wide(point));
        pairs += u64::from(matches!(point, '\u{20000}'..='\u{2FBFF}'));
    }
    units + 3 * wide - if wide > 0 { pairs } else { 0 }
}

fn is_wide(point: char) -> bool {
    matches!(point,
        '\u{2E80}'..='\u{9FFF}'
        | '\u{A000}'..='\u{A4FF}'
        | '\u{AC00}'..='\u{D7AF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{2FA1F}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_count_as_four() {
        for (text, length) in [("aé·", 3), ("漢·", 5), ("漢\u{2FFF}", 8), ("😀", 2), ("\u{2FA20}", 2)]
        {
            assert_eq!(wide_len(text), length, "{text}");
        }
        assert_eq!(wide_len("漢\u{2FA20}"), 5, "the pair counts as one beside a wide character");
    }

    #[test]
    fn ranges_ascend_so_that_the_search_is_right() {
        for pair in SURCHARGES.windows(2) {
            assert!(pair[0].0 <= pair[0].1 && pair[0].1 < pair[1].0, "{pair:x?}");
        }
    }

    #[test]
    fn edges_of_ranges_weigh_as_recorded() {
        for (text, weight) in [("·", 4), ("\u{2FFF}", 12), ("\u{3000}", 4), ("\u{319F}", 4), ("\u{31A0}", 12)]
        {
            assert_eq!(weighted_len(text), weight, "{text}");
        }
        assert_eq!(weighted_len("😀"), 2);
        assert_eq!(weighted_len("\u{20000}"), 16);
        assert_eq!(weighted_len("\u{1D360}"), 12);
    }
}
