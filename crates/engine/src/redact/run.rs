//! Long runs of the characters of base64, which may hold something encoded.
//!
//! Most words are short, so most bytes need not be read: a run of [`LEAST`] bytes must cover every [`LEAST`]th byte.
//! No byte is read more than twice.

use std::ops::Range;

/// The shortest run. A key of 18 bytes has 24 digits in base64.
pub(super) const LEAST: usize = 24;

/// Which bytes are digits of base64, of either alphabet. Those of hexadecimal and base58 are among them.
static DIGIT: [bool; 256] = {
    let mut table = [false; 256];
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_";
    let mut at = 0;
    while at < digits.len() {
        table[digits[at] as usize] = true;
        at += 1;
    }
    table
};

/// Whether a byte can be in a run.
pub(super) fn is_digit(byte: u8) -> bool {
    DIGIT.get(usize::from(byte)).copied().unwrap_or_default()
}

/// The runs that begin in a part of a text. `read` returns the byte at an index, and none beyond the text.
pub(super) fn find_runs(
    part: Range<usize>,
    read: impl Fn(usize) -> Option<u8>,
) -> impl Iterator<Item = Range<usize>> {
    let digit = move |at: usize| read(at).is_some_and(is_digit);
    // No run that is still to be found begins before `at`, and `at..known` are digits.
    let (mut at, mut known) = (part.start, part.start);
    std::iter::from_fn(move || {
        while at < part.end {
            let last = at + LEAST - 1;
            let mut start = last + 1;
            while start > known && digit(start - 1) {
                start -= 1;
            }
            if start > known {
                (at, known) = (start, last + 1);
                continue;
            }
            let mut end = last + 1;
            while digit(end) {
                end += 1;
            }
            let run = at..end;
            (at, known) = (end + 1, end + 1);
            return Some(run);
        }
        None
    })
}

/// The run without the end of an escape before it: the `n` of `\n`, the `3D` of `%3D`.
pub(super) fn trim_escape(text: &[u8], run: Range<usize>) -> Range<usize> {
    let before = run.start.checked_sub(1).and_then(|at| text.get(at));
    let bytes = text.get(run.clone()).unwrap_or_default();
    let hex = |from: usize, to: usize| {
        bytes.get(from..to).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    let skipped = match (before, bytes.first()) {
        (Some(b'\\'), Some(b'n' | b'r' | b't')) => 1,
        (Some(b'\\'), Some(b'u')) if hex(1, 5) => 5,
        (Some(b'%'), _) if hex(0, 2) => 2,
        _ => 0,
    };
    run.start + skipped..run.end
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn runs(text: &str) -> Vec<&str> {
        let bytes = text.as_bytes();
        find_runs(0..text.len(), |at| bytes.get(at).copied()).map(|run| &text[run]).collect()
    }

    #[test]
    fn every_long_run_is_found_whole() {
        let (short, least) = ("a".repeat(LEAST - 1), "b".repeat(LEAST));
        let long = "c/+-_9".repeat(40);
        for gap in [" ", "\n", ", ", ". .. ", "é", "=="] {
            for lead in 0..LEAST {
                let text = format!("{}{gap}{short}{gap}{least}{gap}{long}{gap}{short}", "d".repeat(lead));
                assert_eq!(runs(&text), [least.as_str(), &long], "{text}");
            }
        }
        assert_eq!(runs(""), [""; 0]);
    }

    #[test]
    fn no_byte_is_read_more_than_twice() {
        let size = 1 << 20;
        for piece in [
            "A",
            "0f",
            "q7Rt2mZp9Lx4Vn8wB3Hc6Kd1 ",
            "a ",
            " ",
            "abcdefghijklmnopqrstuvw ",
            "ab cdefghijklmnopqrstuvwxyz0123",
        ] {
            let text = piece.repeat(size / piece.len());
            let count = Cell::new(0);
            let read = |at: usize| {
                count.set(count.get() + 1);
                text.as_bytes().get(at).copied()
            };
            let found = find_runs(0..text.len(), read).count();
            assert!(count.get() <= 2 * text.len() + LEAST, "{piece}: {} reads, {found} runs", count.get());
        }
    }

    #[test]
    fn the_end_of_an_escape_is_no_part_of_a_run() {
        for (text, from) in [("\\nabc", 2), ("%3Dabc", 3), ("\\u003dabc", 6), ("-nabc", 1), ("\\uabc", 1)] {
            assert_eq!(trim_escape(text.as_bytes(), 1..text.len()), from..text.len(), "{text}");
        }
    }
}
