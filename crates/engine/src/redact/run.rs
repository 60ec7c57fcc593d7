//! Long runs of the characters of base64, which may hold something encoded.
//!
//! Most words are short, so most bytes need not be read: a run of [`LEAST`] bytes covers one of the blocks that are
//! read at fixed distances. Which block is next does not depend on the last one, so a processor reads several at once.
//! The number of reads is at most three times that of bytes.

use std::ops::Range;

/// The shortest run. The shortest keys with a shape have 20 bytes, which are 27 digits in base64.
pub(super) const LEAST: usize = 27;

/// How many bytes are read at a time.
const LANES: usize = 8;

/// The distance of two blocks, so that every run covers one.
const STRIDE: usize = LEAST - LANES + 1;

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

/// The bytes from `at` on; beyond the text they are zero, which is no digit.
pub(super) fn read_block(text: &[u8], at: usize) -> [u8; LANES] {
    let rest = text.get(at..).unwrap_or_default();
    rest.first_chunk().copied().unwrap_or_else(|| {
        let mut block = [0; LANES];
        block.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        block
    })
}

/// Which bytes of a block are no digits, the first in the lowest bit. Words end anywhere, so a branch for each byte
/// would be slow.
fn gaps(block: [u8; LANES]) -> u32 {
    block.into_iter().rev().fold(0, |gaps, byte| (gaps << 1) | u32::from(!is_digit(byte)))
}

/// The runs that begin in a part of a text. `read` returns the bytes from an index on, as [`read_block`] does.
pub(super) fn find_runs(
    part: Range<usize>,
    read: impl Fn(usize) -> [u8; LANES],
) -> impl Iterator<Item = Range<usize>> {
    // No run that is still to be found begins before `floor`.
    let (mut at, mut floor) = (part.start, part.start);
    std::iter::from_fn(move || {
        while at < part.end + STRIDE {
            if gaps(read(at)) != 0 {
                at += STRIDE;
                continue;
            }
            let mut start = at;
            while start > floor {
                let from = start.saturating_sub(LANES);
                if let Some(lane) = gaps(read(from)).checked_ilog2() {
                    start = from + lane as usize + 1;
                    break;
                }
                start = from;
            }
            let mut end = at + LANES;
            let mut found = gaps(read(end));
            while found == 0 {
                end += LANES;
                found = gaps(read(end));
            }
            end += found.trailing_zeros() as usize;
            let run = start.max(floor)..end;
            (at, floor) = (end + 1, end + 1);
            if run.len() >= LEAST && run.start < part.end {
                return Some(run);
            }
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
        find_runs(0..text.len(), |at| read_block(bytes, at)).map(|run| &text[run]).collect()
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
    fn a_megabyte_takes_at_most_three_reads_a_byte() {
        let size = 1 << 20;
        for piece in [
            "A",
            "0f",
            "q7Rt2mZp9Lx4Vn8wB3Hc6Kd1 ",
            "a ",
            " ",
            "abcdefghijklmnopqrstuvwxyz ",
            "abcdefghijklmnopqrst ",
            " abcdefghijklmnopqrstuvwxyz0123",
        ] {
            let text = piece.repeat(size / piece.len());
            let count = Cell::new(0);
            let read = |at: usize| {
                count.set(count.get() + LANES);
                read_block(text.as_bytes(), at)
            };
            let found = find_runs(0..text.len(), read).count();
            assert!(
                count.get() <= 3 * text.len() + 2 * LEAST,
                "{piece}: {} reads, {found} runs",
                count.get()
            );
        }
    }

    #[test]
    fn the_end_of_an_escape_is_no_part_of_a_run() {
        for (text, from) in [("\\nabc", 2), ("%3Dabc", 3), ("\\u003dabc", 6), ("-nabc", 1), ("\\uabc", 1)] {
            assert_eq!(trim_escape(text.as_bytes(), 1..text.len()), from..text.len(), "{text}");
        }
    }
}
