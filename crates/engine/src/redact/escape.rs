//! Text with escapes: `%3D` of URLs, `\u0049` and `\/` of JSON.
//!
//! The rules know escaped quotes and line ends, so only escapes of other characters are resolved: those that could
//! hide a part of a credential or of what announces it. Around each escape, a window of bounded length is resolved,
//! and the rules read it as they read the text. Windows overlap by a fixed length, so the time is linear.

use std::ops::Range;

use super::boundary::is_word;
use super::encoding::{LONGEST, hex_digit};

/// What escapes begin with.
pub(super) const LITERALS: [&str; 8] = ["\\/", "\\u00", "%2", "%3", "%4", "%5", "%6", "%7"];

/// How much text is read before the first and after the last escape of a window.
const MARGIN: usize = 512;

/// How many backslashes an escape may have: one, doubled each time it is put into another string.
const SLASHES: usize = 8;

/// A part of a text with its escapes resolved.
#[derive(Debug)]
pub(super) struct ResolvedText {
    pub(super) bytes: Vec<u8>,
    /// Where each byte begins in the text, and at last where the part ends.
    starts: Vec<usize>,
}

/// The windows around escapes, which are given in the order of the text.
pub(super) fn windows(text: &[u8], escapes: &[usize]) -> Vec<Range<usize>> {
    let mut windows: Vec<Range<usize>> = Vec::new();
    for &at in escapes {
        let end = text.len().min(at + MARGIN);
        let mut from = at.saturating_sub(MARGIN);
        if let Some(last) = windows.last_mut() {
            if from <= last.end && end - last.start <= LONGEST {
                last.end = end;
                continue;
            }
            from = from.max(last.end.saturating_sub(2 * MARGIN));
        }
        windows.push(begin_after_gap(text, from, at)..end);
    }
    windows
}

/// The first byte after a gap between `from` and `at`, so that no window begins inside a word.
fn begin_after_gap(text: &[u8], from: usize, at: usize) -> usize {
    if from == 0 {
        return from;
    }
    let gap = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`".contains(byte);
    let gap = text.get(from..at).unwrap_or_default().iter().position(gap);
    gap.map_or(from, |gap| from + gap + 1)
}

impl ResolvedText {
    /// Resolves the escapes in a part of a text.
    pub(super) fn new(text: &[u8], part: Range<usize>) -> Self {
        let mut resolved = Self { bytes: Vec::with_capacity(part.len()), starts: Vec::new() };
        let mut at = part.start;
        while at < part.end
            && let Some(&byte) = text.get(at)
        {
            let (byte, length) = read_escape(text, at).unwrap_or((byte, 1));
            resolved.bytes.push(byte);
            resolved.starts.push(at);
            at += length;
        }
        resolved.starts.push(at);
        resolved
    }

    /// Where bytes are in the text. None if they begin in the middle of a word because the part does.
    pub(super) fn locate(&self, text: &[u8], range: &Range<usize>) -> Option<Range<usize>> {
        let (start, mut end) = (*self.starts.get(range.start)?, *self.starts.get(range.end)?);
        let cut = |at: usize| {
            at.checked_sub(1).and_then(|before| text.get(before)).is_some_and(|byte| is_word(*byte))
        };
        if range.start == 0 && cut(start) {
            return None;
        }
        // What the window cut off.
        if range.end == self.bytes.len() {
            let on = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/=_-.%\\".contains(byte);
            end += text.get(end..).unwrap_or_default().iter().take_while(on).count();
        }
        Some(start..end)
    }
}

/// The character that an escape stands for, and the length of the escape.
pub(super) fn read_escape(text: &[u8], at: usize) -> Option<(u8, usize)> {
    let pair = |at: usize| {
        let byte = hex_digit(*text.get(at)?)? << 4 | hex_digit(*text.get(at + 1)?)?;
        matches!(byte, b'\t' | b'\n' | b'\r' | 0x20..0x7f).then_some(byte)
    };
    match text.get(at)? {
        b'%' => pair(at + 1).map(|byte| (byte, 3)),
        b'\\' => {
            let rest = text.get(at..)?;
            let slashes = rest.iter().take(SLASHES).take_while(|byte| **byte == b'\\').count();
            match rest.get(slashes)? {
                b'/' => Some((b'/', slashes + 1)),
                b'u' if rest.get(slashes + 1..)?.starts_with(b"00") => {
                    pair(at + slashes + 3).map(|byte| (byte, slashes + 5))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_resolved_and_located() {
        for (text, expected) in [
            ("a%3Db%26c", "a=b&c"),
            (r"AK\u0049A \/x\\\/y", "AKIA /x/y"),
            (r#"\"a\"\n 100% %zz %e9 \u00e9 C:\users"#, r#"\"a\"\n 100% %zz %e9 \u00e9 C:\users"#),
        ] {
            let resolved = ResolvedText::new(text.as_bytes(), 0..text.len());
            assert_eq!(String::from_utf8_lossy(&resolved.bytes), expected);
            let whole = 0..resolved.bytes.len();
            assert_eq!(resolved.locate(text.as_bytes(), &whole), Some(0..text.len()));
        }
        let resolved = ResolvedText::new(b"a%3Db%26c", 0..9);
        assert_eq!(resolved.locate(b"a%3Db%26c", &(2..3)), Some(4..5));
    }

    #[test]
    fn windows_are_bounded_and_cover_each_escape() {
        let text = "ab%3D".repeat(1 << 18);
        let escapes: Vec<usize> = text.match_indices('%').map(|(at, _)| at).collect();
        let windows = windows(text.as_bytes(), &escapes);
        assert!(windows.iter().all(|window| window.len() <= LONGEST));
        let read: usize = windows.iter().map(Range::len).sum();
        assert!(read <= text.len() + text.len() / 4, "{read} bytes of {} are read", text.len());
        for at in escapes {
            let near = at..text.len().min(at + MARGIN);
            assert!(
                windows.iter().any(|window| window.start <= near.start && near.end <= window.end),
                "{at}"
            );
        }
    }
}
