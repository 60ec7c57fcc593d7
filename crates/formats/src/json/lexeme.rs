//! Where a word of JSON ends: the part of the grammar that [`walk`](super::walk) and [`read`](mod@super::read) share.
//!
//! A log is mostly the inside of strings, so finding their ends is the cost of reading it. A quote is searched many bytes
//! at a time, and only the bytes right before it decide whether it is escaped. Escapes in between, of which source code
//! has many, cost nothing.

/// The offset behind the literal that begins at `start`: behind the first quote with an even number of backslashes
/// before it.
#[inline]
pub(super) fn literal_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut from = start + 1;
    loop {
        let rest = bytes.get(from..)?;
        let quote = find(b'"', rest)?;
        let before = rest.get(..quote)?;
        from += quote + 1;
        // Nearly every quote is an end, which one byte shows; only behind a backslash must a run of them be counted.
        if before.last() != Some(&b'\\') {
            return Some(from);
        }
        let run = before.iter().rev().take_while(|&&byte| byte == b'\\').count();
        if run % 2 == 0 {
            return Some(from);
        }
    }
}

/// The offset of the quote that ends the literal at `start`, provided that it is short and contains no escape, as
/// nearly all names do.
#[inline]
pub(super) fn plain_end(bytes: &[u8], start: usize) -> Option<usize> {
    const NEAR: usize = 4;
    let (near, _) = bytes.get(start + 1..)?.as_chunks();
    for (index, chunk) in near.iter().take(NEAR).enumerate() {
        let found = equal(*chunk, b'"') | equal(*chunk, b'\\');
        if found != 0 {
            let end = start + 1 + 8 * index + first(found);
            return (bytes.get(end) == Some(&b'"')).then_some(end);
        }
    }
    None
}

/// The first offset of a byte. Names, ids and escaped quotes are close to each other, and over such distances a call of a
/// vectorised search takes longer than the search.
#[inline]
pub(super) fn find(byte: u8, text: &[u8]) -> Option<usize> {
    const NEAR: usize = 6;
    const ROW: usize = 16;
    let (near, _) = text.as_chunks::<ROW>();
    for (index, row) in near.iter().take(NEAR).enumerate() {
        // Without a branch in between, this is one comparison of vectors.
        if row.iter().fold(false, |any, &own| any | (own == byte)) {
            let [low, high] = *row.as_chunks().0 else { break };
            let (low, high) = (equal(low, byte), equal(high, byte));
            return Some(ROW * index + if low != 0 { first(low) } else { 8 + first(high) });
        }
    }
    let passed = ROW * near.len().min(NEAR);
    Some(passed + memchr::memchr(byte, text.get(passed..)?)?)
}

/// The bytes that equal another, each marked by its highest bit. Marks behind the first may be wrong.
#[inline]
fn equal(chunk: [u8; 8], byte: u8) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    let different = u64::from_le_bytes(chunk) ^ (ONES * u64::from(byte));
    different.wrapping_sub(ONES) & !different & (ONES << 7)
}

/// Which byte the first mark is on.
#[inline]
fn first(marks: u64) -> usize {
    marks.trailing_zeros() as usize / 8
}

/// The offset behind the number that begins at `start`.
pub(super) fn number_end(bytes: &[u8], start: usize) -> Option<usize> {
    let digits = |from: usize| -> Option<usize> {
        let count = bytes.get(from..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
        (count > 0).then_some(from + count)
    };
    let first = start + usize::from(bytes.get(start) == Some(&b'-'));
    let mut end = if bytes.get(first) == Some(&b'0') { first + 1 } else { digits(first)? };
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let signed = matches!(bytes.get(end + 1), Some(b'+' | b'-'));
        end = digits(end + 1 + usize::from(signed))?;
    }
    Some(end)
}

/// Whether a byte is JSON white space.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_byte_is_found_at_its_first_place(text in "[\"!#\\\\\u{a2}\u{7f}]{0,80}", pad in 0usize..120, from in 0usize..9) {
            let text = "a".repeat(pad) + &text;
            let bytes = text.as_bytes().get(from..).unwrap_or_default();
            for byte in [b'"', b'\\', b'!', 0x7f, 0xa2, 0] {
                prop_assert_eq!(find(byte, bytes), bytes.iter().position(|&own| own == byte));
            }
        }

        /// The slow way: letter by letter.
        #[test]
        fn a_literal_ends_at_the_first_quote_that_is_not_escaped(body in "[\"\\\\a]{0,60}") {
            let text = format!("\"{body}");
            let mut letters = text.bytes().enumerate().skip(1);
            let mut end = None;
            while let Some((at, letter)) = letters.next() {
                match letter {
                    b'\\' => _ = letters.next(),
                    b'"' => {
                        end = Some(at + 1);
                        break;
                    }
                    _ => {}
                }
            }
            prop_assert_eq!(literal_end(text.as_bytes(), 0), end);
            if let Some(plain) = plain_end(text.as_bytes(), 0) {
                prop_assert_eq!(end, Some(plain + 1));
                prop_assert!(!text[..plain].contains('\\'));
            }
        }
    }
}
