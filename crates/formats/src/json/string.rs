//! String literals, measured, decoded and sliced as the languages that wrote them would.
//!
//! JavaScript holds a string as UTF-16 units, Python as code points, a file as bytes with escapes. Rules
//! about "the first 1500 characters" mean one of the first two, so both must be computed from the third. A
//! *literal* here is the raw text with its quotes, exactly as it is in the file.
//!
//! The one thing Rust's strings cannot hold is half of a surrogate pair, which JSON can spell (`"\ud83d"`)
//! and which JavaScript makes whenever it cuts an emoji in two. Lengths count such a half as the one unit
//! and one code point it is; decoding turns it into U+FFFD, as any conversion of it to UTF-8 would.
//!
//! ```
//! use secateur_formats::json::string::{Halves, decode, lengths, slice_units};
//!
//! let raw = r#""a\u00e9\n😀""#;
//! assert_eq!((lengths(raw).units, lengths(raw).points), (5, 4));
//! assert_eq!(decode(raw), "aé\n😀");
//! assert_eq!(slice_units("ab😀", 1, 3, Halves::Replace), "b\u{fffd}");
//! assert_eq!(slice_units("ab😀", 1, 3, Halves::Omit), "b");
//! ```

use std::borrow::Cow;

use super::count::{self, TextSize};
use super::lexeme;

/// The length of a string in the two units that matter besides bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lengths {
    /// UTF-16 units: JavaScript's `length`.
    pub units: u64,
    /// Code points: Python's `len`. Half a surrogate pair counts as one.
    pub points: u64,
}

/// Lengths of the string a literal stands for, without decoding it.
///
/// A text that is no literal is measured as it is. Broken escapes inside a literal make the numbers
/// meaningless, nothing worse.
pub fn lengths(raw: &str) -> Lengths {
    let Some(body) = body(raw) else {
        let size = TextSize::of(raw.as_bytes());
        return Lengths { units: size.units(), points: size.points };
    };
    let bytes = body.as_bytes();
    let (mut numeric, mut pairs, mut past) = (0, 0, 0);
    let (size, escapes) = count::tally(bytes, |at| match Escape::at(bytes, at) {
        _ if at < past => {}
        Escape { meaning: EscapeMeaning::Unit(_), .. } => numeric += 1,
        Escape { meaning: EscapeMeaning::Pair(_), len } => {
            numeric += 2;
            pairs += 1;
            past = at + len;
        }
        Escape { meaning: EscapeMeaning::Same | EscapeMeaning::Slash, .. } => {}
    });
    let units = size.units().saturating_sub(escapes + 4 * numeric);
    Lengths { units, points: units.saturating_sub(size.wide + pairs) }
}

/// UTF-16 units of decoded text: what JavaScript calls its `length`.
pub fn utf16_len(text: &str) -> u64 {
    TextSize::of(text.as_bytes()).units()
}

/// Code points of decoded text: what Python calls its `len`.
pub fn points_len(text: &str) -> u64 {
    TextSize::of(text.as_bytes()).points
}

