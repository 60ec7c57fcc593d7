//! Where a word begins in text that may be escaped.
//!
//! Tool results are often JSON inside JSON, logs percent-encoded, terminals coloured. There the byte before a token
//! may be a letter and still not belong to it: the `n` of `\n`, the `D` of `%3D`, the `m` of a colour.

/// Whether a byte is part of a word.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Where the run of bytes of a kind ends that begins at `at`, of at most `most` bytes.
pub(super) fn run_end(text: &[u8], at: usize, most: usize, kind: impl Fn(u8) -> bool) -> usize {
    at + text.get(at..).unwrap_or_default().iter().take(most).take_while(|byte| kind(**byte)).count()
}

/// Whether a token can begin at `at`.
pub(super) fn begins_token(text: &[u8], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|index| text.get(index)).copied();
    let Some(last) = before(1) else { return true };
    if !is_word(last) {
        return true;
    }
    let Some(second) = before(2) else { return false };
    let escape = second == b'\\' && matches!(last, b'n' | b'r' | b't' | b'b' | b'f' | b'v' | b'0');
    escape || ends_percent(last, second, before(3)) || ends_code(text, at) || ends_colour(text, at)
}

/// `%3D`
fn ends_percent(last: u8, second: u8, third: Option<u8>) -> bool {
    third == Some(b'%') && second.is_ascii_digit() && last.is_ascii_hexdigit()
}

/// `\u0026`, `\x1b`
fn ends_code(text: &[u8], at: usize) -> bool {
    [(6, b'u'), (4, b'x')].into_iter().any(|(length, letter)| {
        let start = at.checked_sub(length);
        let code = start.and_then(|start| text.get(start..at)).unwrap_or_default();
        code.strip_prefix(b"\\").is_some_and(|code| {
            code.first() == Some(&letter) && code.iter().skip(1).all(u8::is_ascii_hexdigit)
        })
    })
}

/// `ESC[0;32m`
fn ends_colour(text: &[u8], at: usize) -> bool {
    let reach = text.get(at.saturating_sub(12)..at).unwrap_or_default();
    let Some(codes) = reach.strip_suffix(b"m") else { return false };
    let digits = codes.iter().rev().take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
    codes.get(..codes.len() - digits).is_some_and(|rest| rest.ends_with(b"["))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_begins_after_anything_that_is_no_letter_of_a_word() {
        for before in
            ["", " ", "=", "\"", "\\n", "\\\\n", "%3D", "\\u0026", "\\x1b", "\u{1b}[0;32m", "é", "-"]
        {
            assert!(begins_token(before.as_bytes(), before.len()), "{before:?}");
        }
    }

    #[test]
    fn a_token_does_not_begin_inside_a_word() {
        for before in ["a", "9", "_", "ta", "an", "3D", "item", "[am"] {
            assert!(!begins_token(before.as_bytes(), before.len()), "{before:?}");
        }
    }
}
