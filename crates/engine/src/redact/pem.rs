//! Private keys in PEM armour: `-----BEGIN … PRIVATE KEY-----` and what follows.
//!
//! A key in a conversation is seldom as tidy as in its file. It is in a string with `\n` for line ends, it is
//! indented, numbered or quoted by a tool, or cut off because the result was too long. So the body is read piece by
//! piece as long as the pieces could belong to a key. A key that is cut off at its end has no last line; one that is
//! cut off at its beginning is read backwards from its last line.

use std::ops::Range;

use super::boundary::run_end;
use super::irregularity::{is_irregular, leans_to_chance};

/// The most bytes of a key that are read in either direction. The largest RSA keys in use have 13 kB.
const LONGEST: usize = 32 * 1024;

/// The shortest piece of base64 that counts as body: a line that was cut off is still a line of a key.
const PIECE: usize = 16;

/// The most short pieces in a row. Line numbers are short pieces; more of them in a row are prose.
const SHORT_RUN: usize = 6;

/// A key that begins at a `-----BEGIN `.
pub(super) fn find_begun(text: &[u8], at: usize) -> Option<Range<usize>> {
    let label_end = read_label(text, at + BEGIN.len())?;
    let reach = text.get(label_end..text.len().min(label_end + LONGEST))?;
    let (mut end, mut short) = (None, 0);
    for piece in pieces(reach) {
        let bytes = reach.get(piece.clone()).unwrap_or_default();
        match KeyPiece::of(bytes) {
            KeyPiece::Body => {
                short = 0;
                end = Some(piece.end);
            }
            // The last line of a key that was cut off: a few letters, but not a word.
            KeyPiece::Short if short == 0 && end.is_some() && leans_to_chance(bytes) => {
                short += 1;
                end = Some(piece.end);
            }
            KeyPiece::Short if short < SHORT_RUN => short += 1,
            KeyPiece::Header if end.is_none() => {}
            KeyPiece::Armour if end.is_some() => {
                end = Some(armour_end(reach, piece.start));
                break;
            }
            // A line that continues with something else.
            KeyPiece::Other | KeyPiece::Header => {
                let length = bytes.iter().take_while(|byte| is_base64(byte)).count();
                let line = bytes.get(..length).unwrap_or_default();
                if is_irregular(line) || (end.is_some() && leans_to_chance(line)) {
                    end = Some(piece.start + length);
                }
                break;
            }
            KeyPiece::Short | KeyPiece::Armour => break,
        }
    }
    end.map(|end| at..label_end + end)
}

/// A key that ends at an `-----END ` and whose beginning is missing.
pub(super) fn find_ended(text: &[u8], at: usize) -> Option<Range<usize>> {
    let end = read_label(text, at + END.len())?;
    let from = at.saturating_sub(LONGEST);
    let reach = text.get(from..at)?;
    // Nothing before the previous line of armour can belong to this key.
    let from =
        reach.windows(5).rposition(|window| window == b"-----").map_or(from, |dashes| from + dashes + 5);
    let reach = text.get(from..at)?;
    let (mut start, mut short) = (None, 0);
    let pieces: Vec<Range<usize>> = pieces(reach).collect();
    for piece in pieces.into_iter().rev() {
        match KeyPiece::of(reach.get(piece.clone()).unwrap_or_default()) {
            KeyPiece::Body => {
                short = 0;
                start = Some(piece.start);
            }
            KeyPiece::Short if short < SHORT_RUN => short += 1,
            _ => break,
        }
    }
    start.map(|start| from + start..end)
}

pub(super) const BEGIN: &[u8] = b"-----BEGIN ";
pub(super) const END: &[u8] = b"-----END ";