/// The string a literal stands for, borrowed if it contains no escape; every lone half of a surrogate
/// pair becomes U+FFFD. A text that is no literal, or has an escape JSON does not know, is returned
/// as it is.
pub fn decode(raw: &str) -> Cow<'_, str> {
    let Some(body) = body(raw) else { return Cow::Borrowed(raw) };
    if lexeme::find(b'\\', body.as_bytes()).is_none() {
        return Cow::Borrowed(body);
    }
    let mut text = String::with_capacity(body.len());
    let mut rest = body;
    while let Some((before, escape)) = split_at_escape(rest) {
        text.push_str(before);
        let spelled = rest.get(before.len()..).unwrap_or_default();
        match escape.meaning {
            EscapeMeaning::Same => match spelled.as_bytes().get(1).and_then(|&letter| short_escape(letter)) {
                Some(letter) => text.push(letter),
                None => return Cow::Borrowed(raw),
            },
            EscapeMeaning::Slash => text.push('/'),
            EscapeMeaning::Unit(unit) => {
                text.push(char::from_u32(unit.into()).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            EscapeMeaning::Pair(letter) => text.push(letter),
        }
        rest = spelled.get(escape.len..).unwrap_or_default();
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// A literal for the text, quotes included, with no more escapes than JSON demands.
pub fn encode(text: &str) -> String {
    // Writing a string into memory has no way to fail.
    serde_json::to_string(text).unwrap_or_default()
}

/// What becomes of a surrogate pair that a slice cuts in two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halves {
    /// The half inside the slice becomes U+FFFD: JavaScript's own `slice`, once written as UTF-8.
    Replace,
    /// The half inside the slice is left out, at either edge.
    Omit,
}

/// The slice of a decoded string between two offsets in UTF-16 units; offsets past the end mean the end, and
/// an end before the start means nothing. Borrowed unless a half had to be replaced.
pub fn slice_units(text: &str, start: u64, end: u64, halves: Halves) -> Cow<'_, str> {
    if start >= end {
        return Cow::Borrowed("");
    }
    let from = UnitOffset::of(text, start);
    let tail = text.get(from.byte..).unwrap_or_default();
    let to = UnitOffset::of(tail, end - start + u64::from(from.half));
    // Only a code point of four bytes can be cut in two.
    let whole = tail.get(if from.half { 4 } else { 0 }..to.byte).unwrap_or_default();
    if halves == Halves::Omit || !(from.half || to.half) {
        return Cow::Borrowed(whole);
    }
    let half = |cut: bool| if cut { "\u{fffd}" } else { "" };
    Cow::Owned([half(from.half), whole, half(to.half)].concat())
}

/// Where an offset in UTF-16 units lies.
struct UnitOffset {
    /// The start of the code point the offset points at or into.
    byte: usize,
    /// Whether it points into it: one of its two units lies before.
    half: bool,
}

impl UnitOffset {
    fn of(text: &str, units: u64) -> Self {
        const BLOCK: usize = 1024;
        let (mut byte, mut left) = (0, units);
        for block in text.as_bytes().chunks(BLOCK) {
            let held = TextSize::of(block).units();
            if held > left {
                break;
            }
            left -= held;
            byte += block.len();
        }
        // A code point belongs to the block it begins in.
        let mut byte = text.ceil_char_boundary(byte);
        for letter in text.get(byte..).unwrap_or_default().chars() {
            let width = letter.len_utf16() as u64;
            if left < width {
                return Self { byte, half: left > 0 };
            }
            left -= width;
            byte += letter.len_utf8();
        }
        Self { byte, half: false }
    }
}

/// The text between the quotes, if there are quotes.
pub(super) fn body(raw: &str) -> Option<&str> {
    raw.strip_prefix('"')?.strip_suffix('"')
}

/// Splits the text at its first backslash: what precedes it, and the escape there.
pub(super) fn split_at_escape(text: &str) -> Option<(&str, Escape)> {
    let at = lexeme::find(b'\\', text.as_bytes())?;
    Some((text.get(..at)?, Escape::at(text.as_bytes(), at)))
}

/// One escape in the body of a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Escape {
    /// How many bytes it is spelled in, backslash included; both halves of a pair together.
    pub(super) len: usize,
    /// What it stands for.
    pub(super) meaning: EscapeMeaning,
}

/// What an escape stands for, as far as its printed form depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EscapeMeaning {
    /// A short escape that every printer writes just so; also a broken one, which is kept.
    Same,
    /// `\/`, which no printer writes.
    Slash,
    /// `\uXXXX`: one unit, half of a surrogate pair only if the other half is missing.
    Unit(u16),
    /// Two `\uXXXX` that are one code point.
    Pair(char),
}

impl Escape {
    /// The escape whose backslash is at `at`.
    pub(super) fn at(body: &[u8], at: usize) -> Self {
        let spelled = body.get(at..).unwrap_or_default();
        let (len, meaning) = match spelled.get(1) {
            Some(b'u') => match unit(spelled) {
                Some(high) => match pair(high, spelled.get(6..).unwrap_or_default()) {
                    Some(letter) => (12, EscapeMeaning::Pair(letter)),
                    None => (6, EscapeMeaning::Unit(high)),
                },
                None => (2, EscapeMeaning::Same),
            },
            Some(b'/') => (2, EscapeMeaning::Slash),
            // The first byte of a longer letter is left to the text that follows.
            Some(letter) => (1 + usize::from(letter.is_ascii()), EscapeMeaning::Same),
            None => (1, EscapeMeaning::Same),
        };
        Self { len, meaning }
    }
}

/// The unit spelled by a `\uXXXX` at the beginning of the bytes.
fn unit(spelled: &[u8]) -> Option<u16> {
    let &[b'\\', b'u', a, b, c, d, ..] = spelled else { return None };
    let digits = [a, b, c, d].map(|digit| HEX[usize::from(digit)]);
    let unit = digits.iter().fold(0, |unit, &digit| (unit << 4) | u16::from(digit & 0xF));
    digits.iter().all(|&digit| digit != NO_DIGIT).then_some(unit)
}

/// The value of a byte that is no hexadecimal digit.
const NO_DIGIT: u8 = u8::MAX;

/// The value of each byte as a hexadecimal digit.
const HEX: [u8; 256] = {
    let mut values = [NO_DIGIT; 256];
    let mut value = 0;
    while value < 16 {
        values[b"0123456789abcdef"[value] as usize] = value as u8;
        values[b"0123456789ABCDEF"[value] as usize] = value as u8;
        value += 1;
    }
    values
};

/// The code point of the half given and the one spelled after it, if that is what they are.
fn pair(high: u16, after: &[u8]) -> Option<char> {
    if !(0xD800..0xDC00).contains(&high) {
        return None;
    }
    char::decode_utf16([high, unit(after)?]).next()?.ok()
}

/// The character meant by the letter of a short escape.
fn short_escape(letter: u8) -> Option<char> {
    Some(match letter {
        b'"' | b'\\' => letter.into(),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
