//! Text that is encoded in a run of digits: base64 of either alphabet, and hexadecimal.
//!
//! Only what decodes to text is of interest. Digests, images and signatures do not, and most of them are given up
//! within a few bytes. A run is decoded at most twice, and not if it is longer than [`LONGEST`].

use std::ops::Range;

use super::run::LEAST;

/// The longest run that is decoded.
pub(super) const LONGEST: usize = 8 * 1024;

/// How many bytes at the beginning must be ASCII. Bytes that are no text nearly always differ within them.
const ASCII: usize = 16;

/// The text in a run, and the part of the run that it was decoded from.
pub(super) fn decode_run(run: &[u8]) -> Option<(Vec<u8>, Range<usize>)> {
    if run.len() > LONGEST {
        return None;
    }
    let prefix = if run.starts_with(b"0x") { 2 } else { 0 };
    let digits = run.get(prefix..)?;
    if digits.iter().all(u8::is_ascii_hexdigit) {
        return decode_hex(digits).map(|text| (text, 0..run.len()));
    }
    if let Some(text) = decode_base64(run) {
        return Some((text, 0..run.len()));
    }
    // A slash may separate the run from a path before it.
    let start = run.iter().rposition(|byte| *byte == b'/')? + 1;
    let rest = run.get(start..)?;
    if rest.len() < LEAST {
        return None;
    }
    decode_base64(rest).map(|text| (text, start..run.len()))
}

/// The text, as far as whole bytes are there; none if it is no text.
fn decode_base64(digits: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for digit in digits {
        bits = (bits << 6) | u32::from(base64_digit(*digit)?);
        count += 6;
        if count >= 8 {
            count -= 8;
            push_text(&mut text, u8::try_from((bits >> count) & 0xff).ok()?)?;
            bits &= (1 << count) - 1;
        }
    }
    std::str::from_utf8(&text).is_ok().then_some(text)
}

fn decode_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    for pair in digits.chunks_exact(2) {
        let &[high, low] = pair else { continue };
        push_text(&mut text, hex_digit(high)? << 4 | hex_digit(low)?)?;
    }
    std::str::from_utf8(&text).is_ok().then_some(text)
}

/// Adds a byte, unless it cannot be part of a text.
fn push_text(text: &mut Vec<u8>, byte: u8) -> Option<()> {
    let possible = match byte {
        b'\t' | b'\n' | b'\r' | 0x20..=0x7e => true,
        0x80.. => text.len() >= ASCII,
        _ => false,
    };
    possible.then(|| text.push(byte))
}

/// The value of a digit of base64, in either alphabet.
pub(super) fn base64_digit(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

/// The value of a hexadecimal digit.
pub(super) fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(run: &str) -> Option<(String, &str)> {
        let (text, part) = decode_run(run.as_bytes())?;
        Some((String::from_utf8(text).unwrap(), &run[part]))
    }

    #[test]
    fn text_is_decoded_in_every_alphabet() {
        let base64 = "VGhpcyBpcyBhIHRleHQ/Pj4+IHllcw";
        let text = "This is a text?>>> yes".to_owned();
        assert_eq!(decoded(base64), Some((text.clone(), base64)));
        let url = base64.replace('/', "_").replace('+', "-");
        assert_eq!(decoded(&url), Some((text.clone(), url.as_str())));
        let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(decoded(&hex), Some((text.clone(), hex.as_str())));
        let numbered = format!("0x{}", hex.to_uppercase());
        assert_eq!(decoded(&numbered), Some((text.clone(), numbered.as_str())));
        assert_eq!(decoded(&format!("/v1/items/{url}")), Some((text, url.as_str())));
    }

    #[test]
    fn what_is_no_text_is_not_decoded() {
        for run in [
            "configuration_manager_of_things",
            "crates/engine/src/redact/encoding",
            "0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33",
            "------------------------------",
        ] {
            assert_eq!(decoded(run), None, "{run}");
        }
        assert_eq!(decoded(&"QUFB".repeat(LONGEST / 4 + 1)), None);
    }
}