/// Where the line of armour ends, if it is that of a private key.
fn read_label(text: &[u8], at: usize) -> Option<usize> {
    let reach = text.get(..text.len().min(at + 64))?;
    let end =
        run_end(reach, at, 64, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ');
    let label = reach.get(at..end)?;
    let private = label.ends_with(b"PRIVATE KEY") || label.ends_with(b"PRIVATE KEY BLOCK");
    let closed = run_end(reach, end, 5, |byte| byte == b'-');
    (private && closed == end + 5).then_some(closed)
}

/// Where the last line of armour ends.
fn armour_end(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let start = rest.iter().take_while(|byte| **byte != b'E' && **byte != b'B').count() + at;
    let from = start + b"END ".len();
    read_label(text, from).unwrap_or_else(|| at + rest.iter().take_while(|byte| **byte == b'-').count())
}

/// What a piece of the body can be.
enum KeyPiece {
    /// A line of base64.
    Body,
    /// Base64, but too short to tell: the last line, a checksum, a line number.
    Short,
    /// `Proc-Type:`, `Version:` and their values.
    Header,
    /// The next line of armour.
    Armour,
    Other,
}

impl KeyPiece {
    fn of(bytes: &[u8]) -> Self {
        if bytes.starts_with(b"-----") {
            return Self::Armour;
        }
        // A line that a diff removes.
        let bytes = bytes.strip_prefix(b"-").unwrap_or(bytes);
        let base64 = bytes.iter().all(is_base64);
        let header = bytes.iter().any(|byte| b":,-.()".contains(byte)) && bytes.len() <= 64;
        match () {
            () if base64 && bytes.len() >= PIECE && is_irregular(bytes) => Self::Body,
            () if base64 => Self::Short,
            () if header => Self::Header,
            () => Self::Other,
        }
    }
}

/// The pieces between white space, line ends (also escaped ones), quotes and what tools put before lines.
fn pieces(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(&byte) = text.get(at) {
            // `\n`, `\\n`, `\r`: the letter belongs to the backslash.
            if byte == b'\\' {
                let slashes = text.get(at..)?.iter().take_while(|byte| **byte == b'\\').count();
                let letter = matches!(text.get(at + slashes), Some(b'n' | b'r' | b't'));
                at += slashes + usize::from(letter);
            } else if is_gap(byte) {
                at += 1;
            } else {
                break;
            }
        }
        let start = at;
        // Armour may follow without a gap.
        let armour = |at: usize| at > start && text.get(at..).is_some_and(|rest| rest.starts_with(b"-----"));
        let inside = |byte: &u8| !is_gap(*byte) && *byte != b'\\';
        while text.get(at).is_some_and(inside) && (!armour(at) || text.get(at - 1) == Some(&b'-')) {
            at += 1;
        }
        (at > start).then_some(start..at)
    })
}

fn is_base64(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(byte)
}

fn is_gap(byte: u8) -> bool {
    byte.is_ascii_whitespace() || !byte.is_ascii() || b"\"'`|>*#;".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "q7Rt2mZp9Lx4Vn8wB3Hc6Kd1Yf5Js0GuTa2EoQi8Wr7XkMv4NbPzCl9DhSe6FjU3";

    fn armour(side: &str, kind: &str) -> String {
        format!("-----{side} {kind}PRIVATE KEY-----")
    }

    fn found(text: &str) -> Option<&str> {
        let begun = text.find("-----BEGIN ").and_then(|at| find_begun(text.as_bytes(), at));
        let ended = || text.find("-----END ").and_then(|at| find_ended(text.as_bytes(), at));
        begun.or_else(ended).map(|range| &text[range])
    }

    #[test]
    fn a_key_is_found_whole_in_every_dress() {
        let (begin, end) = (armour("BEGIN", "RSA "), armour("END", "RSA "));
        for gap in ["\n", "\\n", "\\\\n", "\r\n", "\n    ", "\n   12\u{2192}", "\n+", "\n> ", "\"\n  \""] {
            let key = format!("{begin}{gap}{LINE}{gap}{LINE}{gap}c2hvcnQ={gap}{end}");
            assert_eq!(found(&format!("before {key} after")), Some(key.as_str()), "{gap:?}");
        }
    }

    #[test]
    fn a_key_with_headers_is_found() {
        let (begin, end) = (armour("BEGIN", "RSA "), armour("END", "RSA "));
        let key = format!(
            "{begin}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00FF00FF00FF00FF\n\n{LINE}\n{end}"
        );
        assert_eq!(found(&key), Some(key.as_str()));
    }

    #[test]
    fn what_is_left_of_a_cut_key_is_found() {
        let head = format!("{}\n{LINE}\n{}", armour("BEGIN", ""), &LINE[..30]);
        assert_eq!(found(&format!("{head}\n[... cut]")), Some(head.as_str()));
        let tail = format!("{LINE}\n{LINE}\n{}", armour("END", "OPENSSH "));
        assert_eq!(found(&format!("(cut) \n{tail}\n")), Some(tail.as_str()));
    }

    #[test]
    fn a_mention_of_armour_is_no_key() {
        let begin = armour("BEGIN", "");
        for rest in
            ["", "\") {", "\n...\n", "\n<your key here>\n", "\nMIIE...", "` is how it starts, and then"]
        {
            assert_eq!(found(&format!("{begin}{rest}")), None, "{rest}");
        }
        assert_eq!(found(&format!("-----BEGIN CERTIFICATE-----\n{LINE}\n-----END CERTIFICATE-----")), None);
    }
}
